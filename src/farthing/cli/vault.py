"""`farthing vault rotate`: a new key for card numbers, and every number encrypted anew under it."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

from cryptography.exceptions import InvalidTag
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from farthing.config import Settings, SettingsError
from farthing.core import ids
from farthing.core.actors import Grant, Principal
from farthing.core.errors import Unavailable
from farthing.core.ids import new_id
from farthing.core.logs import configure_logs
from farthing.db.commands import Command, Context, Need
from farthing.db.committer import Committer
from farthing.db.draft import Draft
from farthing.db.migrate import require_current
from farthing.db.pool import Pool, open_pool
from farthing.resources.cards.vault import NUMBERS, REFRESH_SECONDS, ROLE, LocalMasterKey, Vault

MOST_SHOWN: Final = 10

_BATCH: Final = 256
# A service may seal under the older key until it reads the keys again, and commit a little later.
_SETTLE_SECONDS: Final = REFRESH_SECONDS + 5
_PAUSE_SECONDS: Final = 0.5

_COUNT: Final = "SELECT count(*) FROM vault.numbers WHERE key_id = ANY($1)"
_NEXT: Final = """
SELECT tenant_id, id FROM vault.numbers WHERE key_id = $1 AND (tenant_id, id) > ($2, $3)
ORDER BY tenant_id, id LIMIT $4
"""

# A tenant, and a card of it.
_Place = tuple[UUID, UUID]


async def rotate(settings: Settings, console: Console) -> bool:
    """Encrypt every number under a new key while services run; tell whether none was left behind.

    A rotation that was interrupted is finished first, with the key that it made.
    """
    configure_logs(settings)
    master_key = LocalMasterKey(settings.require_master_key())
    pool = await open_pool(settings.require_database_url(), size=4)
    try:
        await require_current(pool)
        committer = Committer(pool, batch_size=_BATCH)
        vault = Vault(pool, committer, master_key)
        await vault.open()
        return await _Rotation(pool, committer, vault, console).run()
    finally:
        await pool.close()


class _Rotation:
    """One run over all numbers of all tenants."""

    def __init__(self, pool: Pool, committer: Committer, vault: Vault, console: Console) -> None:
        self._pool, self._committer, self._vault = pool, committer, vault
        self._console = console
        self._older: set[UUID] = set()
        self._moved = 0
        self._unreadable: set[_Place] = set()

    async def run(self) -> bool:
        """Make a key, unless one waits to be used, and move every number to it."""
        began = time.monotonic()
        await self._choose_key()
        with _progress(self._console) as progress:
            task = progress.add_task("Encrypting the numbers anew.", total=await self._count())
            await self._move_all(progress)
            progress.update(task, description="Waiting until every service knows the new key.")
            await asyncio.sleep(began + _SETTLE_SECONDS - time.monotonic())
            await self._move_all(progress)
            progress.update(task, description="Done.", total=self._moved)
        self._report()
        return not self._unreadable

    async def _choose_key(self) -> None:
        await self._look_at_keys()
        if left := await self._count():
            self._console.print(f"Going on with a rotation that was interrupted: {left} are left.")
            return
        before = self._vault.current_key
        await self._vault.make_key("numbers")
        await self._look_at_keys()
        if self._vault.current_key == before:
            raise SettingsError(
                "The new key is not the newest: this machine's clock is behind that of the one "
                "that made the last key. Set the clock, then start again."
            )

    async def _move_all(self, progress: Progress) -> None:
        while await self._pass(progress):  # noqa: ASYNC110 - each pass works, none only looks
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _pass(self, progress: Progress) -> int:
        """Walk once over all that is under an older key, and return how many numbers that were."""
        await self._look_at_keys()
        met = 0
        for key_id in sorted(self._older):
            async for places in self._batches(key_id):
                await asyncio.gather(*(self._move(place) for place in places))
                met += len(places)
                progress.update(progress.task_ids[0], completed=self._moved)
        return met

    async def _batches(self, key_id: UUID) -> AsyncIterator[list[_Place]]:
        """Yield the numbers under a key, tenant by tenant, a few hundred at a time."""
        last: _Place = (ids.HOUSE, ids.HOUSE)
        while records := await self._fetch(_NEXT, key_id, *last, _BATCH):
            last = (records[-1]["tenant_id"], records[-1]["id"])
            yield [place for place in map(_place, records) if place not in self._unreadable]

    async def _move(self, place: _Place) -> None:
        tenant_id, card_id = place
        context = Context(Principal(tenant_id, Grant.PLATFORM), f"vault-{new_id()}")
        moved = False

        def decide(draft: Draft) -> None:
            nonlocal moved
            moved = self._reseal(draft, place)

        # What somebody else holds for long, the next pass meets again.
        with suppress(Unavailable):
            await self._committer.submit(context, Command(decide, [Need(NUMBERS, card_id)]))
            self._moved += moved

    def _reseal(self, draft: Draft, place: _Place) -> bool:
        row = draft.find(NUMBERS, place[1])
        # It may have been erased, or moved to a key that we do not know yet, since it was found.
        if row is None or row.key_id not in self._older:
            return False
        try:
            draft.update(NUMBERS, self._vault.reseal(row))
        except InvalidTag:
            self._unreadable.add(place)
            return False
        return True

    async def _look_at_keys(self) -> None:
        # Only keys that we have read: one that is newer still belongs to a rotation beside this.
        await self._vault.refresh(at_once=True)
        self._older = self._vault.older_keys

    async def _count(self) -> int:
        return int((await self._fetch(_COUNT, list(self._older)))[0]["count"])

    async def _fetch(self, sql: str, *values: object) -> list[Any]:
        async with self._pool.acquire() as connection, connection.transaction(readonly=True):
            await connection.execute(f"SET LOCAL ROLE {ROLE}")
            return list(await connection.fetch(sql, *values))

    def _report(self) -> None:
        self._console.print(f"{self._moved} card numbers were encrypted under the new key.")
        if self._unreadable:
            self._console.print(f"[red]CANNOT BE OPENED:[/red] {len(self._unreadable)} numbers.")
        for line in _lines(self._unreadable):
            self._console.print(f"  {line}", highlight=False)


def _progress(console: Console) -> Progress:
    columns = (
        SpinnerColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    return Progress(*columns, console=console)


def _place(record: Any) -> _Place:
    return (record["tenant_id"], record["id"])


def _lines(places: Iterable[_Place]) -> list[str]:
    shown = sorted(places)[:MOST_SHOWN]
    return [f"tenant={tenant_id}, card={ids.say('card', card_id)}" for tenant_id, card_id in shown]
