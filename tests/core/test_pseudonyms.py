"""Pseudonyms: a keyed code of each identifier, and a key that nobody else sees."""

from __future__ import annotations

import base64
import hashlib
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from incrowd.errors import OutputError
from incrowd.sources.pandas import from_pandas
from tests.any_text import any_text

SECRET = bytes(range(32))


def hmac_by_hand(secret: bytes, message: bytes) -> bytes:
    """RFC 2104, without the standard library's hmac."""
    block = (secret if len(secret) <= 64 else hashlib.sha256(secret).digest()).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block) + message).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in block) + inner).digest()


def code(secret: bytes, identifier: str) -> str:
    return base64.b32encode(hmac_by_hand(secret, identifier.encode())[:16]).decode().rstrip("=")


@settings(deadline=None, derandomize=True, database=None)
@given(st.binary(min_size=32, max_size=100), st.lists(st.none() | any_text(8), max_size=6))
def test_pseudonyms_are_the_hmac_of_the_identifiers(secret: bytes, identifiers: list[str | None]) -> None:
    found = ic.PseudonymKey(secret).pseudonyms(pl.Series("id", identifiers, dtype=pl.String))
    assert found.to_list() == [None if name is None else code(secret, name) for name in identifiers]
    assert found.name == "id"


@pytest.mark.parametrize(
    ("identifiers", "texts"),
    [([7, 12], ["7", "12"]), ([7.0, None], ["7", None]), (["007"], ["007"]), ([True], ["true"]), ([None], [None])],
)
def test_identifiers_of_any_kind(identifiers: list, texts: list) -> None:
    found = ic.PseudonymKey(SECRET).pseudonyms(pl.Series(identifiers))
    assert found.to_list() == [None if text is None else code(SECRET, text) for text in texts]


def table(**roles: object) -> ic.Table:
    people = pl.DataFrame({"age": [31, 32, 41, 43] * 5, "name": [f"Anna{place % 7}" for place in range(20)]})
    return ic.read(people, quasi=["age"], person="name", pseudonyms=["name"], **roles)  # type: ignore[arg-type]


def test_one_key_links_releases_and_two_keys_do_not() -> None:
    def names(key: ic.PseudonymKey | None) -> set[str]:
        return set(ic.publish(table(), ic.KAnonymity(2), pseudonym_key=key).data["name"])

    assert names(ic.PseudonymKey(SECRET)) == names(ic.PseudonymKey(SECRET))
    assert len(names(ic.PseudonymKey(SECRET))) == 7
    assert names(ic.PseudonymKey(SECRET)).isdisjoint(names(ic.PseudonymKey.new()))
    assert names(None).isdisjoint(names(None))  # drawn now and forgotten


def test_one_release_uses_one_key_however_often_it_is_read() -> None:
    release = ic.publish(table(), ic.KAnonymity(2))
    assert release.to_polars().equals(release.to_polars())


def test_rows_are_not_in_the_order_of_the_identifiers() -> None:
    people = pl.DataFrame({"age": [30] * 200, "name": [f"{place:03}" for place in range(200)]})
    opened = ic.read(people, quasi=["age"], pseudonyms=["name"])
    shown = ic.publish(opened, ic.KAnonymity(2), pseudonym_key=ic.PseudonymKey(SECRET)).data["name"]
    assert shown.to_list() == sorted(code(SECRET, name) for name in people["name"])


def test_a_tuple_shared_by_groups_is_not_dealt_out_by_the_identifiers() -> None:
    people = pl.DataFrame({"age": [30] * 64 + [40] * 32, "name": [f"{place:03}" for place in range(96)]})
    opened = ic.read(people, quasi=["age"], pseudonyms=["name"])
    key = ic.PseudonymKey(SECRET)
    shown = ic.publish(opened, ic.KAnonymity(2), method=ic.Mondrian(cuts="relaxed"), pseudonym_key=key).data
    name_of = {code(SECRET, name): name for name in people["name"]}
    thirty = set(people.filter(pl.col("age") == 30)["name"])
    groups = [thirty & {name_of[code] for code in group["name"]} for group in shown.partition_by("age")]
    first, second = sorted((group for group in groups if group), key=min)
    assert max(first) > min(second)


def test_a_key_file_is_for_its_owner_alone_and_reads_back(tmp_path: Path) -> None:
    key = ic.PseudonymKey.new()
    key.save(tmp_path / "key")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert ic.PseudonymKey.load(tmp_path / "key") == key
    with pytest.raises(OutputError, match="cannot be written: File exists"):
        key.save(tmp_path / "key")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    ic.PseudonymKey.new().save(tmp_path / "key")
    (tmp_path / "key").chmod(mode)
    with pytest.raises(OutputError, match=rf"can be read by others \(mode {mode:04o}\)\.  Hint: chmod 600"):
        ic.PseudonymKey.load(tmp_path / "key")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "at least 32 bytes"),
        (b"c2hvcnQ=", "at least 32 bytes"),
        (b"!!!", "is not a key"),
        (b"\xff", "cannot be read"),
    ],
)
def test_files_that_are_no_key(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "key").write_bytes(content)
    (tmp_path / "key").chmod(0o600)
    with pytest.raises(OutputError, match=message):
        ic.PseudonymKey.load(tmp_path / "key")


def test_a_key_with_a_newline_behind_it_is_still_a_key(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(base64.b64encode(SECRET) + b"\n")
    (tmp_path / "key").chmod(0o600)
    assert ic.PseudonymKey.load(tmp_path / "key") == ic.PseudonymKey(SECRET)


def test_a_missing_key_is_made_once(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be read"):
        ic.PseudonymKey.load(tmp_path / "key")
    made = ic.PseudonymKey.load_or_create(tmp_path / "key")
    assert ic.PseudonymKey.load_or_create(tmp_path / "key") == made
    with pytest.raises(OutputError, match="cannot be written"):
        ic.PseudonymKey.load_or_create(tmp_path / "nowhere" / "key")


def test_a_key_is_never_shown_nor_written_into_a_release(tmp_path: Path) -> None:
    secret = b"0123456789abcdef0123456789abcdef"
    ic.PseudonymKey(secret).save(tmp_path / "key")
    key = ic.PseudonymKey.load(tmp_path / "key")
    spellings = [secret, base64.b64encode(secret), secret.hex().encode(), base64.b32encode(secret)]
    release = ic.publish(table(), ic.KAnonymity(2), pseudonym_key=key)
    release.save(tmp_path / "out")
    shown = [repr(key), str(key), repr(release), repr(release.source), str(release.summary)]
    shown += [path.read_text() for path in (tmp_path / "out").iterdir()]
    for text in shown:
        assert not any(spelling in text.encode() for spelling in spellings)
        assert "Anna" not in text


NOON = datetime(2020, 1, 1, 12, 30, 0, 123000, tzinfo=UTC)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_one_instant_has_one_pseudonym_in_every_zone(zone: str, unit: Literal["ms", "us", "ns"]) -> None:
    instant = pl.Series([NOON]).dt.cast_time_unit(unit).dt.convert_time_zone(zone)
    assert ic.PseudonymKey(SECRET).pseudonyms(instant).item() == code(SECRET, "2020-01-01 12:30:00.123000+00:00")


def test_one_time_without_a_zone_has_one_pseudonym_in_every_unit() -> None:
    time = pl.Series([NOON.replace(tzinfo=None)])
    found = {ic.PseudonymKey(SECRET).pseudonyms(time.dt.cast_time_unit(unit)).item() for unit in ("ms", "us", "ns")}
    assert found == {code(SECRET, "2020-01-01 12:30:00.123000")}
    finer = time.cast(pl.Int64) * 1000 + 7
    shown = ic.PseudonymKey(SECRET).pseudonyms(finer.cast(pl.Datetime("ns"))).item()
    assert shown == code(SECRET, "2020-01-01 12:30:00.123000007")


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_one_duration_has_one_pseudonym_in_every_unit(unit: Literal["ms", "us", "ns"]) -> None:
    lasted = pl.Series([timedelta(hours=1, milliseconds=120)]).dt.cast_time_unit(unit)
    assert ic.PseudonymKey(SECRET).pseudonyms(lasted).item() == code(SECRET, "PT1H0.12S")


def test_pandas_and_polars_give_one_value_one_pseudonym() -> None:
    pd = pytest.importorskip("pandas")
    given = {
        "5": [[5.0], [5], ["5"], pd.Categorical([5.0]), pd.Categorical([5]), pd.array([5], dtype="Int64")],
        "2020-01-01 12:30:00.123000+00:00": [[NOON], pd.to_datetime([NOON]), pd.Categorical([NOON])],
    }
    for text, columns in given.items():
        for column in columns:
            frame = pd.DataFrame({"id": column})
            found = ic.PseudonymKey(SECRET).pseudonyms(from_pandas(frame)["id"])
            assert found.to_list() == [code(SECRET, text)]
