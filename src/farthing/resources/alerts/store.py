"""How alerts are kept."""

from typing import Final

from farthing.db.tables import ObjectTable
from farthing.resources.alerts import model
from farthing.resources.alerts.model import Alert

ALERTS: Final = ObjectTable("alerts", Alert, rank=8, machine=model.MACHINE, view=model.view)
