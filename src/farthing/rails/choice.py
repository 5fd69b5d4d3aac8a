"""Which rail a process uses: the sandbox's, or one that the operator brings."""

import importlib
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from farthing.config import Settings, SettingsError
from farthing.db.committer import Committer
from farthing.db.pool import Pool
from farthing.rails.base import (
    BankVerdict,
    CardDetails,
    CardVerdict,
    Destination,
    News,
    Order,
    Outcome,
    Rail,
)
from farthing.rails.modulus import ModulusCheck
from farthing.rails.sandbox import SandboxRail


def choose_rail(settings: Settings, pool: Pool, committer: Committer) -> Rail:
    """Return the rail that the settings name; live takes no sandbox."""
    if settings.rail == SandboxRail.name:
        settings.require_fit_for_live()
        return SandboxRail(pool, committer)
    return CheckedRail(_load(settings), ModulusCheck.load(settings))


class CheckedRail(Rail):
    """A rail with the modulus check before the bank is asked."""

    def __init__(self, rail: Rail, check: ModulusCheck) -> None:
        self._rail, self._check = rail, check
        self.name = rail.name

    async def verify_bank_account(self, destination: Destination) -> BankVerdict:
        """Refuse a number that cannot exist, and ask the bank about all others."""
        refusal = self._check.refusal(destination)
        return refusal or await self._rail.verify_bank_account(destination)

    async def verify_card(self, card: CardDetails) -> CardVerdict:
        """Ask the rail."""
        return await self._rail.verify_card(card)

    async def charge(self, order: Order, card: CardDetails, *, approved: bool) -> Outcome:
        """Ask the rail."""
        return await self._rail.charge(order, card, approved=approved)

    async def refund(self, order: Order, paid_by: UUID) -> Outcome:
        """Ask the rail."""
        return await self._rail.refund(order, paid_by)

    async def pay_out(self, order: Order, destination: Destination, reference: str) -> Outcome:
        """Ask the rail."""
        return await self._rail.pay_out(order, destination, reference)

    async def recall(self, order: Order) -> bool:
        """Ask the rail."""
        return await self._rail.recall(order)

    async def ask(self, order: Order) -> Outcome:
        """Ask the rail."""
        return await self._rail.ask(order)

    async def receiving(self, currency: str) -> Destination | None:
        """Ask the rail."""
        return await self._rail.receiving(currency)

    async def news(self) -> Sequence[News]:
        """Ask the rail."""
        return await self._rail.news()

    async def heard(self, news: News) -> None:
        """Tell the rail."""
        await self._rail.heard(news)

    async def news_of(self, tenant_id: UUID, until: datetime) -> Sequence[News]:
        """Ask the rail."""
        return await self._rail.news_of(tenant_id, until)

    async def next_news(self, tenant_id: UUID, after: datetime) -> datetime | None:
        """Ask the rail."""
        return await self._rail.next_news(tenant_id, after)


def _load(settings: Settings) -> Rail:
    module, _, function = settings.rail.partition(":")
    try:
        rail = getattr(importlib.import_module(module), function)(settings)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsError(
            f"FARTHING_RAIL is {settings.rail}, which cannot be loaded: {error}. It must be "
            "`package.module:function`, and the function must return a rail."
        ) from None
    if not isinstance(rail, Rail):
        raise SettingsError(f"FARTHING_RAIL is {settings.rail}, which returned no rail.")
    return rail
