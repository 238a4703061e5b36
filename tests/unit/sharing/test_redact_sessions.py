"""Sessions are gone through whole, and what is hidden is hidden everywhere."""

from __future__ import annotations

import base64
import json
import re
import sys
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from geminids.core.model import (
    AgentProgress,
    Attachment,
    Companion,
    CompanionKind,
    KnownBy,
    Location,
    Origin,
    Problem,
    ProblemKind,
    Project,
    Screen,
    Session,
    SessionFile,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
    ToolStatus,
    Unrecorded,
)
from geminids.sharing.redact import CAN_BE_HIDDEN, Redactor
from geminids.sharing.redact.walk import DEEPEST
from geminids.sharing.transcript import safe
from tests.support import redacting
from tests.support.examples import examples
from tests.support.exporting import fixture_sessions, hostile_session
from tests.support.planted_secrets import PLACES, session_with, session_with_arguments, session_with_text
from tests.support.redacting import KEY, seen

TOKEN = "gh" + "p_" + "a8Fk2Lq9Zx7Wv3Tn5Rb1Yc6Md4Pe0Gh8Js2K"
OTHER_TOKEN = "gl" + "pat-" + "x7Kq2mV9Ab3Cd4Ef5Gh6"
PASSWORD = 'pa"ss\\wörd+7'
NUMBERED_KEY = ["-----BEGIN RSA PRIVATE KEY-----", *(f"{number}Ab3dEf7hIj1k" * 5 for number in range(10, 16))]


@pytest.fixture
def redactor() -> Redactor:
    """What is tested here is the same with the engine, which takes longer to start."""
    return redacting.redactor("reduced")


def first_call(session: Session) -> ToolCall:
    return session.messages[0].tool_calls[0]


def test_a_session_without_secrets_is_given_back_as_it_is(redactor: Redactor) -> None:
    session = session_with_text("Fix the login redirect")
    redacted = redactor.redact(session)
    assert redacted.session is session
    assert redacted.findings == ()


def test_hostile_words_are_no_trouble(redactor: Redactor) -> None:
    redacted = redactor.redact(hostile_session())
    assert {finding.rule for finding in redacted.findings} <= {"attachment"}
    texts = [part.text for part in redacted.session.messages[0].parts if isinstance(part, Text)]
    assert any("\ud83d" in text for text in texts)


@pytest.mark.slow
def test_every_string_of_the_model_is_gone_through(redactor: Redactor) -> None:
    """A token is put into each string of real sessions in turn; wherever it stands, it is hidden."""
    shapes: dict[str, Session] = {}
    for session in (_noted_session(), *fixture_sessions().values()):
        for path in _string_paths(msgspec.to_builtins(session)):
            shapes.setdefault(".".join(str(step) for step in path if isinstance(step, str)), session)
    assert len(shapes) > 100
    for shape, session in shapes.items():
        with_token = _with_token(session, shape)
        if with_token is not None:
            assert TOKEN in seen(with_token), shape
            assert TOKEN not in seen(redactor.redact(with_token).session), shape


def _noted_session() -> Session:
    """A session with what not every agent notes."""
    session = session_with_arguments({"input": "*** Begin Patch"})
    (message,) = session.messages
    call = msgspec.structs.replace(message.tool_calls[0], gist="the login page")
    return msgspec.structs.replace(
        session,
        branch="fix/login",
        unrecorded=(Unrecorded("a title", "the total says so"),),
        messages=(msgspec.structs.replace(message, parts=(call,), request_id="req_1"),),
    )


def _string_paths(value: Any, path: tuple[str | int, ...] = ()) -> Any:
    match value:
        case str():
            yield path
        case dict():
            for key, item in value.items():
                yield from _string_paths(item, (*path, key))
        case list() | tuple():
            for number, item in enumerate(value):
                yield from _string_paths(item, (*path, number))


def _with_token(session: Session, shape: str) -> Session | None:
    """The session with a token in the first string of that shape; None if only some words may stand there."""
    plain = msgspec.to_builtins(session)
    wanted = next(
        path for path in _string_paths(plain) if ".".join(s for s in path if isinstance(s, str)) == shape
    )
    if wanted[-1] == "data":  # base64, of which other tests know more
        return None
    target = plain
    for step in wanted[:-1]:
        if isinstance(target[step], tuple):
            target[step] = list(target[step])
        target = target[step]
    target[wanted[-1]] = f"{target[wanted[-1]]} {TOKEN}"
    try:
        return msgspec.convert(plain, Session)
    except msgspec.ValidationError:
        return None


@pytest.mark.parametrize("place", PLACES)
def test_what_is_found_in_one_place_is_hidden_everywhere(redactor: Redactor, place: str) -> None:
    """Only the prompt says that it is a password."""
    password = "tr0ub4dor" + "&3"
    prompt = session_with_text(f"DB_PASSWORD={password}").messages
    other = session_with_text(f"It was {password} all the time", place)
    session = msgspec.structs.replace(other, messages=prompt + other.messages)
    assert password not in seen(redactor.redact(session).session)


def test_other_forms_of_a_found_value_are_hidden_too(redactor: Redactor) -> None:
    forms = {
        "as JSON": json.dumps(PASSWORD),
        "as JSON in ASCII only": json.dumps(PASSWORD, ensure_ascii=True),
        "as a part of an address": quote(PASSWORD, safe=""),
        "as base64": base64.b64encode(PASSWORD.encode()).decode().rstrip("="),
    }
    parts = [Text(form, Origin.HUMAN) for form in forms.values()]
    call = session_with_arguments({"password": PASSWORD}).messages
    words = session_with_text("x").messages
    words = (msgspec.structs.replace(words[0], parts=tuple(parts)),)
    redacted = redactor.redact(session_with(messages=call + words))
    for (name, form), part in zip(forms.items(), redacted.session.messages[1].parts, strict=True):
        assert isinstance(part, Text)
        assert form.strip('"') not in part.text, name
        assert redacted.findings[0].replacement in part.text
    assert [finding.count for finding in redacted.findings] == [5]


def test_a_line_of_a_private_key_is_hidden_wherever_it_stands(redactor: Redactor) -> None:
    line = "Ab3dEf7hIj1k" * 5
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{line}\n-----END RSA PRIVATE KEY-----"
    messages = (*session_with_text(key).messages, *session_with_text(f"line 2 is {line}").messages)
    redacted = redactor.redact(session_with(messages=messages))
    assert line not in seen(redacted.session)


def test_what_looks_like_a_secret_only_afterwards_is_hidden_too() -> None:
    """The address ends like a placeholder until it is hidden."""
    chosen = Redactor(KEY, engine="reduced", hide=["emails"])
    redacted = chosen.redact(session_with_text("password=ada@lovelace.orgEXAMPLE"))
    assert [finding.rule for finding in redacted.findings] == ["email", "password"]
    assert chosen.redact(redacted.session).session is redacted.session


def test_common_words_are_hidden_only_where_they_are_secrets(redactor: Redactor) -> None:
    session = session_with_arguments({"password": "swordfish", "note": "a swordfish swims", "pin": 13})
    arguments = first_call(redactor.redact(session).session).arguments
    assert arguments["password"].startswith("[REDACTED:password:")
    assert arguments["note"] == "a swordfish swims"
    assert arguments["pin"] == 13


@pytest.mark.slow
def test_what_our_documents_leave_out_cannot_part_a_token(redactor: Redactor) -> None:
    """Every character between two letters of which nothing is left in a document."""
    dropped = [
        chr(code) for code in range(sys.maxunicode + 1) if safe.text(f"gh{chr(code)}p_") == "gh" + "p_"
    ]
    assert len(dropped) >= 12
    written = redactor.redact_text(TOKEN)
    for unseen in (*dropped, "\x1b[31m", "\x1b[38:5:1m", "".join(dropped)):
        parted = f"{TOKEN[:2]}{unseen}{TOKEN[2:15]}{unseen}{TOKEN[15:]}"
        assert safe.text(parted) == TOKEN
        assert redactor.redact_text(f"use {parted} now") == f"use {written} now", ascii(unseen)


def test_a_found_value_is_hidden_where_it_is_parted(redactor: Redactor) -> None:
    """Only the prompt says that it is a password; elsewhere nobody sees what stands in it."""
    password = "tr0ub4dor" + "&3"
    other = session_with_text(f"It was {password[:5]}\u200b{password[5:]}, \u2060he says").messages
    session = session_with(messages=session_with_text(f"DB_PASSWORD={password}").messages + other)
    redacted = redactor.redact(session)
    (finding,) = redacted.findings
    (part,) = redacted.session.messages[1].parts
    assert isinstance(part, Text)
    assert part.text == f"It was {finding.replacement}, \u2060he says"
    assert finding.count == 2


def test_what_is_parted_in_one_place_is_hidden_everywhere(redactor: Redactor) -> None:
    messages = session_with_arguments({"password": "tr0ub4\u00addor&3"}).messages
    messages += session_with_text("It was tr0ub4dor" + "&3").messages
    redacted = redactor.redact(session_with(messages=messages))
    assert [finding.count for finding in redacted.findings] == [2]


def test_the_lines_of_a_key_are_the_same_with_their_numbers(redactor: Redactor) -> None:
    lines = [line for line in NUMBERED_KEY if "-----" not in line]
    plain, numbered = (
        "\n".join(NUMBERED_KEY),
        "\n".join(f"{number:6}\t{line}" for number, line in enumerate(NUMBERED_KEY, 1)),
    )
    messages = session_with_text(numbered).messages + session_with_text(plain).messages
    redacted = redactor.redact(session_with(messages=messages))
    assert not any(line in seen(redacted.session) for line in lines)
    assert [finding.count for finding in redacted.findings] == [2]


@pytest.mark.parametrize("filler", ["\n" * 50_000, " \\n" * 50_000, "Ab3: x\n" * 20_000, "a" * 200_000])
def test_a_key_that_goes_nowhere_takes_no_time(redactor: Redactor, filler: str) -> None:
    started = time.process_time()
    redactor.redact_text(f"-----BEGIN RSA PRIVATE KEY-----{filler}")
    assert time.process_time() - started < 5


@pytest.mark.slow
def test_much_that_was_hidden_before_takes_no_time(redactor: Redactor) -> None:
    hidden = redactor.redact_text(TOKEN)
    text = f"{hidden} password=hunter22x\n" * 20_000
    started = time.process_time()
    assert "hunter22x" not in redactor.redact_text(text)
    assert time.process_time() - started < 10


def test_numbers_become_words_only_where_a_name_means_them(redactor: Redactor) -> None:
    arguments = {
        "password": 12345678901,
        "limits": {"max_tokens": 12345678901, "token": 98765, "passwords": 123456},
        "secret": {"v": 24681357, "length": 4096, "raw": 10**5000},
        "strict": True,
    }
    session = session_with_arguments(arguments)
    redacted = first_call(redactor.redact(session).session).arguments
    assert redacted["password"].startswith("[REDACTED:password:")
    assert redacted["limits"] == arguments["limits"]
    assert redacted["secret"]["v"].startswith("[REDACTED:secret:")
    assert redacted["secret"]["length"] == 4096
    assert redacted["secret"]["raw"] == 10**5000
    assert redacted["strict"] is True
    assert redactor.redact(session).session.usage == session.usage


@pytest.mark.parametrize(
    "arguments",
    [
        {"secret": [["swordfish"]]},
        {"secret": [{"old": {"raw": [["swordfish"]]}}]},
        {"signing_key": {"argv": ["--password", "sw0rd&fish!"]}},
        {"some_key": ["--password", "sw0rd&fish!"]},
        {"password": [["--force", "swordfish"], 1]},
    ],
)
def test_lists_and_objects_under_a_name_are_gone_through(
    redactor: Redactor, arguments: dict[str, Any]
) -> None:
    redacted = redactor.redact(session_with_arguments(arguments))
    assert "fish" not in seen(redacted.session)
    assert redactor.redact(redacted.session).session is redacted.session


def test_a_short_value_is_hidden_as_a_whole_word(redactor: Redactor) -> None:
    session = session_with_arguments({"password": "hunter2", "note": "hunter2, hunter22 and xhunter2"})
    note = first_call(redactor.redact(session).session).arguments["note"]
    assert note.endswith(", hunter22 and xhunter2")
    assert note.startswith("[REDACTED:password:")


def test_ids_stay_unless_a_secret_stands_in_them(redactor: Redactor) -> None:
    session = session_with_text(f"use {TOKEN}")
    redacted = redactor.redact(session).session
    assert redacted.id == session.id
    assert redacted.messages[0].id == session.messages[0].id
    strange = msgspec.structs.replace(session, id=f"gemini:{TOKEN}", native_id=TOKEN)
    redacted = redactor.redact(strange).session
    assert redacted.id == f"gemini:{redacted.native_id}"


def test_files_problems_and_companions_are_looked_at(redactor: Redactor) -> None:
    path = f"/srv/{TOKEN}/a"
    session = session_with(
        files=(SessionFile(path, "gemini-jsonl", 1),),
        companions=(Companion(CompanionKind.PLAN, path, 1, None),),
        problems=(Problem(path, ProblemKind.BAD_JSON, f"near {TOKEN}"),),
        messages=(
            msgspec.structs.replace(
                session_with_text("x").messages[0],
                source=Location(path, 1, 0, 1),
                also_at=(Location(path, 2, 1, 2),),
            ),
        ),
    )
    redacted = redactor.redact(session)
    assert TOKEN not in seen(redacted.session)
    assert [finding.count for finding in redacted.findings] == [6]
    assert [place.field for place in redacted.findings[0].places] == [
        "files.path",
        "companions.path",
        "problems.file",
        "problems.detail",
        "source.file",
        "also_at.file",
    ]


def test_keys_of_objects_are_hidden_and_nothing_else_changes(redactor: Redactor) -> None:
    session = session_with_arguments({TOKEN: [1, 2.5, None, True], "kept": {"deep": "er"}})
    call = first_call(redactor.redact(session).session)
    (key, kept) = call.arguments
    assert key.startswith("[REDACTED:github-token:")
    assert call.arguments[key] == [1, 2.5, None, True]
    assert call.arguments[kept] is first_call(session).arguments["kept"]


def test_keys_that_become_the_same_lose_nothing() -> None:
    redactor = Redactor(KEY, engine="reduced", hide={"names"}, users=["zoebell"])
    ours = redactor.redact_text("zoebell")
    arguments = {"zoebell": "first", "Zoebell": "second", f"{ours}-2": "third", "ZOEBELL": "fourth"}
    redacted = redactor.redact(session_with_arguments(arguments)).session
    assert first_call(redacted).arguments == {
        ours: "first",
        f"{ours}-3": "second",
        f"{ours}-2": "third",
        f"{ours}-4": "fourth",
    }
    assert redactor.redact(redacted).session == redacted


# -- findings ----------------------------------------------------------------


def test_a_finding_says_where_and_shows_little(redactor: Redactor) -> None:
    messages = (
        *session_with_text("nothing").messages,
        *session_with_arguments({"env": {"API_KEY": TOKEN}, "command": f"echo {TOKEN}"}).messages,
        *session_with_text(f"{TOKEN} and again {TOKEN}", "thought").messages,
    )
    redacted = redactor.redact(session_with(title=f"About {TOKEN}", messages=messages))
    (finding,) = redacted.findings
    assert finding.rule == "github-token"
    assert finding.kind == "github token"
    assert finding.count == 5
    assert finding.preview == "ghp_…"
    assert [(place.message, place.field) for place in finding.places] == [
        (None, "title"),
        (2, "run argument env.API_KEY"),
        (2, "run argument command"),
        (3, "thought"),
    ]
    assert finding.replacement in (redacted.session.title or "")


def test_a_finding_never_shows_more_than_a_quarter(redactor: Redactor) -> None:
    finding = redactor.redact(session_with_arguments({"password": "hunter2"})).findings[0]
    assert finding.preview == "h…"
    where = redactor.redact(session_with_arguments({TOKEN: {"password": "hunter2"}})).findings
    assert TOKEN not in msgspec.json.encode(where).decode()


def test_a_name_that_the_user_gave_is_redacted_too(redactor: Redactor) -> None:
    assert redactor.redact_text("The cart") == "The cart"
    assert redactor.redact_text(f"with {TOKEN}").startswith("with [REDACTED:github-token:")


# -- pseudonyms --------------------------------------------------------------


def test_equal_secrets_stay_equal_with_one_key(redactor: Redactor) -> None:
    replacements = {
        key: redactor_of.redact(session_with_text(f"use {TOKEN}, not {OTHER_TOKEN}")).findings
        for key, redactor_of in (
            ("same", Redactor(KEY, engine="reduced")),
            ("again", redactor),
            ("other", Redactor(b"another key", engine="reduced")),
        )
    }
    words = {key: [finding.replacement for finding in findings] for key, findings in replacements.items()}
    assert words["same"] == words["again"]
    assert words["same"][0] != words["same"][1]
    assert not set(words["other"]) & set(words["same"])


# -- terminals ---------------------------------------------------------------


def test_a_secret_over_several_cells_is_hidden_and_other_lines_keep_their_cells(redactor: Redactor) -> None:
    plain = [{"text": "$ env ", "fg": "#fff"}, {"text": "| sort", "fg": "#0f0"}]
    parted = [
        {"text": "TOKEN=ghp", "fg": "#f00"},
        {"text": TOKEN[3:], "fg": "#00f"},
        {"text": "  ", "fg": "#fff"},
    ]
    screen = Screen([plain, parted, plain])
    session = session_with_text("x", "screen")
    call = msgspec.structs.replace(first_call(session), display=screen)
    session = session_with(messages=(msgspec.structs.replace(session.messages[0], parts=(call,)),))
    redacted = first_call(redactor.redact(session).session).display
    assert isinstance(redacted, Screen)
    assert redacted.cells[0] is plain
    assert redacted.cells[2] is plain
    (cell,) = redacted.cells[1]
    assert cell["text"].startswith("TOKEN=[REDACTED:github-token:")
    assert cell["fg"] == "#f00"


def test_a_private_key_on_a_terminal_takes_its_lines_with_it(redactor: Redactor) -> None:
    body = ["-----BEGIN EC PRIVATE KEY-----", "Ab3" * 20, "-----END EC PRIVATE KEY-----"]
    lines = ["$ cat key", *body, "$ ", "", "done"]
    session = session_with_text("\n".join(lines), "screen")
    redacted = first_call(redactor.redact(session).session).display
    assert isinstance(redacted, Screen)
    assert redacted.text.startswith("$ cat key\n[REDACTED:private-key:")
    assert redacted.text.endswith("]\n$\n\ndone")


# -- attachments -------------------------------------------------------------


def attached(redactor: Redactor, attachment: Attachment) -> Attachment:
    message = msgspec.structs.replace(session_with_text("x").messages[0], parts=(attachment,))
    part = redactor.redact(session_with(messages=(message,))).session.messages[0].parts[0]
    assert isinstance(part, Attachment)
    return part


def as_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "mime_type", ["text/plain", "application/json", "image/svg+xml", "application/x-yaml"]
)
def test_text_that_is_attached_is_looked_into(redactor: Redactor, mime_type: str) -> None:
    written = attached(redactor, Attachment(mime_type, data=as_base64(f"token: {TOKEN}")))
    assert base64.b64decode(written.data or "").startswith(b"token: [REDACTED:github-token:")
    untouched = Attachment(mime_type, data=as_base64("nothing"))
    assert attached(redactor, untouched) is untouched


def test_what_cannot_be_looked_into_is_left_out(redactor: Redactor) -> None:
    picture = Attachment("image/png", data=as_base64("\x89PNG picture"))
    assert attached(redactor, picture) == Attachment("image/png")
    assert attached(Redactor(KEY, engine="reduced", keep_attachments=True), picture) is picture
    assert attached(redactor, Attachment("text/plain", data="not base64!")) == Attachment("text/plain")
    inline = Attachment("image/png", uri="data:image/png;base64,iVBORw0KGgo=")
    assert attached(redactor, inline) == Attachment("image/png", uri="data:image/png;base64")
    linked = Attachment("image/png", uri=f"https://files.example.org/a?token={TOKEN}")
    assert TOKEN not in (attached(redactor, linked).uri or "")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_text_in_a_wide_encoding_is_left_out(redactor: Redactor, encoding: str) -> None:
    data = base64.b64encode(f"token: {TOKEN}".encode(encoding)).decode()
    assert attached(redactor, Attachment("text/plain", data=data)) == Attachment("text/plain")


def test_text_in_an_address_that_is_no_base64_is_left_out(redactor: Redactor) -> None:
    """By chance these letters could be decoded, to something without any token."""
    written = Attachment("text/plain", uri="data:text/plain,dG9rZW4gaHVudGVyMjI")
    assert attached(redactor, written) == Attachment("text/plain", uri="data:text/plain")


@pytest.mark.parametrize("mime_type", [f"image/{TOKEN}", f"image/png; token={TOKEN}", TOKEN, ""])
def test_the_kind_of_an_attachment_tells_no_secret(redactor: Redactor, mime_type: str) -> None:
    picture = Attachment(mime_type, data=as_base64("\x89PNG picture"))
    message = msgspec.structs.replace(session_with_text("x").messages[0], parts=(picture,))
    findings = redactor.redact(session_with(messages=(message,))).findings
    previews = {finding.rule: finding.preview for finding in findings}
    assert previews["attachment"] == ("image/png" if "png" in mime_type else "?")
    assert TOKEN not in msgspec.json.encode(findings).decode()


def test_pictures_in_what_we_cannot_name_are_left_out_too(redactor: Redactor) -> None:
    data = as_base64("picture " * 10)
    session = session_with_arguments({"inlineData": {"mimeType": "image/png", "data": data}})
    redacted = redactor.redact(session)
    assert data not in seen(redacted.session)
    assert [finding.rule for finding in redacted.findings] == ["attachment"]
    assert redactor.redact(redacted.session).findings == ()


# -- what is nested ----------------------------------------------------------


def test_what_is_nested_too_deeply_is_not_given_out(redactor: Redactor) -> None:
    for depth in (10, DEEPEST - 10, DEEPEST + 10, 900):
        nested: Any = TOKEN
        for _ in range(depth):
            nested = [nested]
        redacted = redactor.redact(session_with_arguments({"deep": nested}))
        assert TOKEN not in repr(redacted.session)
        assert len(redacted.findings) == 1
        assert redactor.redact(redacted.session).findings == ()


# -- people ------------------------------------------------------------------


def people_hidden(text: str, *what: str, homes: Sequence[str] = (), users: Sequence[str] = ()) -> str:
    return Redactor(KEY, engine="reduced", hide=what, homes=homes, users=users).redact_text(text)


@pytest.mark.parametrize(
    "path",
    [
        "/home/ada/shop",
        "/Users/ada/shop",
        "C:\\Users\\ada\\shop",
        "C:\\\\Users\\\\ada\\\\shop",
        "file:///home/ada/shop",
        "file:///C:/Users/ada/shop",
        "/mnt/c/Users/ada/shop",
        "cd /home/ada; ls",
        "%2Fhome%2Fada%2Fshop",
        "/var/home/ada/shop",
        "c:\\users\\ada\\shop",
        "\\\\wsl$\\Ubuntu\\home\\ada\\shop",
        "\\\\wsl.localhost\\Debian\\home\\ada\\shop",
    ],
)
def test_homes_keep_their_shape(path: str) -> None:
    hidden = people_hidden(path, "home")
    assert "ada" not in hidden
    name = hidden[path.index("ada") :][: len("user-123456")]
    assert hidden == path.replace("ada", name)
    assert people_hidden("/home/ada", "home") == f"/home/{name}"
    assert people_hidden(hidden, "home") == hidden
    assert people_hidden(path) == path


UNUSUAL_HOMES = (
    "/mnt/backup/home/adalove",
    "/tmp/copy/home/adalove/",
    "/data/people/adalove",
    "D:\\Data\\adalove",
)


@pytest.mark.parametrize("home", UNUSUAL_HOMES)
def test_a_home_that_is_known_is_hidden_wherever_it_lies(home: str) -> None:
    home = home.rstrip("/")
    root = home[: 3 if ":" in home else 1]
    for path in (f"{home}/shop", home, home.upper(), home.replace("\\", "\\\\")):
        hidden = people_hidden(f"cd {path}; ls", "home", homes=[home])
        assert "adalove" not in hidden.lower()
        assert hidden.lower().startswith(f"cd {root.lower()}")
        assert people_hidden(hidden, "home", homes=[home]) == hidden
    slug = re.sub(r"[:/\\]+", "-", home)
    assert "adalove" not in people_hidden(f".claude/projects/{slug}-shop/a", "home", homes=[home])
    assert people_hidden(f"{home}x/shop", "home", homes=[home]) == f"{home}x/shop"
    assert people_hidden(f"{home}/shop", "emails", homes=[home]) == f"{home}/shop"


@pytest.mark.parametrize("home", ["/home/ada", "/Users/ada", "/var/home/ada"])
def test_a_home_in_the_usual_place_keeps_its_shape(home: str) -> None:
    assert people_hidden(f"{home}/shop", "home", homes=[home]) == people_hidden(f"{home}/shop", "home")


@pytest.mark.parametrize("home", ["/", "", "/root", "/data", "C:\\"])
def test_what_is_no_home_of_anybody_hides_nothing(home: str) -> None:
    text = "ls / /root/x /data/shop C:\\shop root data"
    assert people_hidden(text, *CAN_BE_HIDDEN, homes=[home], users=["root", ""]) == text


def test_a_known_user_is_hidden_in_other_paths_and_as_a_word() -> None:
    text = "/mnt/old/home/adalove/x, /srv/Users/AdaLove; ADALOVE Adalove adalove_x adaloves"
    hidden = people_hidden(text, "home", users=["adalove"])
    assert "/home/adalove" not in hidden
    assert "ADALOVE Adalove adalove_x adaloves" in hidden
    hidden = people_hidden(text, "home", "names", homes=["/mnt/old/home/adalove"])
    assert "ADALOVE" not in hidden
    assert hidden.endswith("_x adaloves")
    assert people_hidden(hidden, "home", "names", homes=["/mnt/old/home/adalove"]) == hidden


def test_a_name_with_a_blank_is_told_by_a_path_and_then_hidden_everywhere() -> None:
    session = msgspec.structs.replace(
        session_with_text('open "/Users/Ada Love/shop" or C:\\Users\\Ada Love\\x'),
        project=Project("/Users/Ada Love/shop", None, None, KnownBy.MARKER),
    )
    redacted = Redactor(KEY, engine="reduced", hide=["home"]).redact(session).session
    assert "Love" not in seen(redacted)
    assert (redacted.project.path or "").endswith("/shop")
    assert people_hidden("/Users/ada and more words", "home").endswith(" and more words")


def test_homes_are_part_of_what_decides() -> None:
    def fingerprint(**more: Any) -> str:
        return Redactor(KEY, engine="reduced", **more).fingerprint

    assert fingerprint(homes=["/mnt/a/b"]) == fingerprint()
    assert fingerprint(hide=["home"], homes=["/mnt/a/b"]) != fingerprint(hide=["home"])


@pytest.mark.parametrize(
    "path", ["/home/node/app", "https://x.example.org/home/about", "src/home/index.ts", "/home/"]
)
def test_what_is_nobodys_home_stays(path: str) -> None:
    assert people_hidden(path, *CAN_BE_HIDDEN) == path


def test_names_are_hidden_as_whole_words() -> None:
    text = "/home/lovelace/x: ask lovelace, not lovelaces.\n"
    text += "Author: Ada King <ada@example.org>\nKing said Ada is in."
    hidden = people_hidden(text, "names")
    assert "lovelace," not in hidden
    assert "lovelaces" in hidden
    assert "King" not in hidden
    assert "Ada" not in hidden
    assert people_hidden(hidden, "names") == hidden


@pytest.mark.parametrize(
    "before",
    [
        r"\n",
        r"\t",
        r"\r",
        r"\\n",
        r"\u0027",
        r"\u003C",
        r"\x27",
        "%20",
        "%2F",
        "%2f",
        "%3D",
        "\u201c",
        "\u00ab",
        "_",
    ],
)
def test_a_name_behind_a_sign_that_was_written_out_is_hidden(before: str) -> None:
    """The `n` of a line end is no letter of the name."""
    hidden = people_hidden(f"x{before}zoebell staff{before}Zoebell\u2019s", "names", users=["zoebell"])
    assert "zoebell" not in hidden.lower()
    assert hidden.startswith(f"x{before}user-")


@pytest.mark.parametrize("before", ["n", "20", r"\u00e9", "%41", r"\x61", "\u00e9", "\\\\_x"])
def test_a_letter_before_makes_another_word_of_a_name(before: str) -> None:
    assert people_hidden(f"{before}zoebell", "names", users=["zoebell"]) == f"{before}zoebell"


@pytest.mark.parametrize("before", [r"total 4\n", r"\t", "%20", "%3D", r"\u0027"])
def test_a_home_behind_a_sign_that_was_written_out_is_hidden(before: str) -> None:
    assert "zoebell" not in people_hidden(f"{before}/home/zoebell/shop", "home")


@pytest.mark.parametrize("user", ["gemini", "web", "read", "pro", "png", "jsonl", "running"])
def test_words_that_say_what_something_is_are_no_names(user: str) -> None:
    """A user may be called like an agent, a model or a tool: there the word stays, elsewhere it is hidden."""
    call = ToolCall(
        call_id="c1",
        name="web_fetch-read",
        kind=ToolKind.READ,
        arguments={"prompt": f"ask {user}"},
        status=ToolStatus.SUCCESS,
        native_status="running",
        display=AgentProgress("web", "running", None, ()),
        display_name="Read web",
        child_id=f"gemini:{user}-2",
    )
    answer = ToolResult("c1", "web", ())
    picture = Attachment("image/png", uri="https://example.com/p")
    message = msgspec.structs.replace(
        session_with_text("x").messages[0], model="gemini-pro", parts=(call, answer, picture)
    )
    session = session_with(
        parent_id=f"gemini:{user}-1",
        title=f"For {user}",
        models=("gemini-pro",),
        files=(SessionFile("/srv/s", "gemini-jsonl", 1),),
        messages=(message,),
    )
    redactor = Redactor(KEY, engine="reduced", hide=CAN_BE_HIDDEN, users=[user])
    ours = redactor.redact_text(user)
    redacted = redactor.redact(session).session
    assert redacted.parent_id == f"gemini:{ours}-1"
    assert redacted.title == f"For {ours}"
    hidden_call = msgspec.structs.replace(
        call, arguments={"prompt": f"ask {ours}"}, child_id=f"gemini:{ours}-2"
    )
    assert redacted.messages[0].parts == (hidden_call, answer, picture)
    assert redacted.messages[0].model == "gemini-pro"
    for field in ("id", "agent", "models", "files"):
        assert getattr(redacted, field) == getattr(session, field)
    assert redactor.redact(redacted).session == redacted


def test_secrets_are_hidden_also_in_words_that_say_what_something_is() -> None:
    redactor = Redactor(KEY, engine="reduced", hide=CAN_BE_HIDDEN, users=["zoebell"])
    name = f"zoebell {TOKEN}"
    session = session_with(
        agent=name, models=(name,), id=f"{name}:zoebell", parent_id=f"gemini:{TOKEN} zoebell"
    )
    redacted = redactor.redact(session).session
    assert TOKEN not in seen(redacted)
    assert "zoebell" not in f"{redacted.id} {redacted.parent_id}"
    assert redacted.agent.startswith("zoebell [REDACTED:github-token:")


def test_e_mail_addresses_are_hidden_and_look_alikes_stay() -> None:
    text = "mail ada@lovelace.org, ADA@lovelace.org; git@github.com:a/b icon@2x.png "
    text += "a@example.com pkg@1.2.3 @app.route"
    hidden = people_hidden(text, "emails")
    first = hidden.split()[1].rstrip(",")
    assert first.startswith("user-")
    assert first.endswith("@example.com")
    assert hidden == text.replace("ada@lovelace.org", first).replace("ADA@lovelace.org", first)
    assert people_hidden(hidden, "emails") == hidden


def test_the_hash_of_a_home_cannot_be_guessed_any_more() -> None:
    session = session_with()
    known = session.project.hash or ""
    session = msgspec.structs.replace(
        session, files=(SessionFile(f"/srv/tmp/{known}/chats/a", "gemini-jsonl", 1),)
    )
    redactor = Redactor(KEY, engine="reduced", hide=["home"])
    redacted = redactor.redact(session).session
    assert known not in seen(redacted)
    assert len(redacted.project.hash or "") == 64
    assert redacted.files[0].path == f"/srv/tmp/{redacted.project.hash}/chats/a"
    assert redactor.redact(redacted).session is redacted


# -- anything ----------------------------------------------------------------

PIECES = st.sampled_from(
    (
        *(
            f" {TOKEN} ",
            "password=",
            "password: ",
            '"token": "',
            "hunter22x",
            '"',
            "\\",
            "\\n",
            "\n",
            "\x1b[31m",
            "\u200b",
            "\u00ad",
            "\\u200b",
            "\u200d",
        ),
        *("\ud83d", "é", "\0", "[REDACTED:token:0a1b2c]", "Cookie: a=", "/home/ada/", "ada@lovelace.org"),
        *("-----BEGIN RSA PRIVATE KEY-----", "=", ";", " ", "x", "'", "://u:", "@h", "key", "\x1e"),
        *("Authorization: Bearer ", "user-0a1b2c", "EXAMPLE"),
    )
)
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=12).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXTS | st.just("password"), inner, max_size=3)
    ),
    max_leaves=8,
)


@example({"api_key": {f" {TOKEN} key": "password="}})
@given(st.dictionaries(TEXTS | st.just("api_key"), VALUES, max_size=4))
@settings(max_examples=examples(200), deadline=None)
def test_whatever_it_holds_a_token_is_hidden_and_once_is_enough(arguments: dict[str, Any]) -> None:
    chosen = Redactor(KEY, engine="reduced", hide=CAN_BE_HIDDEN)
    session = session_with_arguments(arguments)
    redacted = chosen.redact(session)
    assert TOKEN not in repr(redacted.session)
    again = chosen.redact(redacted.session)
    assert again.session == redacted.session
    assert again.findings == ()
