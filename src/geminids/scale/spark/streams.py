"""What is new since the last time, as a stream of Spark.

Offsets are numbers of steps (`news.py`), so a stream that is started again goes on with the step that was not
done. A session that has grown is told anew, all of its rows: whoever gathers them replaces those of the same
`session_key`. What is gone is not told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader

from geminids.scale.news import News
from geminids.scale.only import ANYTHING
from geminids.scale.places.stores import open_store
from geminids.scale.spark.options import Asked, OptionError
from geminids.scale.spark.partition import Partition, planned
from geminids.scale.spark.plan import Plan, tables_at

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.datasource import InputPartition

_STEP = "step"


class SessionsStream(DataSourceStreamReader):
    """Reads what is new. Where the query is, it looks and plans; copies of it read elsewhere."""

    def __init__(self, asked: Asked) -> None:
        if asked.state is None:
            raise OptionError("A stream needs the option state: a folder to record what it has read.")
        if tables_at(asked.uri) is not None:
            raise OptionError(f"{asked.uri!r} holds tables, which Spark streams by itself (format parquet).")
        self._asked = asked
        self._plan = Plan(asked)
        self._opened: News | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark names it
        """Before the first step."""
        return {_STEP: 0}

    def latestOffset(self) -> dict[str, Any]:  # type: ignore[override]  # noqa: N802
        """The step that tells of what is there now. Without arguments it is the same for all releases."""
        return {_STEP: self._news.look(self._plan.units())}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """What is new between two steps, in pieces."""
        wanted = self._asked.only.files()._replace(units=self._news.between(start[_STEP], end[_STEP]))
        return list(map(Partition, self._plan.pieces_of_homes(wanted)))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a piece."""
        return self._plan.rows(planned(partition), ANYTHING)

    def commit(self, end: dict[str, Any]) -> None:
        """What is done up to a step is not asked for again."""
        self._news.forget_until(end[_STEP])

    def __getstate__(self) -> dict[str, Any]:
        """What goes to those who read: not what was noted."""
        return self.__dict__ | {"_opened": None}

    @property
    def _news(self) -> News:
        if self._opened is None:
            self._opened = News(open_store(self._asked.state or ""))
        return self._opened
