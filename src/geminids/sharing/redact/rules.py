"""Our own rules: tokens that can be told by how they begin, and secrets told by what stands around them.

They are all there is in the reduced set. With the engine they are looked for by it, together with its own
rules, and what it points at is then looked at here: so both find the same by our rules. For that the patterns
keep to what Python's regular expressions and the engine's understand alike: no looking ahead or behind, no
references back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from geminids.sharing.redact import assignments, calls, commands, shapes, spoken, tables
from geminids.sharing.redact.assignments import Match, Secret
from geminids.sharing.redact.plausibility import is_placeholder, is_random, is_user_and_password

_ESCAPED = re.compile(rb"\\[nrt]")
_IN_WORD = re.compile(rb"[A-Za-z0-9]")
_FETCHES = re.compile(rb"\b(?:curl|wget|https?|xh)\b")
_KEY_TO_ITS_END = re.compile(
    rb"(?:[^-\x1e]|-(?!----(?:BEGIN|END)))*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
)
_KEY_MATERIAL = re.compile(rb"[A-Za-z0-9+/=]{20,}")
_BETWEEN_KEY_LINES = rb"(?:\\[nr]|[\s\"'+|>,\\-]){0,200}"
_KEY_BEGUN = re.compile(rb"[A-Z ]{0,40}-----")
_KEY_HEADER = re.compile(
    _BETWEEN_KEY_LINES + rb"(?:[^\r\n\x1e]{0,40}?\s)?[A-Z][A-Za-z-]{3,20}: [^\r\n\\\x1e]{1,100}"
)
_KEY_LINE = re.compile(
    _BETWEEN_KEY_LINES + rb"(?:(?<=[\s|nr])[^\r\n\x1e]{1,40}?(?<![A-Za-z0-9+/=]))?[A-Za-z0-9+/=]{40,}"
)
"""Something may stand before it: its number, a sign of a diff, the name of a file."""
_KEY_LAST_LINE = re.compile(_BETWEEN_KEY_LINES + rb"(?:\d{1,6}[\t :|]{1,8})?[A-Za-z0-9+/=]{16,}")

KINDS = {
    "assignment": "value of a name such as password",
    "attachment": "picture or document, which cannot be searched",
    "authorization": "authorization header",
    "aws-key-id": "AWS access key id",
    "aws-secret-key": "AWS secret access key",
    "basic": "user and password in a header",
    "bearer": "bearer token",
    "cookie": "cookie",
    "credential": "credential",
    "crypt-hash": "hash of a password",
    "email": "e-mail address",
    "home": "home of a user",
    "jwt": "JSON web token",
    "key": "random value of a key",
    "name": "name of a user",
    "option": "option of a command",
    "pin": "PIN",
    "private-key": "private key",
    "project-hash": "hash of a folder in a home",
    "too-deep": "nested too deeply to be searched",
    "url-parameter": "signature or key in an address",
    "url-password": "password in an address",
    "url-token": "token in an address",
}
"""What a rule finds, in words, where its name does not say it."""


class Rule(NamedTuple):
    """Something to look for."""

    name: str
    pattern: re.Pattern[bytes]
    secrets: Callable[[Match], Iterable[Secret]]
    """The secrets in a match, if it is one."""
    keywords: tuple[bytes, ...]
    """A text with none of these, in small letters, need not be searched."""
    begins: bool = False
    """Whether every match begins with one of the keywords."""
    words: tuple[bytes, ...] = ()
    """The same as keywords, where they stand there as whole words: this is quicker to tell."""


def _token(
    name: str, pattern: bytes, *keywords: bytes, is_secret: Callable[[bytes], bool] | None = None
) -> Rule:
    """A token that is known by its beginning: nothing that belongs to a word may stand around it."""

    def secrets(match: Match) -> Iterator[Secret]:
        start, end = match.span("secret") if "secret" in match.re.groupindex else match.span()
        value = match.string[start:end]
        if (
            _stands_alone(match.string, match.start(), end)
            and not _is_shown_only(value)
            and (is_secret is None or is_secret(value))
        ):
            yield Secret(start, end, name)

    return Rule(name, re.compile(pattern), secrets, keywords or (_literal(pattern),))


def _context(
    name: str,
    pattern: bytes,
    *keywords: bytes,
    is_secret: Callable[[bytes], bool] | None = None,
    begins: bool = True,
) -> Rule:
    """A secret that is known by what stands before it."""

    def secrets(match: Match) -> Iterator[Secret]:
        start, end = match.span("secret")
        value = match.string[start:end]
        if not is_placeholder(value) and (is_secret is None or is_secret(value)):
            yield Secret(start, end, name)

    return Rule(name, re.compile(pattern), secrets, keywords, begins)


def _read(
    name: str,
    pattern: bytes,
    secrets: Callable[[Match], Iterable[Secret]],
    *words: bytes,
    parts: tuple[bytes, ...] = (),
) -> Rule:
    """Something that begins with one of the words, or of the parts of words, and that code looks through."""
    return Rule(name, re.compile(pattern), secrets, parts, begins=True, words=words)


def _prefixed(name: str, patterns: dict[bytes, bytes]) -> Rule:
    """Return one rule for the tokens of many services, by how they begin and what follows."""
    token = rb"(?:" + rb"|".join(re.escape(begin) + rest for begin, rest in patterns.items()) + rb")"
    return _token(name, token, *(begin.lower() for begin in patterns))._replace(begins=True)


def _literal(pattern: bytes) -> bytes:
    literal = re.match(rb"(?:[A-Za-z0-9_/-]|\\\.)+", pattern)
    return literal[0].replace(b"\\", b"").lower() if literal else b""


def _stands_alone(text: bytes, start: int, end: int) -> bool:
    """Whether no letter or digit touches it; the `n` of a line end that was written out is none."""
    before = text[max(start - 2, 0) : start]
    touched = _IN_WORD.match(before[-1:]) and not _ESCAPED.fullmatch(before)
    return not touched and not _IN_WORD.match(text[end : end + 1])


def _is_shown_only(value: bytes) -> bool:
    """Whether a token stands in a manual: it says so, or its letters are all the same."""
    return b"EXAMPLE" in value or len(set(value[8:])) < 4 or b"xxxx" in value.lower() or b"..." in value


def _is_mixed(value: bytes) -> bool:
    """Whether it has a long run of letters and digits, which names of things have not."""
    return any(re.search(rb"\d", run) and len(run) >= 16 for run in re.split(rb"[^A-Za-z0-9]+", value))


def _is_argument(value: bytes) -> bool:
    is_word = value.isdigit() or re.fullmatch(rb"[a-z]+|[A-Z_]+[\])>]+|(?i:null);?", value)
    return len(value) >= 4 and not is_word and re.match(rb"[-$<({\[|&/%.~\\]", value) is None


def _is_bearer(value: bytes) -> bool:
    return is_random(value, hash_is_secret=True)


def _is_user(value: bytes) -> bool:
    """Return whether a token stands where an address has a user; short hexadecimal numbers name machines."""
    return is_random(value, hash_is_secret=len(value) >= _LEAST_HASH)


_LEAST_HASH = 32


def _is_in_address(value: bytes) -> bool:
    return re.search(rb"[{}<>\s|]", value) is None and not value.startswith((b"$", b"%"))


def _users_and_passwords(match: Match) -> Iterator[Secret]:
    """What `curl -u` is given; elsewhere -u means something else."""
    line_start = match.string.rfind(b"\n", 0, match.start()) + 1
    before = match.string[max(line_start, match.start() - 400) : match.start()]
    start, end = match.span("secret")
    if _FETCHES.search(before) and _is_argument(match["secret"]) and not is_placeholder(match["secret"]):
        yield Secret(start, end, "password")


def _private_key(match: Match) -> Iterator[Secret]:
    """A whole private key, also where each of its lines has a sign before it, or its end was cut off."""
    text, start = match.string, match.start()
    whole = _KEY_TO_ITS_END.match(text, match.end())
    end = whole.end() if whole else _end_of_cut_key(text, match.end())
    if _KEY_MATERIAL.search(text, match.end(), end):
        yield Secret(start, end, "private-key")


def _end_of_cut_key(text: bytes, start: int) -> int:
    """Where a key ends of which only some lines are there."""
    begun = _KEY_BEGUN.match(text, start)
    end = start = begun.end() if begun else start
    while header := _KEY_HEADER.match(text, end):
        end = header.end()
    while line := _KEY_LINE.match(text, end):
        start = end = line.end()
    last = _KEY_LAST_LINE.match(text, end)
    return last.end() if last and start == end else start


TOKENS = (
    _token("aws-key-id", rb"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", b"akia", b"asia", b"abia", b"acca"),
    _token("github-token", rb"gh[pousr]_[A-Za-z0-9]{36,255}", b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"),
    _token("github-token", rb"github_pat_[A-Za-z0-9_]{36,255}"),
    _token(
        "gitlab-token",
        rb"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_=-]{20,300}(?:\."
        rb"[A-Za-z0-9_-]{2,60}){0,3}",
        *(b"glpat-", b"gldt-", b"glrt-", b"glcbt-", b"glptt-", b"glft-", b"glimt-", b"glagent-", b"gloas-"),
        *(b"glsoat-", b"glffct-"),
    ),
    _token("slack-token", rb"xox[abceoprs]-[A-Za-z0-9-]{10,250}", b"xox"),
    _token("slack-token", rb"xapp-[0-9]-[A-Za-z0-9-]{20,250}"),
    _token(
        "slack-webhook",
        rb"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/]{20,200})",
    ),
    _token(
        "stripe-key", rb"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,250}", b"k_live_", b"k_test_", b"k_prod_"
    ),
    _token("stripe-key", rb"whsec_[A-Za-z0-9+/=]{24,250}"),
    _token("google-api-key", rb"AIza[A-Za-z0-9_-]{35}"),
    _token("google-api-key", rb"AQ\.[A-Za-z0-9_-]{40,250}"),
    _token("google-token", rb"ya29\.[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]{4,}){0,4}"),
    _token("google-token", rb"1//0[A-Za-z0-9_-]{20,500}"),
    _token("google-secret", rb"GOCSPX-[A-Za-z0-9_-]{20,60}"),
    _token("anthropic-key", rb"sk-ant-[A-Za-z0-9_-]{20,250}"),
    _token("openai-key", rb"sk-[A-Za-z0-9_-]{20,250}", is_secret=_is_mixed),
    _token("hugging-face-token", rb"hf_[A-Za-z0-9]{30,80}"),
    _token("npm-token", rb"npm_[A-Za-z0-9]{36,80}"),
    _token("pypi-token", rb"pypi-[A-Za-z0-9_-]{50,500}"),
    _token("sendgrid-key", rb"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _token("mailgun-key", rb"key-[0-9a-f]{32}"),
    _token("twilio-key", rb"SK[0-9a-f]{32}", b"sk"),
    _token("discord-token", rb"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}", b"."),
    _token(
        "discord-webhook",
        rb"discord(?:app)?\.com/api/webhooks/[0-9]{15,24}/(?P<secret>[A-Za-z0-9_-]{60,90})",
        b"discord",
    ),
    _token("telegram-token", rb"(?:bot)?(?P<secret>[0-9]{8,10}:AA[A-Za-z0-9_-]{33})", b":aa"),
    _token("jwt", rb"eyJ[A-Za-z0-9_-]{10,1000}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", b"eyj"),
    _token("digitalocean-token", rb"do[opr]_v1_[0-9a-f]{64}", b"_v1_"),
    _token("heroku-key", rb"HRKU-[A-Za-z0-9_-]{30,80}"),
    _token("vault-token", rb"hv[sbr]\.[A-Za-z0-9_-]{20,300}", b"hvs.", b"hvb.", b"hvr."),
    _token("age-key", rb"AGE-SECRET-KEY-1[0-9A-Z]{50,80}"),
    _token("terraform-token", rb"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,100}", b".atlasv1."),
    _token("shopify-token", rb"shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}", b"shp"),
    _token("docker-token", rb"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,80}", b"dckr_"),
    _token("atlassian-token", rb"ATATT3[A-Za-z0-9_=-]{50,300}"),
    _token("databricks-token", rb"dapi[0-9a-f]{32}"),
    _token("new-relic-key", rb"NRAK-[A-Z0-9]{27}"),
    _token("grafana-token", rb"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    _token("linear-key", rb"lin_(?:api|oauth)_[A-Za-z0-9]{32,80}", b"lin_"),
    _token("notion-token", rb"ntn_[A-Za-z0-9]{40,60}"),
    _token("sentry-token", rb"sntry[su]_[A-Za-z0-9+/=_-]{40,300}", b"sntry"),
    _token("rubygems-key", rb"rubygems_[0-9a-f]{48}"),
    _token("figma-token", rb"figd_[A-Za-z0-9_-]{38,60}"),
    _token("postman-key", rb"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("groq-key", rb"gsk_[A-Za-z0-9]{40,80}"),
    _token("xai-key", rb"xai-[A-Za-z0-9]{60,100}"),
    _token("replicate-token", rb"r8_[A-Za-z0-9]{37}"),
    _token("perplexity-key", rb"pplx-[A-Za-z0-9]{40,60}"),
    _token("supabase-token", rb"sb(?:p_[0-9a-f]{40}|_secret_[A-Za-z0-9_-]{20,60})", b"sbp_", b"sb_secret_"),
    _token("tailscale-key", rb"tskey-[a-z]{2,10}-[A-Za-z0-9]{6,20}-[A-Za-z0-9]{20,60}"),
    _token("doppler-token", rb"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.]{40,80}", b"dp."),
    _token("pulumi-token", rb"pul-[0-9a-f]{40}"),
    _token("prefect-token", rb"pn[ub]_[A-Za-z0-9]{36}", b"pnu_", b"pnb_"),
    _token("sourcegraph-token", rb"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    _token("octopus-key", rb"API-[A-Z0-9]{26,32}", is_secret=_is_mixed),
    _prefixed(
        "service-token",
        {
            b"sk_": rb"[0-9a-f]{48}",
            b"fw_": rb"[A-Za-z0-9]{22,40}",
            b"cfut_": rb"[A-Za-z0-9_-]{36,60}",
            b"cfat_": rb"[A-Za-z0-9_-]{36,60}",
            b"nfp_": rb"[A-Za-z0-9]{30,50}",
            b"ops_ey": rb"[A-Za-z0-9_-]{40,1500}",
            b"sl.u.": rb"[A-Za-z0-9_-]{40,1500}",
            b"APA91b": rb"[A-Za-z0-9_-]{60,250}",
            b"sk.eyJ": rb"[A-Za-z0-9_-]{20,200}\.[A-Za-z0-9_-]{15,60}",
            b"IQoJb3JpZ2lu": rb"[A-Za-z0-9+/=]{60,3000}",
            b"AKID": rb"[A-Za-z0-9]{32}",
            b"AQVN": rb"[A-Za-z0-9_-]{30,40}",
            b"LTAI": rb"[A-Za-z0-9]{12,24}",
            b"pat-": rb"(?:na|eu)[0-9]-[0-9a-f-]{36}",
            b"sk-lf-": rb"[0-9a-f-]{36}",
            b"lsv2_": rb"[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}",
            b"tvly-": rb"(?:dev-|prod-)?[A-Za-z0-9]{20,60}",
            b"fc-": rb"[0-9a-f]{32}",
            b"as-": rb"[A-Za-z0-9]{22}",
            b"rpa_": rb"[A-Za-z0-9]{36,60}",
            b"nvapi-": rb"[A-Za-z0-9_-]{40,100}",
            b"csk-": rb"[a-z0-9]{40,60}",
            b"jina_": rb"[A-Za-z0-9_-]{40,80}",
            b"dG9rO": rb"[A-Za-z0-9+/=_-]{40,100}",
            b"squ_": rb"[0-9a-f]{40}",
            b"sqp_": rb"[0-9a-f]{40}",
            b"syt_": rb"[A-Za-z0-9]{2,60}_[A-Za-z]{20}_[A-Za-z0-9]{6}",
            b"xkeysib-": rb"[0-9a-f]{64}-[A-Za-z0-9]{16}",
            b"sq0csp-": rb"[A-Za-z0-9_-]{40,50}",
            b"CFPAT-": rb"[A-Za-z0-9_-]{40,60}",
            b"CCIPAT_": rb"[A-Za-z0-9]{15,40}_[0-9a-f]{40}",
            b"pscale_": rb"(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,64}",
            b"napi_": rb"[a-z0-9]{50,80}",
            b"rnd_": rb"[A-Za-z0-9]{28,40}",
            b"phx_": rb"[A-Za-z0-9]{40,60}",
            b"glc_ey": rb"[A-Za-z0-9+/=]{40,400}",
            b"fm2_": rb"[A-Za-z0-9+/=]{60,1000}",
            b"ATCTT3": rb"[A-Za-z0-9_=-]{50,300}",
            b"EAAA": rb"[A-Za-z0-9_-]{60}",
        },
    ),
    _token("azure-secret", rb"[A-Za-z0-9_.~-]{3}[78]Q~[A-Za-z0-9_.~-]{31,34}", b"8q~", b"7q~"),
    _token(
        "bitwarden-token",
        rb"0\.[0-9a-f]{8}-[0-9a-f-]{27}\.[A-Za-z0-9]{20,40}:[A-Za-z0-9+/=]{20,40}",
        b"0.",
    ),
    _token("wallet-key", rb"[xyz]prv[A-Za-z0-9]{100,112}", b"prv"),
    _token(
        "crypt-hash", rb"\$(?:apr1|1|argon2id?)\$[./A-Za-z0-9=$,+]{20,200}", b"$apr1$", b"$1$", b"$argon2"
    ),
    _token("crypt-hash", rb"\$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}", b"$2"),
    _token("crypt-hash", rb"\$(?:5|6|y|7)\$[./A-Za-z0-9=$,]{20,200}", b"$5$", b"$6$", b"$y$", b"$7$"),
)

_NAMED = (b"pass", b"pw", b"secret", b"token", b"key")

CONTEXTS = (
    Rule(
        "private-key",
        re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY"),
        _private_key,
        (b"-----begin ",),
        begins=True,
    ),
    Rule(
        "assignment",
        re.compile(assignments.PATTERN),
        assignments.assigned,
        (
            *(b"pass", b"pw", b"secret", b"token", b"jwt", b"key", b"cred", b"auth", b"cookie", b"psk"),
            *(b"bearer", b"salt", b"_pat"),
        ),
        begins=True,
    ),
    Rule(
        "pair",
        re.compile(
            rb"(?i)(?:name|key)\\{0,4}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,4}[\"']?"
            rb"(?P<name>[A-Za-z0-9_.-]{3,60})"
            rb"\\{0,4}[\"']?,?(?:\\n|[\s+-]){0,24}"
            rb"\\{0,4}[\"']?value\\{0,4}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,4}[\"']?"
            rb"(?P<secret>[^\s\"'\\<>]{4,400})"
        ),
        assignments.in_pair,
        (b"name", b"key"),
        begins=True,
    ),
    _context(
        "aws-secret-key",
        rb"(?:AKIA|ASIA)[A-Z0-9]{16}[\s,:;|\"'/]{1,8}(?P<secret>[A-Za-z0-9/+]{40})",
        b"akia",
        b"asia",
    ),
    _context(
        "bearer", rb"(?i)bearer[ \t]{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{12,})", b"bearer", is_secret=_is_bearer
    ),
    _context(
        "basic",
        rb"(?i)basic[ \t]{1,4}(?P<secret>[A-Za-z0-9+/]{8,}={0,2})",
        b"basic",
        is_secret=is_user_and_password,
    ),
    _context(
        "url-password",
        rb"://[^\s/:@\"'`<>\\]{0,100}:(?P<secret>[^\s/\"'`<>\\]{1,256})@[A-Za-z0-9_.\[-]",
        b"://",
        is_secret=_is_in_address,
    ),
    _context(
        "url-token",
        rb"://(?P<secret>[A-Za-z0-9_-]{20,256})(?::[a-z-]{0,40})?@[A-Za-z0-9]",
        b"://",
        is_secret=_is_user,
    ),
    _context(
        "url-parameter",
        rb"(?i)[?&](?:key|sig|signature|code|auth|sas|hmac|x-amz-signature|x-goog-signature)="
        rb"(?P<secret>[A-Za-z0-9%+/=._~-]{16,})",
        *(
            sign + name
            for sign in (b"?", b"&")
            for name in (b"key", b"sig", b"code", b"auth", b"sas", b"hmac", b"x-")
        ),
        is_secret=_is_bearer,
    ),
    _context(
        "password",
        rb"(?i)(?:login|account|user)[ \t\n]{1,8}[^\s]{1,100}[ \t\n]{1,8}password[ \t]{1,8}"
        rb"(?P<secret>[^\s\"']{3,200})",
        *(b"login", b"account", b"user"),
        is_secret=_is_argument,
    ),
    _read("said", spoken.PASSWORD, spoken.password, *spoken.ENGLISH_WORDS),
    _read("said", spoken.IN_OTHER_WORDS, spoken.password, *spoken.FOREIGN_WORDS),
    _read("said", spoken.DIRECT, spoken.direct, *spoken.ENGLISH_WORDS, b"pass", b"pw"),
    _read("said", spoken.FOREIGN_DIRECT, spoken.direct, *spoken.FOREIGN_WORDS),
    _read("said", spoken.KEY, spoken.key, *spoken.KEY_WORDS),
    _read("said", spoken.FOREIGN_KEY, spoken.key, *spoken.FOREIGN_KEYS),
    _read("said", spoken.BELOW, spoken.below, *spoken.ENGLISH_WORDS),
    _read("said", spoken.FOREIGN_BELOW, spoken.below, *spoken.FOREIGN_WORDS),
    _read("said", spoken.KEY_BELOW, spoken.below, *spoken.KEYS_BELOW),
    _read("said", spoken.USED_AS, spoken.used_as, *spoken.USED_WORDS),
    _read("said", spoken.LOGIN, spoken.login, *spoken.LOGIN_WORDS),
    _read("said", spoken.NEAR, spoken.near, parts=spoken.NEAR_WORDS),
    _read("one-time-code", spoken.CODE, spoken.code, *spoken.CODE_WORDS),
    Rule("one-time-code", re.compile(spoken.CODE_BEFORE), spoken.code_before, (), words=spoken.BEFORE_CODES),
    _read("recovery-code", spoken.RECOVERY_CODES, spoken.recovery_codes, *spoken.RECOVERY_WORDS),
    _read("recovery-phrase", spoken.SEED, spoken.seed, *spoken.SEED_WORDS),
    _read("private-key", spoken.PUTTY, spoken.putty, b"private"),
    _read("call", calls.NAME_AND_VALUE, calls.name_and_value, parts=calls.NAMES),
    _read("call", calls.USER_AND_PASSWORD, calls.user_and_password, *calls.DOORS, parts=(b"auth",)),
    _read("call", calls.COMPARED, calls.compared, parts=_NAMED),
    _read("call", calls.BLOCK, calls.in_block, b"variable", b"parameter", b"param", b"setting"),
    _read("markup", shapes.TAG, shapes.in_tag, parts=shapes.TAGS),
    Rule("markup", re.compile(shapes.PLIST), shapes.below_name, (b"</key>", b"</name>")),
    _read("jwk", shapes.JWK, shapes.in_jwk, parts=(b"kty",)),
    _read("result", shapes.RESULT, shapes.result, parts=(b"random_password",)),
    _read("cookie", shapes.COOKIE_LINE, shapes.cookie, parts=shapes.COOKIE_LINES),
    _read("password", shapes.CHPASSWD, shapes.chpasswd, b"chpasswd"),
    _read("private-key", shapes.ETHEREUM, shapes.ethereum, parts=(b"0x",)),
    _context("wifi", shapes.WIFI, b"wifi:"),
    _read("webhook", shapes.HOOK, shapes.in_hook, parts=(b"hook",)),
    _read("call", calls.SECURE_STRING, calls.alone, b"convertto", b"networkcredential"),
    _read("sql", calls.SQL, calls.in_sql, b"identified", b"password", b"with"),
    _read("sql", calls.UNQUOTED_SQL, calls.in_unquoted_sql, b"identified"),
    _read("sql", tables.INSERT, tables.inserted, b"insert"),
    _read("url-password", calls.ORACLE, calls.alone, b"oracle"),
    _read("column", tables.PATTERN, tables.columns, parts=_NAMED),
    _read("column", tables.CSV, tables.csv_columns, parts=_NAMED),
    _context(
        "option",
        rb"(?i)--(?:[a-z0-9]{1,20}-){0,3}(?:password|passwd|pass|passphrase|token|secret|api-?key"
        rb"|access-?key|"
        rb"secret-?key|auth-?token)[ \t]{1,4}[\"']?(?P<secret>[^\s\"'`;|&<>\\]{4,400})",
        b"--",
        is_secret=_is_argument,
    ),
    Rule(
        "password",
        re.compile(
            rb"[ \t](?:-[A-Za-z]{0,6}u|--user|--proxy-user)[ \t=]{0,4}[\"']?[^\s:\"'`\\]{1,100}:"
            rb"(?P<secret>[^\s\"'`\\]{1,200})"
        ),
        _users_and_passwords,
        (b" -", b"\t-u"),
        begins=True,
    ),
    *(_read("command", pattern, commands.given, *commands.NAMES) for pattern in commands.PATTERNS),
    _read("command", commands.WITH_SUBCOMMAND, commands.given, *commands.NAMES),
    _read("command", commands.COOKIE, commands.cookies, b"curl", b"wget", b"xh", b"http"),
    _read("command", commands.PIPED, commands.piped, b"echo", b"printf"),
    _read("command", commands.HERE_STRING, commands.piped, *commands.HERE_COMMANDS),
    _read("option", commands.VALUE_OPTION, commands.option_value, parts=commands.VALUE_OPTIONS),
    _read("command", commands.SENT, commands.sent, parts=(b"send",)),
    _read("command", commands.ENCODED, commands.encoded, b"powershell", b"pwsh"),
    _read("printed", commands.PRINTED, commands.printed_below, parts=commands.PRINTING),
    _read(
        "setting", commands.SET_BY_NAME, commands.set_by_name, b"pass", b"pwd", b"secret", b"token", b"key"
    ),
    _context(
        "password",
        rb"[A-Za-z0-9_.*-]{1,100}:(?:543[0-9]|\*):[A-Za-z0-9_*-]{1,60}:[A-Za-z0-9_*-]{1,60}:"
        rb"(?P<secret>[^\s:\"']{4,100})",
        *(b":543", b":*:"),
        begins=False,
    ),
)

OURS = (*TOKENS, *CONTEXTS)


def kind(rule: str) -> str:
    """What a rule finds, in words."""
    return KINDS.get(rule) or rule.replace("-", " ")
