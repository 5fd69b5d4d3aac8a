"""Who acts: the four actors, the credentials they hold, and what each may see."""

from enum import StrEnum
from uuid import UUID

from msgspec import Struct
from msgspec.structs import force_setattr

from farthing.core import ids


class Actor(StrEnum):
    """Whoever changes something is one of these four."""

    CUSTOMER = "CUSTOMER"
    CLIENT = "CLIENT"
    OPERATOR = "OPERATOR"
    PLATFORM = "PLATFORM"


class Grant(StrEnum):
    """What a credential opens; an operation names the grants that it accepts."""

    API_KEY = "apiKey"
    CUSTOMER_TOKEN = "customerToken"  # noqa: S105 - the name of a kind, not a secret
    CLIENT_TOKEN = "clientToken"  # noqa: S105 - the name of a kind, not a secret
    OPERATOR_KEY = "operatorKey"
    # The service itself holds no credential, and no operation accepts this.
    PLATFORM = "platform"


ACTOR_OF_GRANT = {
    Grant.API_KEY: Actor.CLIENT,
    Grant.CUSTOMER_TOKEN: Actor.CUSTOMER,
    Grant.CLIENT_TOKEN: Actor.CLIENT,
    Grant.OPERATOR_KEY: Actor.OPERATOR,
    Grant.PLATFORM: Actor.PLATFORM,
}


class Principal(Struct, frozen=True):
    """Who a request comes from, once its credential has been checked."""

    tenant_id: UUID
    grant: Grant
    customer_id: UUID | None = None
    # How history and idempotency records name this principal.
    name: str = ""

    def __post_init__(self) -> None:
        owner = self.customer_id
        name = self.grant.value if owner is None else ids.say("customer", owner)
        # Once, because every request asks for it many times.
        force_setattr(self, "name", name)

    @property
    def actor(self) -> Actor:
        """The actor in whose name this principal changes things."""
        return ACTOR_OF_GRANT[self.grant]

    def sees(self, *owners: UUID) -> bool:
        """Tell whether an object of these owners exists for this principal."""
        return self.grant is not Grant.CUSTOMER_TOKEN or self.customer_id in owners
