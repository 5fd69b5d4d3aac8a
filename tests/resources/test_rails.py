"""Rails: the modulus check, and which rail a process uses."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from farthing.config import Settings, SettingsError
from farthing.rails import choice
from farthing.rails.base import BankVerdict, Destination, Rail
from farthing.rails.choice import CheckedRail
from farthing.rails.numbers import MAGIC_CARDS, MAGIC_SORT_CODES
from farthing.rails.sandbox import SandboxRail
from farthing.resources.cards import vault

if TYPE_CHECKING:
    from farthing.db.committer import Committer
    from farthing.db.pool import Pool

# A small table of our own in the published format: sort codes from, to, method, 14 weights.
WEIGHTS = """\
089000 089999 MOD10    0    0    0    0    0    0    7    1    3    7    1    3    7    1
107999 107999 MOD11    0    0    0    0    0    0    8    7    6    5    4    3    2    1
202959 202959 DBLAL    2    1    2    1    2    1    2    1    2    1    2    1    2    1
"""

# No order is sent here, so nothing needs to be remembered.
NO_POOL, NO_COMMITTER = cast("Pool", None), cast("Committer", None)


def at(sort_code: str, account_number: str) -> Destination:
    return Destination("GB", "GBP", account_number, sort_code, None, None)


def own_rail(_: Settings) -> Rail:
    return SandboxRail(NO_POOL, NO_COMMITTER)


def choose_rail(settings: Settings) -> Rail:
    return choice.choose_rail(settings, NO_POOL, NO_COMMITTER)


def no_rail(_: Settings) -> Any:
    return "not a rail"


@pytest.fixture
def checked(tmp_path: Path) -> Rail:
    (tmp_path / "weights.txt").write_text(WEIGHTS)
    settings = Settings(
        rail=f"{__name__}:own_rail", modulus_weights_file=str(tmp_path / "weights.txt")
    )
    return choose_rail(settings)


# 66374958 under 089999 is the example that the publisher of the method works through itself.
@pytest.mark.parametrize(
    ("sort_code", "account_number", "outcome"),
    [
        ("089999", "66374958", "verified"),
        ("089999", "66374959", "pending"),
        ("107999", "88837491", "verified"),
        ("107999", "88837493", "pending"),
        ("202959", "63748472", "verified"),
        ("202959", "63748473", "pending"),
        ("601111", "00000000", "verified"),
    ],
)
async def test_a_number_that_cannot_exist_is_not_even_asked_about(
    checked: Rail, sort_code: str, account_number: str, outcome: str
) -> None:
    verdict = await checked.verify_bank_account(at(sort_code, account_number))
    assert verdict.outcome == outcome
    assert (verdict.reason == "modulus_check_failed") == (outcome == "pending")


@pytest.mark.parametrize(
    ("number", "iban", "currency", "outcome"),
    [
        ("66374959", "GB74FRTH08999966374958", "GBP", "pending"),
        ("66374959", "GB74FRTH08999966374958", "EUR", "verified"),
        ("66374958", "GB47FRTH08999966374959", "GBP", "verified"),
        ("66374958", "GB47FRTH08999966374959", "EUR", "pending"),
        (None, "GB47FRTH08999966374959", "GBP", "pending"),
        (None, "DE89370400440532013000", "EUR", "verified"),
    ],
)
async def test_the_number_that_is_paid_is_the_one_that_is_checked(
    checked: Rail, number: str | None, iban: str, currency: str, outcome: str
) -> None:
    sort_code = None if number is None else "089999"
    destination = Destination("GB", currency, number, sort_code, iban, None)
    assert (await checked.verify_bank_account(destination)).outcome == outcome


async def test_without_tables_nothing_is_checked() -> None:
    rail = choose_rail(Settings(rail=f"{__name__}:own_rail"))
    assert isinstance(rail, CheckedRail)
    verdict = await rail.verify_bank_account(at("089999", "66374959"))
    assert verdict == BankVerdict("verified", "")


def test_tables_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "weights.txt").write_text("this is not a table\n")
    for file in ("weights.txt", "missing.txt"):
        settings = Settings(rail=f"{__name__}:own_rail", modulus_weights_file=str(tmp_path / file))
        with pytest.raises(SettingsError, match="tables for modulus checking"):
            choose_rail(settings)


def test_live_takes_no_sandbox() -> None:
    assert isinstance(choose_rail(Settings()), SandboxRail)
    with pytest.raises(SettingsError, match="live moves real money"):
        choose_rail(Settings(environment="live"))


@pytest.mark.parametrize("rail", ["nonsense", "no.such.module:function", f"{__name__}:missing"])
def test_a_rail_that_cannot_be_loaded_is_named(rail: str) -> None:
    with pytest.raises(SettingsError, match="FARTHING_RAIL"):
        choose_rail(Settings(rail=rail))


def test_what_is_no_rail_is_refused() -> None:
    with pytest.raises(SettingsError, match="returned no rail"):
        choose_rail(Settings(rail=f"{__name__}:no_rail"))


def test_every_magic_number_is_a_possible_card() -> None:
    assert [vault.fault_of(card.number) for card in MAGIC_CARDS] == [None] * len(MAGIC_CARDS)
    assert len({card.number for card in MAGIC_CARDS}) == len(MAGIC_CARDS)
    assert len({code.sort_code for code in MAGIC_SORT_CODES}) == len(MAGIC_SORT_CODES)
