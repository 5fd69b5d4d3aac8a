"""Tables for people: identifiers whole, in any terminal."""

import threading
from io import StringIO

import pytest
from rich.console import Console

from farthing.cli import amounts, shown

ROW = {
    "id": "transaction/01a1df60-dc62-77f9-8e18-d09fe77fe3e9",
    "flow": "OUTBOUND",
    "amount": "4000",
    "stateId": "FAILED",
    "createdAt": "2026-11-18T13:23:48.928Z",
}


def test_a_narrow_terminal_shows_fewer_columns_and_cuts_none() -> None:
    columns = list(ROW)
    assert shown.fitting(columns, [ROW], 200) == columns
    assert shown.fitting(columns, [ROW], 80) == ["id", "flow", "amount", "stateId"]
    assert shown.fitting(columns, [ROW], 60) == ["id", "amount", "stateId"]
    assert shown.fitting(columns, [ROW], 10) == ["id"]
    # Without an identifier the time says which one it is.
    step = {"toStateId": "DISABLED", "createdAt": ROW["createdAt"], "tags": ["a tag or two"]}
    assert shown.fitting(list(step), [step], 40) == ["toStateId", "createdAt"]


@pytest.mark.parametrize(
    ("amount", "currency", "told"),
    [
        ("2500", "GBP", "GBP 25.00"),
        ("-5", "GBP", "GBP -0.05"),
        ("0", "GBP", "GBP 0.00"),
        ("123456789", "EUR", "EUR 1,234,567.89"),
        ("2500", "JPY", "JPY 2,500"),
        ("2500", "KWD", "KWD 2.500"),
        ("2500", None, "2500"),
        ("none", "GBP", "none"),
    ],
    ids=str,
)
def test_an_amount_is_spelt_as_its_currency_is(amount: str, currency: str, told: str) -> None:
    assert amounts.say(amount, currency) == told


def test_the_currency_of_an_account_counts_for_everything_beside_it() -> None:
    answer = {
        "amount": "100",
        "accounts": [{"currencyISO": "GBP", "completeBalance": "5"}],
        "adjustments": [{"amount": "7", "number": "7"}],
    }
    assert amounts.spelt(answer) == {
        "amount": "GBP 1.00",
        "accounts": [{"currencyISO": "GBP", "completeBalance": "GBP 0.05"}],
        "adjustments": [{"amount": "GBP 0.07", "number": "7"}],
    }


def test_an_entry_tells_every_counter_that_it_changes() -> None:
    entry = {"number": 3, "effect": "effect", "completeBalance": "80", "incompleteCredits": "-80"}
    assert amounts.spelt([entry], "GBP") == [
        {
            "number": 3,
            "effect": "effect",
            "changes": "completeBalance +GBP 0.80, incompleteCredits -GBP 0.80",
        }
    ]


def test_long_sentences_are_folded_rather_than_left_out() -> None:
    rows = [{"noun": "transaction", "states": ["PENDING", "ACCEPTED"] * 10}]
    assert shown.columns_of(rows, 80) == ["noun", "states"]


def test_people_read_what_machines_would_spell_out() -> None:
    assert str(shown.word(ROW["id"])).startswith("tx/01a1df60")
    assert str(shown.word(value=True)) == "yes"
    assert str(shown.word({"a": 1, "b": "c"})) == "a=1, b=c"
    assert str(shown.word("a\x1b[31mb")) == "a [31mb"


def test_a_key_is_not_broken_by_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown, "console", lambda: Console(width=40))
    shown.show({"apiKey": "x" * 80, "id": "1"})
    assert capsys.readouterr().out.splitlines() == ["apiKey  " + "x" * 80, "id      1"]


def test_whoever_waits_for_long_sees_that_something_happens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = StringIO()
    begun = threading.Event()

    class Status:
        def start(self) -> None:
            screen.write("Waiting.")
            begun.set()

        def stop(self) -> None:
            screen.write(" Over.")

    monkeypatch.setattr(Console, "status", lambda _, __: Status())
    with shown.waiting("Waiting."):
        pass
    assert screen.getvalue() == " Over."
    monkeypatch.setattr(shown, "_PATIENCE", 0)
    with shown.waiting("Waiting."):
        assert begun.wait(30)
    assert screen.getvalue() == " Over.Waiting. Over."
