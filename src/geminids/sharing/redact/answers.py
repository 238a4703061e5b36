"""What somebody answered who was asked for a password or a code: nothing else tells that it is one.

    What are the login and password?        admin / …
    What does the authenticator show?       581613

Whether a message asks is seen at its end. The answer is short, and of it that is hidden which looks like a
password, or stands where one is expected: alone, or behind the name of the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geminids.sharing.redact import languages
from geminids.sharing.redact.assignments import Secret
from geminids.sharing.redact.commands import printed
from geminids.sharing.redact.plausibility import (
    GRAMMAR,
    is_chosen,
    is_name_in_code,
    is_phrase,
    is_placeholder,
    is_random,
)

PASSWORD, CODE = "password", "one-time-code"
"""What can be asked for, by the rule that its answer is hidden by."""
PRINTED = "printed"
"""Asked for by a command that prints a secret."""

_END = 400
"""Characters at the end of a message in which it asks."""
_LONGEST_LINE, _MOST_LINES = 200, 8
LONGEST_ANSWER = 2000
"""Characters: who answers with a password does not write more."""


def _any_of(words: tuple[str, ...]) -> str:
    return "|".join(rf"\b{re.escape(word)}" if word.isascii() else re.escape(word) for word in words)


_FOR_PASSWORD = re.compile(
    r"\b(?:pass(?:word|phrase|code|wd)|pwd|credentials|creds|log-?in|api[ -]?key|access (?:key|token)"
    r"|secret key|token)"
    r"|" + _any_of((*languages.PASSWORDS, *languages.KEYS))
)
_FOR_CODE = re.compile(
    _any_of((*languages.ENGLISH_CODES, *languages.CODES))
    + r"|\b(?:2fa|mfa|otp|sms)\b|\bcode\b.{0,40}\b(?:sent|app|phone|e-?mail)"
)
_WORDS = tuple(
    dict.fromkeys(
        (
            *(
                "password",
                "passphrase",
                "passcode",
                "passwd",
                "pwd",
                "creds",
                "credentials",
                "login",
                "log-in",
                "api",
            ),
            *(
                "access key",
                "secret",
                "token",
                "code",
                "2fa",
                "mfa",
                "otp",
                "sms",
                "authenticator",
                "one-time",
                " pin",
            ),
            *languages.PASSWORDS,
            *languages.KEYS,
            *languages.CODES,
        )
    )
)
_ASKS = re.compile(
    r"[?？]|(?:password|passphrase|code)[^\n:]{0,60}:\s*\Z|\b(?:please|provide|enter|paste|send|give"
    r"|need|share|tell|type|supply|what is|what's|what are|bitte|lautet"
    r"|gib|nenn|eingeben|donne|entre[rz]|saisi|quel|indi[qc]|introdu|ingres|dime|cu[aá]l|env[ií]"
    r"|informe|digite|qual"
    r"|podaj|jakie|zadejte|voer|ange|lütfen|girin)|введи|укажи|какой|пришли|сообщи|请|請|輸入|输入|提供|多少|什么|告诉|入力"
    r"|教えて|ください|입력|알려|주세요|무엇"
)
_ABOUT_IT = re.compile(
    r"(?:password|passphrase|token|key|credentials|code)s?[ -](?:field|form|stored?|polic|reset|hash"
    r"|manager|input"
    r"|valid|strength|box|column|rule|flow|page|feature|protect|should|be |review|format|file|change"
    r"|length|for this)"
)
"""Questions about passwords in programs."""
_DIGITS = re.compile(
    rb"(?<![\w.,:/-])(?:\d{3}[ -]\d{3}|\d{4,8}|[A-Z0-9]{3,5}-[A-Z0-9]{3,5})(?![\w:/-]|[.,]\w)"
)
_TOKEN = re.compile(rb"[^\s\"'`\x1e]+")
_PAIR = re.compile(
    rb"\s*[\"'`]?(?P<user>[^\s/:|,\"'`]{2,80})[\"'`]?\s*(?:[/:|,]\s*|\s)[\"'`]?(?P<secret>"
    rb"[^\s\"'`]{4,200})[\"'`]?\s*\Z"
)
_ALONE = re.compile(
    rb"(?i:(?:it's|it is|c'est|es ist|es|\xd1\x8d\xd1\x82\xd0\xbe)[ ])?[\s\"'`*]*(?P<secret>"
    rb"[^\s\"'`*]{4,200})[\s\"'`*.]*"
)
_IN_JSON = re.compile(rb":[ ]?\"(?P<secret>(?:[^\"\\]|\\.){4,400})\"")
_BEHIND_ARROW = re.compile(rb"\xe2\x86\x92[ ](?P<secret>[^\r\n]{4,400})")
_REPLIES = GRAMMAR | frozenset(
    b"yes yeah yep nope sure okay fine done none skip cancel continue proceed default unknown nothing"
    b" later never "
    b"stop help environment same wait thanks thank sorry maybe exactly correct right wrong works again"
    b" retry empty "
    b"ignore anything whatever nein doch oui danke merci gracias file vault keychain there".split()
)


def asked_for(text: str) -> str | None:
    """What a message asks for at its end; None if for no secret."""
    end = text[-_END:].lower()
    # Nearly all messages speak of something else, and to look for words is much quicker than for patterns.
    if not any(word in end for word in _WORDS) or not _ASKS.search(end):
        return None
    if _FOR_CODE.search(end):
        return CODE
    return PASSWORD if _FOR_PASSWORD.search(end) and not _ABOUT_IT.search(end) else None


def answered(answer: bytes, asked: str) -> list[Secret]:
    """The secrets in an answer."""
    if asked == PRINTED:
        return printed(answer)
    if asked == CODE and (codes := [Secret(*code.span(), CODE) for code in _DIGITS.finditer(answer[:200])]):
        return codes
    found = [secret for start, line in _lines(answer) for secret in _on_line(start, line)]
    return found or list(_whole(answer))


def given_to_tool(result: bytes, asked: str) -> list[Secret]:
    """The same where a tool put the question: its result holds the answer in JSON, or behind an arrow."""
    return [
        Secret(answer.start("secret") + secret.start, answer.start("secret") + secret.end, secret.rule)
        for pattern in (_IN_JSON, _BEHIND_ARROW)
        for answer in pattern.finditer(result)
        for secret in answered(answer["secret"], asked)
    ]


def _lines(answer: bytes) -> Iterator[tuple[int, bytes]]:
    start = 0
    for line in answer.splitlines(keepends=True)[:_MOST_LINES]:
        if len(line) <= _LONGEST_LINE:
            yield start, line
        start += len(line)


def _on_line(start: int, line: bytes) -> Iterator[Secret]:
    for token in _TOKEN.finditer(line):
        value = token[0].rstrip(b".,;:")
        for sign in (b"/", b":"):
            user, _, password = value.partition(sign)
            if user.isalpha() and is_chosen(password):
                value = password
        if is_chosen(value) or is_random(value, hash_is_secret=True):
            begin = start + token.start() + token[0].find(value)
            yield Secret(begin, begin + len(value), PASSWORD)


def _whole(answer: bytes) -> Iterator[Secret]:
    """An answer that is nothing but the password, or the user and it, in plain words."""
    line = answer.strip(b" \t\r\n\"'`")
    begin = answer.find(line)
    if len(line) > _LONGEST_LINE or b"\n" in line:
        return
    for pattern in (_ALONE, _PAIR):
        found = pattern.fullmatch(line)
        if found and _is_answer(found["secret"]) and _is_answer(found.groupdict().get("user", b"user")):
            yield Secret(begin + found.start("secret"), begin + found.end("secret"), PASSWORD)
            return
    if is_phrase(line) and not any(word in _REPLIES for word in line.lower().split()):
        yield Secret(begin, begin + len(line), PASSWORD)


def _is_answer(word: bytes) -> bool:
    small = word.lower().rstrip(b".!,")
    return (
        small not in _REPLIES and not is_placeholder(word) and not is_name_in_code(word) and b"/" not in word
    )
