"""Validation: whatever is sent, the answer is a typed object or a list of faults."""

from datetime import datetime
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.core.errors import Fault, ValidationFailed
from farthing.core.fields import Address, Amount, Annotations, CurrencyISO, Tags
from farthing.core.validation import parse, point
from farthing.core.wire import Request
from farthing.resources.moves.api import MoveTransaction
from farthing.resources.payments.api import CreateInternal

UUID_OF_SOMEBODY = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"


class Body(Request, frozen=True, kw_only=True):
    amount: Amount
    currency: CurrencyISO
    kind: Literal["A", "B"] = "A"
    address: Address | None = None
    tags: Tags | None = None
    annotations: Annotations | None = None
    flag: bool = False

    @staticmethod
    def crossed(given: dict[str, Any], _: datetime) -> list[Fault]:
        if given.get("kind") == "B" and "address" not in given:
            return [Fault("/address", "required", "B needs an address.")]
        return []


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*Body.__struct_encode_fields__, "countryISO", "street", "x"]),
            inner,
            max_size=6,
        )
    ),
    max_leaves=15,
)


def faults(value: object) -> dict[str, str]:
    with pytest.raises(ValidationFailed) as caught:
        parse(Body, value)
    return {fault.pointer: fault.code for fault in caught.value.faults}


def attempt(value: object) -> Body | tuple[Fault, ...]:
    """Return what came of a value: the object, or its faults."""
    try:
        return parse(Body, value)
    except ValidationFailed as failed:
        return tuple(failed.faults)


@given(JSON)
def test_anything_is_either_built_or_refused_with_reasons(value: object) -> None:
    outcome = attempt(value)
    if not isinstance(outcome, Body):
        assert outcome
        assert all(fault.detail.endswith((".", "?")) for fault in outcome)


@given(JSON)
def test_what_is_accepted_is_what_msgspec_would_build(value: object) -> None:
    outcome = attempt(value)
    if isinstance(outcome, Body):
        assert msgspec.convert(msgspec.to_builtins(outcome), Body) == outcome


@pytest.mark.parametrize("amount", ["0", "1", "1000", "9" * 18])
def test_amounts_that_fit(amount: str) -> None:
    assert parse(Body, {"amount": amount, "currency": "GBP"}).amount == amount


@pytest.mark.parametrize(
    "amount", ["", "01", "-1", "+1", "1.0", "1e3", " 1", "1\n", "٣", "1_000", "9" * 19, 1, 1.5]
)
def test_amounts_that_do_not(amount: object) -> None:
    assert list(faults({"amount": amount, "currency": "GBP"})) == ["/amount"]


def test_faults_of_fields_and_between_fields_are_reported_together() -> None:
    assert faults({"amount": 1, "kind": "B", "other": 1}) == {
        "/amount": "wrong_type",
        "/currency": "required",
        "/other": "unknown_field",
        "/address": "required",
    }


def test_true_is_not_a_number_and_one_is_not_true() -> None:
    assert faults({"amount": "1", "currency": "GBP", "flag": 1}) == {"/flag": "wrong_type"}


def test_a_pointer_escapes_what_json_pointer_escapes_and_hides_long_numbers() -> None:
    assert point("/annotations", "a/b~c") == "/annotations/a~1b~0c"
    assert point("", "4242424242424242") == "/…"
    assert point("", "4242 4242-4242.4242") == "/…"
    assert point("", "a\ud800\x00b") == "/a\ufffd\ufffdb"


def test_a_value_is_never_repeated() -> None:
    with pytest.raises(ValidationFailed) as caught:
        parse(Body, {"amount": "4242424242424242 ", "currency": "SECRET"})
    assert "4242" not in str(caught.value.body("id"))
    assert "SECRET" not in str(caught.value.body("id"))


PIECES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10**20),
    st.sampled_from(
        [
            "PENDING",
            "ADJUSTED",
            "DISPUTED",
            "1000",
            "0",
            "01",
            f"account/{UUID_OF_SOMEBODY}",
            "account/1",
            "TRANSFER",
            "EFFECTED",
            "x" * 141,
            "",
        ]
    ),
)
VALUES = st.recursive(
    PIECES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    "fromAccountId",
                    "toAccountId",
                    "amount",
                    "purpose",
                    "tags",
                    "annotations",
                    "toStateId",
                    "fromStateId",
                    "options",
                    "adjustment",
                    "adjustmentAmount",
                    "description",
                    "nobody",
                ]
            ),
            inner,
            max_size=7,
        ),
    ),
    max_leaves=12,
)


def told(schema: type[msgspec.Struct], value: Any, *, is_plain: bool) -> Any:
    try:
        return parse(schema, value, is_plain=is_plain)
    except ValidationFailed as failed:
        return failed.faults


@given(VALUES)
def test_the_quick_way_finds_what_the_thorough_way_finds(value: Any) -> None:
    for schema in (CreateInternal, MoveTransaction):
        quick, thorough = (told(schema, value, is_plain=plain) for plain in (True, False))
        assert quick == thorough
    right = {
        "fromAccountId": f"account/{UUID_OF_SOMEBODY}",
        "toAccountId": f"account/{UUID_OF_SOMEBODY}",
        "amount": "5",
        "purpose": "TRANSFER",
    }
    wrong = {**right, **(value if isinstance(value, dict) else {"tags": value})}
    answers = [told(CreateInternal, wrong, is_plain=plain) for plain in (True, False)]
    assert answers[0] == answers[1]
