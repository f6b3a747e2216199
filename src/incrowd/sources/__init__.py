"""The door through which every table enters: files, databases and frames, opened, checked and normalized.

>>> import polars as pl
>>> source = open_source(pl.DataFrame({"age": [34.0, float("nan")]}))
>>> source.columns, source.frame.collect()["age"].to_list()
(('age',), [34.0, None])
"""

from incrowd.sources.opening import open_source, open_table
from incrowd.sources.reading import read_rows, reading

__all__ = ["open_source", "open_table", "read_rows", "reading"]
