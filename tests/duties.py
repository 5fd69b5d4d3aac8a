"""The worker's duties, one at a time and at once."""

from farthing.core.ids import new_id
from farthing.http.service import Service
from farthing.resources.settlements.api import Teller
from farthing.worker.duties import Duty, duties


def duty(service: Service, name: str) -> Duty:
    """Return one of the worker's duties."""
    teller = service.parts[Teller]
    every = duties(service.settings, service.pool, service.committer, new_id(), teller)
    return next(one for one in every if one.name == name)
