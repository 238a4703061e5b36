"""JSON Schemas of what we print."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

import msgspec

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(struct: type[msgspec.Struct], title: str) -> dict[str, Any]:
    """The schema of a value; every field in it is always printed, but for those that it leaves out itself."""
    (reference,), components = msgspec.json.schema_components([struct], ref_template="#/$defs/{name}")
    for component in components.values():
        if "description" in component:
            # A docstring: from Python 3.13 on it comes without its indentation.
            component["description"] = cleandoc(component["description"])
        if "properties" in component:
            component["required"] = list(component["properties"])
    if struct.__struct_config__.omit_defaults:
        own = components[struct.__name__]
        own["required"] = [name for name, known in own["properties"].items() if "default" not in known]
    return {"$schema": DIALECT, "title": title, **reference, "$defs": components}
