"""Noise from OpenDP instead of our own: as exact, reviewed by others, and some hundred times slower.

OpenDP draws from the operating system; there is no seed. Its scale is a floating-point number: ours is rounded up to
one. Cost: about twenty seconds and 266 MB for a million draws.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from incrowd.dp.bernoulli import Whole
from incrowd.dp.exact import float_at_least
from incrowd.errors import RecipeError

_DRAWS_AT_ONCE = 1 << 16


def opendp_discrete_laplace(scale: Fraction, size: int) -> Whole:
    """Return independent draws from the discrete Laplace distribution, made by OpenDP."""
    if scale <= 0:
        raise ValueError("a scale is above 0")
    try:
        import opendp.prelude as opendp
    except ImportError:
        raise RecipeError(
            "noise from OpenDP needs opendp, which is not installed.  Hint: pip install 'incrowd[opendp]'."
        ) from None
    opendp.enable_features("contrib")
    add_noise = opendp.m.make_laplace(
        opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64"), scale=float_at_least(scale)
    )
    sizes = [min(_DRAWS_AT_ONCE, size - first) for first in range(0, size, _DRAWS_AT_ONCE)]
    pieces = [np.array(add_noise([0] * number), dtype=np.int64) for number in sizes]
    return np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int64)
