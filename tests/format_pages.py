"""The pages of `docs/formats/`: what each format is for, what it looks like, what it cannot carry.

What people should know of a format stands here in words; all else on a page is what the format itself says,
writes and loses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, reduce
from operator import add
from typing import Any, NamedTuple

import msgspec

from geminids import export, sample, sources
from geminids.export.base import Format
from geminids.export.facts import fact_of, message_fact
from geminids.export.losses import Loss, LossReport, Verdict, losses
from geminids.export.probing import values
from geminids.model import Session
from geminids.transcript.entries import LEVEL_WORDS
from tests.conftest import ROOT
from tests.exporting import LOOKED_AT, exported, fixture_sessions, manner
from tests.reading import sessions as read_sessions

FOLDER = ROOT / "docs" / "formats"
SHOWN = "51ca"
"""The beginning of the id of the session that all excerpts are of; it comes with geminids."""
MORE_CASES = (
    "agents-with-one-task",
    "chat-resume-elsewhere",
    "leftovers",
    "log-lines",
    "masked-history",
    "torn-jsonl",
)
"""What the cases of the golden files have nothing of."""

MOST_LINES = 44
WIDEST = 110
LONGEST_WORDS = 64
MOST_ITEMS = 2

FLAGS = {
    "files_folder": ("`--images`", "pictures and other attachments as files beside it"),
    "share": ("`--share`", "in the shape of Gemini CLI's own `/chat share`"),
    "table": ("`--table messages\\|calls`", "one row a message, or one row a tool call"),
    "touched_at": ("`--fresh`", "says that it was changed now, so that Gemini CLI does not take it for old"),
}
SIGNS = {Verdict.CARRIED: "●", Verdict.PARTLY: "◐", Verdict.LEFT_OUT: "○", Verdict.LOST: "○"}


class About(NamedTuple):
    """What people should know of a format."""

    what_for: str
    language: str = "json"
    """Of the excerpt."""
    begins: str = ""
    """Where the excerpt begins, if not at the beginning."""
    variants: Mapping[str, Mapping[str, Any]] = {}
    """Options that make another file of it, by the words for them."""


ABOUT = {
    "atif": About(
        "For training, evaluation and viewers that take trajectories (Harbor and its relatives). Each step is a "
        "message with its calls and what came back; what the format has no field for stands under `extra`. "
        "Pictures are named, not held.",
    ),
    "chat": About(
        "For fine-tuning and for anything that takes the messages of a chat API: one session a line, tool calls "
        "with their answers after them. There is no place for times, tokens or models.",
    ),
    "csv": About(
        "For spreadsheets, notebooks and SQL: one row a message, or one row a tool call. A cell that a "
        "spreadsheet would run as a formula is made harmless.",
        "csv",
        variants={"One row a tool call": {"table": "calls"}},
    ),
    "gemini": About(
        "To go on with a session in Gemini CLI on this or another machine, or to give it to a colleague: "
        "`gemini --session-file FILE` loads it. The file is one of Gemini CLI's own; what that has no field for "
        "is not written.",
    ),
    "html": About(
        "To read, to print, to send: one page that loads nothing, with an outline of the prompts, search, folded "
        "tools and thoughts, diffs, pictures, light and dark. In a folder, `index.html` lists all pages.",
        "html",
        begins="<main",
    ),
    "json": About(
        "To keep a session whole and to read it with programs: everything there is, in the schema "
        "[session.schema.json](../session.schema.json). `geminids show FILE` and `geminids export FILE` read it "
        "again.",
    ),
    "jsonl": About(
        "For `jq`, log tools and notebooks: one line a message, each with the session it belongs to, so that lines "
        "of many sessions can be mixed, sorted and filtered.",
    ),
    "markdown": About(
        "To read in an editor or on any forge, to attach to an issue, to keep beside the code. The head is front "
        "matter for programs, tool calls fold, changes are diffs.",
        "markdown",
        variants={"As `/chat share` writes it": {"share": True}},
    ),
    "otlp": About(
        "For backends that take OpenTelemetry: the session is a trace, each reply and each tool call a span, with "
        "the names of the GenAI conventions. Gemini CLI writes one time a message, so how long a span took is "
        "inferred.",
    ),
    "text": About(
        "For mail, terminals, `grep` and models: nothing but words, indented where a tool speaks.",
        "text",
    ),
}


def page(name: str) -> str:
    """The page of one format."""
    chosen, about = export.load(name), ABOUT[name]
    return "\n".join(
        [
            f"# {name}",
            "",
            chosen.summary,
            "",
            about.what_for,
            "",
            *_fenced(f"geminids export ID -f {name} -o FILE{chosen.suffix}", "sh"),
            "",
            *_settings(chosen),
            "",
            *_excerpt_section(chosen, "What it looks like", {}),
            *(
                line
                for title, more in about.variants.items()
                for line in _excerpt_section(chosen, title, more)
            ),
            *_loss_section(chosen, "What it cannot carry", {}),
            *(
                line
                for title, more in about.variants.items()
                for line in _loss_section(chosen, f"{title}: what it cannot carry", more)
            ),
        ]
    )


def overview() -> str:
    """The page of all formats."""
    formats = [export.load(name) for name in export.available()]
    rows = [
        f"| [{f.name}]({f.name}.md) | {f.summary} | `{f.suffix}` | {_yes(f.holds_many)} | {f.level} |"
        for f in formats
    ]
    return "\n".join(
        [
            "# Formats",
            "",
            *_fenced("geminids export ID -f FORMAT -o FILE", "sh"),
            "",
            "| format | what for | file | many in one | level |",
            "|---|---|---|---|---|",
            *rows,
            "",
            "The level says how much is told unless `--level` says otherwise: "
            + "; ".join(f"*{level}*: {words}" for level, words in LEVEL_WORDS.items())
            + ".",
            "",
            "## What each can carry",
            "",
            "At the level *everything*. ● whole, ◐ in part (cut, rounded, or of some messages only), ○ not at all.",
            "",
            *_matrix(formats),
            "",
            *_how(),
            "",
        ]
    )


def probed_sessions() -> list[Session]:
    """Sessions that together hold a value of every kind that the fixtures have."""
    found: dict[str, Session] = {}
    for name, session in fixture_sessions().items():
        case = name.split("/")[0]
        if case in (*LOOKED_AT, *MORE_CASES):
            found.setdefault(case, session)
    return list(found.values())


def facts(sessions: Iterable[Session]) -> set[str]:
    """Every fact that some sessions hold a value of."""
    whole = list(sessions)
    of_values = {fact_of(value.path) for session in whole for value in values(session)}
    return of_values | {message_fact(m.state) for session in whole for m in session.messages if m.parts}


def _settings(chosen: Format) -> Sequence[str]:
    options = [f"{flag}: {words}" for name, (flag, words) in FLAGS.items() if name in chosen.options]
    return [
        "| | |",
        "|---|---|",
        f"| many sessions in one file | {_yes(chosen.holds_many)} |",
        f"| level of detail | *{chosen.level}*, unless `--level` says otherwise |",
        *(f"| option | {option} |" for option in options),
        *([f"| in a folder | `{chosen.contents_name}` lists all files |"] if chosen.contents_name else []),
    ]


def _excerpt_section(chosen: Format, title: str, options: Mapping[str, Any]) -> Sequence[str]:
    flags = "".join(f" {_flag(name, value)}" for name, value in options.items())
    content = exported(chosen.name, _shown_session(), **options).decode()
    about = ABOUT[chosen.name]
    return [
        f"## {title}",
        "",
        f"From `geminids export {SHOWN} -f {chosen.name}{flags} --sample`; … stands for what is left out here.",
        "",
        *_fenced(_excerpt(content, about), about.language),
        "",
    ]


def _loss_section(chosen: Format, title: str, options: Mapping[str, Any]) -> Sequence[str]:
    report = _report(chosen.name, chosen.level, **options)
    whole = [loss.fact for loss in report.having(Verdict.CARRIED)]
    rest = [loss for loss in report.losses if loss.verdict is not Verdict.CARRIED]
    return [
        f"## {title}",
        "",
        f"Computed over {report.sessions} sessions of many kinds at the level *{chosen.level}*, as `--report` does "
        "for yours: see [how](README.md#how-this-is-computed).",
        "",
        *(_loss_table(rest) if rest else ["Nothing is lost."]),
        "",
        *([f"Whole: {', '.join(whole)}."] if rest else []),
        *([""] if rest else []),
    ]


def _loss_table(found: Sequence[Loss]) -> Sequence[str]:
    return [
        "| fact | values | whole | in part | other level | lost |",
        "|---|--:|--:|--:|--:|--:|",
        *(
            f"| {loss.fact} | {loss.tried} | {_count(loss.carried)} | {_count(loss.cut)} | {_count(loss.left_out)} "
            f"| {_count(loss.lost)} |"
            for loss in found
        ),
    ]


def _matrix(formats: Sequence[Format]) -> Sequence[str]:
    verdicts = {
        chosen.name: {loss.fact: loss.verdict for loss in _report(chosen.name, "everything").losses}
        for chosen in formats
    }
    named = sorted({fact for found in verdicts.values() for fact in found})
    return [
        f"| fact | {' | '.join(verdicts)} |",
        "|---" + "|:-:" * len(verdicts) + "|",
        *(f"| {fact} | {' | '.join(SIGNS[found[fact]] for found in verdicts.values())} |" for fact in named),
    ]


def _how() -> Sequence[str]:
    return [
        "## How this is computed",
        "",
        "`geminids export … --report` says the same of your own sessions, for any format that is installed. Nothing "
        "of it is written by hand. The words, numbers and times of a session are replaced by marks of the same "
        "shape, the format writes it, and the bytes are searched for the marks: all of a text's marks are there "
        "(whole), some (in part) or none (lost). What cannot be marked, such as a role or a status, and what was "
        "not seen is changed instead: if the bytes stay the same, it is lost. A number that shows only rounded or "
        "in a sum and a time without its seconds are there in part. *Other level* counts what the level of detail "
        "leaves out and *everything* would tell. Words that stand in two places of one tool call, such as an output "
        "that the model got and the human saw, count as there if one of them is.",
        "",
        f"The tables are made from {len(probed_sessions())} recorded sessions that hold every kind of value at least "
        "once. In sessions of more than 24 messages, changes are tried on 24 of them, chosen so that every kind of "
        "message is among them; marks are always looked for in all.",
    ]


@cache
def _shown_session() -> Session:
    source = sources.load("gemini")
    found = (s for s in read_sessions(source, sample.home()) if s.native_id.startswith(SHOWN))
    whole = source.with_outputs(next(found))
    moved = msgspec.json.encode(whole).replace(sample.home().encode(), b"/home/ada")
    return msgspec.json.decode(moved, type=Session)


@cache
def _report(name: str, level: str, **options: Any) -> LossReport:
    chosen = export.load(name)
    reports = (losses(session, chosen, manner(level, **options)) for session in probed_sessions())
    return reduce(add, reports)


def _excerpt(content: str, about: About) -> str:
    if about.language == "json":
        lines = _json_lines(content)
    else:
        lines = content[content.index(about.begins) :].splitlines()
    shown = [line if len(line) <= WIDEST else line[: WIDEST - 1] + "…" for line in lines[:MOST_LINES]]
    return "\n".join([*shown, "…"] if len(lines) > MOST_LINES else shown)


def _json_lines(content: str) -> list[str]:
    """One value indented, of several a line each; long words and lists are shortened."""
    written = [_shortened(json.loads(line)) for line in content.splitlines()]
    if len(written) == 1:
        return json.dumps(written[0], ensure_ascii=False, indent=2).splitlines()
    return [json.dumps(value, ensure_ascii=False) for value in written]


def _shortened(value: Any) -> Any:
    match value:
        case str() if len(value) > LONGEST_WORDS:
            return value[: LONGEST_WORDS - 1] + "…"
        case list() if len(value) > MOST_ITEMS:
            return [*map(_shortened, value[:MOST_ITEMS]), "…"]
        case list():
            return [*map(_shortened, value)]
        case dict():
            return {key: _shortened(item) for key, item in value.items()}
        case _:
            return value


def _fenced(text: str, language: str) -> Sequence[str]:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text, fence]


def _flag(name: str, value: Any) -> str:
    flag = FLAGS[name][0].strip("`").split()[0]
    return flag if value is True else f"{flag} {value}"


def _count(number: int) -> str:
    return str(number) if number else ""


def _yes(answer: bool) -> str:  # noqa: FBT001 - it is what is asked
    return "yes" if answer else "no"
