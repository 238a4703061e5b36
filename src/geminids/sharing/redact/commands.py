"""Secrets that are given to commands: `-p` means something else to each of them.

A pattern finds the name of a command; the options behind it, up to the end of its line, are looked at here.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from geminids.sharing.redact.assignments import PATTERN, Match, Secret, assigned, start_of_name
from geminids.sharing.redact.languages import pattern as _any_of
from geminids.sharing.redact.names import Trust, named
from geminids.sharing.redact.pieces import encode
from geminids.sharing.redact.plausibility import is_chosen, is_placeholder, is_random, is_strong

_VALUE = (
    rb"(?:\"(?P<double>[^\"\r\n\x1e]{3,200})\"|'(?P<single>[^'\r\n\x1e]{3,200})'|(?P<bare>"
    rb"[^\s\"'`\\|;&<>\x1e]{3,200}))"
)


def _option(*names: str, is_glued: bool = False) -> re.Pattern[bytes]:
    """An option and its value, behind a blank or a sign, or with nothing between them."""
    between = rb"[ \t=]{0,3}" if is_glued else rb"(?:[ \t]{1,3}|=)"
    return re.compile(rb"(?<=[\s])(?:" + "|".join(names).encode() + rb")" + between + _VALUE)


_LOGIN_P = re.compile(
    rb"(?:(?<=\s)|^)(?:login|auth|create)\b.*?\s(?:-p|--password)(?:[ \t]{1,3}|=)" + _VALUE, re.DOTALL
)
_GLUED_P = re.compile(rb"(?<=\s)-h?p" + _VALUE)
_USER_AND_PERCENT = re.compile(
    rb"(?<=\s)(?:-U|--user|-A)[ \t=]{0,3}[\"']?[^\s%\"']{1,80}%(?P<bare>[^\s\"'`\\|;&<>\x1e]{3,200})"
)
_USER_AND_SLASH = re.compile(
    rb"(?<=\s)[\"']?[A-Za-z0-9_.$-]{1,60}/(?P<bare>[^\s\"'`\\/|;&<>@\x1e]{3,200})(?=@|[\s\"']|\Z)"
)
_USER_AND_COMMA = re.compile(
    rb"(?<=\s)-u[ \t]{0,3}[\"']?[^\s,\"']{1,80},(?P<bare>[^\s\"'`\\|;&<>\x1e]{3,200})"
)
_USER_AND_COLON = re.compile(
    rb"(?<=\s)-a[ \t=]{0,3}[\"']?[^\s:\"']{1,80}:(?P<bare>[^\s\"'`\\|;&<>\x1e]{3,200})"
)
_PASS_COLON = re.compile(
    rb"(?<=\s)(?:-pass(?:in|out)?[ \t]{1,3}[\"']?pass:(?P<bare>[^\s\"'`\\|;&<>\x1e]{3,200})|(?:-k"
    rb"|-password|-passwd)[ \t]{1,3}" + _VALUE.replace(b"bare", b"alone") + rb")"
)
_SLASH_P = re.compile(rb"(?i)(?<=\s)/(?:p|pass|password|pw):" + _VALUE)
_LAST = re.compile(
    rb"(?:add_user|change_password|passwd|authenticate_user|user|login|unlock|authtoken|add-authtoken"
    rb"|init|auth|set)[ \t]{1,3}(?:[\w@.*:/-]{1,80}[ \t]{1,3}){0,2}?"
    + _VALUE
    + rb"(?=[ \t]*(?:\Z|/add|[|;&]|#))"
)
_USED_WITH = re.compile(
    rb"(?i)\suse[ \t]{1,3}(?:[^\s/]\S{0,200}[ \t]{1,3}){1,2}"
    rb"[\"']?(?P<bare>[^\s/\"'\\*\x1e][^\s\"'\x1e]{3,100})[\"']?(?=[ \t]{1,3}/|\s*\Z)"
)
_BATCH = re.compile(
    rb"(?<=\s)-[a-zA-Z]*b[a-zA-Z]*[ \t]{1,3}(?:\S{1,200}[ \t]{1,3}){1,3}?" + _VALUE + rb"[ \t]*(?=\Z|[|;&])"
)
_COOKIES = re.compile(
    rb"(?<=\s)(?:-b|--cookie)(?:[ \t]{1,3}|=)(?P<cookies>\"[^\"\r\n]{3,4000}\"|'[^'\r\n]{3,4000}'|"
    rb"[^\s\"'|;&]{3,4000})"
)

_OPTIONS: dict[str, tuple[re.Pattern[bytes], ...]] = {
    "sshpass": (_option("-p", is_glued=True),),
    "redis-cli redis-benchmark": (_option("-a", "--pass"),),
    "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlsh mariadb mariadb-dump mysqlpump": (
        _GLUED_P,
    ),
    "7z 7za 7zr rar unrar": (_GLUED_P,),
    "docker podman nerdctl buildah skopeo oras helm crane regctl az oc cf ibmcloud bx argocd heroku": (
        _LOGIN_P,
    ),
    "mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat cqlsh beeline twine hydra"
    " medusa nxc "
    "netexec crackmapexec evil-winrm rdesktop ncftpput ncftpget kinit cadaver influx": (
        _option("-p", "-password"),
    ),
    "sqlcmd bcp isql tsql ipmitool mosquitto_pub mosquitto_sub zip unzip osql": (_option("-P"),),
    "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd ldapcompare": (
        _option("-w", "-s", is_glued=False),
    ),
    "smbclient rpcclient smbmap winexe smbget wmic pth-winexe smbtree": (_USER_AND_PERCENT,),
    "openssl": (_PASS_COLON,),
    "keytool jarsigner apksigner": (
        _option(
            "-storepass",
            "-keypass",
            "-srcstorepass",
            "-deststorepass",
            "-srckeypass",
            "-destkeypass",
            "-new",
            "--ks-pass[ \\t]pass:",
            "--key-pass[ \\t]pass:",
        ),
    ),
    "sqlplus sqlldr expdp impdp sqlcl rman": (_USER_AND_SLASH,),
    "xfreerdp wlfreerdp xfreerdp3 mstsc cmdkey": (_SLASH_P,),
    "lftp": (_USER_AND_COMMA,),
    "http https xh": (_USER_AND_COLON,),
    "htpasswd": (_BATCH,),
    "net": (_LAST, _USED_WITH),
    "rabbitmqctl vault ngrok wandb cargo snyk bw doctl smbpasswd": (_LAST,),
    "gpg gpg2": (_option("--passphrase"),),
    "wpa_passphrase": (re.compile(rb"\s[\"']?[^\s\"']{1,64}[\"']?[ \t]{1,3}" + _VALUE),),
    "nmcli": (
        re.compile(rb"\b(?:password|psk|wifi-sec\.psk|802-11-wireless-security\.psk)[ \t]{1,3}" + _VALUE),
    ),
    "oathtool": (re.compile(rb"(?<=\s)(?P<bare>[A-Z2-7]{16,128}=*|[0-9a-f]{20,128})(?=\s|\Z)"),),
    "useradd usermod": (_option("-p", "--password"),),
}
_BY_COMMAND = {name: options for names, options in _OPTIONS.items() for name in names.split()}
_OF_STRONG = frozenset((_LAST, _USER_AND_SLASH))
"""Here other words may stand as well: only what looks like a password is one."""

_WITHOUT_OPTIONS = frozenset(
    b"rabbitmqctl net vault ngrok wandb cargo snyk bw smbpasswd npm poetry wpa_passphrase nmcli sqlplus"
    b" sqlcl rman".split()
)
NAMES = tuple(sorted({re.split("[-_]", name)[0].encode() for name in _BY_COMMAND}))
HERE_COMMANDS = (b"sudo", b"passwd", b"chpasswd", b"login", b"cryptsetup", b"su", b"auth")
_OF_TWO_WORDS = {
    "docker podman nerdctl buildah skopeo oras crane regctl az oc cf ibmcloud bx argocd heroku vault"
    " wandb cargo bw": "login",
    "helm": "registry",
    "net rabbitmqctl": "user use add_user change_password",
    "ngrok snyk doctl": "authtoken auth config",
    "http https xh": "-a -v -b",
    "zip unzip": "-P -r -e -o -q",
}
"""Common words, which are commands only before these."""
_ALONE = [name for name in _BY_COMMAND if not any(name in names.split() for names in _OF_TWO_WORDS)]
_AT_ONCE = 20
"""The engine looks for so many words as quickly as for one, and for more of them much more slowly."""
PATTERNS = tuple(
    rb"(?P<command>" + _any_of(_ALONE[start : start + _AT_ONCE]) + rb")(?:\.exe)?[ \t]"
    for start in range(0, len(_ALONE), _AT_ONCE)
)
WITH_SUBCOMMAND = (
    rb"(?P<command>"
    + b"|".join(
        rb"(?:" + _any_of(names.split()) + rb")[ \t]{1,3}(?:" + _any_of(words.split()) + rb")"
        for names, words in _OF_TWO_WORDS.items()
    )
    + rb")[ \t]"
)
COOKIE = rb"(?:curl|wget|xh|http)[ \t][^\r\n\x1e]{0,2000}?(?:-b|--cookie)[ \t=]"
PIPED = (
    rb"(?:echo|printf)[ \t]{1,3}(?:-[ne]{1,2}[ \t]{1,3})?[\"']?(?P<secret>[^\r\n|\"'\x1e]{4,200}?)"
    rb"[\"']?[ \t]{0,3}\|[ \t]{0,3}"
    rb"(?:base64[ \t]{1,3}(?:-[dD]|--decode)[ \t]{0,3}\|[ \t]{0,3})?(?:[^\r\n|\x1e]{0,60}?[ \t])?"
    rb"(?:sudo[ \t]{1,3}(?:-[A-Za-z]{1,10}[ \t]{1,3}){0,3}-[A-Za-z]{0,10}S|chpasswd|[a-z0-9"
    rb" -]{1,60}stdin|[a-z ]{1,30}--with-token"
    rb"|cryptsetup|passwd|su[ \t]|gpg[^\r\n|]{0,60}--passphrase-fd|smbpasswd)"
)
HERE_STRING = (
    rb"(?:sudo|passwd|chpasswd|login|cryptsetup|su|auth)[ \t][^\r\n\x1e]{0,80}<<<[ \t]{0,3}"
    rb"[\"']?(?P<secret>[^\r\n\"'\x1e]{4,200})"
)
SET_BY_NAME = (
    rb"(?i)(?P<word>(?:pass(?:w(?:or)?d|phrase)?|pwd|secret|token|key)[A-Za-z0-9_.-]{0,24})[\"']?[ \t]{1,3}"
    rb"(?:(?:--body|--value|-b)[ \t=])?[\"']?(?P<secret>[!-/:-~]{0,40}[0-9][!-~]{3,400})"
)
VALUE_OPTION = (
    rb"(?i)--(?:secret-string|secret-value|secret-data|value|body|data|string|seed|key)[ \t=]{1,3}"
    rb"(?:\"(?P<double>[^\"\r\n\x1e]{4,400})\"|'(?P<single>[^'\r\n\x1e]{4,400})'"
    rb"|(?P<bare>[^\s\"'`\\|;&<>\x1e]{4,400}))"
)
"""`aws ssm put-parameter --type SecureString --value …`: the rest of the command says that it is one."""
VALUE_OPTIONS = (b"--secret-", b"--value", b"--body", b"--data", b"--string")
SENT = rb"send(?:_user|line)?(?:[ \t]{1,3}--)?[ \t(]{1,3}[\"']"
"""What a script of `expect` types."""
ENCODED = rb"(?i)(?:powershell|pwsh)(?:\.exe)?[ \t]"
PRINTED = (
    rb"(?i)(?:passw?o?r?d?[ \t]{1,2}(?:show|-c)|--reveal|[ :]auth[ :](?:print-)?(?:access-)?token"
    rb"|token[ \t]create|create[ \t]token"
    rb"|get-login-password|print-access-token|print-identity-token|jsonpath=\S{0,80}(?:passw|token"
    rb"|secret|key)"
    rb"|secrets?[ \t](?:get|view|show|read|versions[ \t]access|access)|get-secret-value"
    rb"|find-(?:generic|internet)-password"
    rb"|secret-tool[ \t]lookup|pwgen|openssl[ \t]rand|apg[ \t]-|output[ \t]-(?:raw|json)|oathtool"
    rb"|keyring[ \t]get|read[ \t]op:|bw[ \t]get"
    rb"|(?:cat|less|head|tail|more|type|get-content)[ \t]{1,2}\S{0,100}(?:secret|passw|token|\.key"
    rb"|_key|api[_-]?key|vault[_-]pass|credential)"
    rb"|(?:echo|printenv|print)[ \t]{1,2}[\"']?\$?\{?[A-Za-z_]{0,40}(?:PASS|SECRET|TOKEN|KEY"
    rb"|PWD)[A-Za-z_]{0,20}"
    rb"|base64[ \t]{1,2}(?:-[dD]|--decode)|gpg[ \t]{1,2}(?:-d|--decrypt|-q))"
)
"""A command that prints a secret."""
_PRINTS = re.compile(PRINTED)
PRINTING = (
    *(
        b"pass",
        b"--reveal",
        b"auth",
        b"token",
        b"get-login",
        b"print",
        b"jsonpath",
        b"secret",
        b"get-secret",
        b"find-",
    ),
    *(
        b"pwgen",
        b"openssl",
        b"apg",
        b"output",
        b"oathtool",
        b"keyring",
        b"read op:",
        b"bw get",
        b"cat ",
        b"less ",
        b"head ",
    ),
    *(b"tail ", b"more ", b"type ", b"get-content", b"echo ", b"printenv", b"base64 ", b"gpg "),
)
_COOKIE = re.compile(rb"(?P<name>[A-Za-z0-9_.-]+)=(?P<value>[^;,\s\"'`\\]{8,})")
_IS_NAME = re.compile(rb"[_.]|\A--?\w|\A[A-Z]{6,}\Z")
"""What tells a name from a word."""
_NO_ARGUMENT = re.compile(rb"[-$<({\[|&/%~\\]|\.{1,2}/|@[\w./-]+$")


def given(match: Match) -> Iterator[Secret]:
    """The secrets in the options of a command."""
    text = match.string
    command = match["command"].split()[0]
    before = text[max(match.start() - 1, 0) : match.start()]
    if re.match(rb"[\w.-]", before) and text[max(match.start() - 2, 0) : match.start()] != b"\\n":
        return
    start = match.start() + len(command)
    written = _line(text, start)
    if b" -" not in written and b" /" not in written and command not in _WITHOUT_OPTIONS:
        return
    for option in _BY_COMMAND[command.decode()]:
        for found in option.finditer(written):
            group = next(name for name, value in found.groupdict().items() if value is not None)
            value = found[group]
            if is_argument(value) and (option not in _OF_STRONG or is_strong(value)):
                yield Secret(start + found.start(group), start + found.end(group), "password")


def cookies(match: Match) -> Iterator[Secret]:
    """The values of the cookies that a command sends."""
    start = match.start()
    found = _COOKIES.search(_line(match.string, start))
    if found is None:
        return
    start += found.start("cookies")
    for cookie in _COOKIE.finditer(found["cookies"]):
        if not is_placeholder(cookie["value"]) and not _NO_ARGUMENT.match(cookie["value"]):
            yield Secret(start + cookie.start("value"), start + cookie.end("value"), "cookie")


def _line(text: bytes, start: int) -> bytes:
    """The rest of a command, with the lines that a backslash ties to it."""
    end = text.find(b"\n", start)
    while end != -1 and text[end - 1 : end] == b"\\" and end - start < _LONGEST_COMMAND:
        end = text.find(b"\n", end + 1)
    return text[start : min(end if end != -1 else len(text), start + _LONGEST_COMMAND)]


_LONGEST_COMMAND = 4000


def piped(match: Match) -> Iterator[Secret]:
    """What is given to a command on its standard input: a password, or a user and a password."""
    start, end = match.span("secret")
    value = match["secret"]
    user, colon, password = value.partition(b":")
    if b"chpasswd" in match[0] and colon:
        start, value = start + len(user) + 1, password
    if is_argument(value) and b" " not in value.strip():
        yield Secret(start, end, "password")


def set_by_name(match: Match) -> Iterator[Secret]:
    """`aws configure set aws_secret_access_key …`, `ENV DB_PASSWORD …`: a name, a blank, and the value."""
    name_start, name_end = start_of_name(match.string, match.start()), match.end("word")
    name = match.string[name_start:name_end]
    if not _IS_NAME.search(name):
        return
    said = named(name.strip(b"-.$").decode("ascii", "replace"))
    value = re.split(rb"[\"'`\\;|&<>,]", match["secret"])[0]
    is_likely = is_argument(value) and (is_strong(value) or is_random(value, hash_is_secret=True))
    if match.string[max(name_start - 4, 0) : name_start] == b"ENV ":
        is_likely = is_argument(value) and (said is None or said.label == "password" or is_chosen(value))
    if said and said.trust is Trust.SURE and is_likely:
        yield Secret(match.start("secret"), match.start("secret") + len(value), said.label)


def option_value(match: Match) -> Iterator[Secret]:
    """Yield the value of an option whose command says that it is a secret."""
    text = match.string
    group = next(name for name, value in match.groupdict().items() if value is not None)
    start, end = match.span(group)
    line_start = text.rfind(b"\n", 0, match.start()) + 1
    before = text[max(line_start, match.start() - 300) : match.start() + 10]
    after = _line(text, end)[:300]
    if _ABOUT_SECRET.search(before) or b"SecureString" in after:
        value = match[group]
        if is_argument(value) and (is_chosen(value) or is_random(value, hash_is_secret=True)):
            yield Secret(start, end, "option")


_ABOUT_SECRET = re.compile(
    rb"(?i)securestring|--secret-|secret[ _-]|passw|[ /_-](?:token|api-?key|password|secret)\b"
)


def sent(match: Match) -> Iterator[Secret]:
    """Yield what a script types where it is asked for a password, or what looks like one."""
    text = match.string
    typed = _TYPED.match(text, match.end())
    if typed is None:
        return
    value = typed["secret"]
    asked = re.search(rb"(?i)assword|assphrase|token|PIN", text[max(match.start() - 160, 0) : match.start()])
    if not is_placeholder(value) and b" " not in value and (is_chosen(value) if asked else is_strong(value)):
        yield Secret(*typed.span("secret"), "password")


_TYPED = re.compile(rb"(?P<secret>[^\"'\r\n\x1e]{4,200}?)(?:\\{1,2}[rn])?[\"']")


def encoded(match: Match) -> Iterator[Secret]:
    """Yield a script in base64 that sets a secret."""
    option = _ENCODED.match(match.string, match.end())
    if option is None:
        return
    size = len(option["secret"]) // 4 * 4
    try:
        script = base64.b64decode(option["secret"][:size]).decode("utf-16-le").encode()
    except ValueError:
        return
    if any(found for name in _ASSIGNMENT.finditer(script) for found in assigned(name)):
        yield Secret(*option.span("secret"), "base64")


_ENCODED = re.compile(
    rb"(?i)[^\r\n\x1e]{0,200}?-e(?:c|nc|ncodedcommand)?[ \t]{1,3}"
    rb"[\"']?(?P<secret>[A-Za-z0-9+/]{40,8000}={0,2})"
)


_ASSIGNMENT = re.compile(PATTERN)


def printed_below(match: Match) -> Iterator[Secret]:
    """Yield what a command prints below itself."""
    below = _PRINTED_BELOW.match(match.string, match.end())
    if below is None:
        return
    start, command = below.start("secret"), match.string[match.start() : below.start("secret")]
    for secret in printed(below["secret"], command):
        yield Secret(start + secret.start, start + secret.end, secret.rule)


_PRINTED_BELOW = re.compile(
    rb"[^\r\n\x1e]{0,200}(?:\r?\n|\\n)(?P<secret>[!-~]{6,400})[ \t]{0,8}(?:[\r\n\x1e]|\\n)"
)


def prints_secret(command: str) -> bool:
    """Return whether a command ends with printing a secret."""
    # Nearly all commands do something else, and to look for words is much quicker than for patterns.
    if len(command) >= _LONGEST_COMMAND or not any(word in command for word in _OF_PRINTING):
        return False
    return _PRINTS.search(encode(command)) is not None


_OF_PRINTING = (
    *(
        "pass",
        "PASS",
        "secret",
        "SECRET",
        "token",
        "TOKEN",
        "reveal",
        "pwgen",
        "openssl",
        "oathtool",
        "base64 -",
    ),
    *("gpg -", "_KEY", "key"),
)


def printed(output: bytes, command: bytes = b"") -> list[Secret]:
    """Return the secret in what a command printed: one word, or a user and one word."""
    found = _ONE_WORD.fullmatch(output)
    if found is None:
        return []
    start, value = found.start("secret"), found["secret"]
    if b"oathtool" in command and value.isdigit():
        return [Secret(start, start + len(value), "one-time-code")]
    is_password = is_chosen(value) if _FROM_STORE.search(command) else is_strong(value)
    is_password = is_password or is_random(value, hash_is_secret=b"base64" not in command)
    return (
        [Secret(start, start + len(value), "password")] if is_password and not is_placeholder(value) else []
    )


_FROM_STORE = re.compile(
    rb"--reveal|pass[ \t]+show|bw[ \t]+get[ \t]+password|read[ \t]+op:|internet-password"
    rb"|generic-password|get-secret"
)
_ONE_WORD = re.compile(rb"\s*(?:[A-Za-z0-9_.@-]{1,40}[,:\t])?[\"']?(?P<secret>[^\s\"',:]{6,400})[\"']?\s*")


def is_argument(value: bytes) -> bool:
    """Whether an argument is a value, and not another option, a variable, a path or a number of a port."""
    return (
        len(value) >= 4
        and not value.isdigit()
        and not is_placeholder(value)
        and not _NO_ARGUMENT.match(value)
    )
