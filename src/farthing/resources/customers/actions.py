"""What can be done with customers."""

from typing import Any

import msgspec
from msgspec import Struct

from farthing.core.ids import new_id
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command
from farthing.db.draft import Draft
from farthing.resources.customers import model
from farthing.resources.customers.model import Customer, Standing
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
        )
        return add(draft, customer)

    return Command(decide, status=201)


def add(draft: Draft, customer: Customer) -> Struct:
    """Add a customer with a clean standing."""
    draft.insert(STANDINGS, Standing(customer.tenant_id, customer.id, 1, 0, 0))
    return draft.create(CUSTOMERS, customer)


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
    moving = objects.moving(call, CUSTOMERS)

    def decide(draft: Draft) -> Struct | None:
        model.refuse_own_tenant(draft.require(CUSTOMERS, call.id), draft.principal.actor)
        return moving.decide(draft)

    return Command(decide, needs=moving.needs)
