"""What went wrong with a call, in words for a terminal: what, where, and what to do next."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from farthing.cli import options
from farthing.cli.connection import Caller
from farthing.cli.exits import Exit, Failure
from farthing.cli.table import Command
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

# What to do next, by code; `{group}` is the noun of the command.
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
    Exit.NOT_FOUND: "`farthing {group} list` shows what there is.",
    Exit.CONFLICT: "Look at the object with `get` and at its possible steps with `transitions`.",
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
        following = "Start one with `farthing up`, or say" if caller.is_sandbox else "Say"
        raise Failure(
            f"Nothing answers at {caller.base_url}. {following} where it is in "
            f"FARTHING_SANDBOX_URL or FARTHING_LIVE_URL. ({error})",
            Exit.UNAVAILABLE,
        ) from None
    except FarthingError as error:
        raise Failure(f"{error} Is {caller.base_url} a Farthing?", Exit.UNEXPECTED) from None
    except ValueError as error:
        # The client refuses an identifier before it sends anything.
        raise Failure(str(error), Exit.USAGE) from None


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
    named = {field.pointer: said[0] for field, said in options.names(command).items()}
    for fault in problem.errors:
        yield f"  {named.get(fault.pointer, fault.pointer)}: {fault.detail}"
    if problem.current_state_id is not None:
        yield f"  It is {problem.current_state_id}."
    if problem.allowed_state_ids is not None:
        possible = ", ".join(problem.allowed_state_ids) or "nowhere"
        yield f"  From here it can go to: {possible}."
    following = _NEXT.get(problem.code, _NEXT_BY_EXIT[code])
    spoken = " ".join(command.place)
    yield f"Next: {following.format(group=command.place[0], command=spoken)}"
    yield f"Request {problem.request_id}."
