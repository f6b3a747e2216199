"""The kinds of arrays that are passed around, by what they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
"""Codes of a column's values, as its tree numbers them."""
Counts = NDArray[np.int64]
"""How many rows or people there are of each thing."""
Words = NDArray[np.uint64]
"""64 bits each: hashes, or random bits."""
