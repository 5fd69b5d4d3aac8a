"""What can be done about access: tenants are founded, keys and tokens are issued and revoked."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.actors import Grant, Principal
from farthing.core.clock import say_time
from farthing.core.errors import OwnerNotActive
from farthing.core.ids import new_id
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command, Context
from farthing.db.committer import Committer
from farthing.db.draft import Draft
from farthing.resources.access.model import (
    Credential,
    Presented,
    RevocationView,
    Tenant,
    TokenView,
    mint,
)
from farthing.resources.access.store import CREDENTIALS, TENANTS
from farthing.resources.customers import actions as customers
from farthing.resources.customers.model import MAY_SIGN_IN, Customer
from farthing.resources.customers.store import CUSTOMERS, STANDINGS


def issue_token(call: Call[Any]) -> Command:
    """Issue an access token for one customer."""
    token = mint("accessToken", call.settings.environment, call.principal.tenant_id)
    lifetime = timedelta(minutes=call.settings.token_minutes)

    def decide(draft: Draft) -> Struct:
        customer = draft.require(CUSTOMERS, call.id)
        (standing,) = draft.beside(CUSTOMERS, customer)
        if customer.state_id not in MAY_SIGN_IN:
            raise OwnerNotActive(
                f"{ids.say('customer', customer.id)} is {customer.state_id} and cannot sign in."
            )
        expires_at = draft.now + lifetime
        generation = standing.token_generation
        draft.append(CREDENTIALS, _kept(token, draft, customer.id, generation, expires_at))
        return TokenView(access_token=token.text, expires_at=say_time(expires_at))

    return Command(decide, needs=objects.needs_of(CUSTOMERS, call.id), status=201)


def revoke_tokens(call: Call[Any]) -> Command:
    """Revoke all access tokens of one customer, by counting their generation up."""

    def decide(draft: Draft) -> Struct:
        customer = draft.require(CUSTOMERS, call.id)
        (standing,) = draft.beside(CUSTOMERS, customer)
        generation = standing.token_generation + 1
        draft.update(STANDINGS, msgspec.structs.replace(standing, token_generation=generation))
        return RevocationView(
            customer_id=ids.say("customer", customer.id), revoked_at=say_time(draft.now)
        )

    return Command(decide, needs=objects.needs_of(CUSTOMERS, call.id))


async def found_tenant(committer: Committer, name: str) -> UUID:
    """Found a tenant, with the customer that it is itself."""
    tenant_id = new_id()

    def decide(draft: Draft) -> Struct:
        draft.append(TENANTS, Tenant(tenant_id, name, draft.now))
        return settle_in(draft, name)

    await committer.submit(platform(tenant_id), Command(decide, status=201))
    return tenant_id


def settle_in(draft: Draft, name: str) -> Struct:
    """Add the customer that a tenant is itself."""
    own = Customer(
        tenant_id=draft.tenant_id,
        id=draft.tenant_id,
        version=1,
        created_at=draft.now,
        updated_at=draft.now,
        state_id="ENABLED",
        tags=[],
        annotations={},
        type="ORGANISATION",
        name=name,
        email=None,
        phone=None,
        address=None,
        approval_id=None,
    )
    return customers.add(draft, own)


async def issue_api_key(committer: Committer, environment: str, tenant_id: UUID) -> str:
    """Issue a tenant's API key; it is shown here and never again."""
    return await _issue(committer, mint("apiKey", environment, tenant_id))


async def issue_operator_key(committer: Committer, environment: str) -> str:
    """Issue a key for whoever runs the service; it is shown here and never again."""
    return await _issue(committer, mint("operatorKey", environment, ids.HOUSE))


async def _issue(committer: Committer, key: Presented) -> str:
    def decide(draft: Draft) -> None:
        draft.append(CREDENTIALS, _kept(key, draft))

    await committer.submit(platform(key.tenant_id), Command(decide))
    return key.text


def platform(tenant_id: UUID) -> Context:
    """Return the context of what the platform does for a tenant."""
    return Context(Principal(tenant_id, Grant.PLATFORM), request_id=f"platform-{new_id()}")


def _kept(
    shown: Presented,
    draft: Draft,
    customer_id: UUID | None = None,
    generation: int | None = None,
    expires_at: Any = None,
) -> Credential:
    return Credential(
        tenant_id=shown.tenant_id,
        kind=shown.kind,
        digest=shown.digest,
        customer_id=customer_id,
        generation=generation,
        created_at=draft.now,
        expires_at=expires_at,
    )
