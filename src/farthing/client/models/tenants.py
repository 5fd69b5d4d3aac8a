# Written by `make client` from the operations of the service: do not edit.
"""Models of tenants."""

from farthing.client._model import Model, Secret


class Deleted(Model, frozen=True, kw_only=True):
    """A tenant that is no more."""

    id: str
    deleted_at: str


class Snapshot(Model, frozen=True, kw_only=True):
    """A tenant as it was at one moment."""

    id: str
    created_at: str


class NewTenant(Secret, frozen=True, kw_only=True):
    """A tenant that was just made, with its key, which is shown this once."""

    id: str
    customer_id: str
    name: str
    created_at: str
    snapshots: list[Snapshot]
    api_key: str


class Tenant(Model, frozen=True, kw_only=True):
    """A tenant of the sandbox, and the customer which it is itself."""

    id: str
    customer_id: str
    name: str
    created_at: str
    snapshots: list[Snapshot]
