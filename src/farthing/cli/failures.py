"""What went wrong with a call, in words for a terminal: what, where, and what to do next."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from farthing.cli import numbers, options
from farthing.cli.connection import Caller
from farthing.cli.exits import Exit, Failure
from farthing.cli.nouns import listing, spoken
from farthing.cli.table import Command, Field
from farthing.client.errors import ApiError, ConnectionFailed, FarthingError, Problem

_BY_STATUS: Final[dict[int, Exit]] = {
    401: Exit.NO_ACCESS,
    403: Exit.NO_ACCESS,
    404: Exit.NOT_FOUND,
    409: Exit.CONFLICT,
    429: Exit.UNAVAILABLE,
    503: Exit.UNAVAILABLE,
}
_SERVER: Final = 500

# What to do next, by code; `{group}` is the noun of the command, `{list}` what lists its objects.
_NEXT: Final[dict[str, str]] = {
    "unauthenticated": "Check FARTHING_API_KEY or --key-file; `farthing status` shows who answers.",
    "forbidden": "Use another credential: --as CUSTOMER, --operator, or another key.",
    "insufficient_funds": "`farthing accounts get ACCOUNT` shows what is available.",
    "validation_failed": "`farthing {command} --help` says what each option takes.",
    "idempotency_key_reused": "Leave --idempotency-key out, or give a new one.",
    "too_many_webhooks": "`farthing webhooks list`, then `farthing webhooks delete WEBHOOK`.",
}
_NEXT_BY_EXIT: Final[dict[Exit, str]] = {
    Exit.REFUSED: "`farthing {command} --help` says what it takes.",
    Exit.NO_ACCESS: "Use another key.",
    Exit.NOT_FOUND: "`farthing {list}` shows what there is.",
    Exit.CONFLICT: "`farthing {group} transitions {object}` shows where it can go, and why.",
    Exit.UNAVAILABLE: "Try again in a moment; `farthing status` shows what is not well.",
    Exit.UNEXPECTED: "Look for the request in the log of the service.",
}


@contextmanager
def told(command: Command, caller: Caller, *, as_json: bool = False) -> Iterator[None]:
    """Turn what the client raises into a failure with a sentence, a remedy and an exit code."""
    try:
        yield
    except ApiError as error:
        raise refusal(command, error.problem, as_json=as_json) from None
    except ConnectionFailed as error:
        raise nobody_at(caller.base_url, is_sandbox=caller.is_sandbox, why=f" ({error})") from None
    except FarthingError as error:
        raise Failure(f"{error} Is {caller.base_url} a Farthing?", Exit.UNEXPECTED) from None
    except ValueError as error:
        # The client refuses an identifier before it sends anything.
        raise Failure(str(error), Exit.USAGE) from None


def nobody_at(url: str, *, is_sandbox: bool, why: str = "") -> Failure:
    """Say that no service answers, and how to come to one."""
    following = (
        "Start one with `farthing up`, or say where it is in FARTHING_SANDBOX_URL."
        if is_sandbox
        else "Say where it is in FARTHING_LIVE_URL."
    )
    return Failure(f"Nothing answers at {url}. {following}{why}", Exit.UNAVAILABLE)


def refusal(command: Command, problem: Problem, *, as_json: bool) -> Failure:
    """Say why the service said no."""
    otherwise = Exit.UNEXPECTED if problem.status >= _SERVER else Exit.REFUSED
    code = _BY_STATUS.get(problem.status, otherwise)
    if as_json:
        return Refused(msgspec.json.encode(problem).decode(), code)
    return Failure("\n".join(_lines(command, problem, code)), code)


class Refused(Failure):
    """A problem as the service told it, for machines."""


def _lines(command: Command, problem: Problem, code: Exit) -> Iterator[str]:
    detail = problem.detail if not problem.errors else "Something in the request is wrong."
    yield f"{detail} ({problem.code})"
    named = {one.pointer: _name(command, one, said) for one, said in options.names(command).items()}
    for fault in problem.errors:
        yield f"  {_named(fault.pointer, named)}: {fault.detail}"
    # Some say it themselves.
    if problem.current_state_id is not None and problem.current_state_id not in detail:
        yield f"  It is {problem.current_state_id}."
        if problem.allowed_state_ids:
            yield f"  From here it can go to: {', '.join(problem.allowed_state_ids)}."
    yield f"Next: {_following(command, problem, code)}"
    yield f"Request {problem.request_id}."


def _named(pointer: str, named: dict[str, str]) -> str:
    """Return the option that a fault is about, and where inside of it if it is JSON."""
    # A field of the query is marked by another character than one of the body.
    place = f"/{pointer[1:]}"
    for own, option in named.items():
        if place == own or place.startswith(f"{own}/"):
            return f"{option} {place.removeprefix(own)}".strip()
    return pointer


def _name(command: Command, field: Field, said: tuple[str, ...]) -> str:
    if field.is_secret:
        return numbers.file_option(field)
    is_argument = options.ARGUMENTS.get(command.id) == field.place[-1]
    return field.place[-1].upper() if is_argument else said[0]


def _following(command: Command, problem: Problem, code: Exit) -> str:
    noun = spoken(command.noun)
    # What happens to an object is told by the commands of its noun, wherever it is triggered.
    home = (listing(command.noun) or f"{command.place[0]} list").removesuffix(" list")
    return _NEXT.get(problem.code, _NEXT_BY_EXIT[code]).format(
        group=home,
        list=f"{home} list",
        object=f"{noun}/..." if noun else "...",
        command=" ".join(command.place),
    )
