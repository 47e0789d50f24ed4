# SPDX-License-Identifier: GPL-3.0-or-later
"""Serialises this package's dataclasses in one .npz file, to exchange them with another process.

Arrays are stored as arrays; dictionaries of arrays are numbered, their names and all small values
are in a JSON header. The file cannot contain code.
"""

import dataclasses
import json
import zipfile

import numpy as np

from .binding import Binding
from .datatypes import Broken, Look, Particles, Surface

KINDS = {kind.__name__: kind for kind in (Surface, Particles, Look, Broken, Binding)}


def save(path, **objects):
    arrays = {}
    header = {name: pack(value, name, arrays) for name, value in objects.items()}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def load(path):
    """{name: object} of what was saved, from a path or an open file."""
    with np.load(path, allow_pickle=False) as arrays:
        if any(info.compress_type != zipfile.ZIP_STORED for info in arrays.zip.infolist()):
            raise ValueError("it is compressed")  # save() never does: it may unpack to any size
        header = json.loads(arrays["header"].tobytes())
        return {name: unpack(value, arrays) for name, value in header.items()}


def pack(value, name, arrays):
    if dataclasses.is_dataclass(value):
        fields = {f.name: pack(getattr(value, f.name), f"{name}.{f.name}", arrays) for f in dataclasses.fields(value)}
        return {"kind": type(value).__name__, "fields": fields}
    if isinstance(value, dict):
        return {
            "kind": "dict",
            "fields": [[key, pack(item, f"{name}.{i}", arrays)] for i, (key, item) in enumerate(value.items())],
        }
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError(f"{name} is an array of objects")
        arrays[name] = value
        return {"kind": "array", "name": name}
    if isinstance(value, (list, tuple)):
        return {
            "kind": type(value).__name__,
            "items": [pack(item, f"{name}.{i}", arrays) for i, item in enumerate(value)],
        }
    if isinstance(value, np.generic):
        value = value.item()
    return {"kind": "value", "value": value}


def unpack(value, arrays):
    kind = value["kind"]
    if kind == "array":
        return arrays[value["name"]]
    if kind == "dict":
        return {key: unpack(item, arrays) for key, item in value["fields"]}
    if kind in ("list", "tuple"):
        items = [unpack(item, arrays) for item in value["items"]]
        return items if kind == "list" else tuple(items)
    if kind == "value":
        return value["value"]
    return KINDS[kind](**{name: unpack(item, arrays) for name, item in value["fields"].items()})
