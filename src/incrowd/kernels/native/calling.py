"""Call a loop of the library: numbers and arrays in, numbers and arrays out.

Arrays are passed by their address, so they must be in C order; a loop writes its results into arrays that it is given,
or makes new ones where it cannot be known beforehand how long they get. `arguments.hpp` is the other side. A call lets
other threads run.
"""

from __future__ import annotations

import ctypes
import struct
from array import array
from ctypes import addressof
from functools import cache
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np

from incrowd.kernels.native import building

_INTEGER, _REAL = 1, 2
_NAMES = ("bool", "int32", "int64", "uint64", "float64", "uint16", "uint32")
_ELEMENTS = dict(enumerate(map(np.dtype, _NAMES), start=3))
_TYPES = {element: number for number, element in _ELEMENTS.items()}
_WORDS = 6
"""Whole numbers that describe one argument or result: `Passed` in `arguments.hpp`."""
_MOST_RESULTS = 8
_ANYTHING = ctypes.c_char * 0
_loading = Lock()


def call(name: str, *arguments: Any) -> Any:
    """Run a loop; return what it returns: nothing, one thing, or a tuple of things."""
    passed = array("q", list(chain.from_iterable(map(_described, arguments))))
    results = array("q", bytes(8 * _WORDS * _MOST_RESULTS))
    number = _loop(name)(passed.buffer_info()[0], len(arguments), results.buffer_info()[0])
    if number < 0:
        raise RuntimeError(f"{name}: {_library().incrowd_what_failed().decode()}")
    found = tuple(_taken(results[_WORDS * place : _WORDS * (place + 1)]) for place in range(number))
    return found if number > 1 else (found[0] if number else None)


def _described(argument: Any) -> tuple[int, int, int, int, int, int]:
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        if not flags.c_contiguous or argument.ndim > 3:
            raise TypeError(f"an array of shape {argument.shape} is not in C order")
        # Half of NumPy's own time for it, which is most of a short loop's.
        writable: Any = argument if flags.writeable else None
        address = argument.ctypes.data if writable is None else addressof(_ANYTHING.from_buffer(writable))
        shape = (*argument.shape, 0, 0, 0)
        return (_TYPES[argument.dtype], address, argument.ndim, shape[0], shape[1], shape[2])
    if isinstance(argument, float):
        return (_REAL, struct.unpack("q", struct.pack("d", argument))[0], 0, 0, 0, 0)
    return (_INTEGER, int(argument), 0, 0, 0, 0)


def _taken(result: array[int]) -> Any:
    kind, content, dimensions, *shape = result
    if kind == _INTEGER:
        return content
    if kind == _REAL:
        return struct.unpack("d", struct.pack("q", content))[0]
    return np.asarray(_Made(content, tuple(shape[:dimensions]), _ELEMENTS[kind]))


class _Made:
    """Memory of an array that a loop made: given back when nobody uses the array any more."""

    def __init__(self, address: int, shape: tuple[int, ...], element: np.dtype[Any]) -> None:
        self._address, self._free = address, _library().incrowd_free
        self.__array_interface__ = {"version": 3, "data": (address, False), "shape": shape, "typestr": element.str}

    def __del__(self) -> None:
        self._free(self._address)


@cache
def _loop(name: str) -> Any:
    function = getattr(_library(), f"incrowd_{name}")
    function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p], ctypes.c_int64
    return function


def _library() -> ctypes.CDLL:
    with _loading:  # threads that need it at the same time would each build it
        return _loaded()


@cache
def _loaded() -> ctypes.CDLL:
    """Load the library; in a copy of the repository, build it first where its source has changed."""
    path = building.library() or building.build()
    library = ctypes.CDLL(str(path))
    library.incrowd_what_failed.restype = ctypes.c_char_p
    library.incrowd_free.argtypes = [ctypes.c_void_p]
    return library
