"""Who said it: the human's own words, however they are wrapped."""

from __future__ import annotations

import time
from typing import Any

import pytest

from geminids.agents.gemini.own_words import OWN_WORDS, whose_words
from geminids.agents.gemini.read.injected import Prompt, message_origin, prompt_of, user_parts
from geminids.core.model import AnyPart, Attachment, FileReference, Origin, Text
from tests.conftest import FIXTURES

CONTEXT = "<session_context>\nThis is the Gemini CLI.\n</session_context>"


LEFT_PLAN_MODE = (
    "User has manually exited Plan Mode. Switching to Default mode (edits will require confirmation)."
)

OLD_FOLDERS = (
    "I'm currently working in the following directories:\n  - /a\n  - /b\n"
    "Here is the folder structure of the current working directories:\n\nShowing up to 200 items"
)
WARNING = "You have {}. You have one final chance to complete the task with a short grace period."
INIT = (
    "\nYou are an AI agent that brings the power of Gemini directly into the terminal. Your task is to "
    "analyze the current directory and generate a comprehensive GEMINI.md file to be used as context"
)

LOOK = Prompt("Look at the notes", "Look at the notes")


def parts(content: Any, shown: Any = None, previous: Prompt | None = None) -> tuple[AnyPart, ...]:
    return user_parts(content, shown, previous)


def words(found: tuple[AnyPart, ...], origin: Origin = Origin.HUMAN) -> str:
    return "".join(part.text for part in found if isinstance(part, Text) and part.origin is origin)


@pytest.mark.parametrize(
    "prompt",
    [
        "Fix the bug",
        "/etc/hosts looks odd",
        "? what does this do",
        "  leading space",
        "<div> is not closed",
        "[1, 2] is a list",
        "- **bold** list",
        "System: what is that",
        "I ran the tests",
        "Your task is to sing",
        "修正してください",
        "Here is a thought",
        "Here is a summary of changes I made: please review",
        "You have exceeded the maximum number of requests - what does this mean?",
        "Background execution update: is it possible?",
        f"{LEFT_PLAN_MODE} Why do I see this?",
        "User has manually exited Plan Mode. Switching to what?",
        "System: Please continue. And hurry",
        "[System: what is that]",
        "[Continuing from previous AI thoughts...] is what it said",
        '{"active_tasks": [], "discovered_facts": []} is this valid?',
        "I'm currently working in the directory: /srv. Look at it",
    ],
)
def test_a_prompt_is_the_humans_whatever_it_begins_with(prompt: str) -> None:
    for content in (prompt, [{"text": prompt}], [prompt], {"text": prompt}):
        found = parts(content)
        assert words(found) == prompt
        assert message_origin(found) is Origin.HUMAN


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        (CONTEXT, Origin.INJECTED),
        ("<hook_context>be nice</hook_context>", Origin.INJECTED),
        (
            "<system_note>The user has explicitly selected the following agent(s): poet</system_note>",
            Origin.INJECTED,
        ),
        (
            "Here is the user's editor context as a JSON object. This is for your information only.",
            Origin.INJECTED,
        ),
        ("Here is a summary of changes in the user's editor context, in JSON format.", Origin.INJECTED),
        ("- **Workspace Directories:**\n  - /home/me", Origin.INJECTED),
        ("Background execution update:\n<background_output>done</background_output>", Origin.INJECTED),
        (LEFT_PLAN_MODE, Origin.INJECTED),
        (LEFT_PLAN_MODE.replace("Default", "Auto-Edit"), Origin.INJECTED),
        (OLD_FOLDERS, Origin.INJECTED),
        (
            "[Multi-Modal Blob (image/png, 2MB) degraded to text to preserve context window. Saved to: /x]",
            Origin.INJECTED,
        ),
        ("[Continuing from previous AI thoughts...]", Origin.SYNTHETIC),
        ("<intent_summary>\n- **Primary Goal:** …\n</intent_summary>", Origin.SYNTHETIC),
        ("### [System Note: Conversation History Truncated]\nPrior context was offloaded", Origin.SYNTHETIC),
        ('{"active_tasks":[],"discovered_facts":["a"],"constraints_and_preferences":[]}', Origin.SYNTHETIC),
        (WARNING.format("stopped calling tools without finishing"), Origin.SYNTHETIC),
        (WARNING.format("exceeded the time limit"), Origin.SYNTHETIC),
        (INIT, Origin.COMMAND),
        ("System: Please continue.", Origin.SYNTHETIC),
        ("System: Potential loop detected. Details: …", Origin.SYNTHETIC),
        ("[System: You successfully executed a tool but returned an empty response.]", Origin.SYNTHETIC),
        ("<state_snapshot>\n<overall_goal/>\n</state_snapshot>", Origin.SYNTHETIC),
        ("[Function Response: read_file]<image/png>", Origin.TOOL),
    ],
)
def test_what_the_cli_says_in_the_humans_place_is_not_the_humans(text: str, origin: Origin) -> None:
    found = parts([{"text": text}])
    assert words(found) == ""
    assert message_origin(found) is origin


def test_context_and_prompt_fused_in_one_message_are_told_apart() -> None:
    found = parts([{"text": CONTEXT}, {"text": "How many notes?"}])
    assert words(found) == "How many notes?"
    assert words(found, Origin.INJECTED) == CONTEXT
    assert message_origin(found) is Origin.HUMAN


def test_a_hook_in_front_of_the_prompt_in_the_same_string() -> None:
    text = "<hook_context>Session hook says hi.</hook_context>\n\nTry the shell."
    after = {"text": "<hook_context>Agent hook says hi.</hook_context>"}
    found = parts([{"text": text}, after], [{"text": text}])
    assert words(found) == "Try the shell."


def test_referenced_files_in_parts_become_references_with_their_text() -> None:
    content = [
        {"text": "Compare @docs/** files."},
        {"text": "\n--- Content from referenced files ---"},
        {"text": "\nContent from @docs/a.md:\n"},
        {"text": "# A\nContent from @nowhere:\nstill A"},
        {"text": "\nContent from @docs/b.md:\n"},
        {"text": "# B"},
        {"text": "\n--- End of content ---"},
        {"text": "one more thought"},
    ]
    found = parts(content, [{"text": "Compare @docs/ files."}])
    references = [part for part in found if isinstance(part, FileReference)]
    assert references == [
        FileReference("docs/a.md", "# A\nContent from @nowhere:\nstill A"),
        FileReference("docs/b.md", "# B"),
    ]
    assert words(found) == "Compare @docs/ files."
    assert "one more thought" in words(found, Origin.INJECTED)


def test_referenced_files_in_one_string_become_references_too() -> None:
    content = "Explain @a.txt\n--- Content from referenced files ---\nContent from @a.txt:\nmilk"
    assert parts(f"{content}\n--- End of content ---") == (
        Text("Explain @a.txt", Origin.HUMAN),
        FileReference("a.txt", "milk"),
    )


def test_a_missing_footer_loses_no_file() -> None:
    content = "See @a\n--- Content from referenced files ---\nContent from @a:\nmilk\nContent from @b:\ntea"
    assert parts(content)[1:] == (FileReference("a", "milk"), FileReference("b", "tea"))
    pieces = [
        {"text": "See @a"},
        {"text": "\n--- Content from referenced files ---"},
        {"text": "\nContent from @a:\n"},
    ]
    assert parts([*pieces, {"text": "milk"}])[1:] == (FileReference("a", "milk"),)


def test_a_custom_command_keeps_the_words_that_were_typed() -> None:
    found = parts([{"text": "Greet Bob politely."}], [{"text": "/greet Bob"}])
    assert words(found) == "/greet Bob"
    assert words(found, Origin.COMMAND) == "Greet Bob politely."
    assert message_origin(found) is Origin.COMMAND


def test_a_command_of_the_shell_is_the_humans_and_its_output_is_not() -> None:
    asked = "I ran the following shell command:\n```sh\nls | wc\n```\n\n"
    answered = "This produced the following result:\n```\n3\n```\n4\n```"
    found = parts([{"text": asked + answered}])
    assert found == (Text("ls | wc", Origin.HUMAN), Text("3\n```\n4", Origin.SHELL))
    assert message_origin(found) is Origin.SHELL


def test_a_follow_up_does_not_repeat_the_prompt_it_is_shown_as() -> None:
    found = parts([{"text": "Please continue."}], [{"text": "Look at the notes"}], LOOK)
    assert words(found) == ""
    assert message_origin(found) is Origin.SYNTHETIC


def test_the_same_prompt_twice_is_two_prompts() -> None:
    found = parts([{"text": "continue"}], [{"text": "continue"}], Prompt("continue", "continue"))
    assert words(found) == "continue"


def test_a_tools_answer_is_no_prompt_and_its_companions_neither() -> None:
    answer = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "x"}}}
    image = {"inlineData": {"data": "aGk=", "mimeType": "image/png"}}
    found = parts([answer, image, {"text": "plain text beside it"}])
    assert words(found) == ""
    assert message_origin(found) is Origin.TOOL


def test_steering_in_a_tool_turn_holds_the_humans_words() -> None:
    answer = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "x"}}}
    hint = {"text": "User steering update:\n<user_input>\nuse tabs\n</user_input>\nAct on it."}
    found = parts([answer, hint])
    assert words(found) == "use tabs"
    assert message_origin(found) is Origin.HUMAN


@pytest.mark.parametrize("content", [None, "", [], [{}], [None], 3, [{"text": 5}], {"functionResponse": 1}])
def test_odd_content_is_kept_and_is_nobodys(content: Any) -> None:
    assert words(parts(content)) == ""


def test_the_same_folder_pointed_at_twice_is_two_prompts() -> None:
    typed, sent = [{"text": "Compare @docs/ files."}], [{"text": "Compare @docs/** files."}]
    first = parts(sent, typed)
    again = parts(sent, typed, prompt_of(first))
    assert words(first) == words(again) == "Compare @docs/ files."


def test_a_custom_command_used_twice_is_two_commands_and_going_on_after_it_is_none() -> None:
    typed = [{"text": "/tell milk"}]
    first = parts([{"text": "Tell me about milk."}], typed)
    again = parts([{"text": "Tell me about milk."}], typed, prompt_of(first))
    went_on = parts([{"text": "Please continue."}], typed, prompt_of(first))
    assert words(again) == "/tell milk"
    assert (words(went_on), message_origin(went_on)) == ("", Origin.SYNTHETIC)


def test_a_hint_is_not_the_prompt_that_is_gone_on_from() -> None:
    answer = {"functionResponse": {"id": "c1", "name": "x", "response": {}}}
    hint = {"text": "User steering update:\n<user_input>\nuse tabs\n</user_input>\nAct on it."}
    assert prompt_of(parts([answer, hint])) is None


def test_text_around_referenced_files_in_one_string_is_kept() -> None:
    content = (
        "See @p.png and @a\n--- Content from referenced files ---[Image: image/png, 12.3 KB]odd"
        "\nContent from @a:\nfirst\n--- End of content ---\nstill the file\n--- End of content ---"
    )
    assert parts(content) == (
        Text("See @p.png and @a", Origin.HUMAN),
        Attachment("image/png"),
        Text("odd", Origin.INJECTED),
        FileReference("a", "first\n--- End of content ---\nstill the file"),
    )


def test_what_an_editor_attached_is_no_words_of_the_human() -> None:
    attached = [
        {"text": "Explain this"},
        {"text": "\n--- Content from referenced files ---"},
        {"text": "\nContent from @a.py:\n"},
        {"text": "first"},
        {"text": "\n--- Content from referenced context ---"},
        {"text": "\nContent from @file:///b.py:\n"},
        {"text": "second"},
    ]
    told = (
        Text("Explain this", Origin.HUMAN),
        FileReference("a.py", "first"),
        FileReference("file:///b.py", "second"),
    )
    assert parts(attached) == told
    assert parts(attached[:1] + attached[4:]) == (told[0], told[2])
    fused = "Explain this\n--- Content from referenced context ---\nContent from @file:///b.py:\nsecond"
    assert parts(fused) == (told[0], told[2])


def test_the_page_about_whose_words_they_are_names_every_text() -> None:
    page = (FIXTURES.parents[1] / "docs" / "whose-words.md").read_text()
    for known in OWN_WORDS:
        since = known.since if known.until is None else f"{known.since} to {known.until}"
        assert f"| {known.what} | " in page
        assert any(
            f"| {known.what} | " in row and row.endswith(f"| {known.origin} | {since} |")
            for row in page.splitlines()
        )
    assert page.count("\n| ") == len(OWN_WORDS) + len(["its header", "the line below"])


def test_known_texts_are_looked_for_in_time_that_grows_with_the_text() -> None:
    hostile = [
        '{"active_tasks":[' + '"discovered_facts":' * 200_000,
        "I'm currently working in the following directories:" + "\n  - x" * 300_000,
        " " * 2_000_000,
    ]
    started = time.monotonic()
    assert {whose_words(text) for text in hostile} == {Origin.HUMAN}
    assert time.monotonic() - started < 5
