"""A small world for tests of money: one tenant in a house, and everything that one does there."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx2
from tests.conftest import make_tenant
from tests.events import faults_of, follow_to_the_end
from tests.resources.houses import House
from tests.resources.outside import ScriptedRail

from farthing.core.ids import new_id
from farthing.ledger.balances import outside_account
from farthing.rails.base import Arrival, Dispute, DisputeEnd
from farthing.resources.orders.model import OrderRow
from farthing.resources.orders.store import ORDERS
from farthing.worker.duties import duties

if TYPE_CHECKING:
    from tests.conftest import Tenant

VISA = "4242424242424242"
UK = {"accountNumber": "31926819", "sortCode": "108800"}

Answer = httpx2.Response


def uuid_of(identifier: str) -> UUID:
    return UUID(identifier.partition("/")[2])


def problem(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def faults(answer: httpx2.Response) -> dict[str, str]:
    assert answer.status_code == 422, answer.text
    return {fault["pointer"]: fault["code"] for fault in answer.json()["errors"]}


def _headers(fields: dict[str, Any]) -> dict[str, Any]:
    """Take what is no field of a body but goes beside it."""
    return {name: fields.pop(name) for name in ("token", "Idempotency_Key") if name in fields}


@dataclass
class World:
    """One tenant in a house, and everything that one does with money."""

    house: House
    tenant: "Tenant"

    @property
    def rail(self) -> ScriptedRail:
        return self.house.rail

    async def call(
        self, method: str, path: str, body: object = None, **more: Any
    ) -> httpx2.Response:
        if more.get("token") == self.tenant.operator:
            more["X_Tenant"] = self.tenant.customer
        return await self.tenant.call(method, path, body, **more)

    async def made(self, path: str, body: object, **more: Any) -> dict[str, Any]:
        answer = await self.call("POST", path, body, **more)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    # What there is.

    async def customer(self) -> str:
        return await self.tenant.new_customer()

    async def account(self, owner: str | None = None, currency: str = "GBP") -> str:
        return await self.tenant.new_account(owner or await self.customer(), currency)

    async def owner(self, account: str) -> str:
        return str((await self.call("GET", f"/v1/accounts/{account}")).json()["ownerId"])

    async def card(self, owner: str, number: str = VISA, **fields: Any) -> str:
        body = {
            "ownerId": owner,
            "cardNumber": number,
            "expiry": "1239",
            "cvv": "123",
            "billingAddress": {"countryISO": "GB"},
            **fields,
        }
        return str((await self.made("/v1/cards", body))["id"])

    async def bank_account(self, owner: str, **fields: Any) -> str:
        body = {
            "ownerId": owner,
            "currencyISO": "GBP",
            "countryISO": "GB",
            "billingAddress": {"countryISO": "GB"},
            **UK,
            **fields,
        }
        return str((await self.made("/v1/bank-accounts", body))["id"])

    async def reference(self, account: str, **fields: Any) -> str:
        made = await self.made("/v1/references", {"toId": account, **fields})
        return str(made["reference"])

    async def fund(self, amount: int = 1000, owner: str | None = None) -> str:
        """Open an account with money in it, which a card has paid."""
        account = await self.account(owner)
        await self.charged(account, amount)
        return account

    # Payments.

    async def inbound(self, account: str, amount: object = 1000, **fields: Any) -> Answer:
        headers = {
            name: fields.pop(name) for name in ("token", "Idempotency_Key") if name in fields
        }
        body = {
            "accountId": account,
            "amount": str(amount),
            "method": "card",
            "purpose": "PURCHASE",
            **fields,
        }
        return await self.call("POST", "/v1/tx/inbound", body, **headers)

    async def charged(self, account: str, amount: int = 1000, **fields: Any) -> dict[str, Any]:
        """Charge a new card for an account, and return the transaction as it is afterwards."""
        if "paymentInstrumentId" not in fields:
            fields["paymentInstrumentId"] = await self.card(await self.owner(account))
        answer = await self.inbound(account, amount, **fields)
        assert answer.status_code == 201, answer.text
        await self.idle()
        return await self.tx(answer.json()["id"])

    async def outbound(self, account: str, amount: object = 1000, **fields: Any) -> Answer:
        headers = {
            name: fields.pop(name) for name in ("token", "Idempotency_Key") if name in fields
        }
        body = {
            "accountId": account,
            "amount": str(amount),
            "method": "bankAccount",
            "purpose": "WITHDRAWAL",
            **fields,
        }
        return await self.call("POST", "/v1/tx/outbound", body, **headers)

    async def paid_out(self, account: str, amount: int = 1000, **fields: Any) -> dict[str, Any]:
        """Pay out to a new bank account, and return the transaction as it is afterwards."""
        if "paymentInstrumentId" not in fields:
            fields["paymentInstrumentId"] = await self.bank_account(await self.owner(account))
        answer = await self.outbound(account, amount, **fields)
        assert answer.status_code == 201, answer.text
        await self.idle()
        return await self.tx(answer.json()["id"])

    async def internal(
        self, payer: str, payee: str, amount: object = 1000, **fields: Any
    ) -> Answer:
        headers = {
            name: fields.pop(name) for name in ("token", "Idempotency_Key") if name in fields
        }
        body = {
            "fromAccountId": payer,
            "toAccountId": payee,
            "amount": str(amount),
            "purpose": "TRANSFER",
            **fields,
        }
        return await self.call("POST", "/v1/tx/internal", body, **headers)

    async def sent(
        self, payer: str, payee: str, amount: int = 1000, **fields: Any
    ) -> dict[str, Any]:
        answer = await self.internal(payer, payee, amount, **fields)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def announced(self, account: str, amount: int = 1000, **fields: Any) -> dict[str, Any]:
        """Announce a bank transfer to an account."""
        fields = {"method": "bankAccount", "purpose": "DEPOSIT", **fields}
        answer = await self.inbound(account, amount, **fields)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    # Moves.

    async def move(self, tx: "str | dict[str, Any]", to: str, **more: Any) -> Answer:
        names = {"fromStateId", "options", "tags", "annotations"}
        body = {"toStateId": to, **{name: more.pop(name) for name in names & set(more)}}
        query = "?dryRun=true" if more.pop("dry", False) else ""
        return await self.call("PATCH", f"{self.path(tx)}/state{query}", body, **more)

    async def moved(self, tx: "str | dict[str, Any]", to: str, **more: Any) -> dict[str, Any]:
        answer = await self.move(tx, to, **more)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def refund(self, tx: "str | dict[str, Any]", amount: int, **more: Any) -> Answer:
        return await self.move(
            tx, "ADJUSTED", options={"adjustment": {"adjustmentAmount": str(amount)}}, **more
        )

    async def disputed(self, tx: dict[str, Any], amount: int | None = None) -> dict[str, Any]:
        """Let the payer dispute a charge."""
        dispute = Dispute(self.tenant.id, new_id(), await self.order_of(tx), amount, "fraudulent")
        await self.hear(dispute)
        return await self.tx(tx)

    async def dispute_ended(self, tx: dict[str, Any], lost: int | None) -> dict[str, Any]:
        """Let the network decide a dispute."""
        order = await self.order_of(tx)
        await self.hear(DisputeEnd(self.tenant.id, new_id(), order, lost, "decided"))
        return await self.tx(tx)

    # What happens by itself.

    async def hear(self, *news: Any) -> None:
        self.rail.tell(*news)
        await self.house.teller.hear_news()
        await self.idle()

    def arrival(self, reference: str, amount: int = 1000, currency: str = "GBP") -> Arrival:
        return Arrival(self.tenant.id, new_id(), amount, currency, reference, "A PAYER")

    async def idle(self) -> None:
        await self.house.teller.idle()

    async def run(self, *names: str) -> None:
        """Run duties of the worker."""
        house = self.house
        todo = duties(
            house.service.settings,
            house.service.pool,
            house.service.committer,
            new_id(),
            house.teller,
        )
        for duty in todo:
            if duty.name in names:
                await duty.run()
        await self.idle()

    async def later(self, **passed: float) -> None:
        """Let time pass, and the worker see to orders."""
        self.house.clock.now += timedelta(**passed)
        token = await self.tenant.token_for(self.tenant.customer)
        self.tenant = replace(self.tenant, token=token)
        await self.run("see to orders", "hear the news of rails")

    # What one sees.

    @staticmethod
    def path(tx: "str | dict[str, Any]") -> str:
        identifier = tx if isinstance(tx, str) else tx["id"]
        return f"/v1/tx/tx/{uuid_of(identifier)}"

    async def tx(
        self, tx: "str | dict[str, Any]", include: str = "", **more: Any
    ) -> dict[str, Any]:
        query = f"?include={include}" if include else ""
        answer = await self.call("GET", f"{self.path(tx)}{query}", **more)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def state(self, tx: "str | dict[str, Any]") -> str:
        return str((await self.tx(tx))["stateId"])

    async def states(self, tx: "str | dict[str, Any]") -> list[str]:
        """Return the states through which a transaction went."""
        return [step["toStateId"] for step in (await self.tx(tx, "transitions"))["transitions"]]

    async def amounts(self, account: str) -> dict[str, int]:
        """Return the amounts of an account that are not zero, by the first word of their names."""
        shown = (await self.call("GET", f"/v1/accounts/{account}")).json()
        names = {
            "complete": "completeBalance",
            "available": "availableBalance",
            "credits": "incompleteCredits",
            "debits": "incompleteDebits",
            "disputedCredits": "disputedCredits",
            "disputed": "disputedDebits",
            "withheld": "withheldBalance",
        }
        found = {name: int(shown[said]) for name, said in names.items()}
        return {name: amount for name, amount in found.items() if amount}

    async def available(self, account: str) -> int:
        return (await self.amounts(account)).get("available", 0)

    async def events(self, tx: "str | dict[str, Any]") -> list[str]:
        identifier = tx if isinstance(tx, str) else tx["id"]
        sql = "SELECT type FROM events WHERE object_id = $1 ORDER BY object_version"
        found = await self.house.fetch(sql, uuid_of(identifier))
        return [one["type"].partition(".")[2] for one in found]

    async def orders(self, tx: dict[str, Any]) -> list[OrderRow]:
        sql = f"{ORDERS.select_sql} WHERE transaction_id = $1 ORDER BY id"
        return [ORDERS.read(one) for one in await self.house.fetch(sql, uuid_of(tx["id"]))]

    async def order_of(self, tx: dict[str, Any]) -> UUID:
        return (await self.orders(tx))[0].id

    async def suspense(self, currency: str = "GBP") -> dict[str, Any] | None:
        """Return the tenant's account for money that nobody could place."""
        query = f"?tag=suspense&ownerId={self.tenant.customer}"
        found = (await self.call("GET", f"/v1/accounts{query}")).json()["results"]
        return next((one for one in found if one["currencyISO"] == currency), None)

    async def in_suspense(self, currency: str = "GBP") -> int:
        found = await self.suspense(currency)
        return 0 if found is None else int(found["availableBalance"])

    async def outside(self, currency: str = "GBP") -> int:
        """Return what the books say that the outside has paid in, less what it was paid."""
        key = outside_account(self.tenant.id, self.rail.name, currency)
        found = await self.house.fetch("SELECT complete FROM balances WHERE id = $1", key)
        return -sum(int(one["complete"]) for one in found)

    async def prove(self, currencies: Iterable[str] = ("GBP", "EUR")) -> None:
        """Require that the books are whole, and say of the outside what it says of itself."""
        await self.idle()
        events = await follow_to_the_end(self.tenant, limit="100")
        assert [fault for event in events for fault in faults_of(event)] == []
        assert await self.house.discrepancies() == []
        for currency in currencies:
            assert await self.outside(currency) == self.rail.received[self.tenant.id, currency]


async def open_world(house: House) -> World:
    """Found a tenant in a house."""
    return World(house, await make_tenant(house.service, house.client))
