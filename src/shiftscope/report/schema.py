"""The JSON Schema of a saved result, made of the types of the summary.

`python -m shiftscope.report.schema` writes it to `result.schema.json` in this folder, which is part of the package.
"""

from __future__ import annotations

import inspect
import json
import types
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from shiftscope.report.summary import SCHEMA, Summary

PATH = Path(__file__).with_name("result.schema.json")
DIALECT = "https://json-schema.org/draft/2020-12/schema"
PLAIN = {bool: "boolean", int: "integer", str: "string"}
MATRICES = ("values",)  # arrays with rows and columns; all others are lists


def json_schema() -> str:
    """The schema as JSON text."""
    definitions: dict[str, object] = {}
    root = _described(Summary, "", definitions)
    schema = {
        "$schema": DIALECT,
        "title": f"Result of shiftscope, schema {SCHEMA}",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }
    return json.dumps(schema, indent=1) + "\n"


def _described(kind: Any, name: str, definitions: dict[str, object]) -> dict[str, object]:
    """What JSON holds of a value of this type; objects are defined once, by the name of their class."""
    if is_dataclass(kind):
        assert isinstance(kind, type)
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}  # holds the place, should it contain itself
            definitions[kind.__name__] = _object(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    origin, inner = get_origin(kind), get_args(kind)
    if origin is np.ndarray:
        return _array(inner[1], name)
    if origin is tuple and inner[-1] is Ellipsis:
        return {"type": "array", "items": _described(inner[0], name, definitions)}
    if origin is tuple:
        items = [_described(one, name, definitions) for one in inner]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_described(one, name, definitions) for one in inner]}
    if origin is Literal:
        return {"enum": list(inner)}
    if kind is type(None):
        return {"type": "null"}
    if name == "schema":
        return {"const": SCHEMA}
    return {"type": ["number", "null"]} if kind is float else {"type": PLAIN[kind]}


def _object(kind: Any, definitions: dict[str, object]) -> dict[str, object]:
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    return {
        "type": "object",
        "description": (inspect.getdoc(kind) or "").partition("\n")[0],
        "properties": {name: _described(hints[name], name, definitions) for name in names},
        "required": names,
    }


def _array(dtype: Any, name: str) -> dict[str, object]:
    (scalar,) = get_args(dtype)
    items: dict[str, object] = {"type": "integer" if issubclass(scalar, np.integer) else "number"}
    if name in MATRICES:
        items = {"type": "array", "items": items}
    return {"type": "array", "items": items}


if __name__ == "__main__":
    PATH.write_text(json_schema(), "utf-8")
