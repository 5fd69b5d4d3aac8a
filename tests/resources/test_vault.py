"""The vault: who can open a number, who cannot, and what becomes of the keys."""

import asyncio
import base64
import math
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable
from io import StringIO
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import asyncpg
import httpx2
import msgspec
import pytest
from cryptography.exceptions import InvalidTag
from rich.console import Console
from stdnum import luhn
from tests.cli.test_serving import FARTHING, environment, run, serving
from tests.conftest import MASTER_KEY, make_tenant

from farthing.cli.vault import rotate
from farthing.config import SettingsError
from farthing.core.ids import new_id
from farthing.db import batch, committer
from farthing.http import edge
from farthing.http.app import build
from farthing.http.service import Service
from farthing.rails.base import Hidden, Rail
from farthing.resources.cards import actions, store
from farthing.resources.cards.vault import NUMBERS, NumberRow, Vault

if TYPE_CHECKING:
    from tests.conftest import Database, Tenant

NUMBER, OTHER, DECLINED = "4716293846150280", "5555555555554444", "4000000000000002"
REST = {"expiry": "1239", "billingAddress": {"countryISO": "GB"}}


async def new_card(tenant: "Tenant", owner: str, number: str = NUMBER, cvv: str = "765") -> UUID:
    body = {**REST, "ownerId": owner, "cardNumber": number, "cvv": cvv}
    answer = await tenant.call("POST", "/v1/cards", body)
    assert answer.status_code == 201, answer.text
    return UUID(answer.json()["id"].partition("/")[2])


async def move(tenant: "Tenant", card: UUID, target: str) -> None:
    path, body = f"/v1/cards/card/{card}/state", {"toStateId": target}
    answer = await tenant.call("PATCH", path, body, token=tenant.operator)
    assert answer.status_code == 200, answer.text


async def numbers(database: "Database") -> dict[UUID, NumberRow]:
    return {row["id"]: NUMBERS.read(row) for row in await database.fetch(NUMBERS.select_sql)}


async def empty(database: "Database") -> "Database":
    return await database.create_current()


def vault_of(service: Service) -> Vault:
    found = service.parts[Vault]
    assert isinstance(found, Vault)
    return found


async def test_what_is_sealed_opens_only_for_the_same_tenant_and_card(service: Service) -> None:
    safe, (tenant_id, card_id) = vault_of(service), (new_id(), new_id())
    row = safe.seal(tenant_id, card_id, Hidden(NUMBER))
    assert safe.reveal(row).reveal() == NUMBER
    for moved in ({"tenant_id": new_id()}, {"id": new_id()}, {"tenant_id": card_id}):
        with pytest.raises(InvalidTag):
            safe.reveal(msgspec.structs.replace(row, **moved))
    assert safe.seal(tenant_id, card_id, Hidden(NUMBER)).sealed != row.sealed
    # A nonce, the number and a tag: there is no room for a CVV.
    assert len(row.sealed) == 12 + len(NUMBER) + 16


async def test_a_number_that_is_put_into_another_row_does_not_open(
    tenant: "Tenant", database: "Database", service: Service
) -> None:
    owner = await tenant.new_customer()
    one, two = await new_card(tenant, owner), await new_card(tenant, owner, OTHER)
    rows = await numbers(database)
    assert vault_of(service).reveal(rows[one]).reveal() == NUMBER
    swap = "UPDATE vault.numbers SET sealed = $2 WHERE id = $1"
    await database.execute(swap, one, rows[two].sealed)
    with pytest.raises(InvalidTag):
        vault_of(service).reveal((await numbers(database))[one])
    await database.execute(swap, one, rows[one].sealed)


@pytest.mark.parametrize(("role", "other"), [("app", "vault"), ("vault", "farthing")])
async def test_neither_role_can_do_anything_in_the_schema_of_the_other(
    database: "Database", role: str, other: str
) -> None:
    connection = await asyncpg.connect(database.url)
    await connection.execute(f"SET ROLE farthing_{role}")
    sql = "SELECT tablename FROM pg_tables WHERE schemaname = $1"
    names = [record["tablename"] for record in await connection.fetch(sql, other)]
    assert len(names) > 2
    for name in names:
        for attempt in (
            "TABLE {}",
            "DELETE FROM {}",
            "TRUNCATE {}",
            "INSERT INTO {} DEFAULT VALUES",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(attempt.format(f"{other}.{name}"))
    await connection.close()


async def test_a_wrong_master_key_is_noticed_at_the_start(service: Service) -> None:
    wrong = msgspec.structs.replace(service.settings, master_key="ab" * 32)
    with pytest.raises(SettingsError, match=r"^The master key is not the one .*Restore the right"):
        await Service.start(wrong)


async def test_services_that_start_at_once_share_their_keys(database: "Database") -> None:
    fresh = await empty(database)
    started = await asyncio.gather(*(Service.start(fresh.settings()) for _ in range(12)))
    sealed = [vault_of(one).seal(new_id(), new_id(), Hidden(NUMBER)) for one in started]
    for one in started:
        assert [vault_of(one).reveal(row).reveal() for row in sealed] == [NUMBER] * 12
    assert len({vault_of(one).fingerprint(Hidden(NUMBER)) for one in started}) == 1
    await asyncio.gather(*(one.stop() for one in started))
    assert len(await fresh.fetch("SELECT FROM vault.keys")) == 2


async def test_a_number_that_nobody_will_charge_is_not_kept(
    tenant: "Tenant", database: "Database"
) -> None:
    for way in ([], ["CLOSED"], ["DISABLED", "CLOSED"], ["INACTIVE", "CLOSED"]):
        card = await new_card(tenant, tenant.customer, NUMBER if way else DECLINED)
        for target in way:
            assert card in await numbers(database)
            await move(tenant, card, target)
        assert card not in await numbers(database)


async def test_a_number_is_recognised_within_a_tenant_and_only_there(
    tenant: "Tenant", other_tenant: "Tenant", database: "Database", service: Service
) -> None:
    one, two = await tenant.new_customer(), await tenant.new_customer()
    for owner, cvv in ((one, "765"), (one, "911"), (two, "638")):
        await new_card(tenant, owner, cvv=cvv)
    seen, other = (vault_of(service).fingerprint(Hidden(it)) for it in (NUMBER, OTHER))

    async def uses(where: "Tenant", owner: str, fingerprint: bytes) -> tuple[int, int]:
        owner_id = UUID(owner.partition("/")[2])
        return await store.count_uses(service.pool, where.id, fingerprint, owner_id)

    assert await uses(tenant, one, seen) == (2, 2)
    assert await uses(tenant, two, seen) == (1, 2)
    assert await uses(other_tenant, one, seen) == await uses(tenant, one, other) == (0, 0)
    columns = "SELECT attname FROM pg_attribute WHERE attnum > 0 AND attrelid = $1::text::regclass"
    names = {record["attname"] for record in await database.fetch(columns, "vault.sightings")}
    assert names == {"tenant_id", "fingerprint", "card_id", "owner_id", "created_at"}


class Witness:
    """Stands for a log, and keeps what a tool would say that asks for every variable."""

    def __init__(self) -> None:
        self.report = ""

    def __getattr__(self, _: str) -> Callable[..., None]:
        return self._note

    def _note(self, _: str, **said: Any) -> None:
        given = said.get("exc_info")
        error = given if isinstance(given, BaseException) else sys.exc_info()[1]
        while error is not None:
            told = traceback.TracebackException.from_exception(error, capture_locals=True)
            self.report += "".join(told.format(chain=False))
            error = error.__cause__ or error.__context__


# The stand-ins that raise are written in C, like what they stand for: they have no variables.
SABOTAGES: dict[str, Callable[[Service, pytest.MonkeyPatch], None]] = {
    "cipher": lambda service, patch: patch.setattr(
        vault_of(service), "_ciphers", defaultdict(lambda: SimpleNamespace(encrypt=len))
    ),
    "HMAC": lambda service, patch: patch.setattr(
        vault_of(service),
        "_fingerprints",
        SimpleNamespace(copy=lambda: SimpleNamespace(update=math.sqrt)),
    ),
    "rail": lambda service, patch: patch.setattr(service.parts[Rail], "verify_card", len),
    "decision": lambda _, patch: patch.setattr(actions, "_keep_number", math.sqrt),
}


@pytest.mark.parametrize("sabotage", SABOTAGES)
async def test_an_exception_on_the_way_of_a_number_tells_neither_it_nor_a_key(
    tenant: "Tenant", service: Service, monkeypatch: pytest.MonkeyPatch, sabotage: str
) -> None:
    witness = Witness()
    for module in (edge, batch, committer):
        monkeypatch.setattr(module, "log", witness)
    SABOTAGES[sabotage](service, monkeypatch)
    with pytest.raises(AssertionError, match="internal_error"):
        await new_card(tenant, tenant.customer)
    assert "TypeError" in witness.report
    plain, spaced = NUMBER.encode(), " ".join(NUMBER[at : at + 4] for at in range(0, 16, 4))
    for form in (NUMBER, spaced, plain.hex(), base64.b64encode(plain).decode()):
        assert form not in witness.report
    for form in ("'765'", '"765"', b"'765'".hex(), b'"765"'.hex()):
        assert form not in witness.report
    for key in (MASTER_KEY, repr(service.fingerprint_key)):
        assert key not in witness.report, "whoever has the master key can open every number"


async def run_rotation(database: "Database") -> tuple[bool, str]:
    said = StringIO()
    return await rotate(database.settings(), Console(file=said, width=200)), said.getvalue()


async def test_rotations_at_once_leave_nothing_behind_but_what_cannot_be_opened(
    database: "Database", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(rotate.__globals__, "_SETTLE_SECONDS", 0)
    monkeypatch.setitem(rotate.__globals__, "configure_logs", lambda _: None)
    fresh = await empty(database)
    service = await Service.start(fresh.settings())
    transport = httpx2.ASGITransport(app=build(service))
    async with httpx2.AsyncClient(transport=transport, base_url="http://farthing.test") as client:
        tenants = [await make_tenant(service, client) for _ in range(3)]
        cards = [await new_card(one, one.customer) for one in tenants for _ in range(5)]
    both = await asyncio.gather(run_rotation(fresh), run_rotation(fresh))
    assert [done for done, _ in both] == [True, True]
    (newest,) = {row.key_id for row in (await numbers(fresh)).values()}
    await vault_of(service).refresh(at_once=True)
    assert newest == vault_of(service).current_key
    await fresh.execute("UPDATE vault.numbers SET sealed = sealed || '!' WHERE id = $1", cards[0])
    done, said = await run_rotation(fresh)
    assert (done, f"card/{cards[0]}" in said) == (False, True)
    left = [row.id for row in (await numbers(fresh)).values() if row.key_id == newest]
    assert left == cards[:1]
    await service.stop()


async def keep_writing(tenant: "Tenant", kept: dict[UUID, str], start: int) -> None:
    for at in count(start * 10**13):
        number = f"4{at:014}" + luhn.calc_check_digit(f"4{at:014}")
        card = await new_card(tenant, tenant.customer, number)
        if at % 4:
            kept[card] = number
        else:
            await move(tenant, card, "CLOSED")


async def start_rotation(database: "Database") -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(*FARTHING, "vault", "rotate"), env=environment(database), stdout=asyncio.subprocess.PIPE
    )


@pytest.mark.slow
async def test_a_rotation_beside_a_running_service_survives_a_kill(database: "Database") -> None:
    fresh, kept = await empty(database), dict[UUID, str]()
    founder, blocker = await Service.start(fresh.settings()), await asyncpg.connect(fresh.admin_url)
    with serving(fresh) as (port, _):
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            tenant = await make_tenant(founder, client)
            writers = [asyncio.create_task(keep_writing(tenant, kept, n)) for n in range(4)]
            while len(kept) < 400:  # noqa: ASYNC110 - the writers do not announce it
                await asyncio.sleep(0.1)
            # The rotation comes to a stop in its second batch, at a number that somebody holds.
            held = "SELECT FROM vault.numbers ORDER BY tenant_id, id OFFSET 270 LIMIT 1 FOR UPDATE"
            await blocker.execute(f"BEGIN; {held}")
            killed = await start_rotation(fresh)
            while len({row.key_id for row in (await numbers(fresh)).values()}) < 2:  # noqa: ASYNC110 - nor does another process
                await asyncio.sleep(0.1)
            killed.kill()
            await asyncio.gather(killed.communicate(), blocker.close())
            said, _ = await (again := await start_rotation(fresh)).communicate()
            assert (again.returncode, b"Going on" in said) == (0, True)
            for one in writers:
                one.cancel()
            assert {one.exception() if one.done() else None for one in writers} == {None}
    rows, safe = await numbers(fresh), vault_of(founder)
    (newest,), old = {row.key_id for row in rows.values()}, UUID(int=1)
    await safe.refresh(at_once=True)
    assert newest == safe.current_key != old
    opened = {card: safe.reveal(row).reveal() for card, row in rows.items()}
    assert opened.items() >= kept.items()
    for row in rows.values():
        with pytest.raises(InvalidTag):
            safe.reveal(msgspec.structs.replace(row, key_id=old))
    await founder.stop()
    assert run(fresh, "verify").returncode == 0
