"""The files of a session as the index knows them: opened again without looking through their folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from geminids.core.agents.base import Bundle, Home
from geminids.storage.codec.known_bundles import unpacked_bundle
from geminids.storage.index.bundles import SessionPlace
from geminids.storage.index.database import Index
from geminids.storage.index.folders import GONE, footprints_of


def bundle_as_known(index: Index, place: SessionPlace, homes: Sequence[Home]) -> Bundle | None:
    """The bundle that a session was read from; None if a scan must tell, because the disk is another by now.

    Its files and what lies beside them must look as they did, and the folders that they lie in must hold the
    same names: with another one there may be more of the session.
    """
    agent = place.id.partition(":")[0]
    disk = next((home.disk for home in homes if home.agent == agent), None)
    bundle = unpacked_bundle(place.found, disk) if disk and place.found else None
    if bundle is None:
        return None
    paths = [*(str(file.path) for file in bundle.files), *(file.path for file in bundle.beside)]
    footprints = footprints_of(index, place.shelf)
    return bundle if all(_lists_the_same(*one, paths) for one in footprints.items()) else None


def _lists_the_same(folder: str, footprint: str, paths: Iterable[str]) -> bool:
    """Whether a folder, and those in it that hold some files, list what they did when it was taken in."""
    inside = folder + os.sep
    places = {""}
    for path in paths:
        if path.startswith(inside):
            # Footprints are written with slashes on every system.
            above = path[len(inside) :].replace(os.sep, "/").split("/")[:-1]
            places.update("/".join(above[: depth + 1]) for depth in range(len(above)))
    known: dict[str, set[str]] = {place: set() for place in places}
    for line in () if footprint == GONE else footprint.split("\n"):
        place, _, name = line.partition("\t")[0].rstrip("/").rpartition("/")
        if place in known:
            known[place].add(name)
    return all(_names_in(inside + place) == names for place, names in known.items())


def _names_in(folder: str) -> set[str] | None:
    try:
        return set(os.listdir(folder))  # noqa: PTH208 - names are all that is wanted
    except FileNotFoundError:
        return set()
    except OSError:
        return None
