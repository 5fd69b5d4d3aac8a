"""How transactions are spoken of on the wire."""

from typing import Annotated, Final

from msgspec import Meta

from farthing.core.fields import Annotations, CustomerId, Tags
from farthing.core.operation import TOKENS, Operation
from farthing.core.wire import ListQuery, Page, Request
from farthing.db.patterns import Include, reading
from farthing.resources.transactions import actions, store
from farthing.resources.transactions.model import (
    NOUN,
    Flow,
    TransactionState,
    TransactionView,
)
from farthing.resources.transactions.store import (
    TRANSACTIONS,
    TransactionDetailView,
)

PATH: Final = "/v1/tx"
ONE: Final = "/v1/tx/{id}"

_PART: Final = "(accounts|entries|transitions)"
Included = Annotated[
    str,
    Meta(
        pattern=f"^{_PART}(,{_PART}){{0,2}}$",
        description="What to add to each transaction: `accounts`, `entries`, `transitions`.",
        extra={"expected": "one or more of accounts, entries, transitions, with commas between"},
    ),
]


class UpdateTransaction(Request, frozen=True, kw_only=True):
    """What is to change; a field that is left out stays as it is."""

    tags: Tags | None = None
    annotations: Annotations | None = None


class OneQuery(Request, frozen=True, kw_only=True):
    """How one transaction is shown."""

    include: Included | None = None


class TransactionQuery(ListQuery, frozen=True, kw_only=True):
    """Which transactions to list."""

    owner_id: CustomerId | None = None
    state_id: TransactionState | None = None
    flow: Flow | None = None
    group_id: Annotated[str, Meta(min_length=1, max_length=100)] | None = None
    include: Included | None = None


class TransactionPage(Page, frozen=True, kw_only=True):
    """One page of transactions."""

    results: list[TransactionDetailView]


OPERATIONS: Final = (
    Operation(
        id="tx.update",
        method="PATCH",
        path=ONE,
        summary="Update a transaction",
        who=TOKENS,
        command=actions.update,
        noun=NOUN,
        body=UpdateTransaction,
        answer=TransactionView,
        body_example={"tags": ["checked"]},
    ),
    *reading(
        TRANSACTIONS,
        path=PATH,
        who=TOKENS,
        query=TransactionQuery,
        page=TransactionPage,
        view=TransactionDetailView,
        owner_columns=("from_owner_id", "to_owner_id"),
        include=Include(OneQuery, store.include),
    ),
)
