"""How much redaction finds of what somebody planted, and how much it takes for a secret that is none.

    python benchmarks/redaction.py CASES.jsonl… [--engine full|reduced] [--cases | --totals]

A line of such a file is a case: `id`, `category`, `messages` (`role`: user, model or tool; `text`), `secrets`
that must be gone, `must_stay` that must not. Each case becomes a session in a file as Gemini CLI writes it,
is read from there and exported through the library, as Markdown and as JSON, with and without redaction.

A secret is found if no export holds it in any form (plain, as JSON, HTML, addresses or base64 write it), nor
the better part of it in one piece. Where names and addresses of people are the secret, they are asked to be
hidden. `--cases` names what was missed and what was mistaken; with `--totals` a set is measured unseen.
"""

from __future__ import annotations

import base64
import html
import json
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote

from measuring import ROOT

from geminids.library import Library
from geminids.sharing.redact import CAN_BE_HIDDEN, Redactor

FORMATS = ("markdown", "json")
OF_PEOPLE = frozenset(("username", "email", "home"))
"""Categories whose secrets are hidden only where that is wished."""
LEAST_PIECE = 6
BETTER_PART = 0.6


class Outcome(NamedTuple):
    """What became of a case."""

    case: dict[str, Any]
    leaked: list[str]
    """Secrets that can still be read."""
    changed: list[str]
    """What should have stayed."""
    is_touched: bool
    """Whether anything at all was hidden."""


def main() -> int:
    """Measure all files; 1 if something planted cannot be seen before, since nothing is proved by that."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--engine", choices=("full", "reduced"), default="full")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--cases", action="store_true", help="name what was missed and what was mistaken")
    shown.add_argument(
        "--totals", action="store_true", help="show nothing of the cases, not even their kinds"
    )
    told = parser.parse_args()
    for file in told.files:
        cases = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
        with TemporaryDirectory() as folder:
            outcomes = list(_outcomes(cases, Path(folder), told.engine))
        _tell_totals(f"{file.name}, {told.engine}", outcomes)
        if not told.totals:
            _tell_categories(outcomes)
        if told.cases:
            _tell_cases(outcomes)
    return 0


def _outcomes(cases: Sequence[dict[str, Any]], folder: Path, engine: Any) -> Iterator[Outcome]:
    home, rules = folder / "home", ROOT / ".bench" / "redaction-rules"
    for number, case in enumerate(cases):
        _write_session(home, number, case["messages"])
    library = Library([str(home)], data=str(folder / "data"))
    key = bytes(32)
    plain = Redactor(key, engine=engine, cache_folder=rules)
    hiding = Redactor(key, engine=engine, cache_folder=rules, hide=CAN_BE_HIDDEN)
    for number, case in enumerate(cases):
        redactor = hiding if case["category"] in OF_PEOPLE else plain
        yield _outcome(library, _native_id(number), case, redactor)


def _outcome(library: Library, wanted: str, case: dict[str, Any], redactor: Redactor) -> Outcome:
    (session,) = [item.read() for item in library.items([wanted])]
    before, after = (
        [_exported(library, wanted, name, chosen) for name in FORMATS] for chosen in (None, redactor)
    )
    shown = "\n".join(before)
    for secret in case["secrets"]:
        if not any(form in shown for form in _forms(secret)):
            sys.exit(f"{case['id']}: a secret cannot be seen before anything is hidden")
    assert session is not None
    return Outcome(
        case,
        [secret for secret in case["secrets"] if _is_left(secret, "\n".join(after))],
        [words for words in case["must_stay"] if not _has_stayed(words, before, after)],
        any(finding.rule != "project-hash" for finding in redactor.redact(session).findings),
    )


def _exported(library: Library, wanted: str, name: str, redactor: Redactor | None) -> str:
    exporting = library.exporting(name, redactor=redactor)
    return b"".join(exporting.pieces(library.items([wanted]))).decode()


def _forms(words: str) -> set[str]:
    """A text as documents and programs write it."""
    escaped = {json.dumps(words)[1:-1], json.dumps(words, ensure_ascii=False)[1:-1]}
    twice = {json.dumps(form)[1:-1] for form in escaped}
    encoded = {quote(words, safe=""), base64.b64encode(words.encode()).decode().rstrip("=")}
    return {words, html.escape(words), *escaped, *twice, *encoded}


def _is_left(secret: str, text: str) -> bool:
    """Whether a secret can be read, or so much of it that the rest can be tried."""
    size = max(LEAST_PIECE, int(len(secret) * BETTER_PART))
    pieces = {secret[start : start + size] for start in range(max(len(secret) - size, 0) + 1)}
    return any(form in text for form in _forms(secret)) or any(piece in text for piece in pieces)


def _has_stayed(words: str, before: Iterable[str], after: Iterable[str]) -> bool:
    """Whether every document still says it as often as before."""
    forms = _forms(words)
    return all(
        old.count(form) <= new.count(form) for old, new in zip(before, after, strict=True) for form in forms
    )


# -- what is told -------------------------------------------------------------


def _tell_totals(name: str, outcomes: Sequence[Outcome]) -> None:
    secrets = sum(len(outcome.case["secrets"]) for outcome in outcomes)
    leaked = sum(len(outcome.leaked) for outcome in outcomes)
    kept = sum(len(outcome.case["must_stay"]) for outcome in outcomes)
    changed = sum(len(outcome.changed) for outcome in outcomes)
    harmless = [outcome for outcome in outcomes if not outcome.case["secrets"]]
    print(f"{name}: {len(outcomes)} cases")
    if secrets:
        print(f"  found {secrets - leaked} of {secrets} secrets ({1 - leaked / secrets:.1%})")
    print(f"  changed {changed} of {kept} texts that must stay", end="")
    touched = sum(outcome.is_touched for outcome in harmless)
    print(f"; {touched} of {len(harmless)} harmless cases touched" if harmless else "")


def _tell_categories(outcomes: Sequence[Outcome]) -> None:
    for category, (wrong, of) in _by_category(outcomes).items():
        print(f"    {category}: {wrong} of {of} wrong")


def _tell_cases(outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        if outcome.leaked or outcome.changed or (outcome.is_touched and not outcome.case["secrets"]):
            told = f"LEFT {outcome.leaked} " if outcome.leaked else ""
            told += f"CHANGED {outcome.changed}" if outcome.changed else ""
            print(f"  {outcome.case['id']} {outcome.case['category']}: {told or 'touched'}")


def _by_category(outcomes: Iterable[Outcome]) -> dict[str, tuple[int, int]]:
    """Of the categories of which something was missed or mistaken: how much, of how much."""
    wrong: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for case, leaked, changed, _ in outcomes:
        wrong[case["category"]] += len(leaked) or (0 if case["secrets"] else bool(changed))
        total[case["category"]] += len(case["secrets"]) or 1
    return {category: (wrong[category], total[category]) for category in sorted(total) if wrong[category]}


# -- sessions as Gemini CLI writes them ---------------------------------------


def _native_id(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-{number:012x}"


def _write_session(home: Path, number: int, messages: Sequence[dict[str, str]]) -> None:
    folder = home / ".gemini" / "tmp" / "shop"
    (folder / "chats").mkdir(parents=True, exist_ok=True)
    (folder / ".project_root").write_text("/srv/shop")
    at = "2026-05-01T10:00:00.000Z"
    header = {"sessionId": _native_id(number), "projectHash": "3f" * 32, "startTime": at, "lastUpdated": at}
    records = [header | {"kind": "main"}]
    if messages[0]["role"] != "user":
        records.append(_record(0, {"role": "user", "text": "Go on."}, at))
    records += [_record(place, message, at) for place, message in enumerate(messages, 1)]
    path = folder / "chats" / f"session-2026-05-01T10-00-{_native_id(number)[:8]}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def _record(place: int, message: dict[str, str], at: str) -> dict[str, Any]:
    record: dict[str, Any] = {"id": f"m-{place}", "timestamp": at}
    match message:
        case {"role": "user", "text": text}:
            return record | {"type": "user", "content": [{"text": text}]}
        case {"role": "model", "text": text}:
            return record | {"type": "gemini", "content": text, "model": "gemini-3-pro"}
        case {"role": "tool", "text": text}:
            return record | {"type": "gemini", "content": "", "toolCalls": [_call(place, text, at)]}
        case _:
            sys.exit(f"a message of role {message.get('role')!r}; there are user, model and tool")


def _call(place: int, output: str, at: str) -> dict[str, Any]:
    call = {"id": f"run_shell_command_{place}", "name": "run_shell_command"}
    response = {"functionResponse": call | {"response": {"output": f"Output: {output}"}}}
    told = {"args": {"command": "./show.sh"}, "status": "success", "timestamp": at}
    return call | told | {"result": [response], "resultDisplay": output}


if __name__ == "__main__":
    sys.exit(main())
