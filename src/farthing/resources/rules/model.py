"""What a rule is: on which occasion, under which condition, what is done."""

import typing
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import msgspec
from msgspec import Meta, Struct

from farthing.core import ids
from farthing.core.clock import say_time
from farthing.core.durations import Duration, read_duration
from farthing.core.errors import Fault
from farthing.core.expressions import Failure
from farthing.core.fields import AnnotationKey, AnnotationValue, Tag
from farthing.core.machine import Machine, O, T, row
from farthing.core.rows import ObjectRow
from farthing.core.wire import ObjectView, Request
from farthing.resources.alerts.model import AlertKind

RuleState = Literal["ENABLED", "DISABLED", "DELETED"]
Trigger = Literal[
    "account.create",
    "account.transition",
    "bank_account.create",
    "bank_account.transition",
    "card.create",
    "card.transition",
    "customer.create",
    "customer.transition",
    "reference.create",
    "reference.transition",
    "transaction.create",
    "transaction.transition",
]
Does = Literal["refuse", "hold", "approve", "tag", "annotate", "alert"]

NOUN: Final = "rule"
TRIGGERS: Final[tuple[str, ...]] = typing.get_args(Trigger)
# What can be kept from going on, and what can wait until somebody approves of it.
CAN_BE_HELD: Final = frozenset({"transaction.create", "transaction.transition"})
CAN_WAIT: Final = CAN_BE_HELD | {"bank_account.create", "card.create", "customer.create"}

MOST_ENABLED: Final = 200
MOST_ACTIONS: Final = 10
# How long somebody has to approve, if the rule does not say it.
USUAL_PATIENCE: Final = timedelta(days=7)
_LONGEST_PATIENCE: Final = timedelta(days=366)

Message = Annotated[str, Meta(min_length=1, max_length=200)]
Code = Annotated[
    str,
    Meta(
        pattern="^[a-z][a-z0-9_]{0,49}$",
        description="A word of yours that tells this refusal from others.",
        extra={"expected": "a word of at most 50 small letters, digits and underscores"},
    ),
]


class Action(Request, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that a rule does, and what it says thereby."""

    action: Annotated[Does, Meta(description="What is done where the condition holds.")]
    message: (
        Annotated[Message, Meta(description="With refuse, approve and alert: why, for people.")]
        | None
    ) = None
    code: Code | None = None
    tag: Annotated[Tag, Meta(description="With tag: the tag that is added.")] | None = None
    name: (
        Annotated[AnnotationKey, Meta(description="With annotate: its name, set or replaced.")]
        | None
    ) = None
    value: Annotated[AnnotationValue, Meta(description="With annotate: its value.")] | None = None
    four_eyes: (
        Annotated[bool, Meta(description="With approve: whoever asked cannot approve.")] | None
    ) = None
    expires_in: (
        Annotated[Duration, Meta(description="With approve: how long it waits; P7D if not said.")]
        | None
    ) = None

    @property
    def patience(self) -> timedelta:
        """How long an approval waits."""
        return USUAL_PATIENCE if self.expires_in is None else read_duration(self.expires_in)


# What each action must say, and what it may.
SAYS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "refuse": (("message",), ("code",)),
    "hold": ((), ()),
    "approve": ((), ("message", "four_eyes", "expires_in")),
    "tag": (("tag",), ()),
    "annotate": (("name", "value"), ()),
    "alert": (("message",), ()),
}


class Rule(ObjectRow, frozen=True):
    """A rule as it is kept."""

    name: str
    trigger: str
    expression: str
    actions: list[dict[str, Any]]
    priority: int
    dry: bool
    # The version of the tenant's rules since which it has been as it is.
    since: int

    def owner(self) -> UUID:
        """Return the tenant's own customer."""
        return self.tenant_id

    @property
    def does(self) -> list[Action]:
        """What it does where its condition holds."""
        return msgspec.convert(self.actions, list[Action])


class Finding(Struct, frozen=True):
    """What a rule says of an object."""

    rule: Rule
    value: bool | Failure

    @property
    def wanted(self) -> list[Action]:
        """What the rule does about it, or would do if it is dry."""
        return wanted(self.rule.trigger, self.rule.does, self.value)


class Deed(Struct, frozen=True):
    """One thing that one rule does."""

    rule: Rule
    action: Action
    # Because it could not say whether it wants to.
    failed: bool = False


class Told(Struct, frozen=True):
    """What a rule lets somebody know."""

    kind: AlertKind
    rule: Rule
    message: str


class Plan(Struct, frozen=True):
    """What all rules together want of an object."""

    deeds: tuple[Deed, ...]
    alerts: tuple[Told, ...]

    def first(self, does: Does) -> Deed | None:
        """Return the first deed of a kind."""
        return next((one for one in self.deeds if one.action.action == does), None)

    @property
    def failed(self) -> bool:
        """Whether a rule could not say what it wants."""
        return any(one.failed for one in self.deeds)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that it gets."""
        return tuple(one.action.tag for one in self.deeds if one.action.tag is not None)

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations that it gets."""
        named = [one.action for one in self.deeds if one.action.name is not None]
        return {one.name or "": one.value or "" for one in named}

    @property
    def reason(self) -> str | None:
        """Which rules do what, in words."""
        asked = self.first("approve")
        said = [
            f'The rule "{one.rule.name}" {"failed and " * one.failed}{_DONE[one.action.action]}.'
            for one in self.deeds
            if one.action.action in _DONE and (one.action.action != "approve" or one is asked)
        ]
        return " ".join(said) or None


_DONE: Final = {
    "hold": "held it",
    "approve": "lets it wait for an approval",
    "tag": "gave it a tag",
    "annotate": "annotated it",
    "alert": "raised an alert",
}


def wanted(trigger: str, actions: list[Action], value: bool | Failure) -> list[Action]:  # noqa: FBT001 - a value like any other
    """Return what a rule does about an object, or would do if it is dry.

    One that failed stops it, because it could have been about to.
    """
    if not isinstance(value, Failure):
        return actions if value else []
    if trigger in CAN_BE_HELD:
        return [Action(action="hold")]
    stop: Does = "approve" if trigger in CAN_WAIT else "refuse"
    return [Action(action=stop, message=value.sentence)]


def plan(findings: Sequence[Finding]) -> Plan:
    """Say what comes of what the rules say, in the order of their priority."""
    deeds: list[Deed] = []
    alerts: list[Told] = []
    for one in findings:
        if one.value is False:
            continue
        rule, actions, failed = one.rule, one.wanted, isinstance(one.value, Failure)
        if isinstance(one.value, Failure):
            alerts.append(Told("FAILED", rule, one.value.sentence))
        elif rule.dry:
            would = ", ".join(action.action for action in actions)
            alerts.append(Told("DRY", rule, f"It would have done: {would}."))
        if rule.dry:
            continue
        deeds += [Deed(rule, action, failed) for action in actions]
        told = [action.message or "" for action in actions if action.action == "alert"]
        alerts += [Told("ALERT", rule, message) for message in told]
    return Plan(tuple(deeds), tuple(alerts))


class RuleView(ObjectView, frozen=True, kw_only=True):
    """A rule as the outside sees it."""

    name: str
    on: Trigger
    when: str
    then: list[Action]
    priority: int
    enabled: bool
    dry: bool


def view(rule: Rule) -> RuleView:
    """Show a rule."""
    return RuleView(
        id=ids.say(NOUN, rule.id),
        created_at=say_time(rule.created_at),
        updated_at=say_time(rule.updated_at),
        state_id=rule.state_id,
        tags=rule.tags,
        annotations=rule.annotations,
        name=rule.name,
        on=rule.trigger,  # type: ignore[arg-type]  # the database holds no other
        when=rule.expression,
        then=rule.does,
        priority=rule.priority,
        enabled=rule.state_id == "ENABLED",
        dry=rule.dry,
    )


def action_faults(trigger: str, actions: Sequence[Action]) -> Iterator[Fault]:
    """Say what is wrong with the actions of a rule on this trigger."""
    for place, one in enumerate(actions):
        pointer = f"/then/{place}"
        if one.action == "hold" and trigger not in CAN_BE_HELD:
            yield Fault(f"{pointer}/action", "not_applicable", "Only transactions can be held.")
        if one.action == "approve" and trigger not in CAN_WAIT:
            detail = f"Nothing waits for an approval on {trigger}; use refuse."
            yield Fault(f"{pointer}/action", "not_applicable", detail)
        if one.patience > _LONGEST_PATIENCE or not one.patience:
            detail = "Must be longer than nothing, and at most P366D."
            yield Fault(f"{pointer}/expiresIn", "invalid_value", detail)
        required, optional = SAYS[one.action]
        for field in msgspec.structs.fields(one):
            is_said = field.name != "action" and getattr(one, field.name) is not None
            where = f"{pointer}/{field.encode_name}"
            if is_said and field.name not in (*required, *optional):
                yield Fault(where, "not_applicable", f"Is not for {one.action}.")
            if field.name in required and not is_said:
                yield Fault(where, "required", f"Must be given for {one.action}.")


MACHINE: Final = Machine(
    NOUN,
    typing.get_args(RuleState),
    "ENABLED",
    (
        row("ENABLED", "DISABLED", {T, O}, "The rule is not followed for a while."),
        row("ENABLED", "DELETED", {T, O}, "The rule is gone. This is final."),
        row("DISABLED", "ENABLED", {T, O}, "The rule is followed again."),
        row("DISABLED", "DELETED", {T, O}, "The rule is gone. This is final."),
    ),
)
