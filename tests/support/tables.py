"""Tables that were written, as a reader who knows nothing of us sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pyarrow.parquet as pq

from geminids.library import Library
from geminids.scale.schema import TABLES
from geminids.scale.tables.part import Manner
from geminids.scale.tables.run import TablesWriter
from geminids.scale.tables.written import TablesWritten
from geminids.sharing.redact import Redactor

Row = dict[str, Any]


def write_tables(
    home: Path | list[Path],
    data: Path,
    out: Path | str,
    machine: str = "laptop",
    *,
    words: bool = True,
    redactor: Redactor | None = None,
    **how: Any,
) -> TablesWritten:
    """Bring the tables of some homes up to date."""
    homes = home if isinstance(home, list) else [home]
    with Library(homes, data) as library:
        return TablesWriter(library, Manner(str(out), machine, words, redactor)).bring_up_to_date(
            **{"jobs": 1, **how}
        )


def table(out: Path, name: str) -> list[Row]:
    """All rows of a table, with the columns that the names of folders tell."""
    if not (out / name).exists():
        return []
    rows: list[Row] = ds.dataset(out / name, partitioning="hive").to_table().to_pylist()
    return rows


def tables(out: Path) -> dict[str, list[Row]]:
    """All tables, each in an order that does not depend on files."""
    return {name: sorted(table(out, name), key=repr) for name in TABLES}


def files(out: Path) -> dict[str, int]:
    """The files of tables, and when each was written."""
    return {
        str(path.relative_to(out)): path.stat().st_mtime_ns
        for path in sorted(out.rglob("*.parquet"))
        if path.parent.name != "forgotten"
    }


def file_of(out: Path, name: str, machine: str) -> Path:
    """The file of a table that a machine wrote; there is one part."""
    manifests = (json.loads(path.read_bytes()) for path in (out / "_geminids").glob("*.json"))
    (prefix,) = (manifest["machine"] for manifest in manifests if manifest["named"] == machine)
    (file,) = (out / name).rglob(f"{prefix}.parquet")
    return file


def strings(out: Path) -> Iterator[str]:
    """Every text in every column of every file, also in what stands beside the rows."""
    for path in sorted(out.rglob("*")):
        yield str(path.relative_to(out))
        if path.suffix == ".parquet":
            read = pq.ParquetFile(path)
            yield str(read.metadata.metadata)
            yield from _strings(read.read().to_pylist())
        elif path.is_file():
            yield path.read_text("utf-8")


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from _strings(list(value.values()))
        case list():
            for one in value:
                yield from _strings(one)
