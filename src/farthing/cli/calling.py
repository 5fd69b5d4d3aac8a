"""One call of an operation: it is asked, awaited and shown."""

import sys
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import msgspec
import typer

from farthing.cli import amounts, shown
from farthing.cli.asking import Typed, ask_of
from farthing.cli.connection import Caller, Reach, connect
from farthing.cli.exits import Exit, Failure
from farthing.cli.failures import told
from farthing.cli.table import Command, commands
from farthing.client import _operations
from farthing.client._asks import Ask, Operation
from farthing.client.errors import FarthingError

# These can show the accounts of transactions, which know the currency.
_WITH_ACCOUNTS: Final = frozenset({"tx.list", "tx.get"})
_LARGEST_PAGE: Final = 100


def call(command: Command, typed: Typed) -> None:
    """Call the operation and show what it answers; a failure says what to do next."""
    operation: Operation = getattr(_operations, command.constant)
    with _caller(operation, typed.reach) as caller:
        if typed.test_card is not None and not caller.is_sandbox:
            raise Failure("--test-card is for the sandbox, and this is a live key.", Exit.USAGE)
        ask = ask_of(command, operation, typed)
        if command.destroys and not typed.is_sure:
            _make_sure(command, ask)
        with told(command, caller, as_json=typed.as_json):
            if typed.rehearses:
                _rehearse(caller, command, ask, typed)
            elif command.is_stream:
                _follow(caller, ask, as_json=typed.as_json)
            elif command.is_listing:
                _list(caller, command, ask, typed)
            else:
                _show(caller, command, ask, is_raw=typed.as_json or typed.format is not None)


def _show(caller: Caller, command: Command, ask: Ask, *, is_raw: bool) -> None:
    if is_raw:
        present(wait_for(caller, ask))
        return
    answer = msgspec.json.decode(wait_for(caller, _with_accounts(command, ask)))
    answer = amounts.spelt(answer, _currency(caller, answer))
    if command.id in _WITH_ACCOUNTS and "accounts" not in ask.query.get("include", ""):
        answer.pop("accounts", None)
    shown.show(answer)
    if answer.get("complete") is False:
        shown.say(
            "Something is left to do on the way. Give the same command again with the time `to`."
        )


def _list(caller: Caller, command: Command, ask: Ask, typed: Typed) -> None:
    """Show a page, or one page after the other as they come."""
    if typed.every_page:
        ask = replace(ask, query={"limit": _LARGEST_PAGE, **ask.query})
    pages = shown.Pages()
    while True:
        answer = wait_for(caller, ask if typed.as_json else _with_accounts(command, ask))
        page = msgspec.json.decode(answer)
        if typed.as_json:
            present(answer)
        else:
            pages.show(amounts.spelt(page["results"]))
        cursor = page.get("nextCursor")
        if not cursor or not page.get("hasMore", True):
            return
        if not typed.every_page:
            if not typed.as_json:
                shown.say(f"There are more: --all, or --cursor {cursor}")
            return
        ask = replace(ask, query={**ask.query, "cursor": cursor})


def present(answer: bytes) -> None:
    """Print an answer exactly as it came, for machines."""
    sys.stdout.write(answer.decode().rstrip("\n") + "\n")
    sys.stdout.flush()


def wait_for(caller: Caller, ask: Ask) -> bytes:
    """Call an operation and return its answer as it came."""
    with shown.waiting("Waiting for the service."):
        return caller.ask(ask)


def _with_accounts(command: Command, ask: Ask) -> Ask:
    if command.id not in _WITH_ACCOUNTS:
        return ask
    wanted = [one for one in (ask.query.get("include"), "accounts") if one]
    return replace(ask, query={**ask.query, "include": ",".join(wanted)})


def _currency(caller: Caller, answer: Any) -> str | None:
    """Return the currency of an answer; that of a transaction is known by its accounts."""
    inner = answer.get("object")
    found = inner if isinstance(inner, dict) else answer
    named = amounts.currency_in(found)
    if named is None and str(found.get("id")).startswith("transaction/"):
        ask = Ask(_operations.TRANSACTIONS_GET, found["id"], {"include": "accounts"})
        # An amount in the smallest unit is better than a failure after it was done.
        with suppress(FarthingError):
            named = amounts.currency_in(msgspec.json.decode(caller.ask(ask)))
    return named


def _make_sure(command: Command, ask: Ask) -> None:
    spoken = " ".join(command.place)
    if not sys.stdin.isatty():
        raise Failure(
            f"`farthing {spoken}` has no way back, so it asks first. Say --yes where nobody can "
            "answer.",
            Exit.USAGE,
        )
    typer.confirm(f"{command.summary} There is no way back for {ask.id}. Go on?", abort=True)


def _caller(operation: Operation, reach: Reach) -> Caller:
    if operation.is_of_house:
        reach = replace(reach, operator=True)
    return connect(reach)


def _follow(caller: Caller, ask: Ask, *, as_json: bool) -> None:
    from farthing.cli.listen import show_event  # noqa: PLC0415 - of this operation alone

    with caller.events.stream(**ask.query) as stream:
        for event in stream:
            show_event(event, as_json=as_json)


def _rehearse(caller: Caller, command: Command, ask: Ask, typed: Typed) -> None:
    """Tell whether a move is possible where the service has no rehearsal of its own for it."""
    target = None if ask.body is None else ask.body.get("toStateId")
    if target is None:
        raise Failure("Say with --to where it is to go.", Exit.USAGE)
    reading = commands()[command.id.replace(".move", ".transitions")]
    answer = wait_for(caller, Ask(getattr(_operations, reading.constant), ask.id))
    found = msgspec.json.decode(answer)
    why = {one["toStateId"]: one["why"] for one in found["possible"]}
    if typed.as_json:
        present(answer)
    elif target in why:
        typer.echo(f"{found['stateId']} -> {target}: {why[target]} Nothing was changed.")
    if target not in why:
        possible = ", ".join(why) or "nowhere"
        raise Failure(
            f"It is {found['stateId']} and cannot go to {target}. From here it can go to: "
            f"{possible}. Nothing was changed.",
            Exit.CONFLICT,
        )
