"""The commit path: everything together, each by itself, and nothing by halves."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

import asyncpg
import msgspec
import pytest
import pytest_asyncio
from msgspec import Struct

from farthing.core.actors import Grant, Principal
from farthing.core.errors import InternalError, OwnerNotActive, Unavailable
from farthing.core.ids import new_id
from farthing.db.commands import Answer, Command, Context, IdempotencyKey, Need
from farthing.db.committer import Committer
from farthing.db.draft import Draft
from farthing.db.hearings import EmptyShelf
from farthing.db.pool import PlainConnection, Pool, open_pool
from farthing.resources.access import actions
from farthing.resources.customers import actions as customer_actions
from farthing.resources.customers.model import Customer
from farthing.resources.customers.store import CUSTOMERS, STANDINGS

if TYPE_CHECKING:
    from tests.conftest import Database


@pytest_asyncio.fixture
async def pool(database: "Database") -> AsyncIterator[Pool]:
    opened = await open_pool(database.url, 4)
    yield opened
    opened.terminate()


@pytest_asyncio.fixture
async def committer(pool: Pool) -> Committer:
    return Committer(pool, lanes=1)


@pytest_asyncio.fixture
async def tenant_id(committer: Committer) -> UUID:
    return await actions.found_tenant(committer, "Shop")


def context(tenant_id: UUID) -> Context:
    return Context(Principal(tenant_id, Grant.PLATFORM), "test-request")


def adding(customer_id: UUID, **changes: Any) -> Command:
    """Make the command that adds a customer."""

    def decide(draft: Draft) -> Struct:
        plain = Customer(
            tenant_id=draft.tenant_id,
            id=customer_id,
            version=1,
            created_at=draft.now,
            updated_at=draft.now,
            state_id="ENABLED",
            tags=[],
            annotations={},
            type="INDIVIDUAL",
            name=None,
            email=None,
            phone=None,
            address=None,
            approval_id=None,
        )
        return customer_actions.add(draft, msgspec.structs.replace(plain, **changes))

    return Command(decide, status=201)


def appending(customer_id: UUID, letters: str) -> Command:
    """Make the command that lengthens a customer's name."""

    def decide(draft: Draft) -> Struct:
        old = draft.require(CUSTOMERS, customer_id)
        new = msgspec.structs.replace(old, name=f"{old.name}{letters}")
        return draft.change(CUSTOMERS, old, new, "updated")

    return Command(decide, needs=[Need(CUSTOMERS, customer_id), Need(STANDINGS, customer_id)])


def refusing() -> Command:
    """Make the command that writes and then refuses."""

    def decide(draft: Draft) -> Struct:
        adding(new_id()).decide(draft)
        raise OwnerNotActive("Not today.")

    return Command(decide)


async def together(
    committer: Committer, tenant_id: UUID, *commands: Command
) -> list[Answer | BaseException]:
    """Submit commands so that they wait together and share a batch."""
    submitted = [committer.submit(context(tenant_id), command) for command in commands]
    return await asyncio.gather(*submitted, return_exceptions=True)


async def names(pool: Pool, tenant_id: UUID) -> list[str | None]:
    sql = "SELECT name FROM customers WHERE tenant_id = $1 AND id <> $1 ORDER BY id"
    return [record["name"] for record in await pool.fetch(sql, tenant_id)]


async def test_commands_that_wait_together_share_one_database_transaction(
    committer: Committer, pool: Pool, tenant_id: UUID
) -> None:
    await together(committer, tenant_id, *(adding(new_id()) for _ in range(20)))
    sql = "SELECT count(DISTINCT xmin::text) FROM customers WHERE tenant_id = $1 AND id <> $1"
    # The first finds nobody waiting and goes alone, or with the others; the rest go together.
    assert await pool.fetchval(sql, tenant_id) <= 2


async def test_an_answer_waits_until_the_next_batch_is_decided(pool: Pool, tenant_id: UUID) -> None:
    happened: list[str] = []

    def decide(draft: Draft) -> Any:
        happened.append("the second is decided")
        return adding(new_id()).decide(draft)

    one_by_one = Committer(pool, lanes=1, batch_size=1)
    first = asyncio.create_task(one_by_one.submit(context(tenant_id), adding(new_id())))
    first.add_done_callback(lambda _: happened.append("the first is answered"))
    second = asyncio.create_task(one_by_one.submit(context(tenant_id), Command(decide)))
    await asyncio.gather(first, second)
    assert happened == ["the second is decided", "the first is answered"]


async def test_an_answer_does_not_wait_for_a_batch_that_others_hold_up(
    committer: Committer, pool: Pool, tenant_id: UUID
) -> None:
    held = new_id()
    await committer.submit(context(tenant_id), adding(held, name="held"))
    one_by_one = Committer(pool, lanes=1, batch_size=1)
    async with pool.acquire() as blocker, blocker.transaction():
        await blocker.execute("SELECT 1 FROM customers WHERE id = $1 FOR NO KEY UPDATE", held)
        first = asyncio.create_task(one_by_one.submit(context(tenant_id), adding(new_id())))
        second = asyncio.create_task(one_by_one.submit(context(tenant_id), appending(held, " up")))
        assert (await first).status == 201
        assert not second.done()
    assert (await second).status == 200
    assert "held up" in await names(pool, tenant_id)


async def test_of_a_crowd_that_comes_at_once_one_half_goes_first(
    committer: Committer, pool: Pool, tenant_id: UUID
) -> None:
    await together(committer, tenant_id, *(adding(new_id()) for _ in range(40)))
    sql = """SELECT count(*) FROM customers WHERE tenant_id = $1 AND id <> $1
             GROUP BY xmin::text ORDER BY min(id::text)"""
    assert [record["count"] for record in await pool.fetch(sql, tenant_id)] == [20, 20]


async def test_a_problem_in_one_command_leaves_its_neighbours_whole(
    committer: Committer, pool: Pool, tenant_id: UUID
) -> None:
    answers = await together(
        committer,
        tenant_id,
        adding(new_id(), name="one"),
        refusing(),
        adding(new_id(), name="two"),
    )
    statuses = [answer.status for answer in answers if isinstance(answer, Answer)]
    assert statuses == [201, 409, 201]
    assert await names(pool, tenant_id) == ["one", "two"]


async def test_a_fault_of_the_code_in_one_command_leaves_its_neighbours_whole(
    committer: Committer, pool: Pool, tenant_id: UUID
) -> None:
    def decide(_: Draft) -> Struct:
        raise ZeroDivisionError

    answers = await together(
        committer, tenant_id, adding(new_id(), name="one"), Command(decide), adding(new_id())
    )
    assert isinstance(answers[1], InternalError)
    assert await names(pool, tenant_id) == ["one", None]


async def test_a_command_that_cannot_decide_yet_is_not_remembered(
    committer: Committer, pool: Pool, tenant_id: UUID
) -> None:
    """A 5xx says nothing of the request itself: the same key decides anew."""

    def cannot_yet(_: Draft) -> Struct:
        raise Unavailable("Not now.")

    key = IdempotencyKey("once", b"fingerprint")
    keyed = Context(Principal(tenant_id, Grant.PLATFORM), "test-request", key)
    with pytest.raises(Unavailable):
        await committer.submit(keyed, Command(cannot_yet))
    answer = await committer.submit(keyed, adding(new_id(), name="A"))
    assert (answer.status, answer.replayed) == (201, False)
    assert "A" in await names(pool, tenant_id)


@pytest.mark.parametrize(
    "change",
    [
        {"state_id": "NO SUCH STATE"},
        {"name": object()},
        {"name": "zero \x00"},
        {"tenant_id": UUID(int=9)},
    ],
    ids=["a constraint", "a value that cannot be written", "a character", "a foreign key"],
)
async def test_a_poison_command_fails_alone(
    committer: Committer, pool: Pool, tenant_id: UUID, change: dict[str, Any]
) -> None:
    poison = adding(new_id(), **change)
    answers = await together(
        committer, tenant_id, adding(new_id(), name="one"), poison, adding(new_id(), name="two")
    )
    assert isinstance(answers[1], InternalError)
    assert [answer.status for answer in answers if isinstance(answer, Answer)] == [201, 201]
    assert await names(pool, tenant_id) == ["one", "two"]


async def test_a_step_that_no_machine_has_is_refused_by_the_database(
    committer: Committer, pool: Pool, tenant_id: UUID
) -> None:
    customer_id = new_id()
    await together(committer, tenant_id, adding(customer_id, state_id="PENDING"))

    def decide(draft: Draft) -> Struct:
        old = draft.require(CUSTOMERS, customer_id)
        new = msgspec.structs.replace(old, state_id="TERMINATED")
        return draft.change(CUSTOMERS, old, new, "terminated")

    needs = [Need(CUSTOMERS, customer_id), Need(STANDINGS, customer_id)]
    (answer,) = await together(committer, tenant_id, Command(decide, needs=needs))
    assert isinstance(answer, InternalError)
    sql = "SELECT state_id FROM customers WHERE tenant_id = $1 AND id = $2"
    assert await pool.fetchval(sql, tenant_id, customer_id) == "PENDING"


async def test_two_commands_on_one_row_in_one_batch_see_each_other(
    committer: Committer, pool: Pool, tenant_id: UUID
) -> None:
    customer_id = new_id()
    await together(committer, tenant_id, adding(customer_id, name=""))
    await together(
        committer,
        tenant_id,
        *(appending(customer_id, str(digit)) for digit in range(8)),
    )
    assert await names(pool, tenant_id) == ["01234567"]
    sql = "SELECT version FROM customers WHERE tenant_id = $1 AND id = $2"
    assert await pool.fetchval(sql, tenant_id, customer_id) == 9


async def test_a_command_sees_only_the_rows_that_it_named(
    committer: Committer, tenant_id: UUID
) -> None:
    def decide(draft: Draft) -> Struct:
        draft.find(CUSTOMERS, new_id())
        raise AssertionError("not reached")

    (answer,) = await together(committer, tenant_id, Command(decide))
    assert isinstance(answer, InternalError)


async def test_history_and_event_are_part_of_the_same_commit(
    committer: Committer, pool: Pool, tenant_id: UUID
) -> None:
    customer_id = new_id()
    await together(committer, tenant_id, adding(customer_id))
    sql = """
    SELECT count(DISTINCT x) FROM (
        SELECT xmin::text AS x FROM customers WHERE tenant_id = $1 AND id = $2
        UNION ALL SELECT xmin::text FROM history WHERE tenant_id = $1 AND object_id = $2
        UNION ALL SELECT xmin::text FROM events WHERE tenant_id = $1 AND object_id = $2
    ) AS writers
    """
    assert await pool.fetchval(sql, tenant_id, customer_id) == 1


async def blocked_writer(database: "Database") -> PlainConnection:
    """Hold the table of events, so that a batch stops between its decisions and its commit."""
    connection = await asyncpg.connect(database.admin_url)
    await connection.execute("BEGIN; LOCK TABLE farthing.events IN ACCESS EXCLUSIVE MODE")
    return connection


async def waiting_backend(blocker: PlainConnection) -> int:
    """Wait until somebody waits for the lock, and return the process number."""
    sql = """
    SELECT pid FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND query LIKE 'WITH %' AND datname = current_database()
    """
    async with asyncio.timeout(20):
        while True:
            # The view is frozen within a transaction unless told otherwise.
            await blocker.execute("SELECT pg_stat_clear_snapshot()")
            if pid := await blocker.fetchval(sql):
                return int(pid)
            await asyncio.sleep(0.01)


async def test_a_crash_between_decision_and_commit_answers_nobody_and_leaves_nothing(
    committer: Committer, pool: Pool, tenant_id: UUID, database: "Database"
) -> None:
    blocker = await blocked_writer(database)
    try:
        pending = asyncio.create_task(
            together(committer, tenant_id, adding(new_id()), adding(new_id()))
        )
        victim = await waiting_backend(blocker)
        assert not pending.done()
        await blocker.execute("SELECT pg_terminate_backend($1)", victim)
        answers = await pending
    finally:
        await blocker.close()
    assert [type(answer) for answer in answers] == [Unavailable, Unavailable]
    assert await names(pool, tenant_id) == []


async def test_what_was_known_of_a_tenant_is_forgotten_when_the_database_goes_away(
    pool: Pool, tenant_id: UUID, database: "Database"
) -> None:
    forgotten: list[UUID] = []

    class Shelf(EmptyShelf):
        def forget(self, tenant_id: UUID) -> None:
            forgotten.append(tenant_id)

    committer = Committer(pool, shelf=Shelf())
    await together(committer, tenant_id, adding(new_id()))
    blocker = await blocked_writer(database)
    try:
        pending = asyncio.create_task(together(committer, tenant_id, adding(new_id())))
        victim = await waiting_backend(blocker)
        assert not forgotten
        await blocker.execute("SELECT pg_terminate_backend($1)", victim)
        await pending
    finally:
        await blocker.close()
    assert forgotten == [tenant_id]


async def test_a_caller_who_goes_away_does_not_stop_the_command(
    committer: Committer, pool: Pool, tenant_id: UUID, database: "Database"
) -> None:
    blocker = await blocked_writer(database)
    pending = asyncio.create_task(together(committer, tenant_id, adding(new_id(), name="kept")))
    await waiting_backend(blocker)
    pending.cancel()
    await blocker.close()
    await committer.close()
    assert await names(pool, tenant_id) == ["kept"]


async def test_a_full_queue_pushes_back_instead_of_growing(
    pool: Pool, tenant_id: UUID, database: "Database"
) -> None:
    small = Committer(pool, lanes=1, queue_size=6)
    blocker = await blocked_writer(database)
    commands = [adding(new_id()) for _ in range(8)]
    pending = asyncio.create_task(together(small, tenant_id, *commands))
    await waiting_backend(blocker)
    assert small.waiting == 3
    await blocker.close()
    answers = await pending
    assert sum(isinstance(answer, Unavailable) for answer in answers) == 5
    assert len(await names(pool, tenant_id)) == 3
    assert small.waiting == 0


@pytest.mark.parametrize("sqlstate", ["40001", "40P01"])
async def test_what_the_database_asks_to_repeat_is_repeated(
    committer: Committer, pool: Pool, tenant_id: UUID, database: "Database", sqlstate: str
) -> None:
    # A sequence keeps counting when the transaction rolls back: the first two attempts fail.
    await database.execute(f"""
        CREATE SEQUENCE attempts; GRANT USAGE ON attempts TO farthing_app;
        CREATE FUNCTION fail_twice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.tenant_id = '{tenant_id}' AND nextval('farthing.attempts') <= 2 THEN
                RAISE 'again' USING ERRCODE = '{sqlstate}';
            END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER fail_twice BEFORE INSERT ON customers
            FOR EACH ROW EXECUTE FUNCTION fail_twice();
    """)
    try:
        (answer,) = await together(committer, tenant_id, adding(new_id(), name="patient"))
    finally:
        await database.execute("DROP FUNCTION fail_twice CASCADE; DROP SEQUENCE attempts")
    assert isinstance(answer, Answer)
    assert answer.status == 201
    assert await names(pool, tenant_id) == ["patient"]


async def test_two_processes_that_name_the_same_rows_in_any_order_never_deadlock(
    pool: Pool, tenant_id: UUID, database: "Database"
) -> None:
    ids = [new_id() for _ in range(6)]
    await together(Committer(pool), tenant_id, *(adding(one, name="") for one in ids))
    other_pool = await open_pool(database.url, 4)

    def touching(order: list[UUID]) -> Command:
        commands = [appending(one, ".") for one in order]

        def decide(draft: Draft) -> None:
            for command in commands:
                command.decide(draft)

        return Command(decide, needs=[need for command in commands for need in command.needs])

    crowds = [Committer(pool, batch_size=3), Committer(other_pool, batch_size=3)]
    orders = [ids, ids[::-1], ids[3:] + ids[:3]]
    try:
        answers = await asyncio.gather(
            *(
                together(crowd, tenant_id, *(touching(orders[n % 3]) for n in range(30)))
                for crowd in crowds
            )
        )
    finally:
        await other_pool.close()
    assert all(isinstance(one, Answer) and one.status == 200 for each in answers for one in each)
    assert await names(pool, tenant_id) == ["." * 60] * 6


@pytest.mark.parametrize("table", ["entries", "history", "events"])
@pytest.mark.parametrize(
    "verb", ["UPDATE {} SET tenant_id = tenant_id", "DELETE FROM {}", "TRUNCATE {}"]
)
async def test_the_application_cannot_rewrite_what_is_written_for_ever(
    pool: Pool, table: str, verb: str
) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await pool.execute(verb.format(table))
