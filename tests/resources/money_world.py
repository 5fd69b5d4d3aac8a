"""A tenant with a few customers, a rail with moods, a clock set by hand, and the books."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit
from uuid import UUID

import asyncpg
import httpx2
import msgspec
from msgspec import Struct
from tests.conftest import Database, OnlyDeclaredProblems
from tests.resources.scripted_rail import RAIL, Mood

from farthing.catalog import CHECKS
from farthing.core.ids import new_id
from farthing.db.checks import Check
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
# Little enough that it is spent now and then.
SEED = 400
IBANS = {"GBP": "GB29NWBK60161331926819", "EUR": "DE89370400440532013000"}
ADDRESS = {"countryISO": "GB"}
HOUR = timedelta(hours=1)

# What `farthing verify` asks, all of it and what it asks about money, of one tenant and at once.
_MONEY = [one for one in CHECKS if " history " not in one.sql and " events " not in one.sql]


def _at_once(checks: Sequence[Check]) -> str:
    return " UNION ALL ".join(
        f"SELECT {CHECKS.index(check)} AS number, to_jsonb(one)::text AS found "  # noqa: S608 - ours
        f"FROM ({check.sql}) AS one WHERE one.tenant_id = '{{0}}'"
        for check in checks
    )


_ALL_CHECKS, _MONEY_CHECKS = _at_once(CHECKS), _at_once(_MONEY)

_ROWS = {"txs": "transactions", "orders": "orders", "balances": "balances", "arrivals": "arrivals"}
_VERSIONED = (*_ROWS.values(), "accounts", "cards", "bank_accounts", "challenges")
_MARK = ", ".join(
    [
        "(SELECT count(*) FROM entries WHERE tenant_id = '{0}')",
        "(SELECT count(*) FROM events WHERE tenant_id = '{0}')",
        *(f"(SELECT sum(version) FROM {one} WHERE tenant_id = '{{0}}')" for one in _VERSIONED),  # noqa: S608 - ours
    ]
)
_LOOK = ", ".join(
    [
        *(
            f"'{name}', (SELECT coalesce(json_agg(one ORDER BY one.id), '[]') FROM {table} AS one "  # noqa: S608 - ours
            "WHERE one.tenant_id = '{0}')"
            for name, table in _ROWS.items()
        ),
        f"'mark', json_build_array({_MARK})",
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
        fresh, clock = await database.create_current(), HandClock()
        # A crash of the server is no subject here, and flushing is slow.
        name = urlsplit(fresh.url).path.strip("/")
        await fresh.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
        settings = fresh.settings(
            rail="tests.resources.scripted_rail:make_rail",
            token_minutes=24 * 60,
            pool_size=6,
            rail_seconds=50,
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


class Tx(Struct):
    """A transaction as the auditor sees it."""

    id: UUID
    state_id: str
    flow: str
    method: str
    from_owner_id: UUID
    to_owner_id: UUID
    amount: int
    currency: str
    reference: str | None
    requirements: dict[str, str]
    adjustments: list[dict[str, Any]]
    money: str
    settled: bool
    adjusted: int
    disputed: int
    order_id: UUID | None
    expires_at: str | None

    @property
    def left(self) -> int:
        return self.amount - self.adjusted - self.disputed


class OrderSeen(Struct):
    """An order as the auditor sees it."""

    id: UUID
    transaction_id: UUID
    kind: str
    amount: int
    currency: str
    status: str
    due_at: str | None


class BalanceSeen(Struct):
    """A balance as the auditor sees it."""

    id: UUID
    currency: str
    complete: int
    incomplete_debits: int
    incomplete_credits: int
    disputed_debits: int
    disputed_credits: int
    withheld: int


class ArrivalSeen(Struct):
    """An arrival as the auditor sees it."""

    id: UUID


class Look(Struct):
    """The books and the orders of a tenant at one moment."""

    txs: list[Tx]
    orders: list[OrderSeen]
    balances: list[BalanceSeen]
    arrivals: list[ArrivalSeen]
    # Any change at all changes this.
    mark: list[int | None]


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
        await self.crash()
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
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = None,
        key: str = "",
    ) -> httpx2.Response:
        headers = {"X-Token": token or self.tokens["client"]}
        headers |= {"Idempotency-Key": key} if key else {}
        content = None if body is None else msgspec.json.encode(body)
        headers |= {"Content-Type": "application/json"} if content else {}
        return await self.stage.client.request(method, path, content=content, headers=headers)

    async def payment(self, kind: str, account: int) -> tuple[str, dict[str, Any]]:
        """Return where a payment of this kind is asked for, and what it says."""
        named = self.accounts[account]
        if kind == "internal":
            # The account in EUR has no other to pay to.
            other = self.accounts[1 - account] if account < 2 else named
            body = {"fromAccountId": named, "toAccountId": other, "purpose": "TRANSFER"}
            return "/v1/tx/internal", body
        if kind == "payout":
            bank = self.bank_accounts[named]
            body = {"method": "bankAccount", "purpose": "WITHDRAWAL", "paymentInstrumentId": bank}
            return "/v1/tx/outbound", {"accountId": named, **body}
        body = {"accountId": named, "method": "bankAccount", "purpose": "DEPOSIT"}
        if kind == "once":
            self.cards.append(await self.new_card(self.customers[0], "ONE_TIME_USE"))
        if kind != "transfer":
            card = self.cards[-1] if kind == "once" else self.cards[0]
            body |= {"method": "card", "paymentInstrumentId": card}
        return "/v1/tx/inbound", body

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
            self.tenant_id,
            self.teller,
        )
        todo: dict[str, Callable[[], Awaitable[None]]] = {one.name: one.run for one in everything}
        todo.pop("heartbeat")
        for name in names or todo:
            with suppress(RailAway):
                await todo[name]()
        await self.quiet()

    async def pass_time(self, time: timedelta) -> None:
        self.stage.clock.now += time
        if self.stage.clock.now >= self.tokens_until:
            await self.mint_tokens()

    # What there is to see.

    async def look(self) -> Look:
        sql = f"SELECT json_build_object({_LOOK.format(self.tenant_id)})"
        return msgspec.json.decode(await self.stage.auditor.fetchval(sql), type=Look)

    async def verify(self, *, everything: bool) -> list[tuple[str, str]]:
        """Run the checks of `farthing verify` on this tenant, or only those about money."""
        sql = (_ALL_CHECKS if everything else _MONEY_CHECKS).format(self.tenant_id)
        found = await self.stage.auditor.fetch(sql)
        return [(CHECKS[one["number"]].sentence, one["found"]) for one in found]

    def held_outside(self, look: Look) -> dict[str, int]:
        """Return what the books say that the outside gave us, by currency."""
        accounts = {outside_account(self.tenant_id, RAIL.name, one): one for one in CURRENCIES}
        return {accounts[one.id]: -one.complete for one in look.balances if one.id in accounts}
