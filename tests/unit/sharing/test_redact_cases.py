"""Secrets as people and programs tell them, each in a session of its own, and words that are none.

The cases were written without knowledge of the rules. `benchmarks/redaction.py` measures sets of them,
from files as agents write them to the documents that are exported.
"""

from __future__ import annotations

import json
from functools import cache
from time import process_time
from typing import Any, Literal

import pytest

from geminids.core.model import Message, Origin, Role, Session, Text, ToolCall, ToolKind, ToolStatus
from geminids.sharing.redact.answers import CODE, PASSWORD, answered, asked_for, given_to_tool
from geminids.sharing.redact.rules import OURS, Rule
from tests.support.planted_secrets import cases, session_with, session_with_text
from tests.support.redacting import redactor, seen

Engine = Literal["full", "reduced"]
ENGINES: tuple[Engine, ...] = ("full", "reduced")
MOST_MISSED: dict[Engine, int] = {"full": 0, "reduced": 1}
MOST_CHANGED = 2
"""Rules of the engine take the name of a host with its key, and the parameters behind a password."""
ROLES = {
    "user": (Role.USER, Origin.HUMAN),
    "model": (Role.ASSISTANT, Origin.MODEL),
    "tool": (Role.ASSISTANT, Origin.MODEL),
}


def conversation(*said: tuple[str, str]) -> Session:
    (message,) = session_with_text("x").messages
    return session_with(messages=tuple(_message(message, *one) for one in said))


def _message(like: Message, who: str, text: str) -> Message:
    from msgspec.structs import replace

    role, origin = ROLES[who]
    part: Any = Text(text, origin)
    if who == "tool":
        part = ToolCall(
            "c1", "run", ToolKind.EXECUTE, {}, ToolStatus.SUCCESS, result=(Text(text, Origin.TOOL),)
        )
    return replace(like, role=role, origin=origin, parts=(part,))


def told(*said: tuple[str, str], engine: Engine = "full") -> str:
    return seen(redactor(engine).redact(conversation(*said)).session)


def after(case: dict[str, Any], engine: Engine) -> str:
    if case["of"] in {"username", "email", "home"}:
        return seen(_hiding(engine).redact(conversation(*map(tuple, case["said"]))).session)
    return told(*map(tuple, case["said"]), engine=engine)


@cache
def _hiding(engine: Engine) -> Any:
    from geminids.sharing.redact import CAN_BE_HIDDEN, Redactor
    from tests.conftest import COMPILED_RULES
    from tests.support.redacting import KEY

    return Redactor(KEY, engine=engine, hide=CAN_BE_HIDDEN, cache_folder=COMPILED_RULES)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_what_people_tell_is_found_and_the_words_around_it_stay(engine: Engine) -> None:
    missed, changed, count = [], [], 0
    for case in cases():
        text = after(case, engine)
        before = seen(conversation(*map(tuple, case["said"])))
        for secret in case.get("secrets", ()):
            count += 1
            assert secret in before
            if secret in text or json.dumps(secret)[1:-1] in text:
                missed.append(secret)
        changed += [words for words in case["stay"] if before.count(words) > text.count(words)]
    assert count > 100
    assert len(missed) <= MOST_MISSED[engine], missed
    assert len(changed) <= MOST_CHANGED, changed


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("define('DB_PASSWORD','Xk9#mQ2vLp7w');", "Xk9#mQ2vLp7w"),
        (
            "https://api.telegram.org/bot" + "7529356191:AA" + "T-9BknedOcOCLZ7KVVrxndiA1LC9ILSVO/getMe",
            "9BknedOcO",
        ),
        ('{"password":\n   "Xk9mQ2vLp7w"}', "Xk9mQ2vLp7w"),
        ("数据库密码是：Xk9mQ2vLp7w，请连接", "Xk9mQ2vLp7w"),
        ("密码=Xk9mQ2vLp7w", "Xk9mQ2vLp7w"),
        ("curl --cookie 'PHPSESSID=q8w7e6r5t4z3u2i1' https://x.example", "q8w7e6r5t4z3u2i1"),
        ("az login -u ada -p Xk9mQ2vLp7w", "Xk9mQ2vLp7w"),
        ("PaSsWoRd=Xk9mQ2vLp7w", "Xk9mQ2vLp7w"),
    ],
    ids=[
        "define",
        "Telegram",
        "next line",
        "Chinese words",
        "Chinese name",
        "cookie",
        "login",
        "mixed letters",
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_kinds_that_were_missed_are_found(engine: Engine, text: str, secret: str) -> None:
    assert secret not in told(("tool", text), engine=engine)


def test_what_is_answered_to_a_question_for_a_password_is_hidden() -> None:
    assert "Tr0ub4dor&3x" not in told(
        ("model", "What are the login and password?"), ("user", "admin / Tr0ub4dor&3x")
    )
    assert "cherryhazel" not in told(("model", "Please enter your password."), ("user", "cherryhazel"))
    assert "581613" not in told(("model", "What does the authenticator app show?"), ("user", "581613"))
    assert "581613" in told(("model", "How many rows are there?"), ("user", "581613"))
    assert "cherryhazel" in told(("model", "What is the name of the branch?"), ("user", "cherryhazel"))


def test_a_question_about_passwords_asks_for_none() -> None:
    assert asked_for("Do you want a password field in the form?") is None
    assert asked_for("I hashed the passwords.") is None
    assert asked_for("What is the password?") == PASSWORD
    assert asked_for("Please paste the 6-digit code.") == CODE
    for answer in (b"yes, above the button", b"the one from the environment", b"config/settings.py", b"skip"):
        assert answered(answer, PASSWORD) == []


def test_the_answer_that_a_tool_was_given_is_hidden() -> None:
    for result in (b'{"answers":{"0":"cherryhazel"}}', "**User answered:**\n  PW → cherryhazel".encode()):
        (secret,) = given_to_tool(result, PASSWORD)
        assert result[secret.start : secret.end] == b"cherryhazel"


@pytest.mark.parametrize("rule", OURS, ids=lambda rule: rule.name)
def test_the_work_of_a_rule_grows_with_the_text_and_not_with_its_square(rule: Rule) -> None:
    """Words that make it begin again and again, and a line that does not end."""
    for start in (*rule.words, *rule.keywords)[:2]:
        words = start + b" is the " + start + b': "a1 ' + start + b" -p a1,"
        small, large = (_seconds(rule, words * count + b"a1" * 20 * count) for count in (100, 800))
        assert large < 30 * small + 0.2, start


def _seconds(rule: Rule, text: bytes) -> float:
    began = process_time()
    for match in rule.pattern.finditer(text):
        list(rule.secrets(match))
    return process_time() - began
