"""How customers are spoken of on the wire."""

from typing import Final

from farthing.core import errors
from farthing.core.fields import Address, Annotations, Email, Name, Phone, Tags
from farthing.core.operation import ANYBODY_KNOWN, TENANT, Operation
from farthing.core.wire import ListQuery, Page, Request, StateChange
from farthing.db.patterns import reading
from farthing.resources.customers import actions
from farthing.resources.customers.model import NOUN, CustomerState, CustomerType, CustomerView
from farthing.resources.customers.store import CUSTOMERS

PATH: Final = "/v1/customers"
ONE: Final = "/v1/customers/{id}"


class CreateCustomer(Request, frozen=True, kw_only=True):
    """A new customer."""

    type: CustomerType
    name: Name | None = None
    email: Email | None = None
    phone: Phone | None = None
    address: Address | None = None
    tags: Tags | None = None
    annotations: Annotations | None = None


class UpdateCustomer(Request, frozen=True, kw_only=True):
    """What is to change; a field that is left out stays as it is."""

    name: Name | None = None
    email: Email | None = None
    phone: Phone | None = None
    address: Address | None = None
    tags: Tags | None = None
    annotations: Annotations | None = None


class MoveCustomer(StateChange, frozen=True, kw_only=True):
    """A move of a customer to another state."""

    from_state_id: CustomerState | None = None
    to_state_id: CustomerState


class CustomerQuery(ListQuery, frozen=True, kw_only=True):
    """Which customers to list."""

    state_id: CustomerState | None = None


class CustomerPage(Page, frozen=True, kw_only=True):
    """One page of customers."""

    results: list[CustomerView]


OPERATIONS: Final = (
    Operation(
        id="customers.create",
        method="POST",
        path=PATH,
        summary="Create a customer",
        who=TENANT,
        command=actions.create,
        status=201,
        body=CreateCustomer,
        answer=CustomerView,
        raises=(errors.RefusedByRule,),
        body_example={
            "type": "INDIVIDUAL",
            "name": "Ada Lovelace",
            "email": "ada@example.com",
            "address": {"houseNameNumber": "12", "street": "St James's Square", "countryISO": "GB"},
            "tags": ["seller"],
            "annotations": {"shop": "engines"},
        },
    ),
    Operation(
        id="customers.update",
        method="PATCH",
        path=ONE,
        summary="Update a customer",
        who=ANYBODY_KNOWN,
        command=actions.update,
        noun=NOUN,
        body=UpdateCustomer,
        answer=CustomerView,
        body_example={"name": "Ada King", "annotations": {"shop": "looms"}},
    ),
    Operation(
        id="customers.move",
        method="PATCH",
        path=f"{ONE}/state",
        summary="Move a customer to another state",
        who=ANYBODY_KNOWN,
        command=actions.move,
        noun=NOUN,
        body=MoveCustomer,
        answer=CustomerView,
        raises=(
            errors.StateMismatch,
            errors.TransitionNotAllowed,
            errors.RequirementsUnresolved,
            errors.BalanceNotZero,
            errors.RefusedByRule,
        ),
        body_example={"fromStateId": "ENABLED", "toStateId": "DISABLED", "reason": "On holiday"},
    ),
    *reading(
        CUSTOMERS,
        path=PATH,
        who=ANYBODY_KNOWN,
        query=CustomerQuery,
        page=CustomerPage,
        view=CustomerView,
        owner_columns=("id",),
    ),
)
