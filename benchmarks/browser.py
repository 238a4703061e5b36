"""How soon the browser and the picker are there and how fast they answer keys, beside other programs.

    python benchmarks/browser.py [--agent claude|gemini] [--sessions 1000] [--seed N] [--rounds 9]
                                 [--corpus DIR] [--keep]

All are driven on terminals of 100x30, in turns: an empty textual app is the floor of all that is made with
textual, fast-resume (PATH, PEER_FAST_RESUME) the quickest of its kind that we know; it reads no sessions of
Gemini CLI. A list is there when all of its rows are; after a key, when it is as it stays. It needs /proc.
Ratios hold on any machine. Milliseconds are judged only on one that is not busy with something else, which is
seen by how much longer than its CPU time the empty app takes to start.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, NamedTuple

from corpora import chosen, generate, linked, truth_of
from generator.vocabulary import vocabulary_of
from huge import MESSAGES, PROJECT, write_huge
from measuring import ROOT, Goal, Verdict, emptied, options
from ours import Place, write_bytecode
from terminals import LINES, Moment, Program, Seen
from theirs import FastResume

LARGE = 10_000
"""Sessions from which on memory is held against that of fast-resume."""
EMPTY, BROWSE, PICKER, PEER = "empty textual", "browse", "picker", "fast-resume"
SILENT = ", no answers"
"""On a terminal that answers nothing that it is asked."""
DOWN, PAGE_DOWN, PAGE_UP = "\x1b[B", "\x1b[6~", "\x1b[5~"
BACKSPACE, FAST = "\x7f", 0.03
"""Seconds between the keys of somebody who types fast."""
PATIENCE = 20.0
FRAMES = " │╭╮╰╯─━┌┐└┘▌▐"
FEWEST = 2
"""Rows that something has which is there."""
WAITS = 2.5
"""By how much longer than its CPU time an app takes to start where others compute, too."""
WALKED = 60
"""How many sessions are looked at, one after the other."""

EMPTY_APP = """
from textual.app import App
from textual.widgets import Footer, Header

class Empty(App):
    def compose(self):
        yield Header()
        yield Footer()

Empty().run()
"""


Cells = list[Sequence[tuple[str, str]]]


class Watched(NamedTuple):
    """A program, and where on its screen what is."""

    name: str
    command: Sequence[str | Path]
    environment: Mapping[str, str]
    list_of: Callable[[Seen], range]
    preview_of: Callable[[Seen], range]
    box: int = 0
    """The line that is typed into."""

    def started(self, *, answers: bool = True) -> Program:
        """One that has just been started."""
        return Program(self.command, self.environment, answers=answers)

    def rows(self, seen: Seen) -> list[str]:
        """The rows of its list."""
        return [seen.lines[at] for at in self.list_of(seen)]

    def looked_at(self, seen: Seen) -> list[str]:
        """What is seen of the chosen session."""
        return [seen.lines[at] for at in self.preview_of(seen)]


def main() -> int:
    """Measure everything; 1 if a session cannot be reached or a goal is missed."""
    told = options(__doc__, rounds=9, agents=("claude", "gemini"))
    if find_spec("textual") is None or not Path("/proc/self/stat").exists():
        print("The extra `tui` is not installed, or there is no /proc: nothing to measure.")
        return 0
    bench = emptied(ROOT / ".bench" / "browser")
    corpus = chosen(told, bench)
    write_bytecode(bench)
    place = Place(linked(corpus, bench / "home"), bench / "data", "default scope")
    place.built()
    verdict = Verdict(truth_of(corpus)["sessions"])
    watched = _watched(place, bench)
    is_busy = measure_starts(verdict, watched, told.rounds)
    timed = Timed(verdict, is_busy=is_busy)
    measure_keys(timed, [one for one in watched if one.name != EMPTY], truth_of(corpus))
    measure_huge(timed, bench, told)
    print(f"  load of the machine at the end: {', '.join(f'{one:.2f}' for one in os.getloadavg())}")
    if not told.keep:
        shutil.rmtree(bench)
    return verdict.conclude()


class Timed(NamedTuple):
    """Who says whether milliseconds are few enough."""

    verdict: Verdict
    is_busy: bool

    def at_most(self, what: str, figure: float, bound: float) -> None:
        """A time that must not be longer."""
        told = f"at most {bound:.0f} ms" + (", not judged: the machine is busy" if self.is_busy else "")
        self.verdict.line(what, f"{figure:.3g} ms", told, self.is_busy or figure <= bound)


# Who is watched


def _watched(place: Place, bench: Path) -> list[Watched]:
    empty = Watched(EMPTY, [sys.executable, "-c", EMPTY_APP], _terminal(place.environment), _all, _all)
    watched = [empty, _ours(place, BROWSE), _ours(place, PICKER)]
    is_claude = truth_of(place.home)["agent"] == "claude"
    if is_claude and FastResume.is_installed():
        peer = FastResume.at(place.home, bench)
        peer.built()
        framed = [partial(_framed, title=title) for title in ("Sessions", "Preview")]
        watched.append(Watched(PEER, peer.words, _terminal(peer.environment), framed[0], framed[1], 2))
    return watched


def _ours(place: Place, name: str) -> Watched:
    command, top = {BROWSE: ("browse", 2), PICKER: ("show", 1)}[name]
    listed = partial(_above_rule, top=top)
    return Watched(name, place.command(command), _terminal(place.environment), listed, _below_rule)


def _terminal(environment: Mapping[str, str]) -> dict[str, str]:
    """What a user sits at."""
    kept = {name: value for name, value in environment.items() if name != "NO_COLOR"}
    return kept | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


def _all(_: Seen) -> range:
    return range(LINES)


def _above_rule(seen: Seen, top: int) -> range:
    return range(top, _rule(seen))


def _below_rule(seen: Seen) -> range:
    return range(_rule(seen) + 1, LINES - 1)


def _rule(seen: Seen) -> int:
    """Where our list ends."""
    return next((at for at, line in enumerate(seen.lines) if line.startswith("────")), LINES - 1)


def _framed(seen: Seen, title: str) -> range:
    """What stands in a frame with that title."""
    lines = seen.lines
    top = next((at for at, line in enumerate(lines) if line.startswith(f"╭ {title}")), LINES)
    return range(top + 1, next((at for at in range(top, LINES) if lines[at].startswith("╰")), LINES))


# Starts


class Started(NamedTuple):
    """What a start took: milliseconds and megabytes."""

    rows: float
    settled: float
    cpu: float
    memory: float


def measure_starts(verdict: Verdict, watched: Sequence[Watched], rounds: int) -> bool:
    """From the command to the rows, of all in turns, on terminals that answer and that do not.

    Whether the machine is busy with something else.
    """
    kinds = [(one, answers) for answers in (True, False) for one in watched]
    taken: dict[str, list[Started]] = {_called(one, answers): [] for one, answers in kinds}
    for number in range(rounds + 1):
        for one, answers in kinds:
            figures = _start(one, answers=answers)
            if number:  # the first fills caches
                taken[_called(one, answers)].append(figures)
    print(f"  start, least / median / worst of {rounds}: rows ms | all text ms | CPU ms | MB")
    for name, some in taken.items():
        print(f"    {name:<26}" + " | ".join(map(_written, zip(*some, strict=True))))
    rows, cpu = _over_empty(taken, "rows"), _over_empty(taken, "cpu")
    verdict.at_most("start: browse, rows, over empty textual", rows, Goal(1.3))
    silent = _over_empty(taken, "rows", SILENT)
    verdict.at_most("start: browse, rows, no answers", silent, Goal(1.3))
    verdict.at_most("start: browse, CPU, over empty textual", cpu, Goal(1.5))
    verdict.at_most("start: browse, memory, over empty textual", _over_empty(taken, "memory"), Goal(2.0))
    is_busy = median(start.rows / start.cpu for start in taken[EMPTY]) > WAITS
    timed = Timed(verdict, is_busy=is_busy)
    for suffix in ("", SILENT):
        picker = median(start.rows for start in taken[PICKER + suffix])
        timed.at_most(f"start: picker, rows{suffix}", picker, 120)
        if PEER in taken:
            theirs = median(start.rows for start in taken[PEER + suffix])
            verdict.line(f"start: {PEER}, rows{suffix}", f"{theirs:.0f} ms")
    return is_busy


def _over_empty(taken: Mapping[str, Sequence[Started]], what: str, answers: str = "") -> float:
    """The browser over the empty app, of each round by itself: what slows one mostly slows the other."""
    pairs = zip(taken[BROWSE + answers], taken[EMPTY + answers], strict=True)
    return median(float(getattr(ours, what) / getattr(empty, what)) for ours, empty in pairs)


def _called(one: Watched, answers: object) -> str:
    return one.name + ("" if answers else SILENT)


def _start(one: Watched, *, answers: bool) -> Started:
    with one.started(answers=answers) as program:
        program.settle(program.began, least=1.0)
        moments = program.drawn(program.began)
        while not moments or _filled(moments[-1].seen, one.list_of(moments[-1].seen)) < FEWEST:
            # Some wait for answers for a while.
            program.settle(perf_counter(), least=0.5)
            moments += program.drawn(program.began)
        final = moments[-1].seen
        where = one.list_of(final)
        rows = _since(moments, lambda seen: _filled(seen, where) >= _filled(final, where))
        settled = _since(moments, lambda seen: seen.lines == final.lines)
        return Started(rows * 1e3, settled * 1e3, program.cpu() * 1e3, program.megabytes())


def _filled(seen: Seen, where: range) -> int:
    return sum(bool(seen.lines[at].strip(FRAMES)) for at in where)


def _since(moments: Sequence[Moment], is_so: Callable[[Seen], bool]) -> float:
    """From when on it is so and stays so."""
    at = len(moments) - 1
    while at and is_so(moments[at - 1].seen):
        at -= 1
    return moments[at].after


# Keys


class Felt(NamedTuple):
    """What keys took, in milliseconds."""

    echo: list[float]
    rows: list[float]
    typed: list[float]
    """From the last key of a word that was typed fast until the list stays as it is."""
    arrow: list[float]
    preview: list[float]
    cpu: list[float]
    """Of a letter."""


def measure_keys(timed: Timed, watched: Sequence[Watched], truth: Mapping[str, Any]) -> None:
    """The same is typed and looked at in all, in turns; then each is scrolled to its end."""
    felt = {one.name: Felt([], [], [], [], [], []) for one in watched}
    with ExitStack() as stack:
        running = [(one, stack.enter_context(one.started())) for one in watched]
        for _, program in running:
            program.settle(program.began, least=1.5)
        for number, words in enumerate(sequences(truth)):
            for one, program in running:
                _type(one, program, words, felt[one.name], is_fast=bool(number % 4 == 3))
        for _ in range(WALKED // 10):
            for one, program in running:
                for key in (PAGE_DOWN, *[DOWN] * 9):
                    _look(one, program, key, felt[one.name])
        memory = {one.name: program.megabytes() for one, program in running}
        _tell_keys(timed, felt, memory)
        for one, program in running:
            _reach(timed.verdict, one, program, truth["main_sessions_with_messages"])


def _tell_keys(timed: Timed, felt: Mapping[str, Felt], memory: Mapping[str, float]) -> None:
    ours = felt[BROWSE]
    print(f"  keys, median / p95 / worst in ms; {len(ours.echo)} letters, {len(ours.arrow)} arrows")
    for what in Felt._fields:
        for name, some in felt.items():
            figures = getattr(some, what)
            told = f"{median(figures):6.1f} / {_at(figures, 0.95):6.1f} / {max(figures):6.1f}"
            print(f"    {what:<8} {name:<14} {told}   ({len(figures)})")
    for name, size in memory.items():
        print(f"    memory after searching: {name:<14} {size:.0f} MB")
    timed.at_most("keys: echo, median", median(ours.echo), 15)
    timed.at_most("keys: list, median", median(ours.rows), 40)
    timed.at_most("keys: list, worst", max(ours.rows), 90)
    timed.at_most("keys: arrow, median", median(ours.arrow), 20)
    timed.at_most("keys: preview, p95", _at(ours.preview, 0.95), 150)
    verdict = timed.verdict
    if PEER in felt:
        verdict.line("keys: list, over fast-resume", f"{median(ours.rows) / median(felt[PEER].rows):.2f}")
        ratio = memory[BROWSE] / memory[PEER]
        verdict.at_most("memory after searching, over fast-resume", ratio, Goal(0.6, sessions=LARGE))


def sequences(truth: Mapping[str, Any]) -> list[str]:
    """What somebody may type: words that occur, two letters, Chinese, misspelt: more than 100 keys."""
    vocabulary, random = vocabulary_of(truth["seed"]), Random(17)
    long = [word for word in vocabulary.words if len(word) > 5]
    common = random.choices(vocabulary.words[:2000], k=3)
    rare = random.sample(long, 5)
    two = [" ".join(random.sample(long[:1500], 2)) for _ in range(2)]
    letters = [word[:2] for word in random.sample(long[:500], 3)]
    chinese = [vocabulary.chinese(random)[:3] for _ in range(2)] + [truth["needles"]["cjk4"]["text"]]
    planted = [truth["needles"][name]["text"] for name in ("rare1", "common30pct")]
    wrong = [word[:3] + word[4] + word[3] + word[5:] for word in random.sample(long[:3000], 2)]
    return [word for some in (common, rare, two, letters, chinese, planted, wrong) for word in some]


def _type(one: Watched, program: Program, words: str, felt: Felt, *, is_fast: bool) -> None:
    """Letter by letter, or fast; then look at some of what was found, and take it all back."""
    if is_fast:
        felt.typed.extend(_typed_fast(one, program, words))
    else:
        for length in range(1, len(words) + 1):
            _press_letter(one, program, words[:length], felt)
    for _ in range(3):
        _look(one, program, DOWN, felt)
    program.press(BACKSPACE * len(words))


def _press_letter(one: Watched, program: Program, typed: str, felt: Felt) -> None:
    before, cpu = one.rows(program.seen), program.cpu()
    moments = program.press(typed[-1])
    felt.cpu.append((program.cpu() - cpu) * 1e3)
    if not typed.endswith(" "):
        felt.echo.append(_first(moments, lambda seen: typed in seen.lines[one.box]) * 1e3)
    felt.rows.extend(_change(moments, one.rows, before))


def _typed_fast(one: Watched, program: Program, words: str) -> list[float]:
    for letter in words[:-1]:
        program.send(letter)
        program.pause(FAST)
    program.drawn()
    return _change(program.press(words[-1]), one.rows, [])


def _look(one: Watched, program: Program, key: str, felt: Felt) -> None:
    """Go to another session, and see what is in it."""
    list_before, before = _cells(one, program.seen), one.looked_at(program.seen)
    moments = program.press(key, until=partial(_is_looked_at, one))
    if moments and _cells(one, moments[-1].seen) != list_before:
        felt.arrow.append(_first(moments, lambda seen: _cells(one, seen) != list_before) * 1e3)
        felt.preview.extend(_change(moments, one.looked_at, before))


def _is_looked_at(one: Watched, seen: Seen) -> bool:
    """Whether more than a heading stands there."""
    return sum(bool(line.strip(FRAMES)) for line in one.looked_at(seen)) > 1 or not _rows_there(one, seen)


def _rows_there(one: Watched, seen: Seen) -> int:
    return sum(bool(row.strip(FRAMES)) for row in one.rows(seen))


def _cells(one: Watched, seen: Seen) -> Cells:
    """The list with its styles: the chosen line has another."""
    return [seen.cells[at] for at in one.list_of(seen)]


def _first(moments: Sequence[Moment], is_so: Callable[[Seen], bool]) -> float:
    return next((moment.after for moment in moments if is_so(moment.seen)), PATIENCE)


def _change(moments: Sequence[Moment], of: Callable[[Seen], list[str]], before: list[str]) -> list[float]:
    """When it had become what it then stayed; nothing if it stayed as it was."""
    final = of(moments[-1].seen) if moments else before
    return [] if final == before else [_since(moments, lambda seen: of(seen) == final) * 1e3]


# All of them


def _reach(verdict: Verdict, one: Watched, program: Program, there: int) -> None:
    """Hold the arrow until nothing moves any more."""
    for _ in range(2 + there // 5):
        shown = _cells(one, program.seen)
        if _cells(one, _last(program.press(PAGE_UP), program)) == shown:
            break
    began, moved = perf_counter(), 1
    while _moves(one, program):
        moved += 1
    each = (perf_counter() - began) / moved * 1e3
    told = f"of {there:,}, {each:.1f} ms each"
    is_ours = one.name != PEER
    verdict.line(f"reached in {one.name}", f"{moved:,}", told, not is_ours or moved >= there)


def _last(moments: Sequence[Moment], program: Program) -> Seen:
    return moments[-1].seen if moments else program.seen


def _has_moved(one: Watched, before: Cells, seen: Seen) -> bool:
    return _cells(one, seen) != before


def _moves(one: Watched, program: Program) -> bool:
    """Whether another session is chosen after one more step; what is asked for may take a while to come."""
    before = _cells(one, program.seen)
    for _ in range(2):
        program.drawn()
        program.send(DOWN)
        # A step that came late must not be counted as the next one.
        if program.until(partial(_has_moved, one, before), most=2.0):
            return True
    return False


# A huge session


def measure_huge(timed: Timed, bench: Path, told: Any) -> None:
    """A session of 50,000 messages among others: its beginning, and a message far down in it."""
    home = write_huge(generate(bench, 30, told.seed, "gemini"))
    place = Place(home, bench / "huge-data", "default scope")
    place.built()
    ours = _ours(place, BROWSE)
    begun = [_huge(ours, [DOWN] * 60) for _ in range(3)]
    timed.at_most(f"preview: of {MESSAGES:,} messages, worst", max(begun), 150)
    deep = [_huge(ours, [f'"prompt {MESSAGES - 2000}"']) for _ in range(3)]
    timed.verdict.line("preview: a message far down in it, worst", f"{max(deep):.0f} ms")


def _huge(ours: Watched, keys: Sequence[str]) -> float:
    """How long after the key that shows it the session is seen."""
    with ours.started() as program:
        program.settle(program.began, least=1.0)
        for key in keys:
            moments = program.press(key, until=partial(_is_looked_at, ours))
            if moments and PROJECT in ours.looked_at(moments[-1].seen)[0]:
                return _change(moments, _lines, [])[0]
    raise RuntimeError("the huge session is not in the list")


def _lines(seen: Seen) -> list[str]:
    return seen.lines


# Figures


def median(figures: Iterable[float]) -> float:
    """The one in the middle."""
    return _at(figures, 0.5)


def _at(figures: Iterable[float], share: float) -> float:
    every = sorted(figures)
    return every[min(int(len(every) * share), len(every) - 1)] if every else float("nan")


def _written(figures: Sequence[float]) -> str:
    return f"{min(figures):5.0f} /{median(figures):5.0f} /{max(figures):5.0f}"


if __name__ == "__main__":
    sys.exit(main())
