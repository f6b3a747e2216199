"""First characters: a code is cut to its beginning, such as a zip code to the area of its first three digits."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from incrowd.changes.change import Change, Column
from incrowd.common.parameters import require_whole
from incrowd.common.records import dataclass
from incrowd.errors import RecipeError
from incrowd.hierarchies.values import as_short_text

_LONGEST = 100


@dataclass(frozen=True)
class FirstCharacters(Change):
    """Publish only the first characters of a code.

    Parameters
    ----------
    keep : how many characters are published.
    digits : how many digits a code has, such as 5 for zip codes (default: none, codes are any text). Shorter numbers
        lost zeros at their beginning, and get them back. What is no such code, alone or before a dash or four more
        digits as in `03601-1234`, becomes `shown`.
    exceptions : beginnings that are not published, since too few people share them.
    shown : what is published in their place (default: "000").

    It is the same for everybody, and says nothing of how many people share a beginning.

    >>> FirstCharacters(3, digits=5, exceptions=("036",)).says()
    'published as the first 3 characters; 1 beginning and what is no such code as 000'

    Reference: 45 CFR 164.514(b)(2)(i)(B), for the first three digits of zip codes.
    """

    keep: int
    digits: int | None = None
    exceptions: tuple[str, ...] = ()
    shown: str = "000"
    name: ClassVar[str] = "first-characters"
    plain_name: ClassVar[str] = "only the beginning of codes"

    def __post_init__(self) -> None:
        object.__setattr__(self, "exceptions", tuple(self.exceptions))
        require_whole(self.name, "keep", self.keep, at_least=1, at_most=_LONGEST)
        if self.digits is not None:
            require_whole(self.name, "digits", self.digits, at_least=self.keep, at_most=_LONGEST)
        if any(len(beginning) != self.keep for beginning in self.exceptions):
            raise RecipeError(
                f"{self.name}: each of the exceptions has {self.keep} characters, as many as are published.  "
                'Hint: write them as texts: "036", not 36.'
            )

    @classmethod
    def examples(cls) -> tuple[FirstCharacters, ...]:
        """Return one for any text, and one for numbers of five digits."""
        return (cls(1), cls(3, digits=5, exceptions=("000", "036")))

    def recode(self, column: Column) -> pl.Series:
        """Cut each value."""
        text = as_short_text(column.values)
        if column.values.dtype.is_float():
            text = text.str.strip_suffix(".0")  # 3601.0 is what a program makes of 03601 where codes are missing
        code = pl.col("text")
        if self.digits is not None:
            code = pl.when(code.str.contains(r"^[0-9]+$")).then(code.str.zfill(self.digits)).otherwise(code)
        hidden = code.str.head(self.keep).is_in(list(self.exceptions))
        if self.digits is not None:
            hidden |= ~code.str.contains(rf"^[0-9]{{{self.digits}}}(?:-.*|[0-9]{{4}})?$")
        shown = pl.when(hidden).then(pl.lit(self.shown)).otherwise(code.str.head(self.keep))
        return pl.DataFrame({"text": text.str.strip_chars()}).select(shown.alias("")).to_series()

    def says(self) -> str:
        """Say how many characters, and what becomes of the others."""
        cut = f"published as the first {self.keep} characters" if self.keep > 1 else "published as the first character"
        many = len(self.exceptions)
        named = [f"{many} beginning{'s' if many > 1 else ''}"] if many else []
        named += ["what is no such code"] if self.digits is not None else []
        return f"{cut}; {' and '.join(named)} as {self.shown}" if named else cut
