"""What can be tried: all rules on one object, and one rule on all transactions of a period."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct

from farthing.core import ids
from farthing.core.clock import whole
from farthing.core.errors import (
    Fault,
    NotReplayable,
    Problem,
    TooManyBacktests,
    TransitionNotAllowed,
    ValidationFailed,
)
from farthing.core.expressions import Combined, Failure
from farthing.core.ids import new_id
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Answer, Command, Context, Need, Rows
from farthing.db.draft import Draft
from farthing.db.hearings import Matter, Step
from farthing.db.pool import Pool, is_away
from farthing.resources.customers.store import CUSTOMERS
from farthing.resources.rules.actions import read
from farthing.resources.rules.store import (
    RULES,
    TABLES,
    Described,
    Facts,
    owner_of,
    parties_of,
)
from farthing.resources.transactions.store import TRANSACTIONS
from farthing.resources.trials import model, store
from farthing.resources.trials.model import MACHINE, MOST_RUNNING, REPLAYED, Backtest, Replay
from farthing.resources.trials.store import BACKTESTS, Made, Past

# How long whoever runs a backtest may be silent before somebody else begins anew.
CLAIM: Final = timedelta(minutes=10)
_PARTIES: Final = frozenset({"owner", "customer"})
# How many stretches of the log without a transaction pass before it is said that somebody is there.
_LONGEST_SILENCE: Final = 100

Submit = Callable[[Command], Awaitable[Answer]]

log = structlog.get_logger()


async def rehearse(call: Call[Any]) -> Command:
    """Say what the rules would do about an object; of all that nothing remains."""
    body = call.body
    noun = body.on.partition(".")[0]
    table, needs = TABLES[noun], list[Need]()
    found: Any = None
    if body.object_id is None:
        found = await _describe(call, noun)
    else:
        object_id = ids.take(body.object_id)
        found = await objects.find(call, table, object_id)
        if found is None:
            detail = f"There is no such {noun.replace('_', ' ')}."
            raise ValidationFailed([Fault("/objectId", "unknown_object", detail)])
        needs = objects.needs_of(table, object_id)
    matter = Matter(body.on, owner_of(noun, found), getattr(found, "currency", None))

    def decide(draft: Draft) -> Struct:
        seen = found if isinstance(found, Described) else draft.require(table, found.id)
        step = _step(body.step, seen)
        findings = draft.ask_rules(body.on, seen, step)
        return model.show_test(body.on, findings, step, draft.principal.actor)

    return Command(decide, needs=needs, rehearsal=True, matter=matter)


def _step(asked: Any, seen: Any) -> Step | None:
    if asked is None:
        return None
    source = seen.fields["stateId"] if isinstance(seen, Described) else seen.state_id
    return Step(source, asked.to, int(asked.amount or 0))


async def _describe(call: Call[Any], noun: str) -> Described:
    fields = store.read_object(noun, call.body.object)
    pointer, named = _named_owner(noun, call.body.owner_id, fields)
    owner_id = call.principal.tenant_id
    if noun != CUSTOMERS.noun or call.body.owner_id is not None:
        found = ids.read("customer", str(named))
        if named is None:
            detail = "Must be given, because the object does not say whose it is."
            raise ValidationFailed([Fault("/ownerId", "unknown_owner", detail)])
        if found is None or await objects.find(call, CUSTOMERS, found) is None:
            raise ValidationFailed([Fault(pointer, "unknown_owner", "There is no such customer.")])
        owner_id = found
    return Described(owner_id, fields.get("currencyISO"), fields)


def _named_owner(noun: str, owner: str | None, fields: dict[str, Any]) -> tuple[str, str | None]:
    """Return where it stands whose object it is, and what stands there."""
    if owner is not None:
        return "/ownerId", owner
    name = "ownerId"
    if noun == TRANSACTIONS.noun:
        name = "toOwnerId" if fields.get("flow") == "INBOUND" else "fromOwnerId"
    return f"/object/{name}", fields.get(name)


async def create(call: Call[Any]) -> Command:
    """Begin a backtest, which the worker runs."""
    body = call.body
    running = await store.count_running(call.pool, call.principal.tenant_id)

    def decide(draft: Draft) -> Struct:
        rule = draft.require(RULES, call.id)
        if rule.trigger != REPLAYED:
            raise NotReplayable(f"The rule is on {rule.trigger}; only rules on {REPLAYED} are.")
        if running >= MOST_RUNNING:
            raise TooManyBacktests(f"{MOST_RUNNING} backtests are running. Cancel one, or wait.")
        backtest = Backtest(
            tenant_id=draft.tenant_id,
            id=new_id(),
            version=1,
            created_at=draft.now,
            updated_at=draft.now,
            state_id=MACHINE.initial,
            tags=[],
            annotations={},
            rule_id=rule.id,
            expression=rule.expression,
            actions=rule.actions,
            begin=whole(body.from_),
            until=whole(body.to),
            total=None,
            processed=0,
            matched=0,
            failed=0,
            outcomes={},
            samples=[],
            claim=None,
            due_at=draft.now,
        )
        return draft.create(BACKTESTS, backtest)

    return Command(decide, needs=[Need(RULES, call.id, locked=False)], status=202)


def move(call: Call[Any]) -> Command:
    """Cancel a backtest; what it has found so far remains."""
    return objects.moving(call, BACKTESTS, lambda _, __: {"due_at": None, "claim": None})


async def run(pool: Pool, submit: Submit, backtest: Backtest) -> None:
    """Run a backtest from its beginning to its end, unless somebody else does."""
    claim = new_id()
    if not await _write(submit, take_on(backtest.id, claim)):
        return
    fresh = msgspec.structs.replace(
        backtest, processed=0, matched=0, failed=0, outcomes={}, samples=[]
    )
    try:
        past = await store.look_back(pool, backtest)
        fresh = msgspec.structs.replace(fresh, total=await past.total())
        async for found in go_through(pool, past, fresh):
            fresh = found
            if not await _write(submit, note(claim, fresh)):
                return
        await _write(submit, end(claim, fresh, "DONE"))
    except Exception as error:
        if isinstance(error, Problem) or is_away(error):
            # The claim runs out, and it begins anew.
            raise
        log.exception("backtest_failed", backtest=str(backtest.id))
        await _write(submit, end(claim, fresh, "FAILED"))


async def go_through(pool: Pool, past: Past, backtest: Backtest) -> AsyncIterator[Backtest]:
    """Judge the transactions of a period as they were judged when they were made."""
    program = Combined([read(REPLAYED, backtest.expression)])
    replay, silent = Replay(program.windows), 0
    async for moments in past.moments(program.windows):
        customers: Rows = {}
        if _PARTIES & program.reads.keys():
            keys = [key for one in moments if one.made for key in _parties(one.made).values()]
            customers = await store.fetch_customers(pool, backtest.tenant_id, keys)
        values: list[tuple[UUID, bool | Failure]] = []
        for one in moments:
            if one.made is not None:
                values.append((one.made.tx.id, judge(program, replay, customers, one.made)))
            replay.count(one.mark)
        backtest = model.count(backtest, values)
        silent += 1
        if values or silent > _LONGEST_SILENCE:
            silent = 0
            yield backtest


def _parties(made: Made) -> dict[str, UUID]:
    return parties_of(made.principal, owner_of(TRANSACTIONS.noun, made.tx))


def judge(program: Combined, replay: Replay, customers: Rows, made: Made) -> bool | Failure:
    """Say of a transaction what the rule would have said when it was made."""
    tx, parties = made.tx, _parties(made)
    draft = Draft(customers, set(customers), Context(made.principal, ""), tx.created_at)
    windows = replay.measure(parties["owner"], tx.currency, tx.created_at)
    facts = Facts(draft, TRANSACTIONS.noun, tx, None, parties)
    return program.evaluate(facts.read(program.reads), windows)[0]


async def _write(submit: Submit, command: Command) -> bool:
    """Write something, and tell whether it was still ours to write."""
    return (await submit(command)).status == HTTPStatus.OK


def take_on(backtest_id: UUID, claim: UUID) -> Command:
    """Claim a backtest, which nobody else runs for a while."""

    def decide(draft: Draft) -> None:
        old = draft.require(BACKTESTS, backtest_id)
        if old.due_at is None or old.due_at > draft.now:
            raise TransitionNotAllowed("Somebody else runs this backtest, or it is over.")
        new = msgspec.structs.replace(old, claim=claim, due_at=draft.now + CLAIM)
        draft.change(BACKTESTS, old, new, "updated")

    return Command(decide, needs=objects.needs_of(BACKTESTS, backtest_id))


def note(claim: UUID, found: Backtest) -> Command:
    """Write how far it has come."""

    def decide(draft: Draft) -> Struct:
        old, new = _found(draft, claim, found)
        new = msgspec.structs.replace(new, due_at=draft.now + CLAIM)
        return draft.change(BACKTESTS, old, new, "updated")

    return Command(decide, needs=objects.needs_of(BACKTESTS, found.id))


def end(claim: UUID, found: Backtest, state: str) -> Command:
    """Write what came of it in the end."""

    def decide(draft: Draft) -> Struct:
        old, new = _found(draft, claim, found)
        target = MACHINE.check(old.state_id, None, state, draft.principal.actor).target
        new = msgspec.structs.replace(new, state_id=target, claim=None, due_at=None)
        return draft.change(BACKTESTS, old, new, target.lower())

    return Command(decide, needs=objects.needs_of(BACKTESTS, found.id))


def _found(draft: Draft, claim: UUID, found: Backtest) -> tuple[Backtest, Backtest]:
    """Return a backtest as it was, and with what was found."""
    old = draft.require(BACKTESTS, found.id)
    if old.claim != claim:
        raise TransitionNotAllowed("Somebody else runs this backtest, or it is over.")
    names = ("total", "processed", "matched", "failed", "outcomes", "samples")
    return old, msgspec.structs.replace(old, **{name: getattr(found, name) for name in names})
