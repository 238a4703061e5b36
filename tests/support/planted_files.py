"""How many secrets of a file of planted ones are found, and how many look-alikes are taken for secrets.

    python -m tests.support.planted_files FILE… [--engine full|reduced] [--missed]

`tests/fixtures/secrets/README.md` describes the lines of such a file. Each becomes a session with one prompt.
A line counts as found if none of its `secrets` is left, also as JSON writes them, and all its `kept` are; a
look-alike counts as mistaken if something in it is hidden.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from geminids.sharing.redact import Redactor
from tests.support.planted_secrets import session_with_text
from tests.support.redacting import redactor, seen


class PlantedLine(msgspec.Struct, frozen=True):
    """A text, what must not survive in it, and what must."""

    id: str
    kind: str
    text: str
    secrets: tuple[str, ...]
    kept: tuple[str, ...]


class Outcome(NamedTuple):
    """A line and what redaction did to it."""

    line: PlantedLine
    left: tuple[str, ...]
    """Secrets that can still be read."""
    lost: tuple[str, ...]
    """Words that should have stayed."""
    rules: tuple[str, ...]

    @property
    def is_wrong(self) -> bool:
        """Return whether a secret was missed or a harmless text was changed."""
        return bool(self.left or self.lost or (self.rules and not self.line.secrets))


def read_planted(file: Path) -> list[PlantedLine]:
    """Return the lines of a file of planted secrets."""
    return [msgspec.json.decode(line, type=PlantedLine) for line in file.read_bytes().splitlines()]


def outcomes(lines: Sequence[PlantedLine], redactor: Redactor) -> list[Outcome]:
    """Return what redaction does to each of the lines."""
    return [_outcome(line, redactor) for line in lines]


def _outcome(line: PlantedLine, redactor: Redactor) -> Outcome:
    redacted = redactor.redact(session_with_text(line.text))
    after = seen(redacted.session)
    return Outcome(
        line,
        tuple(secret for secret in line.secrets if secret in after or json.dumps(secret)[1:-1] in after),
        tuple(words for words in line.kept if words not in after),
        tuple(finding.rule for finding in redacted.findings),
    )


def main() -> int:
    """Print the figures of each file; with `--missed` also what was missed and what was mistaken."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--engine", choices=("full", "reduced"))
    parser.add_argument("--missed", action="store_true", help="name what was missed and what was mistaken")
    options = parser.parse_args()
    engines: Sequence[Literal["full", "reduced"]] = (
        [options.engine] if options.engine else ["full", "reduced"]
    )
    for file in options.files:
        lines = read_planted(file)
        for engine in engines:
            sys.stdout.write(f"{file.name}, {engine}:\n")
            _print(outcomes(lines, redactor(engine)), missed=options.missed)
    return 0


def _print(found: Sequence[Outcome], *, missed: bool) -> None:
    planted = [outcome for outcome in found if outcome.line.secrets]
    look_alikes = [outcome for outcome in found if not outcome.line.secrets]
    right = sum(not outcome.is_wrong for outcome in planted)
    mistaken = sum(outcome.is_wrong for outcome in look_alikes)
    sys.stdout.write(f"  found {right} of {len(planted)} ({right / max(len(planted), 1):.1%})\n")
    sys.stdout.write(f"  took {mistaken} of {len(look_alikes)} look-alikes for secrets\n")
    wrong = Counter(outcome.line.kind for outcome in found if outcome.is_wrong)
    of = Counter(outcome.line.kind for outcome in found)
    for kind, count in sorted(wrong.items()):
        sys.stdout.write(f"    {kind}: {count} of {of[kind]} wrong\n")
    for outcome in found if missed else ():
        if outcome.is_wrong:
            sys.stdout.write(
                f"  {outcome.line.id}: left {outcome.left}, lost {outcome.lost}, by {outcome.rules}\n"
            )


if __name__ == "__main__":
    sys.exit(main())
