"""Writes the namespaces of both clients, one file each, and the class that has them all."""

import inspect
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from farthing.catalog import RESOURCES
from farthing.core.operation import Operation
from tools.client.examples import EXAMPLES
from tools.client.methods import methods_of
from tools.client.places import SYNC, Flavour, Place, namespace_of
from tools.client.speech import Speech

# What fits between the quotes of a docstring.
_LONGEST: Final = 90

Tree = dict[Place, list[Operation]]

_HOMES: Final[dict[str, str]] = {
    one.id: api.__package__ for api, _, _ in RESOURCES for one in api.OPERATIONS
}


@dataclass(frozen=True)
class Part:
    """What one file has of a namespace, and what it extends."""

    place: Place
    operations: list[Operation]
    base: Place | None


def write_namespaces(
    speech: Speech, operations: Iterable[Operation], flavour: Flavour
) -> dict[str, str]:
    """Write one file for each namespace, and one with all of them together."""
    tree: Tree = defaultdict(list)
    for one in operations:
        place = namespace_of(one)[:-1]
        for depth in range(1, len(place)):
            tree[place[:depth]] = tree[place[:depth]]
        tree[place].append(one)
    files = {f"{flavour.folder}/__init__.py": _all(tree, flavour)}
    for place in sorted(tree):
        base: Place | None = None
        for part, few in _parts(place, tree[place]):
            name = f"{flavour.folder}/{'_'.join(part)}.py"
            files[name] = _file(speech, Part(part, few, base), tree, flavour)
            base = part
    return files


def _parts(place: Place, operations: list[Operation]) -> list[tuple[Place, list[Operation]]]:
    """Part a namespace by the packages that its operations are of; its own comes last.

    Each part extends the one before it, so that none is longer than what it is made from.
    """
    homes: dict[str, list[Operation]] = defaultdict(list)
    for one in operations:
        homes[_home(one)].append(one)
    *others, own = sorted(homes, key=lambda home: len(homes[home])) or [""]
    named = [((*place, home.rpartition(".")[2]), homes[home]) for home in others]
    return [*named, (place, homes[own])]


def _class_of(place: Place, flavour: Flavour) -> str:
    words = [word.capitalize() for one in place for word in one.split("_")]
    return f"{flavour.prefix}{''.join(words)}Operations"


def _children(tree: Iterable[Place], place: Place) -> list[Place]:
    return sorted(one for one in tree if one[:-1] == place)


def _links(tree: Iterable[Place], place: Place, flavour: Flavour) -> str:
    """Write the ways from a namespace to those in it."""
    lines = []
    for child in _children(tree, place):
        name = _class_of(child, flavour)
        lines += ["    @cached_property", f"    def {child[-1]}(self) -> {name}:"]
        lines += [f'        """Operations on {_spoken(child)}."""']
        lines += [f"        return {name}(self._driver)\n"]
    return "\n".join(lines)


def _spoken(place: Place) -> str:
    words = place[-1].replace("_", " ")
    return f"{words} in the sandbox" if place[0] == "sandbox" and len(place) > 1 else words


def _imports_of(children: Iterable[Place], flavour: Flavour) -> str:
    return "\n".join(
        f"from farthing.client.{flavour.folder}.{'_'.join(one)} import {_class_of(one, flavour)}"
        for one in children
    )


def _all(tree: Iterable[Place], flavour: Flavour) -> str:
    return (
        '"""Every operation of the service, by noun."""\n\n'
        "from functools import cached_property\n\n"
        f"from farthing.client._driving import {flavour.prefix}Driver\n"
        f"{_imports_of(_children(tree, ()), flavour)}\n\n\n"
        f"class {flavour.prefix}Operations:\n"
        '    """Every operation of the service, by noun."""\n\n'
        f"    def __init__(self, driver: {flavour.prefix}Driver) -> None:\n"
        "        self._driver = driver\n\n"
        f"{_links(tree, (), flavour)}"
    )


def _file(speech: Speech, part: Part, tree: Tree, flavour: Flavour) -> str:
    place = part.place
    body = "\n\n".join(
        method for one in part.operations for method in methods_of(speech, one, flavour)
    )
    base = f"{flavour.prefix}Namespace" if part.base is None else _class_of(part.base, flavour)
    bases = [] if part.base is None else [part.base]
    listing, stream = f"{flavour.prefix}Listing", f"{flavour.prefix}EventStream"
    head = f'''"""Operations on {_spoken(place)}."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import {flavour.prefix}Namespace
from farthing.client._reading import {stream}, {listing}
from farthing.client.models import {", ".join(sorted({*speech.models, *speech.words}))}
{_imports_of([*bases, *_children(tree, place)], flavour)}
'''
    return (
        f"{head}\n\nclass {_class_of(place, flavour)}({base}):\n"
        f"{_class_docstring(part, flavour)}\n\n"
        f"{_links(tree, place, flavour)}\n{body}\n"
    )


def _class_docstring(part: Part, flavour: Flavour) -> str:
    place = part.place
    sentence = f"Operations on {_spoken(place)}."
    home = next((_home(one) for one in part.operations), "")
    if home in sys.modules and len(place) == 1:
        told = inspect.cleandoc(sys.modules[home].__doc__ or sentence).split("\n\n")[0]
        sentence = told if len(told) <= _LONGEST else sentence
    # The examples run as tests, and a test can only wait.
    example = EXAMPLES.get(".".join(place), "") if flavour is SYNC else ""
    if not example:
        return f'    """{sentence}"""'
    told = textwrap.indent(example.strip(), "    ")
    return f'    """{sentence}\n\n{told}\n    """'


def _home(operation: Operation) -> str:
    """Return the package of the noun that an operation is of."""
    return _HOMES.get(operation.id, "service")
