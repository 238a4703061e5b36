"""Plain command lines are read without click, and give a command just what click would give it."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

import click
import pytest

from geminids.faces.cli.choices import Choices
from geminids.faces.cli.commands import COMMANDS, cli
from geminids.faces.cli.forms import AGENT, FLAG, NUMBER, TEXT, TEXT_OR_NOTHING, WORD, Form, Option
from geminids.faces.cli.plain_lines import ANSWERS, plain_command

LINES = 26_000
FORMS: dict[str, Form] = {name: import_module(module).FORM for name, (module, _) in ANSWERS.items()}
WORDS = ("cache", "co*", "/a.b/", "is:rewound", "a b", "味噌", "3", "latest", "./x.json", "", "list", "a=b")
ODD = (
    "-",
    "--",
    "-x",
    "--help",
    "-h",
    "--version",
    "--lim",
    "-n5",
    "--jso",
    "--list-sessions",
    "-cache",
    "--no",
)
VALUES: dict[str, tuple[str, ...]] = {
    FLAG: ("", "1", "x"),
    TEXT: ("shop", "7d", ".", "a b", " ", "", "-x", "--json", "--list-sessions", "a=b", "é"),
    NUMBER: ("1", "19", "20", "007", "0", "-1", "x", "", "1_000", " 5", "٣", "+3", "1" * 5_000, "999999999"),
    AGENT: ("gemini", "Gemini", "CLAUDE", "codex", "nobody", "", "gemini "),
    TEXT_OR_NOTHING: ("latest", "", "-x"),
}


def by_click(arguments: list[str]) -> tuple[str, dict[str, Any], dict[str, Any]] | str:
    """The command, its parameters and what is chosen for the run; or why it is none."""
    choices = Choices()
    try:
        with cli.make_context("geminids", list(arguments), obj=choices) as group:
            words = [*group._protected_args, *group.args]
            name, command, rest = cli.resolve_command(group, words)
            assert name is not None
            assert command is not None
            with command.make_context(name, rest, parent=group) as context:
                return name, context.params, vars(choices)
    except (click.UsageError, click.exceptions.Exit) as error:
        return str(error)


def made_up(luck: random.Random) -> list[str]:
    """A command line that somebody may type, right or wrong."""
    name = luck.choice(list(FORMS))
    options = [luck.choice(FORMS[name].options) for _ in range(luck.randrange(5))]
    if options and luck.random() < 0.4:
        options += [luck.choice(options)] * luck.randrange(1, 3)
    pieces = [_typed(luck, option) for option in options]
    words = 1 if name == "show" and luck.random() < 0.8 else luck.randrange(3)
    pieces += [[luck.choice(WORDS)] for _ in range(words if FORMS[name].argument else words // 2)]
    if luck.random() < 0.15:
        pieces.append([luck.choice(ODD)])
    luck.shuffle(pieces)
    line = [name, *(word for piece in pieces for word in piece)]
    return [*line[1:], name] if luck.random() < 0.03 else line


def _typed(luck: random.Random, option: Option) -> list[str]:
    spelled = luck.choice(option.spelled.split())
    value = luck.choice((*option.words, "nothing", "") if option.takes == WORD else VALUES[option.takes])
    if option.takes in (FLAG, TEXT_OR_NOTHING) and luck.random() < 0.9:
        return [spelled]
    return luck.choice(([spelled, value], [spelled, value], [f"{spelled}={value}"], [spelled]))


def test_both_parsers_agree_on_thousands_of_lines() -> None:
    luck = random.Random(20_26)
    read: dict[str, int] = dict.fromkeys(FORMS, 0)
    seen: set[tuple[str, str]] = set()
    for _ in range(LINES):
        line = made_up(luck)
        choices = Choices()
        plain = plain_command(line, choices)
        if plain is None:
            continue
        assert (line[0], plain[1], vars(choices)) == by_click(line), line
        read[line[0]] += 1
        seen.update((line[0], word.partition("=")[0]) for word in line if word.startswith("-"))
    assert min(read.values()) > LINES / 40, read
    plain_ones = {
        (name, spelling)
        for name, form in FORMS.items()
        for option in form.options
        for spelling in option.spelled.split()
        if option.takes != TEXT_OR_NOTHING
    }
    assert seen == plain_ones


@pytest.mark.parametrize(
    "line",
    [
        "list",
        "list --no-sync --limit 50",
        "list --project . --since 7d --kind all -n 3 --agent Gemini --tag a --tag b --sort title --reverse",
        "list --json --home /a --home /b --data=/c",
        "browse",
        "browse cache project:shop --no-color --sample",
        "search cors preflight --in output --no-sync",
        "search cache --sample --no-color",
        "show latest --tools --at 3 --no-pager",
        "stats",
        "stats --by model --csv --since 30d",
        "sync --full --stats",
    ],
)
def test_what_people_type_is_read_without_click(line: str) -> None:
    arguments, choices = line.split(), Choices()
    plain = plain_command(arguments, choices)
    assert plain is not None
    assert (arguments[0], plain[1], vars(choices)) == by_click(arguments)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "doctor",
        "--json list",
        "list --help",
        "list -n5",
        "list --limit 0",
        "list --limit 3 --limit 4",
        "list more",
        "list --agent nobody",
        "show",
        "show 1 2",
        "show -",
        "search -- -cache",
        "search cache -test",
        "stats --explain",
    ],
)
def test_what_is_unusual_is_left_to_click(line: str) -> None:
    assert plain_command(line.split(), Choices()) is None


def test_a_shell_that_completes_asks_click(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_GEMINIDS_COMPLETE", "bash_complete")
    assert plain_command(["list"], Choices()) is None


def test_both_answer_the_same_commands() -> None:
    for name, (module, function) in ANSWERS.items():
        click_module, _, attribute = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(import_module(click_module), attribute)
        assert command.name == name
        assert hasattr(import_module(module), function)
