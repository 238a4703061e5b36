"""The pages of `docs/formats/`: what each format is for, what it looks like, what it cannot carry.

What people should know of a format stands here in words; all else on a page is what the format itself says,
writes and loses.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, reduce
from itertools import chain
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from geminids import sample
from geminids.core import agents
from geminids.core.model import Session
from geminids.sharing import export
from geminids.sharing.export.base import Format
from geminids.sharing.export.losses import Loss, LossReport, Verdict, losses, summed
from geminids.sharing.transcript.levels import LEVEL_WORDS
from tests.conftest import ROOT
from tests.support.exporting import (
    HOME,
    exported,
    manner,
    of_any_release,
    text_of,
)
from tests.support.probed_sessions import proving_sessions
from tests.support.reading import sessions as read_sessions
from tests.support.records import natives_of
from tests.support.trials import MOST_MESSAGES

FOLDER = ROOT / "docs" / "formats"
SHOWN = "51ca"
"""The beginning of the id of the session that all excerpts are of; it comes with geminids."""
MOST_LINES = 60
WIDEST = 110
WIDEST_CELL = 16
WIDEST_OF_A_TABLE = 250
LONGEST_WORDS = 64
MOST_ITEMS = 2
MOST_OF_A_LINE = 24
OPTIONAL = {"displayContent", "level", "model", "thoughts", "tokens", "toolCalls", "usage"}
"""What lines of one shape may have or not."""

FLAGS = {
    "files_folder": ("`--images`", "pictures and other attachments as files beside it"),
    "share": ("`--share`", "written like Gemini CLI's own `/chat share`"),
    "table": ("`--table messages\\|calls`", "one row per message, or one row per tool call"),
    "touched_at": ("`--fresh`", "dates the session now, so that Gemini CLI does not delete it as old"),
}
HOW = "[how](README.md#how-this-is-computed), and `--report` for yours"
SIGNS = {Verdict.CARRIED: "●", Verdict.PARTLY: "◐", Verdict.LEFT_OUT: "○", Verdict.LOST: "○"}


class About(NamedTuple):
    """What people should know of a format."""

    what_for: str
    language: str = "json"
    """Of the excerpt."""
    begins: str = ""
    """Where the excerpt begins, if not at the beginning."""
    also: Mapping[str, Mapping[str, Any]] = {}
    """Options that make another file of it, by the words for them."""
    is_pair: bool = False
    """Whether these files belong together, and what one cannot carry is in the other."""
    is_binary: bool = False
    """Whether the excerpt shows what the file decodes to."""
    most_lines: int = MOST_LINES
    """Of the excerpt."""


ABOUT = {
    "atif": About(
        """
        For training, evaluation and viewers of trajectories (Harbor and others). Each step is a message with
        its calls and their results; values without a field of their own are under `extra`. Pictures are
        named, not included.
        """,
    ),
    "chat": About(
        """
        For fine-tuning and for anything that takes the messages of a chat API: one session per line, tool
        calls followed by their results. It has no fields for times, tokens or models.
        """,
    ),
    "csv": About(
        """
        For spreadsheets, notebooks and SQL: one row per message, or one row per tool call.
        """,
        "csv",
        also={"One row a tool call": {"table": "calls"}},
        is_pair=True,
    ),
    "gemini": About(
        """
        To resume a session in Gemini CLI, on this machine or another: `gemini --session-file FILE` loads it.
        It is a session file of Gemini CLI; values without a field in it are left out.
        """,
    ),
    "html": About(
        """
        To read, print or share: a single page that loads nothing, with an outline of the prompts, search,
        folded tools and thoughts, diffs, pictures, light and dark mode.
        """,
        "html",
        begins="<main",
    ),
    "json": About(
        """
        To keep a complete session and to read it with programs: everything, in the schema
        [session.schema.json](../session.schema.json). `geminids show FILE` and `geminids export FILE` can
        read it.
        """,
    ),
    "jsonl": About(
        """
        For `jq`, log tools and notebooks: one line per message, so that lines of many sessions can be mixed,
        sorted and filtered.
        """,
    ),
    "markdown": About(
        """
        To read in an editor or on any forge, to paste into a review, or to keep with the code. It begins with
        front matter for programs; tool calls are folded, changes are diffs.
        """,
        "markdown",
        also={"As `/chat share` writes it": {"share": True}},
    ),
    "otlp": About(
        """
        For OpenTelemetry backends: the session is a trace, each reply and each tool call is a span, with the
        names of the GenAI conventions. Gemini CLI writes one time per message, so the duration of a span is
        inferred.
        """,
    ),
    "text": About(
        """
        For mail, terminals, `grep` and models: plain text.
        """,
        "text",
    ),
    "vac": About(
        """
        To prove what happened in a session: a record of Verifiable Agent Conversations (version 3.0.0-draft),
        not yet signed. `geminids attest` signs such a file; [signed records](../records.md) explains its
        content. Values without a member of their own are under `x-geminids`, sources under `x-source`, and
        everything else that the agent wrote under `x-native`. `geminids show FILE` and `geminids export FILE`
        can read it.

        With `--redact`, or at a lower level of detail, the agent's own records are left out: they would
        reveal what is hidden.
        """,
        most_lines=120,
    ),
    "vac-cbor": About(
        """
        For programs that read CBOR, or if size or identical bytes matter: the same record as [vac](vac.md),
        in deterministic CBOR (RFC 8949). It is binary; to read it, use `vac`.
        """,
        is_binary=True,
    ),
    "vac-simple": About(
        """
        For tools that expect the simpler records of other tools: messages, thoughts, calls and results under
        the names of the format, without extensions. For Gemini CLI it has what the agent still sees; for
        Claude Code and Codex CLI, the content of their files line by line. To keep or sign a session, use
        [vac](vac.md).

        The tables below apply to every session, even if its files are gone. If the files of Claude Code and
        Codex CLI still exist, more is included, such as tokens.
        """,
    ),
    "vcon": About(
        """
        For call centres, archives and other programs that use vCons: who spoke, what was said and when, and
        the complete record of [vac](vac.md) as an analysis. The dialog is derived from the record, so rely on
        the record. `geminids attest --wrap vcon` writes a vCon with a signed record.
        """,
    ),
}
COMPUTED = """
Each format has a table that says for each kind of value in a session, at every level and option, whether the
format has it whole, in part or not at all. `geminids export … --report` applies this table to your sessions.
The pages here apply it to {sessions} sessions, most of them recorded and some made to be long, hostile or
rare, which have every kind of value at least once. *In part* means cut, rounded, summed up or without
seconds, or that only some values of a kind are whole. *Other level* counts what this level of detail leaves
out and *everything* shows. Values in messages that a format drops count as lost.

The tables are computed, not written by hand. The text, numbers and times of these sessions are replaced by
marks of the same shape, the format writes them, and the output is searched for the marks: all marks of a text
are found (whole), some (in part) or none (lost). Values that cannot be marked, such as a role or a status,
and values that were not found are changed instead: if the output stays the same, they are lost. Text that
occurs twice in a tool call, such as an output shown to the model and to the user, counts as found if one of
them is. In a session of more than {messages} messages, changes are tried on about {messages} of them, which
include every kind of message. The tests compute all of this again and compare.
"""


def page(name: str) -> str:
    """The page of one format."""
    chosen, about = export.load(name), ABOUT[name]
    return "\n".join(
        [
            f"# {name}",
            "",
            chosen.summary,
            "",
            _prose(about.what_for),
            "",
            *_fenced(f"geminids export ID -f {name} -o FILE{chosen.suffix}", "sh"),
            "",
            *_settings(chosen),
            "",
            *_excerpt_section(chosen, "What it looks like", {}),
            *chain.from_iterable(_excerpt_section(chosen, *other) for other in about.also.items()),
            *_loss_section(chosen),
        ]
    )


def overview() -> str:
    """The page of all formats."""
    formats = [export.load(name) for name in export.available()]
    return "\n".join(
        [
            "# Formats",
            "",
            *_fenced("geminids export ID -f FORMAT -o FILE", "sh"),
            "",
            "| format | what for | file | many in one | level |",
            "|---|---|---|---|---|",
            *map(_row, formats),
            "",
            f"The level is the default level of detail; change it with `--detail`: {_levels()}.",
            "",
            "## What each format keeps",
            "",
            "At the level *everything*: ● whole, ◐ in part (cut, rounded, some values only), ○ not at all.",
            "",
            *_matrix(formats),
            "",
            "## How this is computed",
            "",
            _prose(COMPUTED.format(sessions=len(proving_sessions()), messages=MOST_MESSAGES)),
            "",
        ]
    )


def _row(chosen: Format) -> str:
    name, many = chosen.name, _yes(chosen.holds_many)
    return f"| [{name}]({name}.md) | {chosen.summary} | `{chosen.suffix}` | {many} | {chosen.level} |"


def _levels() -> str:
    return "; ".join(f"*{level}*: {words}" for level, words in LEVEL_WORDS.items())


def _settings(chosen: Format) -> Sequence[str]:
    options = [f"{flag}: {words}" for name, (flag, words) in FLAGS.items() if name in chosen.options]
    return [
        "| | |",
        "|---|---|",
        f"| many sessions in one file | {_yes(chosen.holds_many)} |",
        f"| default level of detail | *{chosen.level}* (`--detail` changes it) |",
        *(f"| option | {option} |" for option in options),
        *([f"| in a folder | `{chosen.contents_name}` lists all files |"] if chosen.contents_name else []),
    ]


def _excerpt_section(chosen: Format, title: str, options: Mapping[str, Any]) -> Sequence[str]:
    about = ABOUT[chosen.name]
    flags = "".join(f" {_flag(name, value)}" for name, value in options.items())
    command = f"geminids export {SHOWN} -f {chosen.name}{flags} --sample"
    indented = ", and each line is indented" if about.language == "json" else ""
    decoded = ", decoded" if about.is_binary else ""
    return [
        f"## {title}",
        "",
        f"From `{command}`{decoded}. Omissions are marked …{indented}.",
        "",
        *_fenced(_excerpt(_shown(chosen, options), about), about.language),
        "",
    ]


def _loss_section(chosen: Format) -> Sequence[str]:
    report = _report(chosen.name, chosen.level)
    rest = [loss for loss in report.losses if loss.verdict is not Verdict.CARRIED]
    together = ", both tables together" if ABOUT[chosen.name].is_pair else ""
    return [
        "## What it leaves out",
        "",
        f"Computed from {report.sessions} sessions at the level *{chosen.level}*{together}: see {HOW}.",
        "",
        *(_loss_table(rest) if rest else ["Nothing is lost."]),
        "",
        *(["Whole:", "", *_by_subject(report.having(Verdict.CARRIED)), ""] if rest else []),
    ]


def _loss_table(found: Sequence[Loss]) -> Sequence[str]:
    return [
        "| fact | values | whole | in part | other level | lost |",
        "|---|--:|--:|--:|--:|--:|",
        *(f"| {loss.fact} | {loss.tried} | {' | '.join(map(_count, _parts(loss)))} |" for loss in found),
    ]


def _parts(loss: Loss) -> tuple[int, ...]:
    return loss.carried, loss.cut, loss.left_out, loss.lost


def _by_subject(whole: Sequence[Loss]) -> Iterable[str]:
    """A line each for the facts of sessions, messages, calls and so on."""
    by_subject: dict[str, list[str]] = {}
    for loss in whole:
        subject, _, rest = loss.fact.partition(": ")
        by_subject.setdefault(subject, []).append(rest or "themselves")
    return (f"- {subject}: {', '.join(found)}" for subject, found in by_subject.items())


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


def _shown(chosen: Format, options: Mapping[str, Any]) -> str:
    """What is written of the session that is shown, as if its files lay in a home like any other."""
    natives = natives_of if "natives" in chosen.options else None
    written = exported(chosen.name, _shown_session(), natives=natives, **options)
    return text_of(chosen.name, of_any_release(written)).replace(sample.home(), HOME)


@cache
def _shown_session() -> Session:
    source = agents.load("gemini")
    found = (s for s in read_sessions(source, Path(sample.home())) if s.native_id.startswith(SHOWN))
    return source.companions().with_outputs(next(found))


@cache
def _report(name: str, level: str) -> LossReport:
    """What becomes of all that the sessions hold; of a pair of tables, in the better one."""
    chosen, about = export.load(name), ABOUT[name]
    manners = [manner(level), *(manner(level, **options) for options in about.also.values() if about.is_pair)]
    reports = [
        reduce(add, (losses(session, chosen, one) for session in proving_sessions())) for one in manners
    ]
    found = zip(*(sorted(report.losses, key=_fact) for report in reports), strict=True)
    return msgspec.structs.replace(
        reports[0], losses=summed(max(of_a_fact, key=_there) for of_a_fact in found)
    )


def _fact(loss: Loss) -> str:
    return loss.fact


def _there(loss: Loss) -> tuple[int, int]:
    return loss.carried, loss.cut


def _excerpt(content: str, about: About) -> str:
    match about.language:
        case "json":
            lines = _json_lines(content)
        case "csv":
            lines = _csv_lines(content)
        case _:
            lines = content[content.index(about.begins) :].splitlines()
    widest = WIDEST_OF_A_TABLE if about.language == "csv" else WIDEST
    shown = [line if len(line) <= widest else line[: widest - 1] + "…" for line in lines[: about.most_lines]]
    return "\n".join([*shown, "…"] if len(lines) > about.most_lines else shown)


def _json_lines(content: str) -> list[str]:
    """Of many lines the first of each shape, indented; long words and lists are shortened."""
    whole = [json.loads(line) for line in content.splitlines()]
    shapes: list[object] = []
    lines: list[str] = []
    for value in whole:
        shape = value.get("type"), value.get("role"), value.keys() - OPTIONAL
        if shape in shapes:
            continue
        shapes.append(shape)
        indented = json.dumps(_shortened(value), ensure_ascii=False, indent=2).splitlines()
        is_cut = len(whole) > 1 and len(indented) > MOST_OF_A_LINE
        lines += [*indented[:MOST_OF_A_LINE], "…"] if is_cut else indented
    return lines


def _csv_lines(content: str) -> list[str]:
    """Rows with short cells; the names of columns stay whole."""
    first, *rows = csv.reader(io.StringIO(content))
    shown = io.StringIO()
    csv.writer(shown, lineterminator="\n").writerows([first, *(map(_cell, row) for row in rows)])
    return shown.getvalue().splitlines()


def _cell(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDEST_CELL else line[: WIDEST_CELL - 1] + "…"


def _shortened(value: Any) -> Any:
    match value:
        case str() if len(value) > LONGEST_WORDS:
            return value[: LONGEST_WORDS - 1] + "…"
        case [{"type": _, "x-source": _}, *_]:
            return [*chain.from_iterable((_shortened(entry), "…") for entry in _one_of_each_type(value))]
        case list() if len(value) > MOST_ITEMS:
            return [*map(_shortened, value[:MOST_ITEMS]), "…"]
        case list():
            return [*map(_shortened, value)]
        case dict():
            return {key: _shortened(item) for key, item in value.items()}
        case _:
            return value


def _one_of_each_type(entries: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """Of the entries of a record, the first of each type: many records of no message may come before them."""
    first: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        first.setdefault(entry["type"], entry)
    return first.values()


def _fenced(text: str, language: str) -> Sequence[str]:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text, fence]


def _flag(name: str, value: Any) -> str:
    flag = FLAGS[name][0].strip("`").split()[0]
    return flag if value is True else f"{flag} {value}"


def _prose(text: str) -> str:
    """Paragraphs, each on one line."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))


def _count(number: int) -> str:
    return str(number) if number else ""


def _yes(answer: object) -> str:
    return "yes" if answer else "no"
