"""What can be done with rules, and what rules do."""

import functools
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct

from farthing.core import ids
from farthing.core.errors import Fault, RefusedByRule, TooManyRules, ValidationFailed
from farthing.core.expressions import UNREADABLE, BadExpression, Expression, read_expression
from farthing.core.ids import new_id
from farthing.core.rows import ObjectRow
from farthing.db import objects
from farthing.db.calls import Call
from farthing.db.commands import Command
from farthing.db.draft import Draft
from farthing.db.hearings import FREE, Matter, Verdict
from farthing.resources.alerts.actions import raise_alert
from farthing.resources.approvals.actions import ask
from farthing.resources.rules import model
from farthing.resources.rules.model import (
    MACHINE,
    MOST_ENABLED,
    NOUN,
    Action,
    Deed,
    Finding,
    Rule,
    Told,
    plan,
)
from farthing.resources.rules.store import RULES, counted_on, names_of

log = structlog.get_logger()

_MATTER = Matter(f"{NOUN}.change")


def create(call: Call[Any]) -> Command:
    """Make a rule, which holds from the next request on."""
    body = call.body
    refuse_bad(body.on, body.when, body.then)

    def decide(draft: Draft) -> Struct:
        rule = Rule(
            tenant_id=draft.tenant_id,
            id=new_id(),
            version=1,
            created_at=draft.now,
            updated_at=draft.now,
            state_id="ENABLED" if body.enabled else "DISABLED",
            tags=body.tags or [],
            annotations=body.annotations or {},
            name=body.name,
            trigger=body.on,
            expression=body.when,
            actions=msgspec.to_builtins(body.then),
            priority=body.priority,
            dry=body.dry,
            since=_next_version(draft),
        )
        _refuse_too_many(draft, rule)
        return draft.create(RULES, rule)

    return Command(decide, status=201, matter=_MATTER)


def update(call: Call[Any]) -> Command:
    """Change a rule; a field that is named replaces the old one."""
    body = call.body

    def decide(draft: Draft) -> Struct:
        old = draft.require(RULES, call.id)
        given = objects.replaced(body, "name", "priority", "dry", "tags", "annotations")
        new = msgspec.structs.replace(
            old,
            **given,
            trigger=body.on or old.trigger,
            expression=body.when or old.expression,
            actions=old.actions if body.then is None else msgspec.to_builtins(body.then),
            since=_next_version(draft),
        )
        if body.enabled is not None:
            target = "ENABLED" if body.enabled else "DISABLED"
            new = msgspec.structs.replace(new, state_id=_target(draft, old, target))
        elif old.state_id == "DELETED":
            MACHINE.check(old.state_id, None, "ENABLED", draft.principal.actor)
        refuse_bad(new.trigger, new.expression, new.does)
        if old.state_id != "ENABLED":
            _refuse_too_many(draft, new)
        what = "updated" if new.state_id == old.state_id else new.state_id.lower()
        return draft.change(RULES, old, new, what)

    return Command(decide, needs=objects.needs_of(RULES, call.id), matter=_MATTER)


def delete(call: Call[Any]) -> Command:
    """Delete a rule; what it did remains."""

    def decide(draft: Draft) -> Struct:
        old = draft.require(RULES, call.id)
        target = MACHINE.check(old.state_id, None, "DELETED", draft.principal.actor).target
        new = msgspec.structs.replace(old, state_id=target, since=_next_version(draft))
        return draft.change(RULES, old, new, "deleted")

    return Command(decide, needs=objects.needs_of(RULES, call.id), matter=_MATTER)


def _target(draft: Draft, old: Rule, target: str) -> str:
    """Return the state that a rule is to have, which it may have already."""
    if target == old.state_id:
        return target
    return MACHINE.check(old.state_id, None, target, draft.principal.actor).target


def _next_version(draft: Draft) -> int:
    return 1 + (0 if draft.book is None else draft.book.version)


def _refuse_too_many(draft: Draft, rule: Rule) -> None:
    size = 0 if draft.book is None else draft.book.size
    if rule.state_id == "ENABLED" and size >= MOST_ENABLED:
        raise TooManyRules(f"{MOST_ENABLED} rules are enabled already. Disable or delete one.")


def refuse_bad(trigger: str, expression: str, actions: Sequence[Action]) -> None:
    """Refuse a rule that could not be followed, with everything that is wrong with it."""
    faults = list(model.action_faults(trigger, actions))
    try:
        read(trigger, expression)
    except BadExpression as bad:
        detail = f"Line {bad.line}, column {bad.column}: {bad.sentence}"
        faults.insert(0, Fault("/when", "bad_expression", detail))
    if faults:
        raise ValidationFailed(faults)


@functools.lru_cache(maxsize=2000)
def read(trigger: str, expression: str) -> Expression:
    """Read an expression on a trigger."""
    return read_expression(expression, names_of(trigger), counted_on(trigger))


def compile_rule(rule: Rule) -> Expression:
    """Return the expression of a rule, which was checked when it was made.

    Another version of the service may have done that, such as the next one during an upgrade.
    """
    try:
        return read(rule.trigger, rule.expression)
    except BadExpression as bad:
        log.error("rule_unreadable", rule=str(rule.id), line=bad.line, column=bad.column)  # noqa: TRY400 - the place says it all
        return UNREADABLE


def apply(draft: Draft, noun: str, row: ObjectRow, findings: Sequence[Finding]) -> Verdict:
    """Do what the rules want that hold of an object, in the order of their priority."""
    made = plan(findings)
    if not made.deeds and not made.alerts:
        return FREE
    for told in made.alerts:
        draft.tell(functools.partial(_tell, draft, told, noun, row.id))
    if (refusal := made.first("refuse")) is not None:
        raise _refusal(refusal)
    approval, hold = made.first("approve"), made.first("hold")
    waits = approval or hold
    return Verdict(
        tags=made.tags,
        annotations=made.annotations,
        hold=hold is not None,
        failed=made.failed,
        rule_id=None if waits is None else waits.rule.id,
        approval_id=None if approval is None else _ask(draft, noun, row, approval),
        reason=made.reason,
    )


def _tell(made_in: Draft, told: Told, noun: str, object_id: UUID, draft: Draft) -> None:
    """Raise an alert; in another draft than that of the object, it tells of a refusal."""
    refused = draft is not made_in
    raise_alert(draft, told.kind, told.rule.id, noun, object_id, told.message, refused=refused)


def _refusal(deed: Deed) -> RefusedByRule:
    extra = {} if deed.action.code is None else {"ruleCode": deed.action.code}
    message = deed.action.message or "A rule refuses it."
    if deed.failed:
        message = f"A rule failed, and lets nothing pass: {message}"
    return RefusedByRule(message, ruleId=ids.say(NOUN, deed.rule.id), **extra)


def _ask(draft: Draft, noun: str, row: ObjectRow, deed: Deed) -> UUID:
    """Let it wait for an approval; the first rule that wants one decides how."""
    approval_id = new_id()
    ask(
        draft,
        approval_id,
        deed.rule.id,
        noun,
        row.id,
        four_eyes=bool(deed.action.four_eyes),
        lifetime=deed.action.patience,
        message=deed.action.message,
    )
    return approval_id
