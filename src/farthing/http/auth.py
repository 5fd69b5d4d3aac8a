"""Who is asking: the credential in X-Token, checked against its digest."""

import asyncio
import time
from typing import Final
from uuid import UUID

import msgspec

from farthing.catalog import OBJECTS
from farthing.config import Settings
from farthing.core import ids
from farthing.core.actors import Grant, Principal
from farthing.core.errors import (
    Fault,
    Forbidden,
    NotFound,
    Unauthenticated,
    ValidationFailed,
)
from farthing.core.operation import Operation
from farthing.db.pool import Pool, is_away
from farthing.http.requests import Headers
from farthing.http.service import Service
from farthing.resources.access import model, store
from farthing.resources.access.model import Presented

# A revoked token is refused after this at the latest; the promise is 5 seconds.
CACHE_SECONDS: Final = 2.0
_CACHE_SIZE: Final = 20_000
_ENVIRONMENTS: Final = {"sandbox": "the sandbox", "live": "live"}

_Claim = tuple[str, UUID, bytes]
# The look-up, done or under way, until when it counts, and how far the tenant's clock was ahead.
_Known = tuple["asyncio.Future[Principal | None]", float, int]


class Authenticator:
    """Finds the principal behind a credential, and remembers it for a moment."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._known: dict[_Claim, _Known] = {}

    async def principal(self, shown: Presented | None) -> Principal:
        """Return who shows this credential; one answer for all that is wrong with it.

        Only of which environment it is may be told, because its prefix says so to everybody.
        """
        if shown is None:
            raise Unauthenticated
        _refuse_other_environment(shown, self._service.settings)
        claim = (shown.kind, shown.tenant_id, shown.digest)
        ahead = await self._service.clocks.ahead(shown.tenant_id)
        known = self._known.get(claim)
        if known is None or known[1] <= time.monotonic() or known[2] != ahead:
            known = self._remember(claim, shown, ahead)
        # Whoever shows the same credential meanwhile waits for the same look-up.
        found = await asyncio.shield(known[0])
        if found is None:
            self._known.pop(claim, None)
            raise Unauthenticated
        return found

    async def wait_until_revoked(self, shown: Presented | None) -> None:
        """Return once a credential that was valid is so no longer."""
        while True:
            await asyncio.sleep(CACHE_SECONDS)
            try:
                await self.principal(shown)
            except Unauthenticated:
                return
            except Exception as error:
                if not is_away(error):
                    raise

    def _remember(self, claim: _Claim, shown: Presented, ahead: int) -> _Known:
        if len(self._known) >= _CACHE_SIZE:
            self._known.clear()
        service = self._service
        now = service.clocks.at(ahead)
        look_up = asyncio.ensure_future(store.find_principal(service.pool, shown, now))
        # A look-up that failed must not be remembered.
        look_up.add_done_callback(lambda done: self._forget_failure(claim, done))
        self._known[claim] = known = (look_up, time.monotonic() + CACHE_SECONDS, ahead)
        return known

    def _forget_failure(self, claim: _Claim, done: "asyncio.Future[Principal | None]") -> None:
        if done.cancelled() or done.exception() is not None:
            self._known.pop(claim, None)


def _refuse_other_environment(shown: Presented, settings: Settings) -> None:
    if shown.environment == settings.environment:
        return
    if shown.environment not in _ENVIRONMENTS:
        raise Unauthenticated
    where = settings.other_url or f"the base address of {_ENVIRONMENTS[shown.environment]}"
    raise Unauthenticated(
        f"This credential is of {_ENVIRONMENTS[shown.environment]}, and this is "
        f"{_ENVIRONMENTS[settings.environment]}. Use it at {where}."
    )


def read_credential(headers: Headers) -> Presented | None:
    """Read the credential of a request."""
    return model.read(headers.get("x-token", ""))


def authorise(principal: Principal, operation: Operation) -> None:
    """Refuse a valid credential that this operation does not take."""
    if principal.grant in operation.who:
        return
    takes = ", ".join(sorted(grant.value for grant in operation.who))
    raise Forbidden(
        f"{operation.id} is not open to {_name(principal.grant)}; it takes one of: {takes}."
    )


async def place(
    pool: Pool, principal: Principal, headers: Headers, operation: Operation, object_id: UUID | None
) -> Principal:
    """Put the operator into the tenant that the request is about; others are in theirs.

    Where the path names an object, that object's tenant is meant; others are named by X-Tenant.
    """
    named = headers.get("x-tenant")
    if principal.grant is not Grant.OPERATOR_KEY:
        if named is not None:
            raise Forbidden("X-Tenant is for the operator's key; leave it out.")
        return principal
    if operation.of_house:
        if named is not None:
            raise Forbidden(f"{operation.id} is done in no tenant; leave X-Tenant out.")
        return principal
    if object_id is not None and operation.noun in OBJECTS:
        table = OBJECTS[operation.noun].name
        tenant_id = await store.find_tenant_of(pool, table, object_id)
        if tenant_id is None:
            raise NotFound(f"There is no such {operation.noun}.")
    else:
        tenant_id = await _named_tenant(pool, named)
    return msgspec.structs.replace(principal, tenant_id=tenant_id)


async def _named_tenant(pool: Pool, named: str | None) -> UUID:
    tenant_id = ids.read("customer", named or "")
    if tenant_id is None or not await store.tenant_exists(pool, tenant_id):
        detail = "With the operator's key, name the tenant here as customer/<uuid>."
        raise ValidationFailed([Fault("X-Tenant", "required", detail)])
    return tenant_id


def _name(grant: Grant) -> str:
    return {
        Grant.API_KEY: "the API key",
        Grant.CUSTOMER_TOKEN: "a customer's access token",
        Grant.CLIENT_TOKEN: "the client's access token",
    }.get(grant, grant.value)
