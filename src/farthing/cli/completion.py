"""Completion: the objects that were made last, and the states that one can go to."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from farthing.cli.nouns import namespace, namespaces, spoken

if TYPE_CHECKING:
    from farthing.cli.connection import Caller

# Whoever presses a key does not wait.
_SECONDS: Final = 2.0
_MOST: Final = 20


def recent(
    nouns: Iterable[str], given: Mapping[str, Any], incomplete: str, *, in_path: bool = True
) -> list[tuple[str, str]]:
    """Return identifiers of nouns, each with a word about it; nothing if nobody can be asked."""
    said = {one: spoken(one) if in_path else one for one in nouns if one in namespaces()}
    # Whoever has typed a noun wants nothing of the others.
    begun = {one: word for one, word in said.items() if _may_become(word, incomplete)}
    try:
        return [one for one in _ask(begun, given) if one[0].startswith(incomplete)]
    except Exception:  # noqa: BLE001 - a completion that fails is one that has nothing to offer
        return []


def possible(
    choices: Iterable[str], given: Mapping[str, Any], incomplete: str
) -> list[tuple[str, str]]:
    """Return the states that an object can go to now, each with what that means."""
    found = [(one, "") for one in choices]
    # Whoever cannot be asked leaves every state possible.
    with suppress(Exception):
        found = _ask_possible(str(given["id"]), given)
    return [one for one in found if one[0].startswith(incomplete)]


def _may_become(word: str, incomplete: str) -> bool:
    return f"{word}/".startswith(incomplete) or incomplete.startswith(f"{word}/")


def _caller(given: Mapping[str, Any]) -> "Caller":
    from farthing.cli.connection import Reach, connect  # noqa: PLC0415 - no help needs the client
    from farthing.client import Retries  # noqa: PLC0415 - the same

    named = {name: given.get(name) for name in ("home", "key_file")}
    reach = Reach(timeout=_SECONDS, may_prompt=False, **named)  # type: ignore[arg-type]  # paths
    return connect(reach, retries=Retries(attempts=1))


def _ask(said: Mapping[str, str], given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    with _caller(given) as caller:
        for noun, word in said.items():
            for one in getattr(caller, namespaces()[noun]).list(limit=_MOST):
                yield f"{word}/{one.id.partition('/')[2]}", _word(one)


def _ask_possible(identifier: str, given: Mapping[str, Any]) -> list[tuple[str, str]]:
    with _caller(given) as caller:
        found = namespace(caller, identifier).transitions(identifier).possible
        return [(one.to_state_id, one.why) for one in found]


def _word(one: object) -> str:
    facts = [getattr(one, name, None) for name in ("state_id", "name", "flow", "amount")]
    return " ".join(str(fact) for fact in facts if fact)
