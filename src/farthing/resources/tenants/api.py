"""How tenants are spoken of on the wire; in live nobody is made or thrown away by a request."""

from typing import Annotated, Any, Final

from farthing.core.fields import Name, identifier
from farthing.core.operation import OPERATOR_ONLY, Operation
from farthing.core.wire import Request
from farthing.resources.tenants import actions
from farthing.resources.tenants.model import (
    NOUN,
    SNAPSHOT,
    DeletedView,
    NewTenantView,
    SnapshotView,
    TenantView,
)

PATH: Final = "/v1/sandbox/tenants"
ONE: Final = "/v1/sandbox/tenants/{id}"

# Nobody but the operator, who does it in no tenant, and not in live.
_OURS: Final[dict[str, Any]] = {"who": OPERATOR_ONLY, "of_house": True, "sandbox_only": True}


class CreateTenant(Request, frozen=True, kw_only=True):
    """A new tenant."""

    name: Name


class PutBack(Request, frozen=True, kw_only=True):
    """To which snapshot a tenant goes back."""

    snapshot_id: Annotated[str, identifier(SNAPSHOT)]


OPERATIONS: Final = (
    Operation(
        id="tenants.create",
        method="POST",
        path=PATH,
        summary="Make a tenant of the sandbox, with a key of its own",
        prepare=actions.create,
        status=201,
        body=CreateTenant,
        answer=NewTenantView,
        body_example={"name": "A test of the checkout"},
        secret=True,
        **_OURS,
    ),
    Operation(
        id="tenants.get",
        method="GET",
        path=ONE,
        summary="Read a tenant of the sandbox, with what was kept of it",
        read=actions.read,
        noun=NOUN,
        answer=TenantView,
        **_OURS,
    ),
    Operation(
        id="tenants.reset",
        method="POST",
        path=f"{ONE}/reset",
        summary="Forget everything that a tenant has but its keys",
        prepare=actions.reset,
        noun=NOUN,
        answer=TenantView,
        **_OURS,
    ),
    Operation(
        id="tenants.keep",
        method="POST",
        path=f"{ONE}/snapshots",
        summary="Keep a tenant as it is, to go back to it",
        prepare=actions.keep,
        status=201,
        noun=NOUN,
        answer=SnapshotView,
        **_OURS,
    ),
    Operation(
        id="tenants.restore",
        method="POST",
        path=f"{ONE}/restore",
        summary="Put a tenant back to where it was when it was kept",
        prepare=actions.put_back,
        noun=NOUN,
        body=PutBack,
        answer=TenantView,
        body_example={"snapshotId": "snapshot/0190a1b2-c3d4-7e5f-8a9b-5e2f3a4b5c6d"},
        **_OURS,
    ),
    Operation(
        id="tenants.delete",
        method="DELETE",
        path=ONE,
        summary="Throw a tenant away with all that it has",
        prepare=actions.delete,
        noun=NOUN,
        answer=DeletedView,
        **_OURS,
    ),
)
