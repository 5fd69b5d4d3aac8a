"""A tenant with a few customers, a rail with moods, a clock set by hand, and the books read back."""

import asyncio
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

import asyncpg
import httpx2
import msgspec
from tests.conftest import Database, OnlyDeclaredProblems
from tests.resources.scripted_rail import RAIL, Mood

from farthing.catalog import CHECKS, MACHINES
from farthing.core.ids import new_id
from farthing.db.migrate import migrate
from farthing.http.app import build
from farthing.http.service import Service
from farthing.ledger.balances import outside_account
from farthing.rails.base import RailAway
from farthing.resources.access import actions
from farthing.resources.orders.store import ORDERS
from farthing.resources.settlements.api import Teller
from farthing.worker.duties import duties

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

START = datetime(2027, 1, 4, 9, tzinfo=UTC)
CURRENCIES = ("GBP", "EUR")
SEED = 1000
IBANS = {"GBP": "GB29NWBK60161331926819", "EUR": "DE89370400440532013000"}
ADDRESS = {"countryISO": "GB"}
HOUR = timedelta(hours=1)

# All that `farthing verify` asks, about one tenant and at once.
_ALL_CHECKS = " UNION ALL ".join(
    f"SELECT {number} AS number, to_jsonb(one) AS found FROM ({check.sql}) AS one "  # noqa: S608 - ours
    "WHERE one.tenant_id = $1"
    for number, check in enumerate(CHECKS)
)
_TABLES = ("transactions", "orders", "balances", "accounts", "cards", "bank_accounts", "challenges")
_MARK = " UNION ALL ".join(
    [
        *(f"SELECT sum(version) FROM {table} WHERE tenant_id = $1" for table in _TABLES),  # noqa: S608 - ours
        *(f"SELECT count(*) FROM {one} WHERE tenant_id = $1" for one in ("entries", "events")),  # noqa: S608 - ours
    ]
)
# What the log may not say: each of these is a fault that no caller was told.
FAULTS = frozenset(
    {
        "command_failed",
        "command_refused_by_database",
        "batch_taken_apart",
        "order_left_to_the_worker",
        "rail_failed",
        "news_of_an_unknown_order",
    }
)


class HandClock:
    """Stands still until somebody moves it."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Stage:
    """What all examples share: a database of their own, the service, and the way to look behind."""

    service: Service
    client: httpx2.AsyncClient
    auditor: "asyncpg.Connection[Any]"
    clock: HandClock
    operator: str

    @classmethod
    async def open(cls, database: Database) -> Self:
        fresh, clock = await database.create(), HandClock()
        await migrate(fresh.url, MACHINES)
        settings = fresh.settings(
            rail="tests.resources.scripted_rail:make_rail", token_minutes=24 * 60, pool_size=6
        )
        service = await Service.start(settings, clock)
        app = OnlyDeclaredProblems(build(service), service)
        transport = httpx2.ASGITransport(app=app)
        client = httpx2.AsyncClient(transport=transport, base_url="http://farthing.test")
        auditor = await asyncpg.connect(fresh.admin_url)
        await auditor.execute("SET search_path = farthing; SET jit = off")
        operator = await actions.issue_operator_key(service.committer, "sandbox")
        return cls(service, client, auditor, clock, operator)

    async def close(self) -> None:
        await self.auditor.close()
        await self.client.aclose()
        await self.service.stop()


@dataclass
class Look:
    """The books and the orders of a tenant at one moment."""

    txs: list[dict[str, Any]]
    orders: dict[UUID, dict[str, Any]]
    balances: dict[UUID, dict[str, Any]]
    arrivals: set[UUID]
    mark: tuple[int, ...]


@dataclass
class World:
    """One example: its tenant, what it has, and what can be done to it."""

    stage: Stage
    tenant_id: UUID = field(default_factory=new_id)
    api_key: str = ""
    tokens: dict[str, str] = field(default_factory=dict)
    tokens_until: datetime = START
    customers: list[str] = field(default_factory=list)
    # The last one is in EUR.
    accounts: list[str] = field(default_factory=list)
    cards: list[str] = field(default_factory=list)
    bank_accounts: dict[str, str] = field(default_factory=dict)
    references: list[str] = field(default_factory=list)

    @property
    def teller(self) -> Teller:
        return self.stage.service.parts[Teller]  # type: ignore[no-any-return]  # by its type

    # The beginning.

    async def begin(self) -> None:
        RAIL.start_over()
        # What an example that failed has left behind is nobody's business any more.
        await self.stage.auditor.execute(
            "UPDATE orders SET due_at = NULL WHERE due_at IS NOT NULL;"
            "UPDATE challenges SET outcome = 'expired' WHERE outcome IS NULL;"
            "UPDATE transactions SET expires_at = NULL WHERE expires_at IS NOT NULL"
        )
        self.stage.clock.now = START
        committer = self.stage.service.committer
        self.tenant_id = await actions.found_tenant(committer, "Shop")
        self.api_key = await actions.issue_api_key(committer, "sandbox", self.tenant_id)
        self.tokens = {"client": "", "operator": self.stage.operator}
        await self.mint_tokens()
        people = [self.make("/v1/customers", {"type": "INDIVIDUAL"}) for _ in range(2)]
        self.customers = list(await asyncio.gather(*people))
        self.tokens |= {"first": "", "second": ""}
        await self.mint_tokens()
        first, second = self.customers
        owners = ((first, "GBP"), (second, "GBP"), (first, "EUR"))
        self.accounts = list(
            await asyncio.gather(
                *(
                    self.make("/v1/accounts", {"ownerId": owner, "currencyISO": currency})
                    for owner, currency in owners
                )
            )
        )
        cards = (self.new_card(first, "CARD_ON_FILE"), self.new_card(second, "ONE_TIME_USE"))
        banks = [self.new_bank_account(*owner) for owner in owners]
        texts = [self.new_reference(account) for account in self.accounts]
        made = await asyncio.gather(*cards, *banks, *texts)
        self.cards, self.references = list(made[:2]), list(made[5:])
        self.bank_accounts = dict(zip(self.accounts, made[2:5], strict=True))
        for text, currency in zip(self.references, ("GBP", "GBP", "EUR"), strict=True):
            RAIL.send(self.tenant_id, SEED, currency, text)
        await self.teller.hear_news()

    async def mint_tokens(self) -> None:
        owners = {"client": f"customer/{self.tenant_id}"}
        owners |= dict(zip(("first", "second"), self.customers, strict=False))

        async def mint(who: str, owner: str) -> None:
            answer = await self.send("POST", f"/v1/customers/{owner}/tokens", token=self.api_key)
            self.tokens[who] = answer.json()["accessToken"]

        await asyncio.gather(*(mint(*one) for one in owners.items()))
        self.tokens_until = self.stage.clock.now + 23 * HOUR

    async def make(self, path: str, body: dict[str, Any]) -> str:
        answer = await self.send("POST", path, body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def new_card(self, owner: str, storage: str) -> str:
        body = {
            "ownerId": owner,
            "cardNumber": "4242424242424242",
            "expiry": "1235",
            "cvv": "123",
            "storageType": storage,
            "billingAddress": ADDRESS,
        }
        return await self.make("/v1/cards", body)

    async def new_bank_account(self, owner: str, currency: str) -> str:
        body = {
            "ownerId": owner,
            "currencyISO": currency,
            "countryISO": IBANS[currency][:2],
            "iban": IBANS[currency],
            "billingAddress": ADDRESS,
        }
        return await self.make("/v1/bank-accounts", body)

    async def new_reference(self, account: str) -> str:
        answer = await self.send("POST", "/v1/references", {"toId": account})
        return str(answer.json()["reference"])

    # What can be done.

    async def send(
        self, method: str, path: str, body: object = None, *, token: str | None = None, key: str = ""
    ) -> httpx2.Response:
        headers = {"X-Token": token or self.tokens["client"]}
        headers |= {"Idempotency-Key": key} if key else {}
        content = None if body is None else msgspec.json.encode(body)
        headers |= {"Content-Type": "application/json"} if content else {}
        return await self.stage.client.request(method, path, content=content, headers=headers)

    async def quiet(self) -> None:
        """Wait until the process has done all that it can: what is left waits for the rail."""
        tasks = self.teller._tasks  # noqa: SLF001 - what is under way
        while len(tasks) > len(RAIL.stalled):
            RAIL.stalling.clear()
            stalling = asyncio.ensure_future(RAIL.stalling.wait())
            await asyncio.wait({*tasks, stalling}, return_when=asyncio.FIRST_COMPLETED)
            stalling.cancel()

    async def without_teller(self, step: "Awaitable[httpx2.Response]") -> httpx2.Response:
        """Let the process die right after the commit: nobody notices the order."""
        committer = self.stage.service.committer
        committer.listen(ORDERS, lambda _: None)
        try:
            return await step
        finally:
            committer.listen(ORDERS, self.teller._notice)  # noqa: SLF001 - as at its start

    async def crash(self) -> None:
        """Let the process die while it waits for the rail: what it hears is never written."""
        tasks = list(self.teller._tasks)  # noqa: SLF001 - what is under way
        RAIL.stalled.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def work(self, mood: Mood, *names: str) -> None:
        """Let the worker do its duties, or those that are named."""
        RAIL.mood = mood
        service = self.stage.service
        everything = duties(
            service.settings,
            service.pool,
            service.committer,
            self.stage.clock,
            self.tenant_id,
            self.teller,
        )
        todo: dict[str, Callable[[], Awaitable[None]]] = {one.name: one.run for one in everything}
        todo.pop("heartbeat")
        for name in names or todo:
            with suppress(RailAway):
                await todo[name]()
        await self.quiet()
        RAIL.mood = "does"

    async def pass_time(self, time: timedelta) -> None:
        self.stage.clock.now += time
        if self.stage.clock.now >= self.tokens_until:
            await self.mint_tokens()

    # What there is to see.

    async def look(self) -> Look:
        async def fetch(sql: str) -> list[dict[str, Any]]:
            return [dict(one) for one in await self.stage.auditor.fetch(sql, self.tenant_id)]

        txs = await fetch("SELECT * FROM transactions WHERE tenant_id = $1 ORDER BY id")
        for tx in txs:
            tx["adjustments"] = msgspec.json.decode(tx["adjustments"])
            tx["requirements"] = msgspec.json.decode(tx["requirements"])
        orders = await fetch("SELECT * FROM orders WHERE tenant_id = $1 ORDER BY id")
        balances = await fetch("SELECT * FROM balances WHERE tenant_id = $1")
        arrivals = await fetch("SELECT id FROM arrivals WHERE tenant_id = $1")
        mark = await self.stage.auditor.fetch(_MARK, self.tenant_id)
        return Look(
            txs,
            {one["id"]: one for one in orders},
            {one["id"]: one for one in balances},
            {one["id"] for one in arrivals},
            tuple(int(one[0] or 0) for one in mark),
        )

    async def verify(self) -> list[tuple[str, str]]:
        """Run every check of `farthing verify` on this tenant."""
        found = await self.stage.auditor.fetch(_ALL_CHECKS, self.tenant_id)
        return [(CHECKS[one["number"]].sentence, one["found"]) for one in found]

    def held_outside(self, look: Look) -> dict[str, int]:
        """Return what the books say that the outside gave us, by currency."""
        sums: defaultdict[str, int] = defaultdict(int)
        for currency in CURRENCIES:
            row = look.balances.get(outside_account(self.tenant_id, RAIL.name, currency))
            sums[currency] = -row["complete"] if row else 0
        return sums
