"""`geminids export`: what is written where, and what is left alone."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
import pytest

from geminids.core.model import Attachment, State
from geminids.library import Library
from geminids.sharing import export
from geminids.sharing.export import folder as folder_of_exports
from geminids.sharing.export.files import Written, write_file
from geminids.sharing.export.folder import MANIFEST
from tests.conftest import Run
from tests.support.exporting import exported, hostile_session, text_of
from tests.support.homes import FIRST_ID, write_session

TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z0A"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with three sessions in two projects."""
    for number, (slug, prompt) in enumerate(
        [
            ("shop", "Fix the login redirect"),
            ("shop", "Explain CORS preflight"),
            ("blog", "Write about CORS"),
        ],
        start=1,
    ):
        write_session(
            tmp_path / "home", f"{number}f0c9a2b-0000-4000-8000-00000000000{number}", slug=slug, day=number,
            prompt=prompt,
        )  # fmt: skip
    return tmp_path / "home"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != MANIFEST)


def test_one_session_goes_to_stdout_as_markdown(geminids: Run, home: Path) -> None:
    code, out, err = geminids("export", "1f0c", "--home", home)
    assert code == 0, err
    assert "Fix the login redirect" in out
    assert "Explain CORS" not in out


@pytest.mark.parametrize("name", export.available())
def test_every_format_can_be_written(geminids: Run, home: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / f"out{export.load(name).suffix}"
    code, out, err = geminids("export", "1f0c", "-f", name, "-o", target, "--home", home)
    assert (code, out) == (0, ""), err
    assert "login redirect" in text_of(name, target.read_bytes())
    assert str(target) in err


@pytest.mark.parametrize(
    ("file", "begins"),
    [
        ("a.md", "---\n"),
        ("a.html", "<!doctype html>"),
        ("a.json", '{"schema":"geminids/session/1"'),
        ("a.vac.json", '{"version":"3.0.0-draft","id":"gemini:'),
        ("a.vac-simple.json", '{"version":"3.0.0-draft","id":"1f0c'),
        ("a.vcon", '{"vcon":'),
    ],
)
def test_the_ending_of_a_file_says_the_format(
    geminids: Run, home: Path, tmp_path: Path, file: str, begins: str
) -> None:
    assert geminids("export", "1f0c", "-o", tmp_path / file, "--home", home).code == 0
    assert (tmp_path / file).read_text("utf-8").lower().startswith(begins)


def test_an_unknown_format_names_those_there_are(geminids: Run, home: Path) -> None:
    code, _, err = geminids("export", "1f0c", "-f", "docx", "--home", home)
    assert code == 2
    for name in export.available():
        assert name in err


def test_a_file_that_is_there_is_replaced_only_by_force(geminids: Run, home: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.md"
    target.write_text("mine")
    code, _, err = geminids("export", "1f0c", "-o", target, "--home", home)
    assert (code, target.read_text()) == (2, "mine")
    assert "--force" in err
    assert geminids("export", "1f0c", "-o", target, "--home", home, "--force").code == 0
    assert "login redirect" in target.read_text()


def test_sessions_are_chosen_by_words_projects_and_times(geminids: Run, home: Path) -> None:
    def exported(*arguments: str) -> set[str]:
        code, out, err = geminids("export", *arguments, "-f", "jsonl", "--home", home)
        assert code == 0, err
        return {json.loads(line)["session_id"][7:11] for line in out.splitlines()}

    assert exported("cors") == {"2f0c", "3f0c"}
    assert exported("-q", "cors project:blog") == {"3f0c"}
    assert exported("cors project:shop") == {"2f0c"}
    assert exported("--project", "shop") == {"1f0c", "2f0c"}
    assert exported("--since", "2026-05-03") == {"3f0c"}
    assert exported("--all") == {"1f0c", "2f0c", "3f0c"}
    assert exported("1f0c", "3f0c") == {"1f0c", "3f0c"}


def test_what_means_nothing_is_said(geminids: Run, home: Path) -> None:
    assert geminids("export", "--home", home).code == 2
    assert geminids("export", "1f0c", "--all", "--home", home).code == 2
    code, _, err = geminids("export", "nonexistent-word", "--home", home)
    assert code == 1
    assert err == "geminids: No session is named 'nonexistent-word'; no message has these words.\n"
    for query, said in [
        ("name:nobody", "0 sessions"),
        ("project:shop", "2 sessions"),
        ("cors id:2f0c", "1 session"),
    ]:
        err = geminids("export", query, "-f", "jsonl", "--home", home).err
        assert err.startswith(f"geminids: {said} for {query!r}.\n"), err
    code, _, err = geminids("export", "1f0c", "-o", "x.docx", "--home", home)
    assert code == 2
    assert "markdown" in err
    assert geminids("export", "99", "--home", home).code in {1, 2}
    assert geminids("export", "--project", "nowhere", "--home", home).code == 1


def test_options_of_other_formats_are_refused(geminids: Run, home: Path) -> None:
    code, _, err = geminids("export", "1f0c", "-f", "html", "--share", "--home", home)
    assert code == 2
    assert "markdown" in err
    assert geminids("export", "1f0c", "--keep-attachments", "--home", home).code == 2
    assert geminids("export", "1f0c", "--json", "--home", home).code == 2


def test_several_sessions_need_a_format_or_a_folder_that_holds_them(geminids: Run, home: Path) -> None:
    code, out, err = geminids("export", "--all", "-f", "html", "--home", home)
    assert (code, out) == (2, "")
    assert "FOLDER/" in err


def test_a_folder_is_brought_up_to_date(geminids: Run, home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, _, err = geminids("export", "--all", "-f", "html", "-o", f"{out}/", "--home", home)
    assert code == 0, err
    assert names(out) == [
        "2026-05-01-fix-the-login-redirect-1f0c9a2b.html",
        "2026-05-02-explain-cors-preflight-2f0c9a2b.html",
        "2026-05-03-write-about-cors-3f0c9a2b.html",
        "index.html",
    ]
    before = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    code, _, err = geminids("export", "--all", "-f", "html", "-o", out, "--home", home)
    assert code == 0
    assert "0 files written, 3 unchanged" in err
    kept = {path.name: path.stat().st_mtime_ns for path in out.glob("2026*")}
    assert kept.items() <= before.items()

    write_session(home, FIRST_ID, prompt="Fix the login redirect", answer="Twice.")
    code, _, err = geminids("export", "--all", "-f", "html", "-o", out, "--home", home)
    assert "1 file written, 2 unchanged" in err
    assert "Twice." in (out / "2026-05-01-fix-the-login-redirect-1f0c9a2b.html").read_text("utf-8")


def test_a_file_that_somebody_changed_stays_and_is_named(geminids: Run, home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert geminids("export", "--all", "-o", f"{out}/", "--home", home).code == 0
    changed = out / "2026-05-01-fix-the-login-redirect-1f0c9a2b.md"
    changed.write_text("with my notes")
    code, _, err = geminids("export", "--all", "-o", out, "--home", home)
    assert code == 3
    assert changed.name in err
    assert changed.read_text() == "with my notes"
    code, told, _ = geminids("export", "--all", "-o", out, "--home", home, "--json")
    assert [left["file"] for left in json.loads(told)["refused"]] == [str(changed)]
    code, _, err = geminids("export", "--all", "-o", out, "--home", home, "--force")
    assert code == 0
    assert "1 file written, 2 unchanged" in err
    assert "login redirect" in changed.read_text()


def test_a_table_of_contents_that_is_gone_comes_back(geminids: Run, home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert geminids("export", "--all", "-f", "html", "-o", f"{out}/", "--home", home).code == 0
    (out / "index.html").unlink()
    assert geminids("export", "--all", "-f", "html", "-o", out, "--home", home).code == 0
    assert "Write about CORS" in (out / "index.html").read_text("utf-8")


def test_sessions_named_by_id_are_written_once_too(geminids: Run, home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert geminids("export", "1f0c", "-o", f"{out}/", "--home", home).code == 0
    assert "0 files written, 1 unchanged" in geminids("export", "1f0c", "-o", out, "--home", home).err
    assert "2 files written, 1 unchanged" in geminids("export", "--all", "-o", out, "--home", home).err


@pytest.mark.slow
def test_a_folder_that_is_redacted_later_keeps_no_secret(geminids: Run, home: Path, tmp_path: Path) -> None:
    write_session(home, "5ec2e700-0000-4000-8000-000000000005", day=5, prompt=f"{TOKEN} push")
    out = tmp_path / "out"
    everything = ("export", "5ec2", "-f", "html", "-o", f"{out}/", "--home", home)

    def told() -> bytes:
        return b"".join(path.name.encode() + path.read_bytes() for path in out.iterdir()).lower()

    assert geminids(*everything).code == 0
    piece = TOKEN.lower()[5:20].encode()
    assert piece in told()
    code, _, err = geminids(*everything, "--redact")
    assert code == 0, err
    assert piece not in told()
    assert "1 unchanged" in geminids(*everything, "--redact").err
    assert "1 file written" in geminids(*everything, "--redact", "--hide", "home").err


def test_a_folder_notes_what_it_holds_once_however_much_is_unchanged(
    geminids: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    into = ("export", "--all", "-f", "text", "-o", f"{tmp_path}/out/", "--home", home)
    assert geminids(*into).code == 0
    write_session(home, "9f0c9a2b-0000-4000-8000-000000000009", day=9)
    noted: list[Path] = []

    def noting(target: Path, pieces: Iterable[bytes], *, force: bool) -> Written:
        noted.append(target)
        return write_file(target, pieces, force=force)

    monkeypatch.setattr(folder_of_exports, "write_file", noting)
    assert "1 file written, 3 unchanged" in geminids(*into).err
    assert [path.name for path in noted] == [MANIFEST]


@pytest.mark.slow
def test_names_stay_the_same_however_often_secrets_are_hidden_or_not(
    geminids: Run, home: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    for redact in ([], ["--redact"], ["--redact"], [], ["--redact"]):
        assert geminids("export", "1f0c", "-f", "text", "-o", f"{out}/", *redact, "--home", home).code == 0
        assert names(out) == ["2026-05-01-fix-the-login-redirect-1f0c9a2b.txt"]


@pytest.mark.slow
def test_the_list_of_files_tells_no_ids_and_no_paths(geminids: Run, home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert geminids("export", "1f0c", "-o", f"{out}/", "--redact", "--home", home).code == 0
    (kept,) = json.loads((out / MANIFEST).read_bytes())["files"].values()
    assert "1f0c" not in kept["key"]
    assert str(home) not in (out / MANIFEST).read_text()


def test_a_fresh_session_is_written_each_time(geminids: Run, home: Path, tmp_path: Path) -> None:
    out = ("-f", "gemini", "-o", f"{tmp_path}/out/", "--home", home)
    assert geminids("export", "1f0c", *out).code == 0
    assert "1 file written" in geminids("export", "1f0c", "--fresh", *out).err
    (file,) = (tmp_path / "out").glob("*.jsonl")
    assert '"lastUpdated":"2026-06-15T12:00:00.000Z"' in file.read_text().splitlines()[0]


def test_pictures_that_are_not_told_are_not_written(geminids: Run, tmp_path: Path) -> None:
    picture = Attachment("image/png", data=base64.b64encode(b"picture").decode())
    session = hostile_session()
    first, *others = session.messages
    taken_back = msgspec.structs.replace(first, parts=(picture,), state=State.REWOUND)
    document = tmp_path / "session.json"
    document.write_bytes(exported("json", msgspec.structs.replace(session, messages=(taken_back, *others))))
    assert geminids("export", document, "--images", "-o", tmp_path / "a.md").code == 0
    everything = ("--images", "--detail", "everything", "-o", tmp_path / "b.md")
    assert geminids("export", document, *everything).code == 0
    assert b"picture" not in [path.read_bytes() for path in tmp_path.glob("a-files/*")]
    assert b"picture" in [path.read_bytes() for path in tmp_path.glob("b-files/*")]


def test_a_native_session_in_a_folder_is_named_as_its_agent_names_it(
    geminids: Run, home: Path, tmp_path: Path
) -> None:
    assert geminids("export", "1f0c", "-f", "gemini", "-o", f"{tmp_path}/out/", "--home", home).code == 0
    assert names(tmp_path / "out") == ["session-2026-05-01T10-00-1f0c9a2b.jsonl"]


def test_an_export_that_was_killed_goes_on(geminids: Run, home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert geminids("export", "--all", "-o", f"{out}/", "--home", home).code == 0
    (out / MANIFEST).unlink()
    (out / "2026-05-03-write-about-cors-3f0c9a2b.md").unlink()
    code, _, err = geminids("export", "--all", "-o", out, "--home", home)
    assert code == 0, err
    assert len(names(out)) == 4


def test_somebody_elses_table_of_contents_is_in_nobodys_way(
    geminids: Run, home: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "README.md").write_text("mine")
    code, _, err = geminids("export", "--all", "-o", out, "--home", home)
    assert code == 0
    assert "README.md exists" in err
    assert (out / "README.md").read_text() == "mine"
    assert len(names(out)) == 4


def test_both_formats_may_lie_in_one_folder(geminids: Run, home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for name in ("markdown", "html", "json"):
        assert geminids("export", "--all", "-f", name, "-o", f"{out}/", "--home", home).code == 0
    assert len(names(out)) == 3 * 3 + 2


def test_agents_folders_are_never_written(geminids: Run, home: Path) -> None:
    for target in (home / ".gemini" / "x.md", home / ".gemini" / "tmp" / "shop" / "chats"):
        code, _, err = geminids("export", "1f0c", "-o", target, "--home", home)
        assert code == 2
        assert "does not write" in err
    assert not (home / ".gemini" / "x.md").exists()


def test_the_users_own_agents_are_safe_whatever_home_is_looked_at(
    geminids: Run, home: Path, machine: Path
) -> None:
    (machine / ".gemini" / "tmp").mkdir(parents=True)
    code, _, err = geminids("export", "1f0c", "-o", machine / ".gemini" / "tmp" / "x.md", "--home", home)
    assert code == 2
    assert "does not write" in err


def test_our_own_files_do_not_go_into_an_agents_folder_either(geminids: Run, home: Path) -> None:
    code, _, err = geminids("list", "--home", home, "--data", home / ".gemini" / "ours")
    assert code == 2
    assert "does not write" in err
    assert not (home / ".gemini" / "ours").exists()


def test_what_could_not_be_read_is_said(
    geminids: Run, home: Path, tmp_path: Path, without_privileges: Callable[[], AbstractContextManager[None]]
) -> None:
    (closed,) = home.glob(".gemini/tmp/blog/chats/*")
    closed.chmod(0)
    with without_privileges():
        code, _, err = geminids("export", "--all", "-f", "text", "--home", home, "--data", tmp_path / "d")
    assert code == 3
    assert closed.name in err


def test_where_nothing_can_be_written_the_place_is_named(geminids: Run, home: Path, tmp_path: Path) -> None:
    target = tmp_path / "missing" / "a.md"
    code, _, err = geminids("export", "1f0c", "-o", target, "--home", home)
    assert code == 2
    assert f"there is no folder '{tmp_path / 'missing'}'" in err
    code, _, err = geminids("export", "1f0c", "-o", "/proc/a.md", "--home", home)
    assert code == 3
    assert "/proc/a.md" in err
    code, _, err = geminids("export", "1f0c", "-o", "~nobody-of-that-name/a.md", "--home", home)
    assert code == 2
    assert "there is no folder '~nobody-of-that-name'" in err


@pytest.mark.usefixtures("without_copies")
def test_of_many_those_that_cannot_be_read_any_more_are_named(
    geminids: Run, home: Path, tmp_path: Path, without_privileges: Callable[[], AbstractContextManager[None]]
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d").chmod(0o777)
    chosen = ("--home", home, "--data", tmp_path / "d")
    with without_privileges():
        assert geminids("sync", *chosen).code == 0
    (closed,) = home.glob(".gemini/tmp/blog/chats/*")
    closed.chmod(0)
    with without_privileges():
        code, out, err = geminids("export", "--all", "--no-sync", "-f", "text", *chosen)
    assert code == 3
    assert "Fix the login redirect" in out
    assert f"Cannot read '{closed}'" in err
    assert "gone" not in err


def test_json_tells_what_was_written(geminids: Run, home: Path, tmp_path: Path) -> None:
    code, out, _ = geminids("export", "--all", "-o", f"{tmp_path}/out/", "--json", "--home", home)
    assert code == 0
    told = json.loads(out)
    assert told["schema"] == "geminids/export/1"
    assert (told["format"], told["written"], told["unchanged"]) == ("markdown", 3, 0)


def test_a_document_is_read_again(geminids: Run, home: Path, tmp_path: Path) -> None:
    document = tmp_path / "session.json"
    assert geminids("export", "1f0c", "-o", document, "--home", home).code == 0
    code, out, err = geminids("export", document, "-f", "json", "--home", home)
    assert code == 0, err
    assert out.encode() == document.read_bytes()
    assert geminids("show", document, "--home", home).code == 0


@pytest.mark.slow
def test_a_name_is_a_title_and_secrets_are_hidden_in_it_too(geminids: Run, home: Path) -> None:
    assert geminids("mark", "1f0c", "--name", f"With {TOKEN}", "--home", home).code == 0
    assert f"# With {TOKEN}" in geminids("export", "1f0c", "--detail", "prompts", "--home", home).out.replace(
        "\\", ""
    )
    redacted = geminids("export", "1f0c", "--redact", "--home", home).out
    assert TOKEN not in redacted.replace("\\", "")
    assert "With " in redacted


def test_the_report_says_what_is_lost(geminids: Run, home: Path) -> None:
    code, out, err = geminids("export", "1f0c", "-f", "chat", "--report", "--home", home)
    assert code == 0
    assert json.loads(out)["messages"]
    assert "Lost:\n  message: cached tokens (1)" in err


@pytest.mark.slow
def test_nothing_of_a_secret_is_in_any_format(geminids: Run, home: Path, tmp_path: Path) -> None:
    write_session(
        home,
        "5ec2e700-0000-4000-8000-000000000005",
        day=5,
        prompt=f"Push with {TOKEN}",
        answer=f"`export GITHUB_TOKEN={TOKEN}`",
        calls=[
            {
                "id": "c1",
                "name": "run_shell_command",
                "args": {"command": f"curl -H 'Authorization: Bearer {TOKEN}' x"},
                "result": [{"functionResponse": {"name": "x", "response": {"output": TOKEN}}}],
                "status": "success",
                "resultDisplay": TOKEN,
            }
        ],
    )
    out = tmp_path / "out"
    code, _, err = geminids("export", "5ec2", "-f", "html", "-o", f"{out}/", "--redact", "--home", home)
    assert code == 0, err
    assert "hidden" in err
    written = b"".join(path.read_bytes() for path in out.iterdir())
    assert TOKEN.encode() not in written
    assert TOKEN.lower() not in "".join(path.name for path in out.iterdir())
    with Library([home], tmp_path / "data") as library:
        redactor, items = library.redactor(), library.items(["5ec2"])
        for name in export.available():
            written = b"".join(library.exporting(name, redactor=redactor).pieces(items))
            assert TOKEN.encode() not in written, name
            assert b"REDACTED" in written, name


@pytest.mark.slow
def test_a_pipe_that_closes_is_no_error(home: Path) -> None:
    export_all = f"{sys.executable} -m geminids export --all --home '{home}'"
    line = f'{export_all} | head -c 10; echo " ${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", line], capture_output=True, timeout=60, check=True)
    assert done.stdout.split()[-1] == b"0"


def test_the_library_exports_too(home: Path, tmp_path: Path) -> None:
    with Library([home], tmp_path / "data") as library:
        written = library.export("1f0c", "json")
        session = library.session("1f0c")
    assert msgspec.json.decode(written)["id"] == session.id


@pytest.mark.parametrize("written_as", ["json", "vac"])
@pytest.mark.parametrize("name", ["vac", "vac-simple", "vcon"])
def test_a_document_cannot_have_other_files_copied_into_a_record(
    geminids: Run, tmp_path: Path, written_as: str, name: str
) -> None:
    private = tmp_path / "private.jsonl"
    private.write_text('{"type": "user", "content": "nobody may read this"}\n' * 2000)
    document = tmp_path / "sent.json"
    assert not geminids("export", "latest", "-f", written_as, "-o", str(document), "--sample").code
    told = json.loads(document.read_text("utf-8"))
    files = (
        told["files"] if written_as == "json" else told["x-source"] + told["session"]["x-geminids"]["files"]
    )
    sent = document.read_text("utf-8")
    for path in {file["path"] for file in files}:
        sent = sent.replace(path, str(private))
    document.write_text(sent, "utf-8")
    outcome = geminids("export", str(document), "-f", name)
    assert outcome.code == 0, outcome.err
    assert str(private) in outcome.out or name == "vac-simple"
    assert "nobody may read this" not in outcome.out
