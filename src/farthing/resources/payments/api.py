"""How payments are spoken of on the wire."""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from farthing.core import errors
from farthing.core.fields import AccountId, Annotations, Payable, Tags, identifier
from farthing.core.operation import TOKENS, Operation
from farthing.core.wire import Request
from farthing.resources.payments import actions
from farthing.resources.transactions.model import TransactionView

PATH: Final = "/v1/tx"
_ACCOUNT: Final = "account/0190a1b2-c3d4-7e5f-8a9b-9af211329b2f"

CardId = Annotated[str, identifier("card")]
BankAccountId = Annotated[str, identifier("bank_account")]
InstrumentId = Annotated[str, identifier("(card|bank_account)")]
Description = Annotated[
    str,
    Meta(min_length=1, max_length=140, description="May appear on the recipient's statement."),
]
GroupId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        description="Links transactions together. It is set once, here, and can be filtered by.",
    ),
]
Target = Annotated[
    Literal["PENDING", "HELD", "EFFECTED"],
    Meta(description="How far the platform takes it by itself; HELD keeps the money as escrow."),
]
# What the payment systems of banks carry without loss.
BankReference = Annotated[
    str,
    Meta(
        pattern="^[A-Za-z0-9 ./&-]{1,18}$",
        description="What the recipient's bank shows beside the payment.",
        extra={"expected": "1 to 18 letters, digits, spaces, or any of . / & -"},
    ),
]


class _Payment(Request, frozen=True, kw_only=True):
    amount: Payable
    description: Description | None = None
    group_id: GroupId | None = None
    target_state_id: Target = "EFFECTED"
    tags: Tags | None = None
    annotations: Annotations | None = None


class CreateInbound(_Payment, frozen=True, kw_only=True):
    """Money that is to come into an account, from a card or by bank transfer."""

    account_id: AccountId
    method: Literal["card", "bankAccount"]
    purpose: Literal["PURCHASE", "DEPOSIT"]
    payment_instrument_id: InstrumentId | None = None

    @staticmethod
    def crossed(given: dict[str, Any], _: object) -> Any:
        """Require an instrument of the payment's method."""
        noun = {"card": "card", "bankAccount": "bank_account"}.get(str(given.get("method")))
        named = given.get("paymentInstrumentId")
        if noun and named and not named.startswith(f"{noun}/"):
            detail = f"Must be {noun}/<uuid> for this method."
            yield errors.Fault("/paymentInstrumentId", "other_method", detail)


class CreateOutbound(_Payment, frozen=True, kw_only=True):
    """Money that is to leave an account, to a bank account of its owner."""

    account_id: AccountId
    method: Literal["bankAccount"]
    purpose: Literal["WITHDRAWAL"]
    payment_instrument_id: BankAccountId | None = None
    reference: BankReference | None = None


class CreateInternal(_Payment, frozen=True, kw_only=True):
    """Money that is to go from one account of the platform to another."""

    from_account_id: AccountId
    to_account_id: AccountId
    purpose: Literal["TRANSFER", "PURCHASE"]


_RAISES: Final = (
    errors.OwnerNotActive,
    errors.AccountNotActive,
    errors.BalanceLimit,
    errors.RefusedByRule,
)

OPERATIONS: Final = (
    Operation(
        id="tx.inbound",
        method="POST",
        path=f"{PATH}/inbound",
        summary="Take money in, from a card or by bank transfer",
        who=TOKENS,
        prepare=actions.create_inbound,
        status=201,
        body=CreateInbound,
        answer=TransactionView,
        raises=(*_RAISES, errors.InstrumentNotUsable),
        body_example={
            "accountId": _ACCOUNT,
            "amount": "2500",
            "method": "bankAccount",
            "purpose": "DEPOSIT",
            "description": "First deposit",
            "groupId": "order-1007",
        },
    ),
    Operation(
        id="tx.outbound",
        method="POST",
        path=f"{PATH}/outbound",
        summary="Pay money out to a bank account",
        who=TOKENS,
        prepare=actions.create_outbound,
        status=201,
        body=CreateOutbound,
        answer=TransactionView,
        raises=(*_RAISES, errors.InstrumentNotUsable, errors.InsufficientFunds),
        body_example={
            "accountId": _ACCOUNT,
            "amount": "1500",
            "method": "bankAccount",
            "purpose": "WITHDRAWAL",
            "reference": "PAYOUT 1007",
        },
    ),
    Operation(
        id="tx.internal",
        method="POST",
        path=f"{PATH}/internal",
        summary="Move money between two accounts",
        who=TOKENS,
        command=actions.create_internal,
        status=201,
        body=CreateInternal,
        answer=TransactionView,
        raises=(*_RAISES, errors.InsufficientFunds),
        body_example={
            "fromAccountId": _ACCOUNT,
            "toAccountId": "account/0190a1b2-c3d4-7e5f-8a9b-7c1d2e3f4a5c",
            "amount": "1000",
            "purpose": "TRANSFER",
            "targetStateId": "HELD",
            "tags": ["escrow"],
        },
    ),
)
