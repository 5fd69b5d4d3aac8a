"""The sentences of the reference that no type and no table can say."""

from collections.abc import Iterable
from typing import Final

from farthing.core.actors import Actor, Grant
from farthing.http.system import MachineView

INTRODUCTION: Final = """\
Farthing holds customers and their accounts, and moves their money over a double-entry ledger.

**Identifiers** are `<noun>/<uuid>` and go into a path as they are, with the slash plain or as
`%2F`. **Amounts** are strings of digits in the currency's smallest unit, so `"1000"` of GBP is ten
pounds. **Times** are UTC to the millisecond, such as `2026-01-31T12:00:00.000Z`.

**Bodies** are JSON of at most 64 KiB. A null means the same as leaving the field out. A name that
is not in the schema is refused, and every fault of a request is reported at once. **Answers** leave
out what is absent, and may gain fields: ignore those that you do not know.

**Repeating is safe.** Send an `Idempotency-Key` with every write: a repeat with the same key gets
the first answer again, marked `Idempotency-Replayed: true`, and happens only once.

**Errors** are problem documents of RFC 9457. Decide by `code`, which never changes its meaning, and
show `detail` to whoever has to mend the request. Quote the `X-Request-Id` when you ask for help.
"""

# How a credential is called, and what its holder may do.
CREDENTIALS: Final[dict[Grant, tuple[str, str]]] = {
    Grant.API_KEY: (
        "API key",
        "The tenant's own key. It manages customers and issues access tokens; it moves no money.",
    ),
    Grant.CUSTOMER_TOKEN: (
        "Customer's access token",
        "A short-lived token for one customer; everything of anybody else does not exist for it.",
    ),
    Grant.CLIENT_TOKEN: (
        "Client's access token",
        "A short-lived token for the tenant's own customer; it reaches everything of the tenant.",
    ),
    Grant.OPERATOR_KEY: (
        "Operator's key",
        "The key of whoever runs the service. It works in every tenant; see `X-Tenant`.",
    ),
}

LIST_FILTER: Final = (
    "Filter by annotation with `annotation.<name>=<value>`, as often as there are names; an object "
    "must match all filters. Read on with `cursor` until there is no `nextCursor`."
)

SANDBOX_ONLY: Final = "In the sandbox only: in live there is no such address."

PATH_ID: Final = (
    "The identifier, `{noun}/<uuid>`. Its slash may stand in the path plain or percent-encoded as "
    "`%2F`; both name the same object."
)
IDEMPOTENCY_KEY: Final = (
    "Any text of your own that is new for each new request, such as a UUID. A repeat with the same "
    "key and body gets the first answer; another body is refused."
)
REQUEST_ID: Final = (
    "Your own name for this request, which comes back and stands in the log: 8 to 128 letters, "
    "digits, dots, underscores or hyphens. Without one, or with anything else, the service "
    "makes one."
)
TENANT: Final = (
    "With the operator's key only, and then required: the tenant that the request is about. Where "
    "the path names an object, that object's tenant is meant; events are no objects."
)
LAST_EVENT_ID: Final = (
    "The last `id` that a reader of the stream has seen. The stream goes on after it, without a "
    "gap and without a repeat."
)
REQUEST_ID_BACK: Final = "The name under which the log has this request."
REPLAYED: Final = "`true` when this is the answer to an earlier request with the same key."
RATE_LIMIT: Final = (
    "How many requests this credential may make in a window; where there is a limit."
)
RATE_REMAINING: Final = "How many of them are left."
RATE_RESET: Final = "In how many seconds the next window begins."
ENVIRONMENTS: Final = {
    "sandbox": "The sandbox: no real money moves. It takes only credentials of the sandbox.",
    "live": "Live: real money moves. It takes only credentials of live.",
}
RETRY_AFTER: Final = "How many seconds to wait before the next attempt."


def who_may(grants: Iterable[Grant]) -> str:
    """Name the credentials that an operation takes."""
    given = frozenset(grants)
    return ", ".join(name for grant, (name, _) in CREDENTIALS.items() if grant in given) or "anyone"


def actors(who: Iterable[str]) -> str:
    """Name who may take a row of a machine, in a fixed order."""
    given = frozenset(who)
    return ", ".join(actor.value.lower() for actor in Actor if actor.value in given)


def machine_table(machine: MachineView) -> str:
    """Write a machine as a table in Markdown."""
    has_effects = any(step.effect for step in machine.transitions)
    names = ["from", "to", "who may", "what it means", "condition"]
    names += ["what happens to the money"] if has_effects else []
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for step in machine.transitions:
        cells = [step.from_state_id, step.to_state_id, actors(step.who), step.why]
        cells += [step.condition or "", *([step.effect or ""] if has_effects else [])]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
