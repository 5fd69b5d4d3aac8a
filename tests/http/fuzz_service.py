"""A service that lives in the event loop of whoever calls it, with some of everything in it."""

import re
import zlib
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import httpx2
from tests.conftest import OnlyDeclaredProblems, Tenant, make_tenant
from tests.http.bad_wire import Range, credential
from tests.http.published import OPERATIONS, body_schema, faults
from tests.payments import BANK_ACCOUNT, CARD, charge, create, in_path

from farthing.catalog import OBJECTS
from farthing.config import Settings
from farthing.core import ids
from farthing.core.fields import COUNTRIES
from farthing.core.ids import UUID_PATTERN, new_id
from farthing.core.operation import Operation
from farthing.http.app import build
from farthing.http.service import Service

if TYPE_CHECKING:
    import schemathesis
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ID: Final = re.compile(f"[a-z_]+/{UUID_PATTERN}")
_OF_EACH: Final = 5
# Nearly as much as one payment can be, so that what is drawn can be paid more often than not.
_MUCH: Final = "9" * 17
# What can be done to an object only once, or only while nobody has put an end to it.
_ONCE: Final = {"approvals.approve", "approvals.reject", "webhooks.resend"}
_PERIOD: Final = {"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}
# A condition that holds of nothing that there is.
_NEVER: Final = 'object.stateId == "NEVER"'
FAULTS: Final = {"faults.arm", "faults.list", "faults.clear"}
_BY_ADDRESS: Final = {(one.method, one.path): one for one in OPERATIONS}


@dataclass
class Sandbox:
    """An ASGI application that starts its service with its lifespan, and ends it so too."""

    settings: Settings
    # By noun, the identifiers of objects that are there.
    real: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    # By control, or what is done only once, objects that are as it wants them.
    scenes: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    # By tenant, what was kept of it.
    snapshots: dict[str, str] = field(default_factory=dict)
    # Who pays: accounts with money and what belongs to their owner, which no case is aimed at.
    purse: dict[str, str] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)
    _app: "ASGIApp | None" = None
    _tenant: Tenant | None = None
    # Its clock is moved, which ends every token of its own.
    _traveller: Tenant | None = None
    # Whose requests may fail at its own wish, so that those of the others do not.
    _victim: Tenant | None = None

    @property
    def tenant(self) -> Tenant:
        assert self._tenant is not None, "it has not started"
        return self._tenant

    def _of(self, operation: Operation) -> Tenant:
        """Return the tenant for which an operation is tried."""
        assert self._traveller is not None, "it has not started"
        if operation.id == "clock.advance":
            return self._traveller
        return self._victim if operation.id in FAULTS and self._victim else self.tenant

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        assert self._app is not None, "it has not started"

        async def listen(message: "Message") -> None:
            self._told.update(_ID.findall(message.get("body", b"").decode()))
            await send(message)

        await self._app(scope, receive, listen)

    async def _live(self, receive: "Receive", send: "Send") -> None:
        assert (await receive())["type"] == "lifespan.startup"
        service = await Service.start(self.settings)
        self._app = OnlyDeclaredProblems(build(service), service)
        await self._furnish(self._app, service)
        await send({"type": "lifespan.startup.complete"})
        assert (await receive())["type"] == "lifespan.shutdown"
        await service.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _furnish(self, app: "ASGIApp", service: Service) -> None:
        transport = httpx2.ASGITransport(app=app)
        client = httpx2.AsyncClient(transport=transport, base_url="http://farthing.test")
        async with client:
            self._tenant = await make_tenant(service, client)
            traveller = await make_tenant(service, client)
            self._traveller = replace(traveller, token=traveller.key)
            self._victim = await make_tenant(service, client)
            await self._fill_purse(service, self._tenant)
            shots = Range(app, service, self._tenant)
            for operation in OPERATIONS:
                while operation.noun and len(self.real[operation.noun]) < _OF_EACH:
                    address = (await shots.fresh_target(operation)).address
                    self.real[operation.noun].append(_ID.search(address)[0])  # type: ignore[index]  # it has one
                while (
                    (operation.sandbox_only or operation.id in _ONCE)
                    and operation.noun
                    and len(self.scenes[operation.id]) < _OF_EACH
                ):
                    target = await shots.fresh_target(operation)
                    found = _ID.search(target.address)[0]  # type: ignore[index]  # it has one
                    self.scenes[operation.id].append(found)
                    self.snapshots[found] = target.body.get("snapshotId", "")

    async def _fill_purse(self, service: Service, tenant: Tenant) -> None:
        # A customer of its own, because what cases make is the tenant's, preferences included.
        customer = await tenant.new_customer()
        owner = {"ownerId": customer}
        card = await create(tenant.call, "/v1/cards", {**owner, **CARD, "setAsPreferred": True})
        bank = await create(tenant.call, "/v1/bank-accounts", {**owner, **BANK_ACCOUNT})
        payer, payee = [await tenant.new_account(customer) for _ in range(2)]
        for _ in range(9):
            assert (await charge(service, tenant.call, payer, _MUCH))["stateId"] == "EFFECTED"
        self.purse = {
            "owner": customer,
            "accountId": payer,
            "fromAccountId": payer,
            "toAccountId": payee,
            "card": card["id"],
            "bankAccount": bank["id"],
        }
        # From here a client can go to most other states.
        held = {"fromAccountId": payer, "toAccountId": payee, "targetStateId": "HELD"}
        for _ in range(3):
            body = {**held, "amount": "1000", "purpose": "TRANSFER"}
            made = await create(tenant.call, "/v1/tx/internal", body)
            self.real["transaction"].append(in_path(made["id"]))

    def credential(self, case: "schemathesis.Case[Any]") -> str | None:
        """Return what opens the operation; whoever names a tenant is the operator."""
        operation = operation_of(case)
        if operation.who and "X-Tenant" in case.headers:
            return self.tenant.operator
        return credential(operation, self._of(operation))

    def furnish(self, case: "schemathesis.Case[Any]") -> "schemathesis.Case[Any]":
        """Put what is there where a case speaks of what is not, unless that is its very subject."""
        subjects = _subjects(case)
        # What one key does with two requests is the subject of another test.
        named = self._of(operation_of(case)).customer
        fitting = {"X-Tenant": named, "Idempotency-Key": str(new_id())}
        headers = case.headers.copy()
        headers.update({name: fitting[name] for name in (fitting.keys() & set(headers)) - subjects})
        # Set as a whole, each part is judged anew by Schemathesis.
        case.headers = headers
        if "id" in case.path_parameters and "id" not in subjects:
            case.path_parameters = {"id": self._in_path(case)}
        period = {"from", "to"}
        if period <= case.query.keys() and not period & subjects and _chance(repr(case.query)) % 3:
            # Two moments that are drawn are in the wrong order as often as not.
            case.query = {**case.query, **_PERIOD}
        if isinstance(case.body, dict):
            case.body = self._in_body(case.body)
            if _ID.fullmatch(str(case.body.get("snapshotId"))):
                kept = self.snapshots.get(str(case.path_parameters.get("id")))
                case.body = {**case.body, "snapshotId": kept or case.body["snapshotId"]}
        return case

    def _in_path(self, case: "schemathesis.Case[Any]") -> str:
        """Return an identifier that was told before, or one that is there, or one that is not."""
        text, noun = unquote(str(case.path_parameters["id"])), operation_of(case).noun or ""
        if scenes := self.scenes.get(operation_of(case).id):
            return scenes[_chance(text) % _OF_EACH]
        spared = {self.tenant.customer, *self.purse.values()}
        if text in self._told and text not in spared:
            # Answers say transaction/<uuid>, and paths say tx/<uuid>.
            return in_path(text)
        missing = f"{ids.in_path(noun)}/{new_id()}"
        return missing if _chance(text) % 5 == 0 else self._one_of(noun, text)

    def _in_body(self, body: dict[str, Any]) -> dict[str, Any]:
        changed = dict(body)
        for name, number in body.items():
            if isinstance(number, float) and number.is_integer():
                # A schema takes it for a whole number, and we want it written as one.
                changed[name] = int(number)
        for name, text in body.items():
            if isinstance(text, str) and _ID.fullmatch(text):
                noun = text.partition("/")[0]
                changed[name] = self._one_of(noun, text) if noun in self.real else text
        if str(changed.get("ownerId")) in self.real["customer"]:
            # Other customers may have been moved to a state in which they can own nothing new.
            changed["ownerId"] = self.tenant.customer
        self._pay(changed)
        if _chance(repr(body)) % 3 and not faults(body_schema("tx.move"), body):
            # What depends on the state of a transaction is seldom right by chance.
            changed = {name: body[name] for name in body.keys() - {"fromStateId", "options"}}
        if _chance(repr(body)) % 3 and body and not faults(body_schema("webhooks.resend"), body):
            changed = {"since": _PERIOD["from"]}
        changed = self._rule(changed)
        # Every destination that is drawn is British.
        if (body.get("sortCode") or body.get("iban")) and str(body.get("countryISO")) in COUNTRIES:
            changed["countryISO"] = "GB"
        return changed

    def _rule(self, body: dict[str, Any]) -> dict[str, Any]:
        """Let a rule have a meaning, so that it can be made, and no effect on other cases."""
        if not faults(body_schema("rules.create"), body) or (
            body.keys() & {"when", "then"} and not faults(body_schema("rules.update"), body)
        ):
            quiet = {"when": _NEVER, "then": [{"action": "alert", "message": "x"}]}
            return {**body, **{name: one for name, one in quiet.items() if name in body}}
        if not faults(body_schema("rules.backtest"), body) and _chance(repr(body)) % 3:
            return dict(_PERIOD)
        if faults(body_schema("rules.test"), body):
            return body
        noun, _, occasion = body["on"].partition(".")
        fitting: dict[str, Any] = {"on": body["on"]}
        if body.get("objectId"):
            real = self._one_of(noun, body["objectId"]).replace("tx/", "transaction/")
            fitting["objectId"] = real
        else:
            fitting["object"] = {"currencyISO": "GBP"} if noun == "transaction" else {}
            fitting["ownerId"] = self.tenant.customer
        if occasion == "transition":
            fitting["step"] = {"to": OBJECTS[noun].machine.states[0]}
        return fitting if _chance(repr(body)) % 3 else body

    def _pay(self, body: dict[str, Any]) -> None:
        """Let a payment be between accounts with money, by an instrument of its method."""
        for name in body.keys() & {"accountId", "fromAccountId", "toAccountId"}:
            if _ID.fullmatch(str(body[name])):
                body[name] = self.purse[name]
        named = str(body.get("paymentInstrumentId"))
        if _ID.fullmatch(named):
            body["paymentInstrumentId"] = self.purse.get(str(body.get("method")), named)

    def _one_of(self, noun: str, text: str) -> str:
        return self.real[noun][_chance(text) % _OF_EACH]


def _chance(text: str) -> int:
    """Return a number that is the same for the same text, so that a case can be repeated."""
    return zlib.crc32(text.encode())


def operation_of(case: "schemathesis.Case[Any]") -> Operation:
    """Find the operation that a case is about; it may be sent with a method that is not its own."""
    return _BY_ADDRESS[case.operation.method.upper(), case.operation.path]


def _subjects(case: "schemathesis.Case[Any]") -> set[str | None]:
    """Return the names of the parameters that a case is about."""
    if case.meta is None:
        return set()
    data = case.meta.phase.data
    return {data.parameter, *(mutation.parameter for mutation in data.mutations)}
