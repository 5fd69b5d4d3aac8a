"""How rules are spoken of on the wire."""

from typing import Annotated, Final

from msgspec import Meta

from farthing.core import errors
from farthing.core.expressions.limits import MOST_CHARACTERS
from farthing.core.fields import Annotations, Tags
from farthing.core.operation import KEY_ONLY, Operation
from farthing.core.wire import ListQuery, Page, Request
from farthing.db.patterns import reading
from farthing.resources.rules import actions
from farthing.resources.rules.model import MOST_ACTIONS, NOUN, Action, RuleState, RuleView, Trigger
from farthing.resources.rules.store import RULES

PATH: Final = "/v1/rules"
ONE: Final = "/v1/rules/{id}"
# No control characters but tabs and ends of lines.
LINES_PATTERN: Final = r"^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*$"

Name = Annotated[str, Meta(min_length=1, max_length=100)]
When = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MOST_CHARACTERS,
        pattern=LINES_PATTERN,
        description="The condition, an expression in CEL.",
        examples=['object.flow == "OUTBOUND" && object.amount < 1000'],
        extra={"lines": True},
    ),
]
Then = Annotated[
    list[Action],
    Meta(
        min_length=1,
        max_length=MOST_ACTIONS,
        description="What is done where the condition holds, one after the other.",
    ),
]
Priority = Annotated[
    int, Meta(ge=0, le=1_000_000, description="Rules with a lower number come first.")
]


class CreateRule(Request, frozen=True, kw_only=True):
    """A new rule."""

    name: Name
    on: Annotated[Trigger, Meta(description="The occasion on which the rule is asked.")]
    when: When
    then: Then
    priority: Priority = 100
    enabled: bool = True
    dry: Annotated[
        bool, Meta(description="Only raise an alert that says what the rule would do.")
    ] = False
    tags: Tags | None = None
    annotations: Annotations | None = None


class UpdateRule(Request, frozen=True, kw_only=True):
    """What is to change; a field that is left out stays as it is."""

    name: Name | None = None
    on: Trigger | None = None
    when: When | None = None
    then: Then | None = None
    priority: Priority | None = None
    enabled: bool | None = None
    dry: bool | None = None
    tags: Tags | None = None
    annotations: Annotations | None = None


class RuleQuery(ListQuery, frozen=True, kw_only=True):
    """Which rules to list."""

    state_id: RuleState | None = None


class RulePage(Page, frozen=True, kw_only=True):
    """One page of rules."""

    results: list[RuleView]


OPERATIONS: Final = (
    Operation(
        id="rules.create",
        method="POST",
        path=PATH,
        summary="Create a rule, which holds from the next request on",
        who=KEY_ONLY,
        command=actions.create,
        status=201,
        body=CreateRule,
        answer=RuleView,
        raises=(errors.TooManyRules,),
        body_example={
            "name": "No payouts below 10 pounds",
            "on": "transaction.create",
            "when": 'object.flow == "OUTBOUND" && object.amount < 1000',
            "then": [
                {
                    "action": "refuse",
                    "message": "Payouts begin at 10 pounds.",
                    "code": "payout_too_small",
                }
            ],
        },
    ),
    Operation(
        id="rules.update",
        method="PATCH",
        path=ONE,
        summary="Update a rule, enable or disable it",
        who=KEY_ONLY,
        command=actions.update,
        noun=NOUN,
        body=UpdateRule,
        answer=RuleView,
        raises=(errors.TooManyRules, errors.TransitionNotAllowed),
        body_example={"dry": True},
    ),
    Operation(
        id="rules.delete",
        method="DELETE",
        path=ONE,
        summary="Delete a rule; what it did remains",
        who=KEY_ONLY,
        command=actions.delete,
        noun=NOUN,
        answer=RuleView,
        raises=(errors.TransitionNotAllowed,),
    ),
    *reading(RULES, path=PATH, who=KEY_ONLY, query=RuleQuery, page=RulePage, view=RuleView),
)
