"""Memory of a command: threads share one heap, so that what one of them gives back is what the next one uses."""

from __future__ import annotations

from incrowd.common import systems

_MOST_ARENAS = -8
"""What the GNU C library calls the number of such places; by default, it makes up to eight for each core."""


def use_one_heap() -> None:
    """Let threads share their memory. A slicing of four million rows on two cores holds 0.8 GB then in place of 1.2.

    Only a command does so: whoever imports incrowd decides this for the whole process.
    """
    if systems.WINDOWS:
        return
    import ctypes

    set_option = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have one place, and no such option
    if set_option is not None:
        set_option(_MOST_ARENAS, 1)
