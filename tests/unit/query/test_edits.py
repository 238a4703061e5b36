"""Which sessions changed a file."""

from __future__ import annotations

from pathlib import Path

from geminids.library import Library
from tests.support.homes import tool_call, write_session


def edit(path: str, number: int = 1) -> dict[str, object]:
    shown = {
        "fileDiff": f"--- {path}\n+++ {path}\n@@ -1 +1,2 @@\n-a\n+b\n+c\n",
        "fileName": path.rpartition("/")[2],
        "filePath": path,
        "originalContent": "a\n",
        "newContent": "b\nc\n",
        "diffStat": {"model_added_lines": 2, "model_removed_lines": 1},
    }
    return tool_call("replace", id=f"e{number}", args={"file_path": path}, resultDisplay=shown)


def test_sessions_that_changed_a_file_are_found_by_its_path_or_the_end_of_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for number, path in enumerate(
        ("/srv/shop/src/app.py", "/srv/blog/src/app.py", "/srv/shop/src/my_app.py"), 1
    ):
        write_session(home, f"{number:08x}-0000-4000-8000-000000000000", day=number, calls=[edit(path)])
    with Library([str(home)], data=str(tmp_path / "data")) as library:

        def found(path: str, limit: int = 10, skip: int = 0) -> list[str]:
            edits = library.edits_of(path, limit, skip)
            return [one.session.native_id[:8] for one in edits.sessions]

        assert found("/srv/shop/src/app.py") == ["00000001"]
        assert found("src/app.py") == ["00000002", "00000001"]
        assert found("app.py") == ["00000002", "00000001"]
        assert found("my%app.py") == []
        assert found("app.py", 1) == ["00000002"]
        assert found("app.py", 1, 1) == ["00000001"]
        assert found("py") == []
        (one,) = library.edits_of("/srv/shop/src/app.py", 5).sessions
        assert [(e.number, e.path, e.tool, e.added, e.removed) for e in one.edits] == [
            (2, "/srv/shop/src/app.py", "replace", 2, 1)
        ]
        assert library.edits_of("app.py", 1).total == 2
        assert library.edits_of("app.py", 1).paths == ("/srv/blog/src/app.py", "/srv/shop/src/app.py")
