# Written by `make client` from the operations of the service: do not edit.
"""Models of common."""

from msgspec import field

from farthing.client._model import Model


class Address(Model, frozen=True, kw_only=True):
    """A postal address in its seven parts."""

    flat_number: str | None = None
    house_name_number: str | None = None
    street: str | None = None
    town_city: str | None = None
    region: str | None = None
    postal_code: str | None = None
    country_iso: str = field(name="countryISO")


class PossibleStep(Model, frozen=True, kw_only=True):
    """A state that the caller can move the object to now, and what that means."""

    to_state_id: str
    why: str


class Step(Model, frozen=True, kw_only=True):
    """One step of an object's history."""

    from_state_id: str | None = None
    to_state_id: str
    actor: str
    by: str
    reason: str | None = None
    request_id: str
    created_at: str


class Transitions(Model, frozen=True, kw_only=True):
    """How an object came to its state, and where it can go from here."""

    state_id: str
    history: list[Step]
    possible: list[PossibleStep]
