"""Secrets that were planted without knowledge of the rules, and a case for each kind of rule."""

from __future__ import annotations

import json
import re
import unicodedata
from time import process_time
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from geminids.core.model import Origin, Text
from geminids.sharing.redact.assignments import Secret
from geminids.sharing.redact.continued import continuations
from geminids.sharing.redact.pieces import UNSEEN
from tests.conftest import FIXTURES, RecordProperty
from tests.support.planted_files import outcomes, read_planted
from tests.support.planted_secrets import session_with_text
from tests.support.redacting import redactor, seen

Engine = Literal["full", "reduced"]
ENGINES: tuple[Engine, ...] = ("full", "reduced")
LEAST_FOUND: dict[Engine, int] = {"full": 295, "reduced": 293}
MOST_MISTAKEN = 0
V = "q7Zt" + "R2mXw9LkPd4VbN8sJc3F"
P = "Tr0ub" + "4dor&3x"
HEX = "9f4e2b7c" * 5

FOUND = {
    "default of a variable": f"secret: process.env.JWT_SECRET || '{P}',",
    "default behind two question marks": f'const t = import.meta.env.API_TOKEN ?? "{V}"',
    "default of Kotlin": f'val password = System.getenv("DB_PASSWORD") ?: "{P}"',
    "default of Python": f'os.environ.get("SMTP_PASSWORD") or "{P}"',
    "default of a call": f'getenv("API_KEY", "{V}")',
    "default of a shell": f"echo ${{DB_PASSWORD:-{P}}}",
    "default of Rust": f'let key = env::var("SIGNING_KEY").unwrap_or_else(|_| "{V}".to_string());',
    "default of Jinja": f"password: {{{{ db_password | default('{P}') }}}}",
    "default of Ruby": f'ENV.fetch("API_TOKEN") {{ "{V}" }}',
    "string of Rust": f'let api_key = String::from("{V}");',
    "call of Rust": f'client_secret: Some("{V}".to_string()),',
    "bytes": f'pub const MASTER_KEY: &[u8] = b"{V}";',
    "builder": f'.clientSecret("{V}")',
    "setter": f"$client->setXApiKey('{V}');",
    "filled in": f"await page.fill('#password', '{P}');",
    "three quotes": f'admin_password = """{P}"""',
    "value in an object": f'"db_password": {{ "sensitive": true, "type": "string", "value": "{V}" }}',
    "name with PAT": f"SNOWFLAKE_PAT={V}",
    "name with bearer": f"twitter_bearer = {V}{V}",
    "salt": f"define('NONCE_SALT', '{P}{P}');",
    "any scheme": f"Authorization: SSWS {V}",
    "scheme in a call": f'req.Header.Set("Authorization", "Bearer " + "{V}")',
    "password field": f'<input value="{P}" name="pw" type="password">',
    "meta": f'<meta name="api-token" content="{HEX}">',
    "element with attributes": f'<wsse:Password Type="http://docs.example.org/x#PasswordText">{P}</wsse:Password>',
    "plist": f"<key>SharedSecret</key>\n\t<string>{V}</string>",
    "SecureString": f"aws ssm put-parameter --name /shop/db --type SecureString --value '{P}' --overwrite",
    "pw": f"my pw is {P}, log in to the dashboard",
    "creds": f"creds for the box: ada / {P}",
    "log in with": f"log in as admin with {V} and look",
    "stated": f"{V} is the token of the bot.",
    "near": f"here goes the secret for the new bot, {V}",
    "password with an umlaut": "Das Passwort lautet Nebelkr" + "ähe#4471.",
    "expect": f'expect "assword:"\nsend "{P}\\r"\n',
    "cookie file": f"shop.example.org\tFALSE\t/\tTRUE\t1790000000\tsid\t{V}",
    "cookies of a browser": f"[{{ name: 'shop_session', value: '{V}', path: '/' }}]",
    "net use": f"net use Z: \\\\files\\share {P} /user:ada",
    "JWK": f'{{"kty":"EC","crv":"P-256","x":"abc","d":"{V}{V}"}}',
    "Terraform": f'{{"type": "random_password", "instances": [{{"length": 9, "result": "{P}"}}]}}',
    "webhook": f"https://hooks.example.org/v2/hook/{HEX}",
    "token as a user": f"https://{HEX}:x-oauth-basic@git.example.org/a.git",
    "Wi-Fi": f"WIFI:T:WPA;S:guests;P:{V};;",
    "cloud-init": f"chpasswd:\n  list: |\n    ubuntu:{P}\n  expire: false",
    "Ethereum": "accounts: ['0x" + "9f4e2b7c" * 8 + "']  // deployer",
    "printed by a command": f"$ pass show mail/ada\n{P}\n",
    "PowerShell": "powershell -EncodedCommand "
    + __import__("base64").b64encode(f"$env:DB_PASSWORD='{P}'".encode("utf-16-le")).decode(),
    "app password": "EMAIL_HOST_PASSWORD = 'ndwc xujv mqya mpdj'",
    "service token": "it printed nf" + "p_" + V + V[:12] + " once",
    "Azure secret": "it printed abc" + "8Q~" + V + V[:10] + " once",
    "Bitwarden token": "it printed 0.1f0c9a2b-1111-4222-8333-444455556666." + V + V[:6] + ":" + V + "== once",
    "password of letters": "PGPASSWORD=qwZeRtYuIoP psql -h db",
    "LDIF": "userPassword:: NktFK2suSDlmMCVQU3A=",
}
STAYS = [
    'DB_PASSWORD="op://Private/db/password"',
    "secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf",
    "password: vault:secret/data/shop#db_password",
    "token = client.get_secret('prod/db-AbC12')",
    'password = getpass.getpass("Password: ")',
    'const token = process.env.TOKEN || "";',
    'secret = os.environ.get("JWT_SECRET") or "changeme"',
    '<input type="password" name="password" value="">',
    '<input type="text" name="q" value="zebra4711">',
    "https://docs.example.org/webhooks/getting-started-with-hooks",
    '{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}',
    "the token of the build is cached for commit " + HEX,
    "tx 0x" + "9f4e2b7c" * 8 + " was mined, block hash 0x" + "1a2b3c4d" * 8,
    "$ cat token.txt\nno such file\n",
    "ssh://687fb701029421ae5549d998@ssh.example.org",
    'send "hello world"',
    "log in as admin with your usual account",
]


def after(text: str, engine: Engine) -> str:
    return seen(redactor(engine).redact(session_with_text(text)).session)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_not_known_to_the_rules_is_found_as_well_as_ever(engine: Engine) -> None:
    found = outcomes(read_planted(FIXTURES / "secrets" / "planted-2.jsonl"), redactor(engine))
    missed = [outcome.line.id for outcome in found if outcome.line.secrets and outcome.is_wrong]
    mistaken = [outcome.line.id for outcome in found if not outcome.line.secrets and outcome.is_wrong]
    assert len(found) == 150
    assert len(missed) <= 6, missed
    assert len(mistaken) <= 1, mistaken


@pytest.mark.parametrize("engine", ENGINES)
def test_what_others_planted_is_found_as_well_as_ever(
    engine: Engine, record_property: RecordProperty
) -> None:
    found = outcomes(read_planted(FIXTURES / "secrets" / "planted-1.jsonl"), redactor(engine))
    missed = [outcome for outcome in found if outcome.line.secrets and outcome.is_wrong]
    mistaken = [outcome.line.id for outcome in found if not outcome.line.secrets and outcome.is_wrong]
    planted = sum(bool(outcome.line.secrets) for outcome in found)
    record_property("counts", f"redaction, {engine}: {planted - len(missed)} of {planted} lines of planted-1")
    assert planted == 300
    assert planted - len(missed) >= LEAST_FOUND[engine], [outcome.line.id for outcome in missed]
    assert len(mistaken) <= MOST_MISTAKEN, mistaken


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
@pytest.mark.parametrize("engine", ENGINES)
def test_each_kind_of_place_is_found(engine: Engine, text: str) -> None:
    told = after(text, engine)
    assert "[REDACTED" in told
    for secret in (V, P, HEX, "Nebelkr", "xujv", "NktFK2", "qwZeRtYuIoP"):
        if secret in text:
            assert secret not in told
            assert json.dumps(secret)[1:-1] not in told


@pytest.mark.parametrize("text", STAYS)
@pytest.mark.parametrize("engine", ENGINES)
def test_what_only_looks_like_it_stays(engine: Engine, text: str) -> None:
    assert not redactor(engine).redact(session_with_text(text)).findings


@pytest.mark.parametrize(
    "text",
    [
        "export OPENAI_API_KEY=s" + "k-proj-" + V + "{}\\\n" + V[::-1] + "\necho done",
        "Authorization: Bearer " + V + V[:12] + "{}\n " + V[::-1] + "\nAccept: */*",
        'password = ("' + V + '{}"\n            "' + V[::-1] + '")',
        'secret = "' + V + '{}" + "' + V[::-1] + '";',
        "│ The token is gh" + "p_" + V + "{} │\n│ " + V[::-1] + " and valid │",
    ],
    ids=["backslash", "folded header", "two literals", "joined literals", "box"],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_secret_is_found_in_the_next_line_too(engine: Engine, text: str) -> None:
    told = after(text.format("x4Kq8Rw2"), engine)
    assert V not in told
    assert V[::-1] not in told
    assert "done" in told or "echo" not in text


def test_the_line_below_a_secret_stays() -> None:
    told = after(
        f"AWS_SECRET_ACCESS_KEY={V}{V}\nAWS_REGION=eu-west-3\nGEMINI_MODEL=gemini-2.5-pro", "reduced"
    )
    assert "eu-west-3" in told
    assert "gemini-2.5-pro" in told


def test_the_output_of_a_command_that_prints_a_secret_is_hidden() -> None:
    session = session_with_text(f"{P}\n", "result")
    (message,) = session.messages
    (call,) = message.tool_calls
    for command, is_hidden in (("pass show mail/ada", True), ("git describe", False)):
        asked: Any = replace(call, arguments={"command": command}, result=(Text(f"{P}\n", Origin.TOOL),))
        told = replace(session, messages=(replace(message, parts=(asked,)),))
        assert (P not in seen(redactor("reduced").redact(told).session)) == is_hidden


def test_no_letter_that_is_not_seen_parts_a_token() -> None:
    """Unicode names what is not seen: format characters, fillers, selectors, and a blank that has a name."""
    visible = re.compile(r"ARABIC (?!LETTER MARK)|SYRIAC|KAITHI|HIEROGLYPH")
    unseen = re.compile(
        r"(?:HANGUL|HALFWIDTH HANGUL|CHOSEONG|JUNGSEONG).*FILLER|VARIATION SELECTOR|PATTERN BLANK"
        r"|VOWEL INHERENT|GRAPHEME JOINER|NULL NOTEHEAD"
    )
    letters = [
        letter
        for letter in map(chr, range(0x110000))
        if (name := unicodedata.name(letter, ""))
        and (unseen.search(name) or (unicodedata.category(letter) == "Cf" and not visible.search(name)))
    ]
    assert len(letters) > 400
    known = {chr(code) for first, last in UNSEEN for code in range(first, last + 1)}
    assert set(letters) - known == set()
    token = "gh" + "p_" + V[:12]
    tokens = [f"{token}{letter}{V}" for letter in letters]
    for written in ("\n".join(tokens), "\n".join(json.dumps(token) for token in tokens)):
        assert V not in after(written, "reduced")


@pytest.mark.parametrize(
    "words", ["user_pat=", "${TOKEN:-", "bearer: ", "net use a ", 'password = ("a" + ', '<input a="b" ']
)
def test_the_time_grows_with_the_text_and_not_with_its_square(words: str) -> None:
    small, large = (_seconds(words * count) for count in (400, 3200))
    assert large < 40 * small + 0.3


def _seconds(text: str) -> float:
    began = process_time()
    redactor("reduced").redact_text(text)
    return process_time() - began


def test_the_next_piece_of_many_secrets_is_looked_for_once() -> None:
    text = (f"{V}{V}".encode() + b"\\\n") * 500
    found = [Secret(start, start + 48, "token") for start in range(0, len(text), 50)]
    assert len(list(continuations(text, found))) < 600
