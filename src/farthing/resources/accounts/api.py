"""How accounts are spoken of on the wire."""

from typing import Final

from msgspec import field

from farthing.core import errors
from farthing.core.fields import Annotations, CurrencyISO, CustomerId, Tags
from farthing.core.operation import TOKENS, Operation
from farthing.core.wire import ListQuery, Page, Request, StateChange
from farthing.db.patterns import reading
from farthing.resources.accounts import actions
from farthing.resources.accounts.model import NOUN, AccountState, AccountView
from farthing.resources.accounts.store import ACCOUNTS

PATH: Final = "/v1/accounts"
ONE: Final = "/v1/accounts/{id}"


class CreateAccount(Request, frozen=True, kw_only=True):
    """A new account."""

    owner_id: CustomerId
    currency_iso: CurrencyISO = field(name="currencyISO")
    tags: Tags | None = None
    annotations: Annotations | None = None


class UpdateAccount(Request, frozen=True, kw_only=True):
    """What is to change; a field that is left out stays as it is."""

    tags: Tags | None = None
    annotations: Annotations | None = None


class MoveAccount(StateChange, frozen=True, kw_only=True):
    """A move of an account to another state."""

    from_state_id: AccountState | None = None
    to_state_id: AccountState


class AccountQuery(ListQuery, frozen=True, kw_only=True):
    """Which accounts to list."""

    owner_id: CustomerId | None = None
    state_id: AccountState | None = None


class AccountPage(Page, frozen=True, kw_only=True):
    """One page of accounts."""

    results: list[AccountView]


OPERATIONS: Final = (
    Operation(
        id="accounts.create",
        method="POST",
        path=PATH,
        summary="Open an account",
        who=TOKENS,
        command=actions.create,
        status=201,
        body=CreateAccount,
        answer=AccountView,
        raises=(errors.OwnerNotActive, errors.RefusedByRule),
        body_example={
            "ownerId": "customer/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
            "currencyISO": "GBP",
            "tags": ["escrow"],
        },
    ),
    Operation(
        id="accounts.update",
        method="PATCH",
        path=ONE,
        summary="Update an account",
        who=TOKENS,
        command=actions.update,
        noun=NOUN,
        body=UpdateAccount,
        answer=AccountView,
        body_example={"tags": ["savings"]},
    ),
    Operation(
        id="accounts.move",
        method="PATCH",
        path=f"{ONE}/state",
        summary="Move an account to another state",
        who=TOKENS,
        command=actions.move,
        noun=NOUN,
        body=MoveAccount,
        answer=AccountView,
        raises=(
            errors.StateMismatch,
            errors.TransitionNotAllowed,
            errors.BalanceNotZero,
            errors.RefusedByRule,
        ),
        body_example={"toStateId": "DISABLED"},
    ),
    *reading(
        ACCOUNTS,
        path=PATH,
        who=TOKENS,
        query=AccountQuery,
        page=AccountPage,
        view=AccountView,
    ),
)
