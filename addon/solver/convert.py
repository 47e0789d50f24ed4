# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversion between Python values and the library: settings to descriptors, arrays in and out.

A value that does not fit is a TypeError or ValueError that names it.
"""

import ctypes
import operator
from types import SimpleNamespace

import numpy as np

FLOAT_POINTER = ctypes.POINTER(ctypes.c_float)
INDEX_POINTER = ctypes.POINTER(ctypes.c_uint32)
_FLOATS = (ctypes.c_float, ctypes.c_double)
# Arrays with one value per level: shorter lists leave the others at their defaults.
_BY_LEVEL = {"weights", "damping"}
# Fields that are not settings: bookkeeping of the library, and pointers set from array arguments.
_HIDDEN = {"size", "reserved", "user", "progress", "groups"}


def _is_setting(name, kind):
    return (
        name not in _HIDDEN
        and not name.endswith("_count")
        and not issubclass(kind, (ctypes._Pointer, ctypes.c_char_p, ctypes.c_void_p))
    )


def setting_names(struct):
    """Names that fill() accepts for a descriptor class."""
    return [name for name, kind in struct._fields_ if _is_setting(name, kind)]


def fill(struct, settings, where=""):
    """Sets a descriptor's fields from a dict; nested descriptors take dicts of their own."""
    kinds = dict(struct._fields_)
    for name, value in settings.items():
        if name not in kinds or not _is_setting(name, kinds[name]):
            raise TypeError(f"there is no setting '{where}{name}'; there are: {', '.join(setting_names(type(struct)))}")
        kind, full = kinds[name], where + name
        if issubclass(kind, ctypes.Structure):
            if not hasattr(value, "items"):
                raise TypeError(f"'{full}' takes a dict of settings, not {value!r}")
            fill(getattr(struct, name), value, full + ".")
        elif issubclass(kind, ctypes.Array):
            _fill_array(getattr(struct, name), kind, value, full)
        else:
            setattr(struct, name, _scalar(kind, value, full))


def _fill_array(array, kind, value, name):
    values = np.asarray(value, dtype=object).ravel().tolist()
    fewer = name.rpartition(".")[2] in _BY_LEVEL
    if len(values) > kind._length_ or len(values) < kind._length_ and not fewer:
        most = "at most " if fewer else ""
        raise ValueError(f"'{name}' takes {most}{kind._length_} numbers, not {len(values)}")
    for index, item in enumerate(values):
        array[index] = _scalar(kind._type_, item, f"{name}[{index}]")


def _scalar(kind, value, name):
    if kind in _FLOATS:
        try:
            return float(value)
        except (TypeError, ValueError):
            raise TypeError(f"'{name}' takes a number, not {value!r}") from None
    try:
        number = operator.index(value.item() if isinstance(value, np.bool_) else value)
    except TypeError:
        raise TypeError(f"'{name}' takes a whole number, not {value!r}") from None
    if kind(number).value != number:  # ctypes would wrap around silently
        raise ValueError(f"'{name}' is out of range: {number}")
    return number


def plain(struct):
    """A struct as a namespace of numbers, tuples and nested namespaces."""
    out = SimpleNamespace()
    for name, _ in struct._fields_:
        if name not in ("size", "reserved"):
            setattr(out, name, _plain_value(getattr(struct, name)))
    return out


def _plain_value(value):
    if isinstance(value, ctypes.Structure):
        return plain(value)
    if isinstance(value, ctypes.Array):
        return tuple(_plain_value(item) for item in value)
    return value


def floats(value, name, width=3, count=None):
    """A contiguous float32 array of `count` rows; None stays None."""
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"'{name}' takes an array of numbers, not of {array.dtype}")
    return _rows(np.ascontiguousarray(array, dtype=np.float32), name, width, count)


def indices(value, name, width=3, count=None):
    """A contiguous uint32 array; refuses values that are not whole or out of range."""
    if value is None:
        return None
    array = np.asarray(value)
    if array.size == 0:
        array = array.astype(np.uint32)
    if array.dtype.kind not in "iu":
        raise TypeError(f"'{name}' takes an array of whole numbers, not of {array.dtype}")
    if array.size and (array.min() < 0 or array.max() > 0xFFFFFFFF):
        raise ValueError(f"'{name}' holds {array.min()} to {array.max()}: not indices")
    return _rows(np.ascontiguousarray(array, dtype=np.uint32), name, width, count)


def _rows(array, name, width, count):
    """Accepts (n, width) and flat arrays of n * width."""
    good = array.ndim == 1 and array.size % width == 0 or array.ndim == 2 and array.shape[1] == width or array.size == 0
    if not good:
        wanted = "(n,)" if width == 1 else f"(n, {width}) or ({width}n,)"
        raise ValueError(f"'{name}' has shape {array.shape}, not {wanted}")
    array = array.reshape(-1, width) if width > 1 else array.reshape(-1)
    if count is not None and len(array) != count:
        raise ValueError(f"'{name}' has {len(array)} rows, not {count}")
    return array


def output(out, name, dtype, shape):
    """A new array for a result, or the caller's if type and shape fit."""
    if out is None:
        return np.empty(shape, dtype)
    if (
        not isinstance(out, np.ndarray)
        or out.dtype != dtype
        or not out.flags.c_contiguous
        or not out.flags.writeable
        or out.size != int(np.prod(shape))
    ):
        what = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ValueError(
            f"'{name}' must be a writable, contiguous {np.dtype(dtype)} array of shape {tuple(shape)}, not {what}"
        )
    return out


def float_pointer(array):
    return None if array is None else array.ctypes.data_as(FLOAT_POINTER)


def index_pointer(array):
    return None if array is None else array.ctypes.data_as(INDEX_POINTER)


def vector(value, name, length=3):
    """Doubles for an argument such as "origin"; None stays None (the world origin)."""
    if value is None:
        return None
    array = (ctypes.c_double * length)()
    if isinstance(value, np.ndarray) and value.dtype == np.float64 and value.size == length:
        array[:] = value.ravel().tolist()  # no conversion needed, and this is called each frame
    else:
        _fill_array(array, type(array), value, name)
    return array
