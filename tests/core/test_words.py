"""The small words: identifiers, times, currencies, keys."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.core import ids, keys
from farthing.core.clock import say_time, system_clock
from farthing.core.fields import COUNTRIES
from farthing.core.money import CURRENCIES


@given(st.uuids())
def test_an_identifier_is_read_as_it_was_said(identifier: UUID) -> None:
    assert ids.read("card", ids.say("card", identifier)) == identifier
    assert ids.read("customer", ids.say("card", identifier)) is None


def test_identifiers_sort_by_the_time_of_their_making() -> None:
    made = [ids.new_id() for _ in range(1000)]
    assert sorted(made) == made
    assert len(set(made)) == 1000


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_time_is_said_with_milliseconds_and_z(moment: datetime) -> None:
    said = say_time(moment)
    whole = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    assert datetime.fromisoformat(said) == whole
    assert len(said.partition(".")[2]) == 4


def test_the_clock_ticks_in_whole_milliseconds_of_utc() -> None:
    now = system_clock()
    assert now.tzinfo is UTC
    assert now.microsecond % 1000 == 0


def test_currencies_and_countries_are_those_of_iso() -> None:
    assert {"GBP", "EUR", "USD", "JPY", "KWD"} <= CURRENCIES
    assert not {"XAU", "XTS"} & CURRENCIES
    assert {"GB", "DE", "US"} <= COUNTRIES
    assert "UK" not in COUNTRIES


def test_keys_for_two_uses_have_nothing_in_common() -> None:
    assert keys.derive(b"m" * 32, "one") != keys.derive(b"m" * 32, "two")
    assert keys.derive(b"m" * 32, "one") == keys.derive(b"m" * 32, "one")


# RFC 5869's own first test vector has a salt, which we do not use; this is its third.
def test_keys_are_derived_as_rfc_5869_says() -> None:
    expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
    assert keys.derive(b"\x0b" * 22, "").hex() == expected


@pytest.mark.parametrize(
    ("one", "two"),
    [((b"ab", b"c"), (b"a", b"bc")), ((b"", b"a"), (b"a", b"")), ((b"a",), (b"a", b""))],
)
def test_the_boundaries_between_the_parts_of_a_fingerprint_count(
    one: tuple[bytes, ...], two: tuple[bytes, ...]
) -> None:
    assert keys.fingerprint(b"k", *one) != keys.fingerprint(b"k", *two)
