"""What became of single rows, and why: for the owner of the table, on the owner's screen."""

from incrowd.planning.explaining.rows_beside import RowsBeside, rows_beside
from incrowd.planning.explaining.why import why

__all__ = ["RowsBeside", "rows_beside", "why"]
