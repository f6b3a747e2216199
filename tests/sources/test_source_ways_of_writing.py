"""Numbers and dates as countries write them: found out by column, stated, asked for, or left as text with a note."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import ReadingWarning, SourceError
from incrowd.sources import open_source
from incrowd.sources.finding_numbers import DECIMALS, NumberCandidate, begins_like_a_number, number_candidate
from incrowd.sources.headless import looks_like_a_row
from incrowd.sources.written import UNITS, WrittenDate, WrittenNumber, way_of_writing

Write = Callable[..., Path]
ROWS = 200


def column(path: Path, name: str = "x", **stated: object) -> list[object]:
    return open_source(path, **stated).frame.collect()[name].to_list()


def ways(path: Path, **stated: object) -> object:
    return open_source(path, **stated).description.get("written", {})


def one(values: list[str], *, separator: str = ";") -> str:
    quoted = (f'"{value}"' if separator in value else value for value in values)
    return f"x{separator}y\n" + "".join(f"{value}{separator}a{place % 7}\n" for place, value in enumerate(quoted))


def days(seed: int = 0, *, most: int = 365 * 60) -> list[date]:
    chance = random.Random(seed)
    return [date(1940, 1, 1) + timedelta(days=chance.randrange(most)) for _ in range(ROWS)]


def spelled(number: Decimal, thousands: str, decimal: str) -> str:
    """Write a number as a country does: an oracle that shares nothing with what reads it."""
    whole, _, places = f"{abs(number):,f}".partition(".")
    return "-" * (number < 0) + whole.replace(",", thousands) + (decimal + places if places else "")


@pytest.mark.parametrize(("thousands", "decimal"), [(".", ","), (" ", ","), ("\u202f", ","), ("'", "."), ("", ",")])
def test_numbers_of_a_country_are_the_numbers_that_were_written(file: Write, thousands: str, decimal: str) -> None:
    chance = random.Random(1)
    numbers = [Decimal(chance.randrange(-(10**9), 10**9)).scaleb(-2) for _ in range(ROWS)]
    found = column(file(one([spelled(number, thousands, decimal) for number in numbers])))
    assert [Decimal(str(text)) for text in found] == numbers


@pytest.mark.parametrize("unit", ["%", "€", "EUR", "$", "zł"])
@pytest.mark.parametrize("form", ["{0} {1}", "{0}{1}", "{1} {0}"])
def test_a_unit_that_all_cells_have_is_left_out(file: Write, unit: str, form: str) -> None:
    numbers = [str(place * 7 % 91) for place in range(ROWS)]
    assert column(file(one([form.format(number, unit) for number in numbers]))) == numbers


def test_two_units_are_text_with_a_note(file: Write) -> None:
    values = [f"{place} €" for place in range(ROWS - 1)] + ["5 $"]
    source = open_source(file(one(values)))
    assert source.frame.collect()["x"].to_list() == values
    assert "but for 1 of 200 rows" in source.notes[0]


@pytest.mark.parametrize(
    "way", ["dd.mm.yyyy", "yyyy/mm/dd", "dd/mm/yyyy", "mm/dd/yyyy", "dd-mm-yyyy", "yyyy.mm.dd", "dd-mmm-yyyy"]
)
@pytest.mark.parametrize("padded", [True, False])
def test_dates_of_a_country_are_the_days_that_were_written(file: Write, way: str, padded: bool) -> None:
    width = 2 if padded else 1
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    texts = [
        way.replace("mmm", months[day.month - 1])
        .replace("mm", f"{day.month:0{width}d}")
        .replace("dd", f"{day.day:0{width}d}")
        .replace("yyyy", str(day.year))
        for day in days()
    ]
    path = file(one(texts))
    assert ways(path) == {"x": way}
    assert column(path) == [str(day) for day in days()]


def test_times_of_day_stay(file: Write) -> None:
    texts = [f"{day:%d.%m.%Y} 07:{day.day:02d}" for day in days()]
    assert column(file(one(texts))) == [f"{day} 07:{day.day:02d}:00" for day in days()]


def test_the_day_or_the_month_is_asked_for_where_no_row_tells(file: Write) -> None:
    texts = [f"{1 + place % 12}/{1 + place // 12 % 12}/1980" for place in range(ROWS)]
    path = file(one(texts))
    with pytest.raises(SourceError, match=r"'x' dd/mm/yyyy or mm/dd/yyyy.*state it: written=") as told:
        open_source(path)
    assert "1980" not in str(told.value).removeprefix(str(path))
    assert column(path, written={"x": "dd/mm/yyyy"})[1] == "1980-01-02"
    assert column(path, written={"x": "mm/dd/yyyy"})[1] == "1980-02-01"


@pytest.mark.parametrize("odd", ["13/1/1980", "1/13/1980"])
def test_one_row_does_not_answer_for_all(file: Write, odd: str) -> None:
    texts = [f"{1 + place % 12}/{1 + place // 12 % 12}/1980" for place in range(ROWS)]
    with pytest.raises(SourceError, match="do not tell"):
        open_source(file(one([*texts, odd])))


@pytest.mark.parametrize("odd", ["unknown", "31.02.1999", "1.1.99"])
def test_a_row_that_does_not_fit_leaves_text_and_a_note(file: Write, odd: str) -> None:
    texts = [*(f"{day:%d.%m.%Y}" for day in days()), odd]
    source = open_source(file(one(texts)))
    assert source.frame.collect()["x"].to_list() == texts
    assert source.notes == (
        "column 'x' would be dates (dd.mm.yyyy) but for 1 of 201 rows, and stays text. To read the others as dates, "
        'say written={"x": "dd.mm.yyyy"}; or list what stands for missing: missing=["…"].',
    )
    # Stated, it is read value by value; and a word for missing is no odd row.
    assert column(file(one(texts)), written={"x": "dd.mm.yyyy"}) == [*map(str, days()), odd]
    assert column(file(one(texts)), missing=[odd]) == [*map(str, days()), None]


def test_what_comes_after_the_sample_counts(file: Write) -> None:
    many = [str(place % 50) for place in range(5_000)]
    assert column(file(one([*many, "1,5"])))[-1] == "1.5"
    assert column(file(one([""] * 3_000 + [f"{day:%d.%m.%Y}" for day in days()])))[-1] == str(days()[-1])
    source = open_source(file(one([*(f"{day:%d.%m.%Y}" for day in days()), *[""] * 5_000, "no date"])))
    assert "but for 1 of 201 rows" in source.notes[0]


@pytest.mark.parametrize(
    ("values", "stated", "found"),
    [
        (["1,234", "12,500", "900"], None, "1,5 elsewhere"),
        (["1,234", "12,500", "900"], ",", ["1.234", "12.500", "900"]),
        (["1,234", "12,500", "900"], ".", ["1234", "12500", "900"]),
        (["1.234", "12.500", "900"], None, ["1.234", "12.500", "900"]),  # plain, as ever
        (["1.234", "12.500", "900"], ",", ["1234", "12500", "900"]),
        (["1.234.567", "12,5", "900"], None, ["1234567", "12.5", "900"]),
    ],
)
def test_thousands_or_decimals(file: Write, values: list[str], stated: str | None, found: list[str] | str) -> None:
    path = file(one(values * 20))
    if isinstance(found, str):
        with pytest.raises(SourceError, match=r"'x' 1\.234,5 or 1,234\.5"):
            open_source(path, decimal=stated)
    else:
        assert column(path, decimal=stated) == found * 20


def test_other_columns_tell_what_a_comma_is(file: Write) -> None:
    assert column(file("x;y\n" + "1,234;2,5\n" * 30))[0] == "1.234"
    assert column(file("x;y\n" + "1,234;2.5\n" * 30))[0] == "1234"
    with pytest.raises(SourceError, match="'x'"):  # thousands, or a decimal point in a file with decimal commas
        open_source(file("x;y\n" + "1.234;2,5\n" * 30))


def test_codes_stay_codes(file: Write) -> None:
    for codes in (["01,5", "02,5"], ["110 001", "110 002"], ["007", "012"], ["1.2.3", "4.5.6"], ["10-20", "20-30"]):
        assert column(file(one(codes * 30))) == codes * 30
    answers = ["1,2", "3", "2,4"]  # in a file that is separated by commas, these are two answers
    source = open_source(file(one(answers * 30, separator=",")))
    assert source.frame.collect()["x"].to_list() == answers * 30
    assert "may hold decimal commas" in source.notes[0]


def test_plain_cells_are_left_alone(file: Write) -> None:
    values = [f"{day:%d.%m.%Y}" for day in days()]
    assert column(file(one(values)), written="plain") == values
    source = open_source(file("x,y\n1.5,2020-01-02\n2,2020-01-03\n"))
    assert (source.description.get("written"), source.notes) == (None, ())


@pytest.mark.parametrize("text", ["x;y\n", "x;y\n1,5;a\n", "x;y\n;\n;\n", "x;y\n1,5;a\n1,5;a\n"])
def test_small_tables(file: Write, text: str) -> None:
    found = column(file(text))
    assert set(found) <= {"1.5", None}


def test_every_way_can_be_named() -> None:
    for way in ["1.234,5", "1,234.5", *(f"1.234,5 {unit}" for unit in UNITS), "dd/mm/yyyy hh:mm:ss", "yyyy-mm-dd"]:
        found = way_of_writing(way)
        assert found is not None
        assert found.says == way
    for wrong in ("", "1.234", "dd.mm", "mm.mm.yyyy", "dd/mm-yyyy", "1.234,5 apples", "d.m.y"):
        assert way_of_writing(wrong) is None


def test_wrong_statements_are_refused(file: Write) -> None:
    path = file("age;y\n1,5;a\n2,5;b\n")
    for stated, message in (
        ({"decimal": ";"}, "decimal= is"),
        ({"written": "anything"}, "written= tells"),
        ({"written": {"agge": "1.234,5"}}, "did you mean 'age'"),
        ({"written": {"age": "soon"}}, "cannot be written like that"),
        ({"header": 3}, "header= is"),
        ({"header": ["a"]}, "names 1 columns, and the first line has 2"),
        ({"header": ["a", "a"]}, "a name of its own"),
    ):
        with pytest.raises(SourceError, match=message):
            open_source(path, **stated)
    with pytest.raises(SourceError, match="decimal= cannot be used"):
        open_source(pl.DataFrame({"a": [1]}), decimal=",")


def test_thousands_with_cents_in_every_row_are_numbers(file: Write) -> None:
    """Of `3,810.88` no cell is open to doubt, and none is plain."""
    rows = [f'{number},"{number % 9 + 1},{number:03}.88"' for number in range(100, 200)]
    opened = open_source(file("id,charge\n" + "\n".join(rows) + "\n"))
    assert opened.description["written"] == {"charge": "1,234.5"}
    assert opened.frame.collect()["charge"][0] == "2100.88"
    some = [
        f'{number},"{number % 9 + 1},{number:03}.88"' if number % 50 else f"{number},none" for number in range(100, 200)
    ]
    noted = open_source(file("id,charge\n" + "\n".join(some) + "\n"))
    assert any("'charge' would be numbers (1,234.5) but for 2 of 100 rows" in note for note in noted.notes)


# No header.


def test_a_file_without_a_header_is_refused_and_can_be_named(file: Write) -> None:
    text = "39,Private,5\n50,Self,6\n38,Private,7\n"
    with pytest.raises(SourceError, match=r"looks like a row.*Hint: header=False says so") as told:
        open_source(file(text))
    assert "Private" not in str(told.value)
    named = open_source(file(text), header=["age", "work", "n"])
    assert (named.columns, named.frame.collect().height) == (("age", "work", "n"), 3)
    assert open_source(file(text), header=False).columns == ("column_1", "column_2", "column_3")
    assert open_source(file(text), header=True).frame.collect().height == 2
    for mark in ("\ufeff", "\n\n"):
        assert open_source(file(mark + text), header=False).frame.collect().row(0) == ("39", "Private", "5")


@pytest.mark.parametrize(
    ("first", "rows", "answer"),
    [
        (["Anna", "f", "Oslo"], [["Bert", "f", "Oslo"], ["Cora", "f", "Oslo"]], True),
        (["name", "sex", "city"], [["name", "sex", "city"]] * 3 + [["Bert", "f", "Oslo"]], False),  # files put together
        (["0", "1", "2"], [["5", "6", "7"], ["8", "9", "1"]], False),  # names that count
        (["born", "1987"], [["x", "1990"], ["y", "1991"]], True),  # a year among years
        (["a@b.org", "x"], [["c@d.org", "y"]], True),
        (["id", "note"], [], False),
        (["", ""], [["1", "2"]], False),
    ],
)
def test_what_a_first_line_is(first: list[str], rows: list[list[str]], answer: bool) -> None:
    assert looks_like_a_row(first, rows) is answer


def test_the_index_of_pandas_is_left_out_with_a_note(file: Write) -> None:
    source = open_source(file(",age,sex\n0,30,f\n1,31,m\n"))
    assert source.columns == ("age", "sex")
    assert "taken for row numbers" in source.notes[0]
    with pytest.warns(ReadingWarning, match="taken for row numbers"):
        ic.read(file(",age,sex\n0,30,f\n1,31,m\n"), quasi=["age", "sex"])


def test_a_last_separator_is_no_column(file: Write) -> None:
    assert open_source(file("a;b;\n1;2;\n3;4;\n")).columns == ("a", "b")
    with pytest.raises(SourceError, match="no name for column 3"):
        open_source(file("a;b;\n1;2;\n3;4;5\n"))


# All the way.


@pytest.fixture
def german(file: Write) -> Path:
    chance = random.Random(5)
    lines = [
        f"{day:%d.%m.%Y};{chance.randrange(1000, 5000)},{chance.randrange(10, 99)};{chance.choice('ABC')}"
        for day in days()
    ]
    return file("geboren;Gehalt;Krankheit\n" + "\n".join(lines) + "\n")


def test_a_release_and_its_files_say_the_same(german: Path, tmp_path: Path) -> None:
    table = ic.read(german, quasi=["geboren", "Gehalt"], sensitive=["Krankheit"])
    release = ic.publish(table, ic.KAnonymity(5))
    saved = tmp_path / "release"
    release.save(saved)
    again = ic.open_release(saved, original=german)
    for query in ({"geboren": ("1950-01-01", "1970-12-31")}, {"Gehalt": (2000, 3000)}, {"Krankheit": "A"}):
        assert again.count(query) == release.count(query)
    assert ic.check(saved).k >= 5
    recipe = (saved / "recipe.toml").read_text(encoding="utf-8")
    assert 'geboren = "dd.mm.yyyy"' in recipe
    assert (saved / "data.csv").read_text(encoding="utf-8").count(";") >= 2 * ROWS  # the separator of the input


def test_a_recipe_states_what_was_found(german: Path, tmp_path: Path) -> None:
    from incrowd.planning.profile import profile
    from incrowd.planning.profile.writing import recipe_text

    recipe = tmp_path / "r.toml"
    recipe.write_text(recipe_text(profile(german), recipe_path=recipe), encoding="utf-8")
    loaded = ic.Recipe.load(recipe)
    assert loaded.source["written"] == {"geboren": "dd.mm.yyyy", "Gehalt": "1.234,5"}
    assert loaded.table().engine.source.found_out == ("quote", "encoding")
    assert loaded.run().rows == ROWS


def test_private_methods_read_only_what_is_stated(german: Path) -> None:
    bounds = ic.Intervals(widths=(500, 1000), lower=0, upper=6000)
    roles = {"quasi": ["Gehalt"], "others": "drop", "hierarchies": {"Gehalt": bounds}}
    with pytest.warns(ReadingWarning, match=r'only by what is stated.*"Gehalt": "1.234,5"'):
        unstated = ic.PrivateTable(ic.read(german, **roles), budget=100, undeclared="missing")
    assert unstated.count({"Gehalt": (0, 6000)}, epsilon=50) < ROWS / 4
    stated = ic.PrivateTable(
        ic.read(german, **roles, written={"Gehalt": "1.234,5", "geboren": "dd.mm.yyyy"}), budget=100
    )
    assert abs(stated.count({"Gehalt": (0, 6000)}, epsilon=50) - ROWS) < 5


def test_one_odd_row_does_not_change_how_the_stated_ones_are_read(german: Path) -> None:
    ways = {"Gehalt": "1.234,5", "geboren": "dd.mm.yyyy"}
    before = open_source(german, written=ways).frame.collect()
    for odd in ("k.A.;k.A.;A\n", "1/2/2000;1,234.5;A\n", ";;\n", "01.01.2000;5;A\n"):
        changed = german.with_name("changed.csv")
        changed.write_text(german.read_text(encoding="utf-8") + odd, encoding="utf-8")
        after = open_source(changed, written=ways).stated
        assert after is not None
        assert after().frame.collect().head(ROWS).rows() == before.rows()


def test_ways_keep_what_does_not_fit() -> None:
    frame = pl.DataFrame({"x": ["1,5", "abc", None, " 2,5 ", "−3,5", ",5"]})
    found = frame.select(WrittenNumber(",").respelled(pl.col("x"))).to_series().to_list()
    assert found == ["1.5", "abc", None, "2.5", "-3.5", ".5"]
    dates = pl.DataFrame({"x": ["1.2.2003", "31.2.2003", None, "1.2.03", "1.2.20030"]})
    found = dates.select(WrittenDate("dd.mm.yyyy").respelled(pl.col("x"))).to_series().to_list()
    assert found == ["2003-02-01", "31.2.2003", None, "1.2.03", "1.2.20030"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_binary_file_is_called_one(file: Write, seed: int) -> None:
    with pytest.raises(SourceError, match="is a program"):
        open_source(file(b"\x7fELF" + random.Random(seed).randbytes(4000) + b"\0"))
    with pytest.raises(SourceError, match="binary file"):
        open_source(file(b"\x81\0" + random.Random(seed).randbytes(4000) + b"\0"))
    with pytest.raises(SourceError, match="may be UTF-16"):
        open_source(file("a,b\n1,2\n".encode("utf-16-le")))


@pytest.mark.parametrize("before", ["", " ", "\u00a0"])
@pytest.mark.parametrize("sign", ["", "-", "−", "- ", "− € ", "€ -", "US$"])
def test_no_way_to_begin_a_number_is_passed_over(before: str, sign: str) -> None:
    """Texts that begin unlike any number are not looked at closer: no number may be among these."""
    unit = next((unit for unit in ("US$", "€") if unit in sign), "")
    for number in ("5,5", "1.234,5", ",5", ".5"):
        text = f"{before}{sign}{number}"
        fits = [WrittenNumber(decimal, unit).fits(pl.col("v")) for decimal in DECIMALS]
        assert pl.DataFrame({"v": [text]}).select(pl.any_horizontal(fits)).item()
        assert begins_like_a_number(text), text


def test_a_space_before_a_sign_and_one_behind_it() -> None:
    assert number_candidate(pl.Series([" - 5,5", " - 7,25"]), decimal=None, may_hold_commas=True) == NumberCandidate()
