"""Writes what the service answers, and what is nested in what it takes, as structs."""

import inspect
import textwrap
import typing
from collections import defaultdict
from collections.abc import Iterable

from msgspec import NODEFAULT, Struct, structs

from farthing.catalog import OBJECTS
from farthing.core.operation import Operation
from tools.client.speech import Speech, name_of

_HEAD = """\
from datetime import datetime
from typing import Any, Literal

from msgspec import field

from farthing.client._model import Model, Secret
"""

_OBJECT = '''
    @property
    def object(self) -> Object | None:
        """The object that it happened to, as it was right after; None for one of a later kind."""
        kind = OBJECTS.get(self.object_id.partition("/")[0])
        try:
            return None if kind is None else msgspec.convert(self.data, kind)
        except msgspec.ValidationError:
            return None
'''


def write_models(speech: Speech, operations: Iterable[Operation]) -> dict[str, str]:
    """Write the models that the methods speak of, and those that these are made of."""
    secret = {one.answer for one in operations if one.secret}
    objects = {noun: speech.model(table.shown) for noun, table in OBJECTS.items()}
    bodies: dict[str, str] = {}
    while waiting := [kind for name, kind in speech.models.items() if name not in bodies]:
        for kind in waiting:
            bodies[name_of(kind)] = _model(speech, kind, "Secret" if kind in secret else "Model")
    if clash := {*speech.words} & {*speech.models}:
        raise TypeError(f"models and lists of words are called {clash}")
    places: dict[str, list[str]] = defaultdict(list)
    for name, kind in speech.models.items():
        places[_place(kind)].append(name)
    files = {
        f"models/{place}.py": _file(place, sorted(names), speech, bodies)
        for place, names in places.items()
    }
    files["models/words.py"] = _words(speech)
    files["models/objects.py"] = _objects(speech, objects)
    files["models/__init__.py"] = _init(speech, places)
    return files


def _place(kind: type[Struct]) -> str:
    """Return the file of a model: the noun it is of, or `common`."""
    parts = kind.__module__.split(".")
    if parts[1] == "resources":
        return parts[2]
    return "service" if parts[1] == "http" else "common"


def _model(speech: Speech, kind: type[Struct], base: str) -> str:
    hints = typing.get_type_hints(kind, include_extras=True)
    lines = [f"class {name_of(kind)}({base}, frozen=True, kw_only=True):"]
    lines.append(_docstring(kind) + "\n")
    for one in structs.fields(kind):
        said = speech.say(hints[one.name], kind, is_argument=False)
        usual = _camel(one.name) == one.encode_name
        default = "" if one.required else repr(one.default)
        if one.default_factory is not NODEFAULT:
            default = f"field(default_factory={one.default_factory.__name__})"
        if not usual:
            more = f", default={default}" if default else ""
            default = f"field(name={one.encode_name!r}{more})"
        lines.append(f"    {one.name}: {said}" + (f" = {default}" if default else ""))
    if kind.__name__ == "EventView":
        lines.append(_OBJECT)
    return "\n".join(lines)


def _docstring(kind: type[Struct]) -> str:
    told = inspect.cleandoc(kind.__doc__ or "")
    end = "\n" if "\n" in told else ""
    return textwrap.indent(f'"""{told}{end}"""', "    ")


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _file(place: str, names: list[str], speech: Speech, bodies: dict[str, str]) -> str:
    """Write one file, each model after those that it is made of."""
    written: list[str] = []

    def add(name: str) -> None:
        if name in written:
            return
        for other in names:
            if other != name and _mentions(bodies[name], other):
                add(other)
        written.append(name)

    for name in names:
        add(name)
    text = "\n\n".join(bodies[name] for name in written)
    imports = [_HEAD]
    for other, kind in speech.models.items():
        if _place(kind) != place and _mentions(text, other):
            imports.append(f"from farthing.client.models.{_place(kind)} import {other}")
    if "OBJECTS" in text:
        imports.append("import msgspec")
        imports.append("from farthing.client.models.objects import OBJECTS, Object")
    imports += [f"from farthing.client.models.words import {word}" for word in speech.words]
    return f'"""Models of {place.replace("_", " ")}."""\n\n' + "\n".join(imports) + f"\n\n{text}\n"


def _mentions(text: str, name: str) -> bool:
    # Only in an annotation: the docstrings are prose.
    return any(
        name in line.replace("[", " ").replace("]", " ").replace(",", " ").split()
        for line in text.splitlines()
        if line.startswith("    ") and ":" in line and '"""' not in line
    )


def _words(speech: Speech) -> str:
    lines = ['"""Lists of words that have a name."""\n', "from typing import Literal\n"]
    lines += [
        f"{name} = Literal[{', '.join(repr(one) for one in values)}]"
        for name, values in sorted(speech.words.items())
    ]
    return "\n".join(lines) + "\n"


def _objects(speech: Speech, objects: dict[str, str]) -> str:
    lines = ['"""What an event can have happened to, by noun."""\n', "from typing import Final\n"]
    lines += [
        f"from farthing.client.models.{_place(speech.models[name])} import {name}"
        for name in objects.values()
    ]
    lines.append(f"\nObject = {' | '.join(objects.values())}\n")
    pairs = ", ".join(f"{noun!r}: {name}" for noun, name in objects.items())
    lines.append(f"OBJECTS: Final[dict[str, type[Object]]] = {{{pairs}}}")
    return "\n".join(lines) + "\n"


def _init(speech: Speech, places: dict[str, list[str]]) -> str:
    lines = ['"""What the service answers, and what is nested in what it takes."""\n']
    for place, names in sorted(places.items()):
        lines.append(f"from farthing.client.models.{place} import {', '.join(sorted(names))}")
    lines.append("from farthing.client.models.objects import Object")
    lines.append(f"from farthing.client.models.words import {', '.join(sorted(speech.words))}")
    listed = ", ".join(repr(one) for one in sorted({*speech.models, *speech.words, "Object"}))
    return "\n".join(lines) + f"\n\n__all__ = [{listed}]\n"
