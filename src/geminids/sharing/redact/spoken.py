"""Secrets that people tell each other: in sentences, on the line below, where somebody asked for them.

`the db password is …`, `Das Passwort lautet …`, `use … as the password`, `Password:` with a line below it,
codes that work once, phrases of twelve words. A word of a sentence is no secret: what stands there must look
like more (`plausibility.is_chosen`), and the less is said before it, the more it must.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geminids.sharing.redact import languages
from geminids.sharing.redact.assignments import Match, Secret
from geminids.sharing.redact.plausibility import (
    GRAMMAR,
    is_chosen,
    is_name_in_code,
    is_phrase,
    is_placeholder,
    is_random,
    is_strong,
)

_ENGLISH = rb"(?:password|passphrase|passcode|passwd|pwd|pw|pin code|pin)"
_FOREIGN = rb"(?:" + languages.pattern(languages.PASSWORDS) + rb")"
_PASSWORDS = rb"(?:" + _ENGLISH[3:-1] + rb"|" + _FOREIGN[3:-1] + rb")"
_KEYS = rb"(?:keys?|tokens?|secret|credentials?|creds|pat|apikey|" + languages.pattern(languages.KEYS) + rb")"
_CODES = rb"(?:" + languages.pattern((*languages.ENGLISH_CODES, *languages.CODES)) + rb")"
_COLON = rb":|\xef\xbc\x9a|->|\xe2\x86\x92"
_IS = (
    rb"[ \t](?:is|was|to|are|be|ist|lautet|war|est|c'est|es|era|jest|brzmi|je|er|este|adalah|olarak"
    rb"|on|it's|it is"
    rb"|\xc3\xa9|\xc3\xa8|\xc3\xa4r|l\xc3\xa0|\xd1\x8d\xd1\x82\xd0\xbe|\xd1\x86\xd0\xb5|\xd0\xb5)[ \t:]"
    rb"|\?[ \t]{1,2}(?:it's|it is|its)[ \t]|'s[ \t]|\xe6\x98\xaf|\xe4\xb8\xba|\xe7\x82\xba|\xe3\x81\xaf"
    rb"|\xe3\x81\x8c"
    rb"|\xeb\x8a\x94|\xec\x9d\x80|\xec\x9d\xb4|\xea\xb0\x80|\xd9\x87\xd9\x8a"
)
"""How languages say that one thing is the other: is, ist, est, es, é, è, är, là, это, 是, 为, は, が, 는 …"""
_COPULA = rb"(?:" + _IS + rb"|" + _COLON + rb")"
_OPENING = rb"(?:[\"'`*<(\[]|\xe2\x80[\x98-\x9f]|\xc2\xab|\xe3\x80[\x8a-\x90]|\xef\xbc\x88)"
_MORE_THAN_A_WORD = (
    rb"[ \t]{0,3}"
    + _OPENING
    + rb"{0,3}(?:[!-/:-~\x80-\xff]{0,30}[0-9]|[A-Za-z]{3,14}[ _.-][A-Za-z]{3,14}[ _.-]"
    rb"|[!-~]{3,20}[#$%&*+@^!])"
)
"""How a value begins that is no word. Most sentences about passwords end here."""
_ABOUT = rb"(?:[ \t?][^\r\n=(){};\x1e]{0,60}?)?"
_LINE = rb"(?:\\r)?(?:\\n|\r?\n)"

PASSWORD = rb"(?i)(?P<word>" + _ENGLISH + rb")" + _ABOUT + _COPULA + _MORE_THAN_A_WORD
IN_OTHER_WORDS = (
    rb"(?i)(?P<word>" + _FOREIGN + rb")[^\r\n(){};\x1e]{0,60}?(?:" + _COPULA + rb"|=|\xef\xbc\x9d)"
)
_DIRECTLY = rb"[ \t]{1,24}" + _OPENING + rb"{0,3}(?P<secret>[!-/:-~]{0,40}[0-9][!-~]{0,60})"
DIRECT = rb"(?i)(?P<word>" + _ENGLISH + rb"|pass|pw)" + _DIRECTLY
FOREIGN_DIRECT = rb"(?i)(?P<word>" + _FOREIGN + rb")" + _DIRECTLY
_SOME_TOKEN = rb"[ \t]{0,3}" + _OPENING + rb"{0,3}[A-Za-z0-9+/=_.~:%-]{16}"
KEY = rb"(?i)(?P<word>keys?|tokens?|secret|credentials?|creds|pat|apikey)" + _ABOUT + _COPULA + _SOME_TOKEN
FOREIGN_KEY = rb"(?i)(?P<word>" + languages.pattern(languages.KEYS) + rb")" + _ABOUT + _COPULA + _SOME_TOKEN
_TO_LINE_END = rb"(?:[ \t(][^\r\n:=\x1e]{0,60})?(?::|\xef\xbc\x9a)[*_` \t]{0,4}" + _LINE
BELOW = rb"(?i)(?P<word>" + _ENGLISH + rb")" + _TO_LINE_END
FOREIGN_BELOW = rb"(?i)(?P<word>" + _FOREIGN + rb")" + _TO_LINE_END
KEY_BELOW = (
    rb"(?i)(?P<word>(?:api|access|secret|auth|bot|deploy|private|client|account|session|signing|webhook)[ _-]"
    rb"(?:key|token|secret))" + _TO_LINE_END
)
USED_AS = (
    rb"(?i)(?:password|passphrase|passcode|passwd|pwd|pin|api key|token|secret)"
    rb"(?:[ \t]{1,3}(?:for|on|of|in|to|at|and|when|if|please|there|then)[ \t]|[.,;!?)\r\n])"
)
_USED = re.compile(
    rb"(?i)(?:use|set|try|take|with|using|put)[ \t]{1,3}[\"'`]?(?P<secret>[!-~]{5,100}?)[\"'`]?["
    rb" \t]{1,3}as[ \t]{1,3}"
    rb"(?:(?:the|my|your|a|its|our|new|admin|root|db|database|sudo|user)[ \t]{1,3}){0,3}\Z"
)
_BEFORE_IS = re.compile(
    rb"(?i)(?:\A|[\s\"'`:(])(?P<secret>[!-~]{8,100}?)[\"'`]?[ \t]{1,3}(?:(?:is|was|ist|est|es)[ \t]{1,3}"
    rb"(?:the|my|your|our|a|das|mein|le|mon|la|mi)[ \t]{1,3}|(?:\(|#|//|<-+|\xe2\x86\x90|-+)[ \t]{0,3})"
    rb"(?:[a-z0-9-]{1,14}[ \t]{1,3}){0,3}\Z"
)
LOGIN = (
    rb"(?i)(?P<word>creds?|credentials|log[ -]?(?:in|on)|sign[ -]?in|ssh|account|zugangsdaten"
    rb"|anmeldedaten|identifiants"
    rb"|credenciales|credenziali|credenciais|inloggegevens|acceso|accesso"
    rb"|\xd0\xbb\xd0\xbe\xd0\xb3\xd0\xb8\xd0\xbd"
    rb"|\xd0\xb4\xd0\xbe\xd1\x81\xd1\x82\xd1\x83\xd0\xbf)"
    rb"(?:[ \t(][^\r\n:/=\x1e]{0,60}?)??(?::|[ \t](?:as|with|using|mit|als|avec|con|are|is|sind"
    rb"|sont)[ \t])[ \t]{0,3}[\"'`]?"
    rb"[A-Za-z0-9_.@+-]{2,60}[\"'`]?[ \t]{0,3}(?:[ /|,:;]|and|with|und|et|y|e|/[ \t]pw)[ \t]{0,3}[\"'`(]?"
    rb"(?P<secret>[!-/:-~]{0,40}[0-9][!-~]{2,80})"
)
"""`creds for the box: ada / …`, `log in as admin with …`."""
LOGIN_WORDS = (
    *(
        b"cred",
        b"creds",
        b"credentials",
        b"log",
        b"login",
        b"logon",
        b"sign",
        b"signin",
        b"ssh",
        b"account",
        b"zugangsdaten",
    ),
    *(
        b"anmeldedaten",
        b"identifiants",
        b"credenciales",
        b"credenziali",
        b"credenciais",
        b"inloggegevens",
        b"acceso",
    ),
    *(b"accesso", "логин".encode(), "доступ".encode()),
)
NEAR = (
    rb"(?i)(?P<word>priv(?:ate)?[_ -]?key|secrets?|tokens?|passwords?|passphrase"
    rb"|credentials?|api[_ -]?keys?|wif)"
    rb"(?P<between>[ \t][A-Za-z0-9 ,.'()*-]{0,50}?)??[ \t(*,]{1,3}"
    rb"[\"'`*]{0,3}(?P<secret>[A-Za-z0-9+/=_.~-]{20})"
)
"""A word for secrets, and in the words behind it something that a machine made."""
NEAR_WORDS = (b"priv", b"secret", b"token", b"passw", b"passphrase", b"credential", b"api", b"wif")
CODE = (
    rb"(?i)(?P<word>" + _CODES + rb")(?:[ \t]{1,2}[a-z]{1,12}){0,4}[ \t]{0,2}(?P<copula>" + _COPULA + rb"|=)?"
    rb"[ \t]{0,3}" + _OPENING + rb"{0,3}(?P<secret>[0-9]{3}[ -][0-9]{3}|[0-9]{4,8})"
)
CODE_BEFORE = (
    rb"(?i)(?P<secret>[0-9]{3}[ -]?[0-9]{3}|[0-9]{4,8})[ \t](?:is|ist|est|es)[ \t](?:your|the|my|ihr"
    rb"|dein|votre|tu|su)"
    rb"[ \t](?:[a-z0-9-]{1,20}[ \t]){0,4}(?:code|otp|passcode|password|pin|tan)[ \t.,:;!\r\n]"
)
RECOVERY_CODES = rb"(?i)(?:recovery|backup|scratch|emergency|rescue)[ _-](?:codes?|keys?)"
SEED = (
    rb"(?i)(?:(?:seed|recovery|secret|backup|wallet)[ _-]?(?:phrase|words?|recovery phrase)|these["
    rb" \t]words|mnemonic|passphrase"
    rb"|\xe5\x8a\xa9\xe8\xae\xb0\xe8\xaf\x8d"
    rb"|\xd1\x81\xd0\xb8\xd0\xb4-\xd1\x84\xd1\x80\xd0\xb0\xd0\xb7\xd0\xb0)"
)
PUTTY = rb"Private-Lines:[ \t]{0,4}[0-9]{1,3}"

ENGLISH_WORDS = tuple(word.partition(" ")[0].encode() for word in languages.ENGLISH)
FOREIGN_WORDS = languages.keywords(languages.PASSWORDS)
KEY_WORDS = (
    b"key",
    b"keys",
    b"token",
    b"tokens",
    b"secret",
    b"credential",
    b"credentials",
    b"creds",
    b"pat",
    b"apikey",
)
FOREIGN_KEYS = languages.keywords(languages.KEYS)
KEYS_BELOW = tuple(
    b"api access secret auth bot deploy private client account session signing webhook".split()
)
CODE_WORDS = languages.keywords((*languages.ENGLISH_CODES, *languages.CODES))
USED_WORDS = (*ENGLISH_WORDS, b"api", b"token", b"secret")
BEFORE_CODES = tuple(b"verification otp passcode authentication confirmation security login pin".split())
RECOVERY_WORDS = (b"recovery", b"backup", b"scratch", b"emergency", b"rescue")
SEED_WORDS = (
    *(
        b"seed",
        b"recovery",
        b"secret",
        b"backup",
        b"wallet",
        b"these",
        b"mnemonic",
        b"passphrase",
        "助记词".encode(),
    ),
    *("сид".encode(), "Сид".encode()),
)

_COPULAS = re.compile(rb"(?i)" + _COPULA + rb"|=|\xef\xbc\x9d")
_NEXT_VALUE = re.compile(
    rb"[ \t]{0,4}(?P<opening>" + _OPENING + rb"{0,3})(?P<value>(?:[!-~]|[\xc3-\xc5][\x80-\xbf]){4,200})"
)
_QUOTED = re.compile(rb"[ \t]{0,4}(?P<quote>[\"'`])(?P<value>[^\"'`\r\n\x1e]{4,120})(?P=quote)")
_LINE_BELOW = re.compile(
    rb"(?:[ \t]{0,40}" + _LINE + rb")?(?:[ \t]{0,8}`{3}[a-z]{0,8}" + _LINE + rb")?[ \t>*|-]{0,40}[`\"'*]{0,2}"
    rb"(?P<secret>[!-~]{4,200}?)[`\"'*]{0,2}[ \t]{0,40}[,;]?(?:[\r\n]|\\n)"
)
_PROMPT = re.compile(rb"[\w\[\]()' @./-]{0,60}")
_LETTER = re.compile(rb"[A-Za-z0-9_$.-]")
_OF_KEY = re.compile(
    rb"(?i)(?:\b(?:the|my|our|your|this|that|a|an|new|api|access|secret|private|auth|bot|license|deploy"
    rb"|signing|service|unseal|recovery|root|encryption|master|shared|storage|instrumentation|initial"
    rb"|account|personal|client|admin|live|prod|production|staging|test|with|have|is)[ \t_-](?:"
    rb"[a-z]{2,14}[ \t_-]){0,2}|(?:\n|: )(?:(?-i:[A-Z])[A-Za-z0-9]{0,14}[ ]){0,3})\Z"
)
"""What people say before a key. Names in programs do not stand like that."""
_NO_KEY = re.compile(
    rb"(?i)\b(?:commit|hash|sha\d*|checksum|digest|md5|fingerprint|id|ids|public|primary|foreign|cache"
    rb"|rev|revision"
    rb"|build|trace|span|version|branch|etag|page|sort|count|limit)\b"
)
_DEFAULT = re.compile(rb"[ \t]{0,2}\[[^\[\]\r\n]{0,30}\](?=[ \t]{0,2}:)")
"""What a prompt proposes: `Secret Access Key [None]: `."""
_SENTENCE_ENDS = re.compile(rb"[.;!][ \t]|\barn:|\xe3\x80\x82|[({\[]")
_WORD_ONLY = re.compile(rb"[a-z]{6,40}")
_YEAR = re.compile(rb"(?:19|20)\d\d")
_GOES_ON = re.compile(rb"[A-Za-z0-9_%.:,/-]*[0-9A-Za-z_%]")
_CODE_ON_LINE = re.compile(
    rb"[ \t>*|\"'`-]{0,20}(?:\d{1,2}[.):][ \t]{1,4})?(?P<value>[A-Za-z0-9]{4,12}(?:[- ]"
    rb"[A-Za-z0-9]{4,12}){0,7})"
    rb"[ \t\"'`|,]{0,8}(?=\\?[\r\n]|\\n|\Z|[ ,])"
)
_LINE_END = re.compile(rb"(?:[^\r\n\\\x1e]|\\[^n]){0,100}(?:\r?\n|\\n)")
_MOST_CODES = 24
_SEED_WORDS = re.compile(
    rb"[a-z]{3,8}(?:(?:[ ,]{1,3}|\r?\n|[ ]{0,2}\d{1,2}[.)][ ]{0,2}){1,3}[a-z]{3,8}){11,23}"
)
_SEED_FAR = 120
_SEED_SIZES = (24, 21, 18, 15, 12)
_NO_SEED_WORD = frozenset(
    b"the and are for from has have had was were not but than which would could should does did your our its "
    b"his her because into been being cannot each please".split()
)
"""Words of grammar that no list of such words holds."""
_ENDS_SEED = GRAMMAR | frozenset((b"you", b"derive", b"how", b"why"))
_KEY_LINE = re.compile(rb"[ \t]{0,20}(?:\r?\n|\\r\\n|\\n)[ \t]{0,20}(?P<value>[A-Za-z0-9+/=]{16,80})")
_PRIVATE_MAC = re.compile(
    rb"[ \t]{0,20}(?:\r?\n|\\r\\n|\\n)[ \t]{0,20}Private-MAC:[ \t](?P<value>[0-9a-f]{20,64})"
)


def password(match: Match) -> Iterator[Secret]:
    """`the password for the server is …`: the first that looks like one behind a word that says so."""
    text, start = match.string, match.end("word")
    if not _begins_word(text, match):
        return
    for copula in _copulas(text, start):
        if quoted := _QUOTED.match(text, copula.end()):
            if is_chosen(quoted["value"]) or is_phrase(quoted["value"]):
                yield Secret(*quoted.span("value"), "password")
                return
        elif (value := _value(text, copula.end())) and is_chosen(text[slice(*value)]):
            yield Secret(*value, "password")
            return


def direct(match: Match) -> Iterator[Secret]:
    """`user root, pass …`: nothing between them, so it must look like a password by itself."""
    start, end = match.start("secret"), _end(match.string, match.start("secret"), match.end("secret"))
    if _begins_word(match.string, match) and is_strong(match.string[start:end]):
        yield Secret(start, end, "password")


def key(match: Match) -> Iterator[Secret]:
    """`here is the key for the weather service: …`: only what looks random, and not in a program."""
    text, start = match.string, match.end("word")
    before = text[max(match.start() - 60, 0) : match.start()]
    if match["word"].isascii() and not _OF_KEY.search(before):
        return
    for copula in _copulas(text, start):
        value = _value(text, copula.end())
        if (
            value
            and _is_key(text[slice(*value)])
            and not _NO_KEY.search(text[match.start() : copula.start()])
        ):
            yield Secret(*value, "token")
            return


def below(match: Match) -> Iterator[Secret]:
    """What stands alone on the line below."""
    text = match.string
    line = _LINE_BELOW.match(text, match.end())
    if line is None or not _begins_word(text, match) or _NO_KEY.search(match[0]):
        return
    value = line["secret"]
    if is_placeholder(value) or value.endswith(b":"):
        return
    if re.fullmatch(_PASSWORDS, match["word"], re.IGNORECASE) is None:
        if _is_key(value):
            yield Secret(*line.span("secret"), "token")
        return
    line_start = text.rfind(b"\n", 0, match.start()) + 1
    before = text[max(line_start, match.start() - 80) : match.start()].rpartition(b": ")[2]
    is_prompt = _PROMPT.fullmatch(before) is not None
    if is_chosen(value) or (is_prompt and _WORD_ONLY.fullmatch(value)):
        yield Secret(*line.span("secret"), "password")


def used_as(match: Match) -> Iterator[Secret]:
    """`use … as the password`: any word that is no usual one."""
    before = match.string[max(match.start() - 160, 0) : match.start()]
    start = match.start() - len(before)
    used = _USED.search(match.string, start, match.start()) if b" as " in before else None
    if used is None and (stated := _BEFORE_IS.search(match.string, start, match.start())):
        value = stated["secret"]
        if all(kind.search(value) for kind in _KINDS) and (is_strong(value) or _is_key(value)):
            yield Secret(*stated.span("secret"), "password")
        return
    if used is None or is_placeholder(used["secret"]):
        return
    if is_chosen(used["secret"]) or (_WORD_ONLY.fullmatch(used["secret"]) and used["secret"] not in _USUAL):
        yield Secret(*used.span("secret"), "password")


def login(match: Match) -> Iterator[Secret]:
    """Yield the password of a user: it must look like one by itself."""
    start = match.start("secret")
    end = _end(match.string, start, match.end("secret"))
    if _begins_word(match.string, match) and is_strong(match.string[start:end]):
        yield Secret(start, end, "password")


def near(match: Match) -> Iterator[Secret]:
    """Yield what a machine made, with no other word for it before it."""
    start = match.start("secret")
    value = _MADE.match(match.string, start)[0].rstrip(b".")  # type: ignore[index]
    is_key = match["word"][:4].lower() in (b"priv", b"wif")
    if _NO_KEY.search(match["between"] or b"") or is_placeholder(value) or is_name_in_code(value):
        return
    if is_random(value, hash_is_secret=is_key) and all(kind.search(value) for kind in _KINDS):
        yield Secret(
            match.start("secret"), match.start("secret") + len(value), "private-key" if is_key else "token"
        )


_MADE = re.compile(rb"[A-Za-z0-9+/=_.~-]{20,300}")
_KINDS = (re.compile(rb"[a-z]"), re.compile(rb"[A-Z]"), re.compile(rb"[0-9].*[0-9]"))
_USUAL = GRAMMAR | frozenset(
    b"username email default something anything nothing whatever string value number argument option"
    b" variable "
    b"environment placeholder plaintext bearer generated random encrypted hashed bcrypt keychain account "
    b"address".split()
)


def code(match: Match) -> Iterator[Secret]:
    """A code that works once: six digits, or other digits where it says that they are it."""
    start, end = match.span("secret")
    value = match["secret"]
    before = match.string[max(match.start() - 1, 0) : match.start()]
    if (match["word"].isascii() and before.isalnum()) or _GOES_ON.match(match.string, end):
        return
    digits = re.sub(rb"\D", b"", value)
    if len(digits) == _USUAL_DIGITS or (match["copula"] and not _YEAR.fullmatch(digits)):
        yield Secret(start, end, "one-time-code")


_USUAL_DIGITS = 6


def code_before(match: Match) -> Iterator[Secret]:
    """`123456 is your code`."""
    if not re.match(rb"[\w.-]", match.string[max(match.start() - 1, 0) : match.start()]):
        yield Secret(*match.span("secret"), "one-time-code")


def recovery_codes(match: Match) -> Iterator[Secret]:
    """Codes one below the other, or one after the other, behind words that say so."""
    text, place = match.string, match.end()
    if line := _LINE_END.match(text, place):
        place = line.end()
    for _ in range(_MOST_CODES):
        found = _CODE_ON_LINE.match(text, place)
        if not found:
            return
        if re.search(rb"\d", found["value"]) and not is_placeholder(found["value"]):
            yield Secret(*found.span("value"), "recovery-code")
        end = _LINE_END.match(text, found.end()) if found.end() < len(text) else None
        place = (
            found.end()
            if text[found.end() : found.end() + 1] in (b" ", b",")
            else end.end()
            if end
            else len(text)
        )


def seed(match: Match) -> Iterator[Secret]:
    """Twelve words or more that open a wallet."""
    text = match.string
    far = text.find(b"\x1e", match.end(), match.end() + _SEED_FAR)
    words = _SEED_WORDS.search(text, match.end(), len(text) if far == -1 else far)
    if words is None or words.start() > match.end() + _SEED_FAR:
        return
    found = list(re.finditer(rb"[a-z]{3,8}", words[0]))
    if any(word[0] in _NO_SEED_WORD for word in found[:12]):
        return
    sizes = [size for size in _SEED_SIZES if size <= len(found)]
    size = next(
        (size for size in reversed(sizes) if size < len(found) and found[size][0] in _ENDS_SEED), sizes[0]
    )
    yield Secret(words.start(), words.start() + found[size - 1].end(), "recovery-phrase")


def putty(match: Match) -> Iterator[Secret]:
    """The private lines of a key as PuTTY keeps it."""
    text, place = match.string, match.end()
    lines = []
    while line := _KEY_LINE.match(text, place):
        lines.append(line)
        place = line.end()
    if mac := _PRIVATE_MAC.match(text, place):
        lines.append(mac)
    if lines:
        yield Secret(lines[0].start("value"), lines[-1].end("value"), "private-key")


def _copulas(text: bytes, start: int) -> Iterator[Match]:
    """The places in what is said about a word at which it is told, up to the end of the sentence."""
    if default := _DEFAULT.match(text, start):
        start = default.end()
    end = start + 80
    line_end = min(
        (place for sign in (b"\n", b"\x1e") if (place := text.find(sign, start, end)) != -1), default=end
    )
    if stop := _SENTENCE_ENDS.search(text, start, line_end):
        line_end = stop.start()
    yield from _COPULAS.finditer(text, start, min(line_end + 1, len(text)))


def _value(text: bytes, start: int) -> tuple[int, int] | None:
    found = _NEXT_VALUE.match(text, start)
    return (found.start("value"), _end(text, *found.span("value"))) if found else None


_ONE_TOKEN = re.compile(rb"[A-Za-z0-9+/=_.~:%-]{16,}")
_CLOSING = re.compile(rb"[\"'`*>)\]]*[.,:;]*[\"'`*>)\]]*\Z")


def _end(text: bytes, start: int, end: int) -> int:
    """Where a word ends, without quotes and punctuation behind it; an exclamation may be part of it."""
    value = text[start:end]
    for quote in (b'"', b"`", b"'"):
        value = value.partition(quote)[0] or value
    value = value.partition(b"\\n")[0]
    if not re.search(rb"[(\[<]", value):
        value = value.rstrip(b".,:;)]>*")
    return start + len(value.rstrip(b".,:;*"))


def _is_key(value: bytes) -> bool:
    return (
        _ONE_TOKEN.fullmatch(value) is not None
        and not is_placeholder(value)
        and not is_name_in_code(value)
        and is_random(value, hash_is_secret=True)
    )


def _begins_word(text: bytes, match: Match) -> bool:
    """Whether no letter of another word or name stands before it."""
    start = match.start()
    before = text[max(start - 1, 0) : start]
    return not (match[0][:1].isascii() and _LETTER.match(before)) or text[max(start - 2, 0) : start] == b"\\n"
