"""Secrets that nobody ever had, and words that only look like some.

All of them are put together here, from pieces and from a fixed seed, so that no file of ours holds what a
scanner of a forge would take for a live token. `planted()` should be found, `look_alikes()` should stay.
"""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from geminids.core.model import (
    Attachment,
    Counts,
    Diff,
    FileChange,
    FileReference,
    KnownBy,
    Level,
    Location,
    Message,
    Operation,
    Origin,
    Plain,
    Project,
    Role,
    Screen,
    Session,
    SessionFile,
    SessionKind,
    State,
    Status,
    Text,
    Thought,
    ToolCall,
    ToolKind,
    ToolStatus,
    Unrecognised,
    Usage,
)

LETTERS = string.ascii_letters + string.digits
URL_SAFE = LETTERS + "_-"
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"
STARTED = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Planted:
    """A secret that was made up, in the words it stands in."""

    kind: str
    secrets: tuple[str, ...]
    """What must not be seen afterwards; of a private key, its lines."""
    text: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    """Where it stands under a key rather than in a text."""
    is_token: bool = False
    """Whether it can be told without the words around it."""

    @property
    def places(self) -> list[str]:
        """The places of a session that it can stand in."""
        if self.arguments:
            return ["argument"]
        return [*PLACES, *PATHS] if self.is_token else list(PLACES)


def planted() -> list[Planted]:
    """All secrets, the same in every run."""
    return [
        *_tokens(_Maker(11)),
        *_in_settings(_Maker(12)),
        *_in_traffic(_Maker(13)),
        *_keys(_Maker(14)),
        *_named(_Maker(15)),
        *_parted(_Maker(16)),
        *_like_placeholders(_Maker(17)),
    ]


@cache
def cases() -> list[dict[str, Any]]:
    """What people and programs tell: `said` by whom, the `secrets` in it, and what must `stay`."""
    lines = Path(__file__).with_name("planted_cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


class _Maker:
    """Random words of a fixed seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def of(self, alphabet: str, size: int) -> str:
        """A random word in which every kind of letter of the alphabet occurs."""
        kinds = [
            set(kind) & set(alphabet)
            for kind in (string.ascii_lowercase, string.ascii_uppercase, string.digits)
        ]
        while True:
            word = "".join(self._random.choices(alphabet, k=size))
            if word[0].isalnum() and word[-1].isalnum() and all(set(word) & kind for kind in kinds if kind):
                return word

    def letters(self, size: int) -> str:
        return self.of(LETTERS, size)

    def url_safe(self, size: int) -> str:
        return self.of(URL_SAFE, size)

    def hex(self, size: int) -> str:
        return self.of(HEX, size)

    def uuid(self) -> str:
        return "-".join(self.hex(size) for size in (8, 4, 4, 4, 12))

    def password(self) -> str:
        return self.of(LETTERS, 9) + self._random.choice("!#+") + self.of(LETTERS, 4)

    def base64(self, size: int) -> str:
        return base64.b64encode(self._random.randbytes(size)).decode()

    def jwt(self) -> str:
        parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": self.letters(10), "name": "Ada", "iat": 1516239022}]
        encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
        return ".".join([*encoded, self.url_safe(43)])

    def pem(self, kind: str, size: int = 600) -> str:
        body = self.base64(size)
        lines = [body[start : start + 64] for start in range(0, len(body), 64)]
        return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])


def _tokens(make: _Maker) -> Iterator[Planted]:
    """Tokens that say themselves what they are, in sentences and commands."""
    tokens = [
        ("AWS key id", "AK" + "IA" + make.of(BASE32, 16)),
        ("AWS session key id", "AS" + "IA" + make.of(BASE32, 16)),
        ("GitHub classic token", "gh" + "p_" + make.letters(36)),
        ("GitHub OAuth token", "gh" + "o_" + make.letters(36)),
        ("GitHub app token", "gh" + "s_" + make.letters(36)),
        ("GitHub fine-grained token", "github" + "_pat_" + make.letters(22) + "_" + make.letters(59)),
        ("GitLab token", "gl" + "pat-" + make.url_safe(20)),
        ("GitLab runner token", "gl" + "rt-" + make.url_safe(20)),
        ("Slack bot token", "xo" + "xb-" + "123456789012-1234567890123-" + make.letters(24)),
        ("Slack app token", "xa" + "pp-1-" + "A0" + make.of(BASE32, 9) + "-1234567890123-" + make.hex(64)),
        ("Stripe live key", "sk" + "_live_" + make.letters(24)),
        ("Stripe restricted key", "rk" + "_live_" + make.letters(24)),
        ("Stripe webhook secret", "wh" + "sec_" + make.letters(32)),
        ("Google API key", "AI" + "za" + make.url_safe(35)),
        ("Google access token", "ya" + "29." + make.url_safe(120)),
        ("Google refresh token", "1/" + "/0" + make.url_safe(60)),
        ("Google client secret", "GOC" + "SPX-" + make.url_safe(28)),
        ("OpenAI key", "s" + "k-" + make.letters(20) + "T3Blbk" + "FJ" + make.letters(20)),
        ("OpenAI project key", "s" + "k-proj-" + make.url_safe(74) + "T3Blbk" + "FJ" + make.url_safe(74)),
        ("Anthropic key", "s" + "k-ant-api03-" + make.url_safe(93) + "AA"),
        ("Hugging Face token", "h" + "f_" + make.of(string.ascii_letters, 34)),
        ("npm token", "np" + "m_" + make.letters(36)),
        ("PyPI token", "py" + "pi-AgEIcHlwaS5vcmc" + make.url_safe(70)),
        ("SendGrid key", "S" + "G." + make.url_safe(22) + "." + make.url_safe(43)),
        ("Twilio key", "S" + "K" + make.hex(32)),
        ("Mailgun key", "ke" + "y-" + make.hex(32)),
        ("Discord bot token", "M" + make.letters(25) + "." + make.letters(6) + "." + make.url_safe(38)),
        ("Telegram bot token", "1234567890:" + "AA" + make.url_safe(33)),
        ("JSON web token", make.jwt()),
        ("DigitalOcean token", "do" + "p_v1_" + make.hex(64)),
        ("Heroku key", "HR" + "KU-AA" + make.url_safe(58)),
        ("Vault token", "hv" + "s." + make.url_safe(90)),
        ("age key", "AGE-" + "SECRET-KEY-1" + make.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
        ("Terraform token", make.letters(14) + "." + "atlas" + "v1." + make.url_safe(60)),
        ("Shopify token", "shp" + "at_" + make.hex(32)),
        ("Docker Hub token", "dc" + "kr_pat_" + make.url_safe(27)),
        ("Databricks token", "da" + "pi" + make.hex(32)),
        ("Grafana token", "gl" + "sa_" + make.letters(32) + "_" + make.hex(8)),
        ("Linear key", "lin" + "_api_" + make.letters(40)),
        ("New Relic key", "NR" + "AK-" + make.of(BASE32, 27)),
        ("Postman key", "PM" + "AK-" + make.hex(24) + "-" + make.hex(34)),
        ("Groq key", "gs" + "k_" + make.letters(52)),
        ("Atlassian token", "ATA" + "TT3" + make.url_safe(60)),
        ("Doppler token", "dp" + ".st." + make.letters(44)),
        ("Figma token", "fi" + "gd_" + make.url_safe(40)),
        ("Gemini key", "A" + "Q." + make.url_safe(50)),
        ("Notion token", "nt" + "n_" + make.letters(46)),
        ("Perplexity key", "pp" + "lx-" + make.letters(48)),
        ("Replicate token", "r" + "8_" + make.letters(37)),
        ("RubyGems key", "ruby" + "gems_" + make.hex(48)),
        ("Sentry token", "sn" + "trys_" + make.letters(60)),
        ("Supabase token", "sb" + "p_" + make.hex(40)),
        ("Tailscale key", "ts" + "key-auth-" + make.letters(12) + "-" + make.letters(30)),
        ("xAI key", "xa" + "i-" + make.letters(80)),
        # The engine knows these and many more; we do not.
        ("Pulumi token", "pu" + "l-" + make.hex(40)),
        ("Clojars token", "CLO" + "JARS_" + make.of(HEX, 60)),
        ("Duffel token", "duf" + "fel_live_" + make.url_safe(43)),
        ("Dynatrace token", "dt" + "0c01." + make.of(BASE32, 24) + "." + make.of(BASE32, 64)),
        ("Frame.io token", "fi" + "o-u-" + make.url_safe(64)),
        ("Prefect token", "pn" + "u_" + make.of(string.ascii_lowercase + string.digits, 36)),
        ("Sourcegraph token", "sg" + "p_" + make.hex(40)),
        ("OpenShift token", "sha" + "256~" + make.url_safe(43)),
        ("Octopus key", "AP" + "I-" + make.of(BASE32, 26)),
    ]
    sentences = (
        "Please use {} for the test.",
        "I exported it as `{}` yesterday,\nand it worked.",
        "tool --login {}",
        'The answer was {{"id": "{}"}}.',
        "mein Schlüssel: {}",
        "密钥为 {} 请保密",
    )
    for number, (kind, token) in enumerate(tokens):
        yield Planted(kind, (token,), sentences[number % len(sentences)].format(token), is_token=True)


def _in_settings(make: _Maker) -> Iterator[Planted]:
    """Values of settings, which only their names give away."""
    for kind, text, secret in (
        ("password in .env", "DB_HOST=localhost\nDB_PASSWORD={}\nDB_NAME=shop", make.password()),
        ("password in a shell", "export PGPASSWORD='{}'; psql -h db", make.password()),
        ("password in YAML", "database:\n  user: shop\n  password: {}\n  pool: 5", make.password()),
        ("password in JSON", '{{"user": "ada", "password": "{}"}}', make.password()),
        ("password in JSON in JSON", '"{{\\"user\\": \\"ada\\", \\"passwd\\": \\"{}\\"}}"', make.password()),
        ("password in TOML", '[smtp]\nhost = "mail"\npassphrase = "{}"', make.password()),
        ("password in INI", "[client]\nuser = shop\npassword = {}", make.letters(12)),
        ("password in a program", 'connect(host="db", password="{}")', make.password()),
        ("password of a typed field", 'password: str = "{}"', make.password()),
        ("password in XML", "<user>ada</user><password>{}</password>", make.password()),
        (
            "password in a connection string",
            "Server=db;User Id=sa;Password={};Encrypt=true",
            make.letters(14),
        ),
        ("password in Compose", "    environment:\n      - POSTGRES_PASSWORD={}\n", make.password()),
        ("password in Kubernetes", "- name: DB_PASSWORD\n  value: {}", make.letters(16)),
        ("password of words", "MYSQL_ROOT_PASSWORD={}", "swordfish"),
        ("password in a sentence", "The password is {}, but keep it.", "tr0ub4dor" + "&3"),
        ("password in .netrc", "machine git.example.org login ada password {}", make.letters(12)),
        ("password in .pgpass", "db.example.org:5432:shop:ada:{}", make.letters(12)),
        ("AWS secret key", "aws_secret_access_key = {}", make.of(LETTERS + "/+", 40)),
        (
            "AWS keys in a table",
            "Access key ID,Secret access key\nAK" + "IA" + make.of(BASE32, 16) + ",{}",
            make.letters(40),
        ),
        (
            "Azure storage key",
            "AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net",
            make.base64(64),
        ),
        ("Azure client secret", "AZURE_CLIENT_SECRET={}", make.letters(3) + "8Q~" + make.url_safe(34)),
        ("Datadog key", "DD_API_KEY={}", make.hex(32)),
        ("Heroku key as a UUID", "HEROKU_API_KEY={}", make.uuid()),
        ("Twilio auth token", "TWILIO_AUTH_TOKEN={}", make.hex(32)),
        ("Django secret key", "SECRET_KEY = 'django-insecure-{}'", make.of(LETTERS + "$&%", 50)),
        ("Rails secret", "SECRET_KEY_BASE={}", make.hex(128)),
        ("kubeconfig token", "users:\n- name: ada\n  user:\n    token: {}", make.letters(48)),
        ("kubeconfig key", "    client-key-data: {}", make.base64(200)),
        (
            "Docker registry",
            '{{"auths": {{"registry.example.org": {{"auth": "{}"}}}}}}',
            base64.b64encode(b"ada:" + make.letters(12).encode()).decode(),
        ),
        ("npm registry", "//npm.example.org/:_authToken={}", make.uuid()),
        ("key in a program", "const apiKey = '{}';", make.letters(32)),
        ("key in a list of keys", "encryption_key: {}", make.letters(32)),
        ("some key of a service", "ACME_KEY={}", make.letters(32)),
        ("Terraform variable", 'variable "db" {{ admin_password = "{}" }}', make.password()),
    ):
        yield Planted(kind, (secret,), text.format(secret))
    service_account = {
        "type": "service_account",
        "private_key_id": make.hex(40),
        "private_key": make.pem("PRIVATE KEY"),
    }
    yield Planted(
        "Google service account",
        _lines_of(service_account["private_key"]),
        json.dumps(service_account, indent=2),
    )


def _in_traffic(make: _Maker) -> Iterator[Planted]:
    """Headers, addresses and commands."""
    basic = base64.b64encode(f"ada:{make.letters(12)}".encode()).decode()
    for kind, text, secret in (
        ("bearer header", "GET / HTTP/1.1\nAuthorization: Bearer {}\nAccept: */*", make.url_safe(40)),
        (
            "bearer in a command",
            'curl -H "Authorization: Bearer {}" https://api.example.org',
            make.letters(32),
        ),
        ("basic header", "Authorization: Basic {}", basic),
        ("token header", "authorization: token {}", make.hex(40)),
        ("key header", "x-api-key: {}", make.letters(32)),
        ("cookie", "Cookie: theme=dark; session={}; lang=en", make.letters(32)),
        ("set cookie", "Set-Cookie: sid={}; Path=/; HttpOnly", make.url_safe(44)),
        ("password in an address", "git clone https://ada:{}@git.example.org/shop.git", make.letters(12)),
        ("token in an address", "https://{}@git.example.org/shop.git", make.letters(40)),
        ("PostgreSQL address", "postgres://shop:{}@db:5432/shop", make.letters(10)),
        ("MongoDB address", "mongodb+srv://shop:{}@cluster0.example.org/?retryWrites=true", make.letters(14)),
        ("Redis address", "redis://:{}@cache:6379/0", make.letters(14)),
        ("AMQP address", "amqp://guest1:{}@mq/", make.letters(9)),
        ("token in a query", "https://api.example.org/v1?access_token={}&page=2", make.letters(40)),
        ("key in a query", "https://maps.example.org/api?key={}&q=x", make.letters(32)),
        (
            "signed address",
            "https://shop.blob.example.org/a?sv=2022&sig={}&se=2026",
            quote(make.base64(32), safe=""),
        ),
        (
            "Slack webhook",
            "https://hooks." + "slack.com/services/{}",
            "T" + make.of(BASE32, 8) + "/B" + make.of(BASE32, 8) + "/" + make.letters(24),
        ),
        ("Discord webhook", "https://discord.com/api/webhooks/123456789012345678/{}", make.url_safe(68)),
        ("user of curl", "curl -s -u ada:{} https://api.example.org", make.letters(10)),
        ("option of a command", "deploy --token {} --force", make.letters(20)),
        ("option with a sign", "deploy --password={} --force", make.password()),
        ("sshpass", "sshpass -p {} ssh ada@host", make.letters(10)),
        ("mysql", "mysql -h db -u shop -p{} shop", make.letters(10)),
        ("redis-cli", "redis-cli -h cache -a {} ping", make.letters(14)),
        ("coloured output", "\x1b[1mtoken\x1b[0m: \x1b[32m{}\x1b[0m", "gh" + "p_" + make.letters(36)),
        (
            "base64 of settings",
            "data: {}",
            base64.b64encode(f"DB_PASSWORD={make.letters(20)}".encode()).decode(),
        ),
        ("bearer in a sentence", "it sent bearer {} twice", make.letters(40)),
        ("basic in a log", "proxy said basic {} was wrong", basic),
        (
            "hash of a password in shadow",
            "ada:{}:19000:0:99999:7:::",
            "$6" + "$" + make.letters(16) + "$" + make.letters(86),
        ),
        ("hash of a password", "ada:{}:1000", "$2" + "b$12$" + make.of(LETTERS + "./", 53)),
    ):
        yield Planted(kind, (secret,), text.format(secret))
    parted = make.letters(8)
    yield Planted("password with a quote in it", (parted,), f'{{"password": "ab\\"{parted}", "user": "ada"}}')
    matched = "gl" + "pat-" + make.letters(20)
    yield Planted(
        "output of grep", (matched[6:],), f"\x1b[01;31m\x1b[K{matched[:6]}\x1b[m\x1b[K{matched[6:]}"
    )


def _lines_of(key: str) -> tuple[str, ...]:
    return tuple(line for line in key.splitlines() if "-----" not in line and len(line) >= 24)


def _keys(make: _Maker) -> Iterator[Planted]:
    """Private keys, as files, in diffs and in programs."""
    for kind in ("RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"):
        key = make.pem(kind, 121 if kind.startswith("EC") else 600)
        yield Planted(kind, _lines_of(key), f"cat id\n{key}\n$ ")
    block = make.pem("PGP PRIVATE KEY BLOCK").replace("BLOCK-----\n", "BLOCK-----\nVersion: GnuPG v2\n\n", 1)
    yield Planted("PGP private key", _lines_of(block), block)
    for sign in "+- ":
        key = make.pem("PRIVATE KEY")
        diff = "\n".join(sign + line for line in key.splitlines())
        yield Planted(f"private key in a diff ({sign!r})", _lines_of(key), f"@@ -1 +1 @@\n{diff}\n context")
    key = make.pem("RSA PRIVATE KEY")
    yield Planted("private key on one line", _lines_of(key), 'KEY="' + key.replace("\n", "\\n") + '"')
    key = make.pem("RSA PRIVATE KEY")
    yield Planted(
        "private key that was cut off",
        _lines_of(key)[:6],
        "\n".join(key.splitlines()[:7]) + "\n... 9 more lines",
    )
    for kind, before in (
        ("numbers of cat", "{:6}\t"),
        ("numbers and bars", "{:4} | "),
        ("numbers of grep", "{}:"),
        ("the name of a file", "id_rsa:"),
        ("the name of a service", "app_1  | "),
    ):
        key = make.pem("OPENSSH PRIVATE KEY")
        lines = [before.format(number) + line for number, line in enumerate(key.splitlines()[:9], 7)]
        yield Planted(f"private key cut off, with {kind}", _lines_of(key)[:8], "\n".join(lines) + "\n")
    key = make.pem("RSA PRIVATE KEY").replace(
        "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n", 1
    )
    yield Planted("private key cut off, with headers", _lines_of(key)[2:8], "\n".join(key.splitlines()[:10]))
    key = make.pem("RSA PRIVATE KEY")
    yield Planted(
        "private key in quotes", _lines_of(key), "\n".join(f'    "{line}\\n"' for line in key.splitlines())
    )


def _named(make: _Maker) -> Iterator[Planted]:
    """Values under keys of objects."""
    for kind, build in (
        ("argument api_key", lambda secret: {"api_key": secret}),
        ("argument apiKey, nested", lambda secret: {"config": [{"auth": {"apiKey": secret}}]}),
        ("argument client_secret", lambda secret: {"oauth": {"client_secret": secret}}),
        ("argument Authorization", lambda secret: {"headers": {"Authorization": f"Bearer {secret}"}}),
        ("argument Cookie", lambda secret: {"headers": {"Cookie": f"sid={secret}"}}),
        ("argument name and value", lambda secret: {"env": [{"name": "DB_PASSWORD", "value": secret}]}),
        ("argument of lists", lambda secret: {"tokens": {"token": [secret]}}),
        ("argument x-api-key", lambda secret: {"X-Api-Key": secret}),
    ):
        secret = make.letters(16)
        yield Planted(kind, (secret,), arguments=build(secret))
    for kind, build in (
        ("argument password of an object", lambda secret: {"password": {"v": secret}}),
        ("argument password of roles", lambda secret: {"db_password": {"primary": secret, "type": "text"}}),
        ("argument secret in lists of objects", lambda secret: {"secret": [{"old": [secret]}]}),
        ("argument list of name and value", lambda secret: {"env": [["DB_PASSWORD", secret], ["A", "b"]]}),
        ("argument list of options", lambda secret: {"argv": ["mysql", "--password", secret, "shop"]}),
    ):
        secret = make.password()
        yield Planted(kind, (secret,), arguments=build(secret))
    yield Planted("argument password, a number", ("12345678901",), arguments={"password": 12345678901})
    yield Planted("argument client_secret, a number", ("98765432",), arguments={"client_secret": 98765432})
    yield Planted("argument pin, a number", ("471147",), arguments={"card": {"pin": 471147}})
    unseen = make.password()
    yield Planted("argument with a parted name", (unseen,), arguments={"pass\u200bword": unseen})
    yield Planted("argument password, a word", ("correcthorse",), arguments={"password": "correcthorse"})
    yield Planted("argument token, short", ("q1w2e3",), arguments={"token": "q1w2e3"})


def _parted(make: _Maker) -> Iterator[Planted]:
    """Tokens with something in them that nobody sees, and that our documents leave out."""
    for kind, unseen in (
        ("a space without width", "\u200b"),
        ("a soft hyphen", "\u00ad"),
        ("a byte order mark", "\ufeff"),
        ("a word joiner", "\u2060"),
        ("a mark of direction", "\u200e"),
        ("an Arabic mark of direction", "\u061c"),
        ("a joiner", "\u200d"),
        ("an override", "\u202e"),
        ("a selector", "\ufe0f"),
        ("a tag", "\U000e0041"),
        ("several of them", "\u200b\u2060\ufeff\u200c"),
        ("a colour", "\x1b[38:5:1m"),
        ("a colour and more", "\u200b\x1b[0m\u00ad"),
    ):
        start, end = "gh" + "p_" + make.letters(11), make.letters(25)
        yield Planted(f"token with {kind}", (start, end), f"it says {start}{unseen}{end} there")
    start, end = make.password(), make.letters(9)
    yield Planted("password with a soft hyphen", (start, end), f"DB_PASSWORD={start}\u00ad{end}")
    wide = "gl" + "pat-" + make.letters(20)
    forms = ("\0".join(wide), "\\u0000".join(wide))
    yield Planted("token in a wide encoding", forms, f"use {forms[0]}\0 here")


def _like_placeholders(make: _Maker) -> Iterator[Planted]:
    """Values with signs or words in them that placeholders also have."""
    for kind, text, secret in (
        ("password with dots", 'password: "{}"', "Tr0ub4dor" + "...3"),
        ("password with stars", 'password: "{}"', "Tr0ub" + "***4dor&3"),
        ("password with many x", "DB_PASSWORD={}", "Kx9xxxxxxvQ2" + "pL7mZ"),
        ("password that says my", 'password: "{}"', "my-S3cret" + "-key"),
        ("key that says fake", "API_KEY={}", "fake" + "9s8d7f6g5h4j3k2l1"),
        ("key that says example", "API_KEY={}", "example-" + "q8w7e6r5t4z3"),
        ("password like an attribute", "DB_PASSWORD={}", "data." + "9s8d7f6g5h4"),
        ("password like another attribute", "DB_PASSWORD={}", "vault." + "k3j4h5g6f7d8"),
        ("password of mysql alone", "$ mysql -p{}", "S3cret" + "99"),
        ("password of docker alone", "docker login -p {}", make.letters(12)),
        ("password in JSON, a number", '{{"user": "ada", "password": {}}}', "83749205718"),
    ):
        yield Planted(kind, (secret,), text.format(secret))
    dotted = "Tr0ub…4dor" + "&7"
    yield Planted("password with an ellipsis", (dotted, json.dumps(dotted)[1:-1]), f'password: "{dotted}"')


# -- words that only look like secrets ---------------------------------------


def look_alikes() -> list[str]:
    """Words that must stay: each stands alone in a session."""
    make = _Maker(21)
    sha1, sha256, uuid = make.hex(40), make.hex(64), make.uuid()
    return [
        f"commit {sha1}",
        f"session {uuid}",
        f"sha256:{sha256}",
        f"projectHash: {sha256}",
        f'"integrity": "sha512-{make.base64(64)}"',
        f"md5sum: {make.hex(32)}  file.txt",
        f"index {sha1[:7]}..{sha1[7:14]} 100644",
        f'ETag: "{make.hex(32)}"',
        f"cache_key: {sha256}",
        f"primary_key: {uuid}",
        f"docker.io/library/python@sha256:{sha256}",
        f"![](data:image/png;base64,{make.base64(120)})",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{make.base64(32)} ada@laptop",
        f"-----BEGIN CERTIFICATE-----\n{make.base64(48)}\n-----END CERTIFICATE-----",
        f"-----BEGIN PUBLIC KEY-----\n{make.base64(48)}\n-----END PUBLIC KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        f"go.sum: github.com/pkg/errors v0.9.1 h1:{make.base64(32)}",
        f"build_key: {sha256}",
        f"shop_key={uuid}",
        f"blob {make.letters(12)}" + "AK" + "IA" + make.of(BASE32, 16) + "q" + make.letters(9),
        "password = input()",
        "password = getpass.getpass('Password: ')",
        "token = get_token()",
        "token = await this.auth.getToken(user)",
        "api_key = os.environ['OPENAI_API_KEY']",
        "apiKey: process.env.OPENAI_API_KEY,",
        "const secret = config.secret;",
        "password: string;",
        "password: Optional[str] = None",
        "def login(user: str, password: str) -> Token:",
        "login(user=user, password=password)",
        "self.token = token",
        "if password == confirm_password:",
        "max_tokens=4096",
        '{"max_tokens": 4096, "total_tokens": 12345}',
        "tokens: 1234, cached: 900",
        "token_count = 17",
        "The token limit is 1048576.",
        "next_page_token: CAUQAA12345678901234567890",
        "export API_KEY=<your key here>",
        "API_KEY=your_api_key_here",
        "API_KEY=${API_KEY}",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        'headers = {"Authorization": f"Bearer {token}"}',
        "password: ********",
        "PASSWORD=changeme",
        "password=xxxxxxxx",
        "AWS_ACCESS_KEY_ID=" + "AK" + "IAIOSFODNN7EXAMPLE",
        "sk-...",
        "the key is sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "secrets.GITHUB_TOKEN",
        "${{ secrets.GITHUB_TOKEN }}",
        "{{ vault_password }}",
        '<input type="password" name="password" placeholder="Your password">',
        '"password": "Enter your password"',
        "password is required and must be at least 8 characters",
        "Forgot password? Reset it here: https://example.org/reset",
        "PWD=/home/ada/shop",
        "keyboard: en-US, key: Enter",
        "public_key: abc",
        "foreign_key = 'user_id'",
        "sort_key: created_at_2024_01_01",
        "secretName: my-app-secrets",
        "token_uri: https://oauth2.example.org/token",
        "auth: OAuth2Client",
        "CSRF token mismatch",
        "basic authentication is disabled",
        "bearer authentication scheme",
        "docker run -u 1000:1000 image",
        "git@github.com:ada/shop.git",
        "https://user@example.org/path",
        "https://example.org/a/b?page=2&sort=key",
        "http://localhost:8080/login?next=/home",
        "numpy==1.26.4 ; python_version >= '3.11'",
        "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor",
        "function a(b,c){return b?c.key=b.token:c.token=function(){return b},c.password=null,c}",
        "e.keyCode===32?o.key=r.C0.NUL:e.keyCode>=51&&(o.key=String.fromCharCode(e.keyCode-51+27))",
        'class="sk-folding-cube sk-cube1-grid-item-large"',
        "task-skeleton-" + "loading-animation-wrapper",
        "2026-05-01T10:00:00.000Z INFO auth: user logged in",
        "password_hash = bcrypt.hashpw(password, salt)",
        "Tokenizer: pad_token='<pad>', eos_token='</s>'",
        "SELECT password FROM users WHERE token = ?",
        "passed: 120, failed: 3, pass rate: 97.5",
        "AIzalea is a flower; AKIA is not a key",
        "arn:aws:iam::123456789012:role/deploy-production-role",
        'type Secret struct { Key string `json:"key"` }',
        "SHA256:" + make.base64(32).rstrip("="),
        f'W/"{make.hex(20)}-{make.hex(10)}"',
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        'api_key: "sk-...1a2b"',
        "token: ghp_****************1a2b",
        "AWS_SECRET_ACCESS_KEY=wJal************",
        "password: \u2022\u2022\u2022\u2022\u2022\u2022",
        'password: "Choose a password\u2026"',
        "password: your-password...",
        "API_KEY=fake-api-key-123",
        "client_token: 28908518-100b-4987-8233-8c744EXAMPLE",
        "api_key: EXAMPLEabcd12345jklm67890stuv12345bcdef",
        "api_key: dummy_key_for_tests_2",
        'token: "my-oauth2-token"',
        'password = "example-password-1"',
        "DB_PASSWORD=data.db_password",
        "    password=settings.oauth2.client_secret,",
        "token=self.s3_client.token",
        "secret: vault.kv2.shop",
        "mysql -p shop < dump.sql",
        "mysql -uroot --port 3306 shop",
        "docker login -u ada --password-stdin",
        '{"password": {"type": "string", "minLength": 8}}',
        '{"password": 8, "tokens": 12345678901}',
        "-----BEGIN RSA PRIVATE KEY-----\n  1 | (cut)\n  2 | nothing of it is left\n",
        "a\u200bb, so\u00adft, a family: \U0001f468\u200d\U0001f469\u200d\U0001f467 \u26a0\ufe0f warned",
        "pass\u200bword is a word",
    ]


def look_alike_arguments() -> list[dict[str, Any]]:
    """The same under keys of objects."""
    return [
        {"max_tokens": 4096, "tokens": "1234", "token_count": "17"},
        {"password": "", "api_key": None, "secret": True},
        {"api_key": "<your key>", "token": "$TOKEN", "password": "xxx"},
        {"apiKey": "${API_KEY}", "secret": "process.env.SECRET"},
        {"key": "value", "sort_key": "created_at", "keys": ["a", "b"]},
        {"pattern": "password|token|secret", "path": "src/auth/token.py"},
        {"name": "GITHUB_TOKEN", "value": ""},
        {"pageToken": "abc123def456ghi789"},
        {"password": {"type": "string", "description": "The password of the user", "minLength": 1024}},
        {"password": 8, "secret": 0, "pin": 13, "token": 1234567, "max_tokens": 128000, "key": 123456},
        {"secret": {"name": "db-credentials-2", "id": "1f0c9a2b-1111-4222-8333-444455556666"}},
        {"token": {"expires": 1767225600, "type": "bearer", "url": "https://example.org/a1b2c3"}},
        {"required": ["password", "username"], "fields": ["token", "expires_at"]},
        {"argv": ["login", "--password", "--verbose"], "more": ["--token", "$TOKEN", "x"]},
        {"password": {"min_length": 4096, "rules": ["one digit", "one sign"]}},
        {"env": [["PASSWORD", "changeme"], ["SECRET_KEY", "${SECRET_KEY}"]]},
    ]


# -- sessions that hold them --------------------------------------------------


Place = Callable[[str], dict[str, Any]]
"""What a session is made of if a text stands in a place of it."""


def _message(
    *parts: Any, role: Role = Role.USER, origin: Origin = Origin.HUMAN, **more: Any
) -> dict[str, Any]:
    source = Location("/srv/agent/session.jsonl", 1, 0, 10)
    fields = {"usage": None, "source": source, "model": None, "at": STARTED, "state": State.CURRENT}
    return {"messages": (Message(id="m1", role=role, origin=origin, parts=parts, **fields | more),)}


def _call(**more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"call_id": "c1", "name": "run", "kind": ToolKind.EXECUTE, "arguments": {}}
    call = ToolCall(**fields | {"status": ToolStatus.SUCCESS} | more)
    return _message(call, role=Role.ASSISTANT, origin=Origin.MODEL)


def _cells(text: str) -> list[list[Any]]:
    """A terminal on which every seventh character has another colour."""
    return [
        [
            {"text": line[start : start + 7], "fg": f"#00{start % 90:02}ff", "bold": start % 2 == 0}
            for start in range(0, len(line), 7)
        ]
        for line in text.split("\n")
    ]


def _attached(text: str) -> Attachment:
    return Attachment("text/plain", data=base64.b64encode(text.encode()).decode())


PLACES: dict[str, Place] = {
    "prompt": lambda text: _message(Text(text, Origin.HUMAN)),
    "title": lambda text: {"title": text},
    "summary": lambda text: {"summary": text},
    "thought": lambda text: _message(
        Thought(text, subject="Thinking"), role=Role.ASSISTANT, origin=Origin.MODEL
    ),
    "argument": lambda text: _call(arguments={"deep": [{"command": text}]}),
    "result": lambda text: _call(result=(Text(text, Origin.TOOL),)),
    "plain display": lambda text: _call(display=Plain(text)),
    "screen": lambda text: _call(display=Screen(_cells(text))),
    "diff": lambda text: _call(display=Diff("a.txt", "\n".join(f"+{line}" for line in text.split("\n")))),
    "file before": lambda text: _call(changes=(FileChange("a.txt", Operation.EDIT, before=text, after="x"),)),
    "JSON in a string": lambda text: _call(result=(Text(json.dumps({"output": text}), Origin.TOOL),)),
    "attachment": lambda text: _message(_attached(text)),
    "file reference": lambda text: _message(FileReference("settings", text)),
    "notice": lambda text: _message(
        Text(text, Origin.NOTICE), role=Role.SYSTEM, origin=Origin.NOTICE, level=Level.ERROR
    ),
    "unrecognised": lambda text: _message(Unrecognised({"new": {"kind": [text]}})),
    "key of an object": lambda text: _call(arguments={text: 1}),
    "description": lambda text: _call(description=text, other={"more": text}),
}

PATHS: dict[str, Place] = {
    "path": lambda text: {"project": Project(f"/srv/{text}", None, None, KnownBy.MARKER)},
    "directory": lambda text: {"directories": (f"/srv/{text}/x",)},
    "file": lambda text: {"files": (SessionFile(f"/srv/{text}.jsonl", "gemini-jsonl", 10),)},
}
"""Places that hold a path; a token may stand in its name."""


def session_with(**more: Any) -> Session:
    """A session that holds nothing but what is given."""
    fields: dict[str, Any] = {
        "id": "gemini:1f0c9a2b-1111-4222-8333-444455556666",
        "agent": "gemini",
        "native_id": "1f0c9a2b-1111-4222-8333-444455556666",
        "kind": SessionKind.MAIN,
        "parent_id": None,
        "project": Project("/srv/shop", "3f" * 32, "shop", KnownBy.MARKER),
        "title": "Fix the shop",
        "summary": None,
        "started_at": STARTED,
        "ended_at": STARTED,
        "status": Status.SUCCESS,
        "models": ("gemini-3.5-flash",),
        "counts": Counts(1, 1, 1, 0, 0),
        "usage": Usage(1, 10, 0, None, 5, 0, 0, 15),
        "files": (),
        "messages": (),
    }
    return Session(**fields | more)


def session_of(secret: Planted, place: str) -> Session:
    """A session with one secret in one place; what stands under a key can only stand in arguments."""
    if secret.arguments:
        return session_with_arguments(secret.arguments)
    return session_with(**(PATHS[place](secret.secrets[0]) if place in PATHS else PLACES[place](secret.text)))


def session_with_arguments(arguments: dict[str, Any]) -> Session:
    """A session with a call that was given these arguments."""
    return session_with(**_call(arguments=arguments))


def session_with_text(text: str, place: str = "prompt") -> Session:
    """A session with a text in a place."""
    return session_with(**PLACES[place](text))
