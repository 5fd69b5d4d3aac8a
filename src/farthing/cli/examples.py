"""An example for the help of every command: what it needs, and for some what makes them useful."""

from collections.abc import Iterator
from typing import Final

from farthing.cli.nouns import spoken
from farthing.cli.options import ARGUMENTS, names
from farthing.cli.table import Command, Field

# What stands after the command, where what is needed alone would say too little.
_TOLD: Final[dict[str, str]] = {
    "customers.create": "--type INDIVIDUAL --name Ada --tag vip --annotation plan=gold",
    "customers.update": "--email ada@example.com",
    "customers.list": "--tag vip --all",
    "bank-accounts.create": "--owner customer/... --currency GBP --country-iso GB "
    "--billing-address-country-iso GB --sort-code 200000 --account-number 12345678",
    "bank-accounts.update": "--set-as-preferred",
    "cards.create": "--owner customer/... --country GB --test-card visa",
    "cards.update": "--postal-code 'BA1 1AA'",
    "accounts.update": "--tag savings",
    "accounts.list": "--owner customer/...",
    "accounts.statement": "--from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z --format csv",
    "tx.inbound": "--account account/... --amount 2500 --method card --purpose DEPOSIT",
    "tx.outbound": "--account account/... --amount 2500 --method bankAccount --purpose WITHDRAWAL",
    "tx.internal": "--from-account account/... --to-account account/... --amount 2500 "
    "--purpose PURCHASE --target HELD",
    "tx.update": "--annotation order=17",
    "tx.list": "--state FAILED --all",
    "tx.get": "--include entries",
    "tx.move": "--to ADJUSTED --adjust 1000 --dry-run",
    "references.update": "--tag rent",
    "approvals.list": "--state PENDING",
    "approvals.reject": "--reason 'Not ours'",
    "events.list": "--type 'transaction.*' --from 2026-01-31T12:00:00Z",
    "events.stream": "--type 'transaction.*,card.created'",
    "clock.advance": "P3D",
    "sandbox.tx.dispute": "--amount 500",
    "sandbox.tx.lose": "--amount 500",
    "sandbox.rail": "--mood slow --seconds 5",
    "webhooks.create": "--url https://example.com/hook --event 'transaction.*'",
    "webhooks.update": "--event 'transaction.*' --event card.created",
    "webhooks.deliveries": "--status failed",
    "webhooks.resend": "--since 2026-01-31T12:00:00Z",
    "rules.update": "--no-enabled",
    "rules.test": "--on transaction.create --object-id transaction/...",
}
_VALUES: Final[dict[str, str]] = {
    "ownerId": "customer/...",
    "toId": "account/...",
    "snapshotId": "snapshot/...",
    "currencyISO": "GBP",
    "amount": "2500",
    "reference": "FARTHING-1",
    "name": "'My marketplace'",
    "from": "2026-01-01T00:00:00Z",
    "to": "2026-02-01T00:00:00Z",
    "when": "'object.amount > 100000'",
}
# Steps that one takes most often, if the noun has them.
_STATES: Final = ("EFFECTED", "DISABLED")


def example(command: Command, place: tuple[str, ...] | None = None) -> str:
    """Return a line that somebody could type."""
    words = ["farthing", *(place or command.place)]
    if command.noun:
        words.append(f"{spoken(command.noun)}/...")
    words.extend([_TOLD[command.id]] if command.id in _TOLD else _needed(command))
    return " ".join(words)


def _needed(command: Command) -> Iterator[str]:
    named = names(command)
    for field in command.fields:
        if field.is_required and ARGUMENTS.get(command.id) != field.place[-1]:
            yield named[field][0] if field.kind == "flag" else f"{named[field][0]} {_value(field)}"


def _value(field: Field) -> str:
    if field.choices:
        return next((one for one in _STATES if one in field.choices), field.choices[0])
    return _VALUES.get(field.place[-1], "...")
