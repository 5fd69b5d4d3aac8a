"""What can be done with rules, and what rules do."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from farthing.core import ids
from farthing.core.errors import Fault, RefusedByRule, TooManyRules, ValidationFailed
from farthing.core.expressions import BadExpression, Expression, Failure, read_expression
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
    CAN_BE_HELD,
    MACHINE,
    MOST_ENABLED,
    NOUN,
    USUAL_PATIENCE,
    Action,
    Finding,
    Rule,
)
from farthing.resources.rules.store import RULES, counted_on, names_of

_MATTER = Matter(f"{NOUN}.change")
_SAID = {
    "hold": "held it",
    "approve": "lets it wait for an approval",
    "tag": "gave it a tag",
    "annotate": "annotated it",
}


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
    """Return the expression of a rule, which was checked when it was made."""
    return read(rule.trigger, rule.expression)


def apply(draft: Draft, noun: str, row: ObjectRow, findings: Sequence[Finding]) -> Verdict:
    """Do what the rules want that hold of an object, in the order of their priority."""
    verdict = FREE
    for one in findings:
        if one.value is False:
            continue
        if one.rule.dry or isinstance(one.value, Failure):
            verdict = _note(draft, noun, row, one, verdict)
            continue
        for action in one.rule.does:
            verdict = _DOES[action.action](draft, _Case(noun, row, one.rule, action), verdict)
    return verdict


class _Case(Struct, frozen=True):
    """An object, and what a rule does about it."""

    noun: str
    row: ObjectRow
    rule: Rule
    action: Action

    def said(self, verdict: Verdict) -> str:
        """Return what the rules said so far, and what this one does."""
        sentence = f'The rule "{self.rule.name}" {_SAID[self.action.action]}.'
        return verdict.explain(None) + " " + sentence if verdict.reason else sentence  # type: ignore[operator]  # there is a reason


def _note(draft: Draft, noun: str, row: ObjectRow, finding: Finding, verdict: Verdict) -> Verdict:
    """Tell what a dry rule would have done, or that a rule failed, which stops the object."""
    rule, failure = finding.rule, finding.value
    if not isinstance(failure, Failure):
        would = ", ".join(one.action for one in rule.does)
        raise_alert(draft, "DRY", rule.id, noun, row.id, f"It would have done: {would}.")
        return verdict
    raise_alert(draft, "FAILED", rule.id, noun, row.id, failure.sentence)
    if rule.dry:
        return verdict
    can_be_held = f"{noun}.create" in CAN_BE_HELD
    stop = Action(action="hold" if can_be_held else "approve", message=failure.sentence)
    return _DOES[stop.action](draft, _Case(noun, row, rule, stop), verdict)


def _refuse(_: Draft, case: _Case, __: Verdict) -> Verdict:
    extra = {} if case.action.code is None else {"ruleCode": case.action.code}
    message = case.action.message or "A rule refuses it."
    raise RefusedByRule(message, ruleId=ids.say(NOUN, case.rule.id), **extra)


def _hold(_: Draft, case: _Case, verdict: Verdict) -> Verdict:
    return msgspec.structs.replace(verdict, hold=True, reason=case.said(verdict))


def _approve(draft: Draft, case: _Case, verdict: Verdict) -> Verdict:
    """Let it wait for an approval; the first rule that wants one decides how."""
    if verdict.approval_id is not None:
        return verdict
    approval_id = new_id()
    ask(
        draft,
        approval_id,
        case.rule.id,
        case.noun,
        case.row.id,
        four_eyes=bool(case.action.four_eyes),
        lifetime=case.action.patience or USUAL_PATIENCE,
        message=case.action.message,
    )
    said = case.said(verdict)
    return msgspec.structs.replace(verdict, approval_id=approval_id, reason=said)


def _tag(_: Draft, case: _Case, verdict: Verdict) -> Verdict:
    tags = (*verdict.tags, case.action.tag or "")
    return msgspec.structs.replace(verdict, tags=tags, reason=case.said(verdict))


def _annotate(_: Draft, case: _Case, verdict: Verdict) -> Verdict:
    annotations = {**verdict.annotations, case.action.name or "": case.action.value or ""}
    return msgspec.structs.replace(verdict, annotations=annotations, reason=case.said(verdict))


def _alert(draft: Draft, case: _Case, verdict: Verdict) -> Verdict:
    message = case.action.message or ""
    raise_alert(draft, "ALERT", case.rule.id, case.noun, case.row.id, message)
    return verdict


_DOES: dict[str, Callable[[Draft, _Case, Verdict], Verdict]] = {
    "refuse": _refuse,
    "hold": _hold,
    "approve": _approve,
    "tag": _tag,
    "annotate": _annotate,
    "alert": _alert,
}
