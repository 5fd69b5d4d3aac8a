"""What a tenant is to whoever runs a sandbox."""

from typing import Final

from farthing.core.wire import View

NOUN: Final = "tenant"
SNAPSHOT: Final = "snapshot"


class SnapshotView(View, frozen=True, kw_only=True):
    """A tenant as it was at one moment."""

    id: str
    created_at: str


class TenantView(View, frozen=True, kw_only=True):
    """A tenant of the sandbox, and the customer which it is itself."""

    id: str
    customer_id: str
    name: str
    created_at: str
    snapshots: list[SnapshotView]


class NewTenantView(TenantView, frozen=True, kw_only=True):
    """A tenant that was just made, with its key, which is shown this once."""

    api_key: str


class DeletedView(View, frozen=True, kw_only=True):
    """A tenant that is no more."""

    id: str
    deleted_at: str
