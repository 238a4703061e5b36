"""Where things are."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from geminids.core import config

VALUES = (
    None,
    "",
    " ",
    "/",
    "//",
    "/data",
    "/data/",
    "/da ta",
    "data",
    "./data",
    "~",
    "~/data",
    "$HOME",
    "/a/../b",
)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere platformdirs is asked itself")
@pytest.mark.parametrize("account", ["/home/ada", "/home/ada/", "/", "home", None])
def test_our_folder_is_where_platformdirs_says(account: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda _: _account(account))
    for data, home in product(VALUES, VALUES):
        for name, value in (("XDG_DATA_HOME", data), ("HOME", home)):
            monkeypatch.delenv(name, raising=False)
            if value is not None:
                monkeypatch.setenv(name, value)
        ours = config.data_folder(None, os.environ)
        assert ours == config._data_folder_of_system(), (data, home)
        assert ours is None or Path(ours).is_absolute()


def _account(home: str | None) -> pwd.struct_passwd:
    if home is None:
        raise KeyError
    return pwd.struct_passwd(("ada", "x", 1000, 1000, "Ada", home, "/bin/sh"))


def test_an_account_whose_home_is_blank_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    # platformdirs would put our data into the root of the disk.
    monkeypatch.setattr(pwd, "getpwuid", lambda _: _account(""))
    assert config._xdg_data_folder({}) is None


def test_a_folder_that_is_named_goes_before(tmp_path: Path) -> None:
    environment = {"GEMINIDS_DATA": str(tmp_path / "variable"), "XDG_DATA_HOME": "/data"}
    assert config.data_folder(str(tmp_path / "option"), environment) == str(tmp_path / "option")
    assert config.data_folder(None, environment) == str(tmp_path / "variable")
    assert config.data_folder(None, {"XDG_DATA_HOME": "/data"}) == "/data/geminids"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere platformdirs is asked itself")
def test_our_folder_is_found_without_loading_platformdirs() -> None:
    code = "import sys; from geminids.core import config; config.data_folder(None, {}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "platformdirs" not in done.stdout.split()


def test_a_whole_path_is_one_also_where_the_folder_we_are_in_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert config.absolute("data/") == str(here / "data")
    here.rmdir()
    assert config.absolute(f"{tmp_path}/data/") == str(tmp_path / "data")
