"""How the sandbox is told what happens."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, field

from farthing.core import errors
from farthing.core.errors import Fault
from farthing.core.fields import CurrencyISO, Payable, Reason
from farthing.core.operation import TENANT, Operation
from farthing.core.wire import Request
from farthing.rails.moods import Mood
from farthing.resources.bank_accounts.store import BANK_ACCOUNTS
from farthing.resources.cards.store import CARDS
from farthing.resources.sandbox import actions, store
from farthing.resources.sandbox.model import (
    ControlledBankAccount,
    ControlledCard,
    ControlledTransaction,
    RailView,
)
from farthing.resources.transactions.store import TRANSACTIONS

PATH: Final = "/v1/sandbox"

_REFUSALS: Final = (
    errors.ControlNotApplicable,
    errors.TransitionNotAllowed,
    errors.AmountExceedsRemaining,
    errors.BalanceLimit,
    errors.AccountNotActive,
    errors.OwnerNotActive,
)


class WithReason(Request, frozen=True, kw_only=True):
    """Why it happens."""

    reason: (
        Annotated[Reason, Meta(description="What the bank says; kept in the history.")] | None
    ) = None


class OpenDispute(Request, frozen=True, kw_only=True):
    """What a payer disputes."""

    amount: (
        Annotated[Payable, Meta(description="How much; without it, all that is left.")] | None
    ) = None


class LoseDispute(Request, frozen=True, kw_only=True):
    """What the payer gets back."""

    amount: Annotated[Payable, Meta(description="How much is lost; without it, all.")] | None = None


class AnswerChallenge(Request, frozen=True, kw_only=True):
    """What the cardholder answers."""

    approve: bool


class Verification(Request, frozen=True, kw_only=True):
    """What becomes of a verification."""

    outcome: Literal["fail"]


class Inbound(Request, frozen=True, kw_only=True):
    """A bank transfer that arrives."""

    reference: Annotated[
        str,
        Meta(min_length=1, max_length=140, description="What the payer wrote; it may be unknown."),
    ]
    amount: Payable
    currency_iso: CurrencyISO = field(name="currencyISO")
    from_name: Annotated[str, Meta(min_length=1, max_length=140)] | None = None


class ChangeMood(Request, frozen=True, kw_only=True):
    """How the tenant's rail is to behave; with no end given, until it is told otherwise."""

    # Only a rail that is slow takes seconds.
    PUBLISHED: ClassVar[dict[str, Any]] = {
        "if": {"required": ["seconds"], "properties": {"seconds": {"type": "integer"}}},
        "then": {"properties": {"mood": {"const": "slow"}}},
    }
    mood: Mood
    seconds: (
        Annotated[int, Meta(ge=1, le=60, description="How late a slow rail answers; 5 by default.")]
        | None
    ) = None
    for_minutes: (
        Annotated[int, Meta(ge=1, le=10_080, description="It ends after so many minutes.")] | None
    ) = None
    requests: (
        Annotated[int, Meta(ge=1, le=10_000, description="It ends after so many requests.")] | None
    ) = None
    refuse: (
        Annotated[int, Meta(ge=1, le=10_000, description="So many orders to come are refused.")]
        | None
    ) = None

    @staticmethod
    def crossed(given: dict[str, Any], _: object) -> Iterator[Fault]:
        """Refuse seconds where nothing is slow."""
        if given.get("seconds") is not None and given.get("mood") not in {"slow", None}:
            yield Fault("/seconds", "not_applicable", "Is for a rail that is slow.")


def _of_transaction(name: str, path: str, summary: str, act: Any, **more: Any) -> Operation:
    return Operation(
        id=f"sandbox.tx.{name}",
        method="POST",
        path=f"{PATH}/tx/{{id}}{path}",
        summary=summary,
        who=TENANT,
        prepare=actions.control(TRANSACTIONS, ControlledTransaction, act),
        noun=TRANSACTIONS.noun,
        answer=ControlledTransaction,
        raises=_REFUSALS,
        sandbox_only=True,
        **more,
    )


def _of_card(name: str, summary: str, act: Any, **more: Any) -> Operation:
    return Operation(
        id=f"sandbox.cards.{name}",
        method="POST",
        path=f"{PATH}/cards/{{id}}/{name}",
        summary=summary,
        who=TENANT,
        prepare=actions.control(CARDS, ControlledCard, act),
        noun=CARDS.noun,
        answer=ControlledCard,
        raises=_REFUSALS,
        sandbox_only=True,
        **more,
    )


_APPROVE: Final = {"body": AnswerChallenge, "body_example": {"approve": True}}
_FAIL: Final = {"body": Verification, "body_example": {"outcome": "fail"}}

OPERATIONS: Final = (
    _of_transaction("settle", "/settle", "Let the rail carry a transaction out", actions.settle),
    _of_transaction(
        "fail",
        "/fail",
        "Let the rail refuse a transaction",
        actions.fail,
        body=WithReason,
        body_example={"reason": "account_closed"},
    ),
    _of_transaction("stall", "/stall", "Let the rail keep a transaction", actions.stall),
    _of_transaction(
        "return",
        "/return",
        "Let the bank return a transaction",
        actions.send_back,
        body=WithReason,
        body_example={"reason": "The account is closed."},
    ),
    _of_transaction(
        "dispute",
        "/dispute",
        "Let the payer dispute a transaction",
        actions.dispute,
        body=OpenDispute,
        body_example={"amount": "400"},
    ),
    _of_transaction("win", "/dispute/win", "Let a dispute be won", actions.win_dispute),
    _of_transaction(
        "lose",
        "/dispute/lose",
        "Let a dispute be lost",
        actions.lose_dispute,
        body=LoseDispute,
        body_example={"amount": "100"},
    ),
    _of_transaction(
        "challenge",
        "/challenge",
        "Answer the challenge of a payment",
        actions.answer_payment,
        **_APPROVE,
    ),
    _of_card("challenge", "Answer the challenge of a card", actions.answer_card, **_APPROVE),
    _of_card("verification", "Let the verification of a card fail", actions.fail_card, **_FAIL),
    Operation(
        id="sandbox.bank-accounts.verification",
        method="POST",
        path=f"{PATH}/bank-accounts/{{id}}/verification",
        summary="Let the verification of a bank account fail",
        who=TENANT,
        prepare=actions.control(BANK_ACCOUNTS, ControlledBankAccount, actions.fail_bank_account),
        noun=BANK_ACCOUNTS.noun,
        answer=ControlledBankAccount,
        raises=_REFUSALS,
        sandbox_only=True,
        body=Verification,
        body_example={"outcome": "fail"},
    ),
    Operation(
        id="sandbox.inbound",
        method="POST",
        path=f"{PATH}/inbound",
        summary="Let a bank transfer arrive",
        who=TENANT,
        prepare=actions.receive,
        body=Inbound,
        answer=ControlledTransaction,
        raises=_REFUSALS,
        sandbox_only=True,
        body_example={"reference": "Invoice 2026/17", "amount": "1000", "currencyISO": "GBP"},
    ),
    Operation(
        id="sandbox.rail.get",
        method="GET",
        path=f"{PATH}/rail",
        summary="Get the mood of the rail",
        who=TENANT,
        read=store.fetch_mood,
        answer=RailView,
        sandbox_only=True,
    ),
    Operation(
        id="sandbox.rail.change",
        method="POST",
        path=f"{PATH}/rail",
        summary="Make the rail slow, down, forgetful or normal",
        who=TENANT,
        command=actions.change_mood,
        body=ChangeMood,
        answer=RailView,
        raises=(errors.ControlNotApplicable,),
        sandbox_only=True,
        body_example={"mood": "slow", "seconds": 1, "requests": 1},
    ),
)
