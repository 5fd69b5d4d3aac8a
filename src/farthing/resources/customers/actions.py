"""What can be done with customers."""

from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.actors import Actor
from farthing.core.errors import Fault, OwnerNotActive, ValidationFailed
from farthing.core.ids import new_id
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Need, Shown
from farthing.db.draft import Draft
from farthing.db.hearings import Matter, Whereabouts
from farthing.resources.customers import model
from farthing.resources.customers.model import ACTIVE, Customer, Standing
from farthing.resources.customers.store import CUSTOMERS, STANDINGS


def create(call: Call[Any]) -> Command:
    """Take a new customer."""
    body = call.body

    def decide(draft: Draft) -> Struct:
        customer = Customer(
            tenant_id=draft.tenant_id,
            id=new_id(),
            version=1,
            created_at=draft.now,
            updated_at=draft.now,
            state_id=CUSTOMERS.machine.initial,
            tags=body.tags or [],
            annotations=body.annotations or {},
            type=body.type,
            name=body.name,
            email=body.email,
            phone=body.phone,
            address=None if body.address is None else msgspec.to_builtins(body.address),
            approval_id=None,
        )
        # Rules see it together with its standing.
        _give_standing(draft, customer)
        verdict = draft.judge(CUSTOMERS, customer)
        if verdict.approval_id is not None:
            waits = {"state_id": "PENDING", "approval_id": verdict.approval_id}
            customer = msgspec.structs.replace(customer, **waits)
        return add(draft, verdict.label(customer), verdict.reason)

    tenant_id = call.principal.tenant_id
    return Command(decide, status=201, matter=Matter(f"{CUSTOMERS.noun}.create", tenant_id))


def add(draft: Draft, customer: Customer, reason: str | None = None) -> Struct:
    """Add a customer with a clean standing."""
    _give_standing(draft, customer)
    return draft.create(CUSTOMERS, customer, reason)


def _give_standing(draft: Draft, customer: Customer) -> None:
    active = customer.state_id == ACTIVE
    standing = Standing(customer.tenant_id, customer.id, 1, 0, 0, None, None, active)
    draft.insert(STANDINGS, standing)


def needs_of(customer_id: UUID) -> list[Need]:
    """Name a customer and its standing."""
    return objects.needs_of(CUSTOMERS, customer_id)


def let_go(draft: Draft, customer: Customer, reason: str) -> None:
    """Enable a customer whose approval was given."""
    _stand(draft, customer, active=True)
    _step(draft, customer, ACTIVE, reason)


def turn_down(draft: Draft, customer: Customer, reason: str) -> None:
    """Part with a customer whose approval was not given, who can own nothing yet."""
    _step(draft, _step(draft, customer, "CLOSING", reason), "TERMINATED", reason)


def _step(draft: Draft, old: Customer, target: str, reason: str) -> Customer:
    new = msgspec.structs.replace(old, state_id=target, approval_id=None)
    draft.step(CUSTOMERS, old, new, target.lower(), reason, Actor.PLATFORM)
    return draft.find(CUSTOMERS, old.id) or new


def owner_of(draft: Draft, owner_id: UUID) -> Customer:
    """Return the owner that a request names, if it is there, visible and enabled."""
    owner = draft.find(CUSTOMERS, owner_id)
    if owner is None or not draft.principal.sees(owner.id):
        detail = "There is no such customer."
        raise ValidationFailed([Fault("/ownerId", "unknown_owner", detail)])
    if owner.state_id != ACTIVE:
        raise OwnerNotActive(f"{ids.say('customer', owner.id)} is {owner.state_id}, not {ACTIVE}.")
    return owner


def require_active(draft: Draft, customer_id: UUID) -> Standing:
    """Return the standing of a customer whose money may move; refuse any other."""
    standing = draft.find(STANDINGS, customer_id)
    if standing is None or not standing.active:
        raise OwnerNotActive(f"{ids.say('customer', customer_id)} is not {ACTIVE}.")
    return standing


def prefer(draft: Draft, owner_id: UUID, **instrument: UUID | None) -> None:
    """Make an instrument the preferred one of its kind, or none; the customer's event tells.

    The command must have named the customer and its standing among its needs.
    """
    owner, standing = draft.find(CUSTOMERS, owner_id), draft.find(STANDINGS, owner_id)
    if owner is None or standing is None:
        raise LookupError("an instrument without an owner")
    if all(getattr(standing, name) == value for name, value in instrument.items()):
        return
    draft.update(STANDINGS, msgspec.structs.replace(standing, **instrument))
    draft.change(CUSTOMERS, owner, owner, "updated")


def update(call: Call[Any]) -> Command:
    """Change what a customer says of itself; a field that is named replaces the old one."""

    def changes(_: Customer) -> dict[str, Any]:
        given = objects.replaced(
            call.body, "name", "email", "phone", "address", "tags", "annotations"
        )
        if "address" in given:
            given["address"] = msgspec.to_builtins(given["address"])
        return given

    return objects.updating(call, CUSTOMERS, changes)


def move(call: Call[Any]) -> Command:
    """Move a customer to another state."""
    # A customer belongs to nobody else, so that it is the tenant whose matter it is.
    where = Whereabouts(CUSTOMERS, call.id, owner="tenant_id")
    moving = objects.moving(call, CUSTOMERS, found_at=where)

    def decide(draft: Draft) -> Shown:
        customer = draft.require(CUSTOMERS, call.id)
        model.refuse_own_tenant(customer, draft.principal.actor)
        _stand(draft, customer, active=call.body.to_state_id == ACTIVE)
        return moving.decide(draft)

    return Command(decide, needs=moving.needs, matter=moving.matter)


def _stand(draft: Draft, customer: Customer, *, active: bool) -> None:
    """Note whether the customer's money may move."""
    standing = draft.find(STANDINGS, customer.id)
    if standing is not None and standing.active != active:
        draft.update(STANDINGS, msgspec.structs.replace(standing, active=active))
