"""A command's threads share their memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAPS = """
import ctypes, threading
from incrowd.cli.memory import use_one_heap
from incrowd.cli.stopping import stoppable

def count_heaps():
    library = ctypes.CDLL(None)
    library.malloc.restype = library.open_memstream.restype = ctypes.c_void_p
    library.malloc.argtypes = [ctypes.c_size_t]
    together = threading.Barrier(4)
    def take():
        together.wait()
        library.malloc(1000)
        together.wait()
    threads = [threading.Thread(target=take) for _ in range(4)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    text, size = ctypes.c_char_p(), ctypes.c_size_t()
    stream = ctypes.c_void_p(library.open_memstream(ctypes.byref(text), ctypes.byref(size)))
    library.malloc_info(0, stream)
    library.fclose(stream)
    print(text.value.count(b"<heap nr="))

"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only the C library of Linux makes several heaps")
def test_threads_of_a_command_share_one_heap() -> None:
    def heaps(end: str) -> int:
        done = subprocess.run([sys.executable, "-c", HEAPS + end], capture_output=True, text=True, check=True)
        return int(done.stdout)

    assert heaps("stoppable(count_heaps)()") == 1
    assert heaps("count_heaps()") > 1
