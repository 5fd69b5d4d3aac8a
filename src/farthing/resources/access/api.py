"""How access is spoken of on the wire."""

from typing import Final

from farthing.core import errors
from farthing.core.operation import KEY_ONLY, Operation
from farthing.resources.access import actions
from farthing.resources.access.model import RevocationView, TokenView

PATH: Final = "/v1/customers/{id}/tokens"

OPERATIONS: Final = (
    Operation(
        id="tokens.issue",
        method="POST",
        path=PATH,
        summary="Issue an access token for a customer",
        who=KEY_ONLY,
        command=actions.issue_token,
        status=201,
        noun="customer",
        answer=TokenView,
        raises=(errors.OwnerNotActive,),
        secret=True,
    ),
    Operation(
        id="tokens.revoke",
        method="DELETE",
        path=PATH,
        summary="Revoke all access tokens of a customer",
        who=KEY_ONLY,
        command=actions.revoke_tokens,
        noun="customer",
        answer=RevocationView,
    ),
)
