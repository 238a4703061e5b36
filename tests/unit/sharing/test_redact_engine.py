"""Starting the engine, and stopping where it cannot do its work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from geminids.core.errors import NothingToHideError, RedactionError, RedactionKeyError
from geminids.sharing.redact import Redactor, engines, load_key
from geminids.sharing.redact.assignments import Secret
from geminids.sharing.redact.engines import load_engine, rule_file
from geminids.sharing.redact.pseudonyms import KEY_FILE, KEY_SIZE, Pseudonyms
from geminids.sharing.redact.replacement import changes
from geminids.sharing.redact.rules import OURS, Rule
from tests.conftest import COMPILED_RULES, Rights
from tests.support.planted_secrets import cases, planted, session_with, session_with_text
from tests.support.redacting import KEY, redactor, seen
from tests.unit.sharing.test_redact_planted import FOUND

TOKEN = "gh" + "p_" + "a8Fk2Lq9Zx7Wv3Tn5Rb1Yc6Md4Pe0Gh8Js2K"


def in_another_process(script: str, *path: Path, **variables: str) -> str:
    """What a script says that redacts one session; kingfisher may be something else there."""
    start = (
        "from geminids.sharing.redact import Redactor\n"
        "from tests.support.planted_secrets import session_with_text\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", start + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([*map(str, path), "."])} | variables,
    )
    return done.stdout + done.stderr


REDACT = f"""
from geminids.core.errors import GeminidsError
try:
    redactor = Redactor(b"k" * 32)
    print(redactor.describe(), redactor.redact(session_with_text("use {TOKEN}")).session.messages)
except GeminidsError as error:
    print("refused:", error)
"""


def fake_engine(folder: Path, words: str) -> Path:
    package = folder / "fake" / "kingfisher_sdk"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(textwrap.dedent(words))
    return package.parent


def test_without_the_extra_the_reduced_set_is_used_and_says_so() -> None:
    absent = "import importlib.util as util\nfound = util.find_spec\n"
    absent += (
        "util.find_spec = lambda name, *more: None if name == 'kingfisher_sdk' else found(name, *more)\n"
    )
    said = in_another_process(absent + REDACT)
    assert said.startswith("secrets hidden by a reduced set of rules")
    assert "[REDACTED:github-token:" in said
    assert TOKEN not in said


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        ("raise OSError('no such library')", "OSError: no such library"),
        ("raise ImportError('libfoo.so is missing')", "ImportError: libfoo.so is missing"),
        ("raise SystemExit('no licence')", "SystemExit: no licence"),
        ("__version__ = '1'", "cannot import name"),
        (
            """
            __version__ = "9"
            def Rules(*_, **__): raise ValueError("rule 3 is wrong")
            Scanner = Rules
            """,
            "ValueError: rule 3 is wrong",
        ),
        (
            """
            __version__ = "9"
            def Rules(*_, **__): return None
            class Scanner:
                def __init__(self, rules): pass
                def scan(self, text): return []
            """,
            "does not find what it must find",
        ),
        (
            """
            __version__ = "9"
            def Rules(*_, **__): return None
            class PanicException(BaseException): pass
            class Scanner:
                def __init__(self, rules): pass
                def scan(self, text): raise PanicException("index out of bounds")
            """,
            "PanicException: index out of bounds",
        ),
    ],
    ids=[
        *("import fails", "library missing", "import ends", "other version", "rules refused"),
        *("finds nothing", "panics"),
    ],
)
def test_an_engine_that_does_not_work_stops_everything(tmp_path: Path, engine: str, reason: str) -> None:
    said = in_another_process(REDACT, fake_engine(tmp_path, engine))
    assert said.startswith("refused: Cannot redact: the engine "), said
    assert reason in said
    assert said.count("\n") == 1


def test_who_interrupts_the_engine_is_heard(tmp_path: Path) -> None:
    said = in_another_process(REDACT, fake_engine(tmp_path, "raise KeyboardInterrupt"))
    assert said.strip().endswith("KeyboardInterrupt")
    assert TOKEN not in said


def test_rules_that_cannot_be_written_are_an_error(tmp_path: Path) -> None:
    nowhere = f"import tempfile; tempfile.tempdir = {str(tmp_path / 'nowhere')!r}\n"
    said = in_another_process(nowhere + REDACT)
    assert said.startswith("refused: Cannot redact: the rules for the engine cannot be written")


def test_asking_for_the_engine_where_it_is_not_installed_is_an_error(tmp_path: Path) -> None:
    script = REDACT.replace('b"k" * 32', 'b"k" * 32, engine="full"')
    said = in_another_process(script, fake_engine(tmp_path, "raise ModuleNotFoundError('kingfisher_sdk')"))
    assert said.startswith("refused: Cannot redact")


def test_a_rule_file_that_is_damaged_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from geminids.sharing.redact import engines

    monkeypatch.setattr(engines, "rule_file", lambda rules: rule_file(rules)[:-50])
    with pytest.raises(RedactionError, match="cannot be started"):
        Redactor(KEY, engine="full", cache_folder=COMPILED_RULES)


BODY = "Ab3dEf7hIj1kLm9n" * 4
MORE = f"""
xp{"rv"}{"9s21ZrQH143Kv3rJar" * 6} depth 0
ada:$ap{"r1"}${"k3j4h5g6"}${"Xk9mQ2vLp7wRt5yUi8oP1z"}
hasło Xk9mQ2vLp7w!
Schlüssel: {BODY}
mot de passe :
Xk9mQ2vLp7w
Your API token:
{BODY}
481516 is your login code.
Private-Lines: 1
{BODY}
GRANT ALL TO ada IDENTIFIED BY tiger9
| User | Password |
|---|---|
| ada | Xk9mQ2vLp7w! |
passwd <<< 'Xk9mQ2vLp7w'
mongodump -u ada -p Xk9mQ2vLp7w!
sqlcmd -S db -P Xk9mQ2vLp7w!
ipmitool -P Xk9mQ2vLp7w! lan
keytool -storepass Xk9mQ2vLp7w! -list
nmcli dev wifi connect Home password Xk9mQ2vLp7w!
gpg --passphrase Xk9mQ2vLp7w! -d x
aws configure set aws_secret_access_key {BODY[:40]}
"""
"""What the sets of planted secrets do not have, one for each rule."""


@pytest.mark.parametrize("rule", OURS, ids=lambda rule: f"{rule.name}-{rule.pattern.pattern[:12]!r}")
def test_every_rule_of_ours_has_something_planted_to_find(rule: Rule) -> None:
    told = [text for case in cases() for _, text in case["said"]]
    text = "\n".join([*(secret.text for secret in planted()), *told, *FOUND.values(), MORE]).encode()
    assert any(list(rule.secrets(match)) for match in rule.pattern.finditer(text))


def test_two_strings_are_never_taken_for_one() -> None:
    """The start of a key in one string and the end of one in another cover what lies between."""
    body = "Ab3dEf7hIj1k" * 8
    texts = [
        "-----BEGIN RSA PRIVATE KEY-----",
        "password",
        "=hunter22x",
        f"use {TOKEN}",
        "-----END RSA PRIVATE KEY-----",
    ]
    messages = tuple(message for text in texts for message in session_with_text(text).messages)
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    session = session_with(messages=(*messages, *session_with_text(key).messages))
    after = seen(redactor("full").redact(session).session)
    assert TOKEN not in after
    assert body not in after
    assert "=hunter22x" in after


class Greedy:
    """An engine that goes over everything from one sign to the next, as some rules do."""

    is_reduced = False
    name = "greedy"

    def scan(self, text: bytes) -> list[Secret]:
        return [Secret(*match.span(), "greedy") for match in re.finditer(rb"FROM[\s\S]*?TO", text)]


def test_what_goes_over_several_strings_does_not_cover_what_is_in_them() -> None:
    found = changes(
        ["a FROM b", "FROM c TO", "d"], [], None, engine=Greedy(), pseudonyms=Pseudonyms(KEY), hide=()
    )
    assert list(found.strings) == ["FROM c TO"]
    assert found.strings["FROM c TO"].text.startswith("[REDACTED:greedy:")


def test_a_wide_encoding_does_not_shift_what_is_found() -> None:
    """By itself the engine reads such a text as UTF-16, and counts other bytes."""
    text = (
        "\nwords that were written in a wide encoding, password=".encode("utf-16-le")
        + TOKEN.encode()
        + b" \n"
    )
    found = load_engine("full", COMPILED_RULES).scan(text)
    assert {text[secret.start : secret.end] for secret in found} == {TOKEN.encode()}


def test_odd_bytes_do_not_shift_what_is_found() -> None:
    odd = "\ufeffhalf \ud83d, zeros \0\0\0, ü 😀 \x1e\n"
    zeros = "\0".join("some words in a wide encoding")
    for chosen in (redactor("full"), redactor("reduced")):
        for text in (
            f"{odd}{TOKEN} {odd}",
            f"{zeros}\n{TOKEN}",
            f"\x1b[31m{odd}\x1b[0m{TOKEN[:9]}\x1b[1m{TOKEN[9:]} x",
        ):
            session = session_with_text(text)
            (part,) = chosen.redact(session).session.messages[0].parts
            expected = text.replace("\x1b[1m", "", 1).replace(TOKEN, chosen.redact_text(TOKEN))
            assert part.text == expected  # type: ignore[union-attr]


def test_what_is_compiled_is_kept_for_this_user_alone() -> None:
    redactor("full")
    kept = list(COMPILED_RULES.iterdir())
    assert kept
    assert COMPILED_RULES.stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in kept)


def test_only_what_can_be_hidden_can_be_asked_for() -> None:
    with pytest.raises(NothingToHideError, match="Available: home, names, emails"):
        Redactor(KEY, engine="reduced", hide=["phones"])


def test_it_says_what_it_does() -> None:
    assert redactor("full").describe().startswith("secrets hidden by kingfisher 1.")
    assert not redactor("full").is_reduced
    reduced = Redactor(KEY, engine="reduced", hide=["home", "emails"])
    assert reduced.describe() == "secrets hidden by a reduced set of rules; homes, e-mail addresses too"
    assert reduced.is_reduced


# -- the key -----------------------------------------------------------------


def test_the_key_is_made_once_and_for_this_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    key = load_key(folder)
    assert len(key) == KEY_SIZE
    assert load_key(folder) == key
    assert [file.name for file in folder.iterdir()] == [KEY_FILE]
    assert (folder / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert load_key(tmp_path / "other") != key


def test_without_a_folder_there_is_a_key_for_this_run(tmp_path: Path, without_privileges: Rights) -> None:
    assert load_key(None) != load_key(None)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with without_privileges():
        assert len(load_key(closed)) == KEY_SIZE
    assert not list(closed.iterdir())


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_damaged_key_is_never_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / KEY_FILE).write_bytes(content)
    with pytest.raises(RedactionKeyError, match=f"has {len(content)} bytes instead of 32"):
        load_key(tmp_path)
    assert (tmp_path / KEY_FILE).read_bytes() == content


def test_a_key_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).mkdir()
    with pytest.raises(RedactionKeyError, match="cannot be read"):
        load_key(tmp_path)
    dangling = tmp_path / "other"
    dangling.mkdir()
    (dangling / KEY_FILE).symlink_to(tmp_path / "nowhere")
    with pytest.raises(RedactionKeyError, match="cannot be read"):
        load_key(dangling)


def test_a_key_that_is_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / KEY_FILE)
    script = "import sys\nfrom pathlib import Path\nfrom geminids.sharing.redact import load_key\n"
    line = [sys.executable, "-c", script + "load_key(Path(sys.argv[1]))", str(tmp_path)]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=20, check=False)
    assert "RedactionKeyError" in ended.stderr
    assert "no regular file" in ended.stderr


MAKING = """
from pathlib import Path
from geminids.sharing.redact import load_key
print(load_key(Path(sys.argv[1])).hex())
"""


def test_many_processes_make_one_key(tmp_path: Path) -> None:
    line = [sys.executable, "-c", "import sys" + MAKING, str(tmp_path / "data")]
    running = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    assert len({process.communicate(timeout=60)[0] for process in running}) == 1
    assert [file.name for file in (tmp_path / "data").iterdir()] == [KEY_FILE]


def test_what_the_engine_sees_at_once_changes_nothing_of_what_is_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = redactor("full")
    texts = [f"{number}: {secret.text}" for number in range(3) for secret in planted() if secret.text]
    arguments = [secret.arguments for secret in planted() if secret.arguments]
    whole = full.redact_value([texts, arguments])
    assert sum(map(len, texts)) > 50_000
    assert str(whole).count("[REDACTED:") > 500
    for most, before in ((1_999, 5_000), (30_011, 1_000)):
        monkeypatch.setattr(engines, "_MOST_AT_ONCE", most)
        monkeypatch.setattr(engines, "_BEFORE", before)
        assert full.redact_value([texts, arguments]) == whole
