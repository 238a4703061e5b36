"""What a file that is no session looks like instead."""

from pathlib import Path

import pytest

from geminids.reading.describe import describe


@pytest.mark.parametrize(
    ("content", "looks_like"),
    [
        (b"", "an empty file"),
        (b" \n\t", "a file with only white space"),
        (b"\x89PNG\r\n\x1a\n....", "a PNG image"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"a\x00b", "binary data"),
        (b"hello", "plain text"),
        (b"<!DOCTYPE html><p>", "an HTML page"),
        (b"{}", "JSON of an unknown format"),
        (b"[1, 2]", "JSON that is not an object"),
        (b'\xef\xbb\xbf{"a": 1}', "JSON of an unknown format"),
        (b'{"a": 1', "text that begins like JSON but is not JSON"),
        (b'{"a": 1}\n{"b": 2}\n', "JSON Lines of an unknown format"),
        (b"[" * 100_000, "JSON nested too deeply to be a session"),
        (b'{"history": [], "authType": "x"}', "a saved chat of Gemini CLI"),
        (b'[{"role": "user", "parts": []}]', "a saved chat of Gemini CLI"),
        (b'{"history": [], "clientHistory": [], "toolCall": {}}', "a /restore checkpoint of Gemini CLI"),
        (b'[{"sessionId": "a", "messageId": 0, "type": "user", "message": "x"}]', "the list of prompts"),
        (b'{"response": "x", "stats": {}}', "--output-format json"),
        (b'{"type":"init","session_id":"a"}\n{"type":"message"}\n', "--output-format stream-json"),
        (b'{"projects": {}}', "projects.json"),
        (b'{"uuid":"a","sessionId":"b","message":{"parts":[]}}\n{}\n', "a Qwen Code session"),
        (b'{"type":"mode"}\n{"a": 1}\n{"sessionId":"a","projectHash":"b"}\n', "a session of Gemini CLI"),
        (b'{"schema":"geminids/list/1","sessions":[]}', "the output of geminids itself"),
        (b"## USER \xf0\x9f\xa7\x91\n\nhi\n\n---\n\n## MODEL\n", "shared from Gemini CLI as Markdown"),
    ],
)
def test_a_file_is_described_by_what_it_holds(tmp_path: Path, content: bytes, looks_like: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert looks_like in describe(path)


def test_a_folder_is_a_folder(tmp_path: Path) -> None:
    assert describe(tmp_path) == "a folder"
    assert describe(Path("/dev/null")) == "a device"
