"""Spark's daemon of Python processes, which imports once what each of them would import.

After each task they look for garbage, and for changes of PySpark's archives: both took longer than most tasks. What is
imported here is left out of the first, and the archives, which hold what is installed beside them, of the second.
"""

from __future__ import annotations

import gc
import sys

sys.path[:] = [place for place in sys.path if not place.endswith(".zip")]
sys.path_importer_cache.clear()

import pandas  # noqa: E402, F401
import polars  # noqa: E402, F401
import pyspark.worker  # noqa: E402, F401
from pyspark.daemon import manager  # noqa: E402

import incrowd.engines.spark.parts  # noqa: E402, F401

if __name__ == "__main__":
    gc.freeze()
    manager()
