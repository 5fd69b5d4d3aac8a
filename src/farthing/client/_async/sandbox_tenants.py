# Written by `make client` from the operations of the service: do not edit.
"""Operations on tenants in the sandbox."""

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import AsyncNamespace
from farthing.client.models import Deleted, NewTenant, Snapshot, Tenant


class AsyncSandboxTenantsOperations(AsyncNamespace):
    """Operations on tenants in the sandbox."""

    async def create(self, *, name: str, idempotency_key: str | None = None) -> NewTenant:
        """Make a tenant of the sandbox, with a key of its own.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(operations.SANDBOX_TENANTS_CREATE, body=Body({"name": name}), key=idempotency_key)
        return await self._send(ask, NewTenant)

    async def get(self, id: str) -> Tenant:
        """Read a tenant of the sandbox, with what was kept of it."""
        ask = Ask(operations.SANDBOX_TENANTS_GET, id)
        return await self._send(ask, Tenant)

    async def reset(self, id: str, *, idempotency_key: str | None = None) -> Tenant:
        """Forget everything that a tenant has but its keys.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(operations.SANDBOX_TENANTS_RESET, id, key=idempotency_key)
        return await self._send(ask, Tenant)

    async def keep(self, id: str, *, idempotency_key: str | None = None) -> Snapshot:
        """Keep a tenant as it is, to go back to it.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(operations.SANDBOX_TENANTS_KEEP, id, key=idempotency_key)
        return await self._send(ask, Snapshot)

    async def restore(
        self, id: str, *, snapshot_id: str, idempotency_key: str | None = None
    ) -> Tenant:
        """Put a tenant back to where it was when it was kept.

        - `snapshot_id`: Must be snapshot/<uuid>, with the uuid in lower case.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(
            operations.SANDBOX_TENANTS_RESTORE,
            id,
            body=Body({"snapshotId": snapshot_id}),
            key=idempotency_key,
        )
        return await self._send(ask, Tenant)

    async def delete(self, id: str, *, idempotency_key: str | None = None) -> Deleted:
        """Throw a tenant away with all that it has.

        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.
        """
        ask = Ask(operations.SANDBOX_TENANTS_DELETE, id, key=idempotency_key)
        return await self._send(ask, Deleted)
