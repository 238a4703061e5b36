"""The types of the page are those of the server."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from geminids.faces.web.app import ENDPOINTS
from geminids.faces.web.openapi import openapi
from tests.conftest import ROOT

FRONTEND = ROOT / "src" / "geminids" / "faces" / "web" / "frontend"


def test_the_types_of_the_page_are_those_of_the_server(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node here: the types of the page were not compared with the server")
    made = tmp_path / "api-types.ts"
    script = str(FRONTEND / "scripts" / "api-types.mjs")
    document = json.dumps(openapi(ENDPOINTS))
    subprocess.run([node, script, str(made)], input=document, text=True, check=True)
    assert made.read_text("utf-8") == (FRONTEND / "src" / "lib" / "api-types.ts").read_text("utf-8"), (
        "after a change to documents: `python scripts/openapi.py | npm run types` in frontend/"
    )
