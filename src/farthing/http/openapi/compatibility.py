"""What would break a caller: the differences between two documents that take something away.

A request breaks when something that was accepted no longer is; an answer breaks when something
can come back that could not before, or something that was promised is gone. Both are the same
question, asked in opposite directions: does every value of one schema fit the other?
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

Schema = Mapping[str, Any]

_LEAST: Final = ("minLength", "minimum", "exclusiveMinimum", "minItems", "minProperties")
_MOST: Final = ("maxLength", "maximum", "exclusiveMaximum", "maxItems", "maxProperties")
_SAME: Final = ("pattern", "format", "multipleOf", "uniqueItems")
_ANY_TYPE: Final = frozenset(
    {"array", "boolean", "integer", "null", "number", "object", "string"},
)


def breaking(old: Schema, new: Schema) -> list[str]:
    """List, in sentences, what of the new document breaks a caller of the old one."""
    found = list(_moved_codes(old, new))
    for path, method, before in _operations(old):
        name = f"{method.upper()} {path}"
        after = new["paths"].get(path, {}).get(method)
        if after is None:
            found.append(f"{name} is gone")
        else:
            found += (f"{name}: {one}" for one in _Pair(old, new, before, after).breaks())
    return found


def _operations(document: Schema) -> Iterator[tuple[str, str, Schema]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def _moved_codes(old: Schema, new: Schema) -> Iterator[str]:
    before, after = _statuses(old), _statuses(new)
    for code in sorted(before.keys() & after.keys()):
        if before[code] != after[code]:
            yield f"the error {code} moved from {before[code]} to {after[code]}"


def _statuses(document: Schema) -> dict[str, str]:
    return {
        code: status
        for _, _, operation in _operations(document)
        for status, response in operation["responses"].items()
        for part in _content(response, "application/problem+json").get("allOf", ())
        for code in part.get("properties", {}).get("code", {}).get("enum", ())
    }


def _content(described: Schema, media_type: str = "application/json") -> Schema:
    content: Schema = described.get("content", {}).get(media_type, {}).get("schema", {})
    return content


@dataclass(frozen=True)
class _Pair:
    """One operation, as it was and as it is."""

    old: Schema
    new: Schema
    before: Schema
    after: Schema

    def breaks(self) -> Iterator[str]:
        if self.before.get("operationId") != self.after.get("operationId"):
            yield "the operationId changed"
        yield from self._credentials()
        yield from self._parameters()
        yield from self._body()
        yield from self._answers()

    def _credentials(self) -> Iterator[str]:
        before, after = self.before.get("security", []), self.after.get("security", [])
        if not before and after:
            yield "it now needs a credential"
        if after:
            lost = [name for one in before for name in one if one not in after]
            yield from (f"it no longer takes {name}" for name in lost)

    def _parameters(self) -> Iterator[str]:
        before, after = _parameters(self.old, self.before), _parameters(self.new, self.after)
        sent = _Fit(self.old, self.new)
        for (place, name), one in before.items():
            if (place, name) not in after:
                yield f"the {place} parameter {name} is gone"
                continue
            schema = after[place, name].get("schema", {})
            yield from sent.at(f"{place} parameter {name}").faults(one.get("schema", {}), schema)
        for (place, name), one in after.items():
            if one.get("required") and not before.get((place, name), {}).get("required"):
                yield f"the {place} parameter {name} is now required"

    def _body(self) -> Iterator[str]:
        before, after = self.before.get("requestBody"), self.after.get("requestBody")
        if before is None:
            if after is not None and after.get("required"):
                yield "it now needs a body"
        elif after is None:
            yield "it no longer takes a body"
        else:
            yield from _Fit(self.old, self.new).at("body").faults(_content(before), _content(after))

    def _answers(self) -> Iterator[str]:
        back = _Fit(self.new, self.old, is_answer=True)
        for status, before in self.before["responses"].items():
            if not status.startswith("2"):
                continue
            after = self.after["responses"].get(status)
            if after is None:
                yield f"it no longer answers {status}"
                continue
            gone = before.get("headers", {}).keys() - after.get("headers", {}).keys()
            yield from (f"the answer lost the header {name}" for name in sorted(gone))
            lost = before.get("content", {}).keys() - after.get("content", {}).keys()
            yield from (f"the answer can no longer be had as {name}" for name in sorted(lost))
            yield from back.at("answer").faults(_content(after), _content(before))


def _parameters(document: Schema, operation: Schema) -> dict[tuple[str, str], Schema]:
    known = document.get("components", {}).get("parameters", {})
    listed = [
        known[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        for one in operation.get("parameters", ())
    ]
    return {(one["in"], one["name"]): one for one in listed}


@dataclass(frozen=True)
class _Fit:
    """Does every value of the inner schema fit the outer one? In an answer nothing may vanish."""

    inner_document: Schema
    outer_document: Schema
    is_answer: bool = False
    place: str = ""
    # A type can hold itself; within itself it is not looked at again.
    seen: frozenset[tuple[int, int]] = frozenset()

    def at(self, place: str) -> "_Fit":
        return replace(self, place=f"{self.place}{place}")

    def faults(self, inner: Schema, outer: Schema) -> Iterator[str]:
        inner, outer = _resolve(self.inner_document, inner), _resolve(self.outer_document, outer)
        pair = (id(inner), id(outer))
        if pair not in self.seen:
            yield from replace(self, seen=self.seen | {pair}).compare(inner, outer)

    def compare(self, inner: Schema, outer: Schema) -> Iterator[str]:
        if "anyOf" in inner or "anyOf" in outer:
            yield from self._choices(inner, outer)
            return
        yield from self._types(inner, outer)
        yield from self._values(inner, outer)
        yield from self._bounds(inner, outer)
        yield from self._properties(inner, outer)
        yield from self._parts(inner, outer)

    def _choices(self, inner: Schema, outer: Schema) -> Iterator[str]:
        """Every choice on the inside must have one outside that takes it."""
        for one in _alternatives(inner):
            reasons = [list(self.faults(one, other)) for other in _alternatives(outer)]
            if all(reasons):
                yield min(reasons, key=len)[0]

    def _types(self, inner: Schema, outer: Schema) -> Iterator[str]:
        extra = _types(inner) - _types(outer)
        if "number" in _types(outer):
            extra -= {"integer"}
        if extra:
            verb = "can now be" if self.is_answer else "can no longer be"
            yield f"{self.place} {verb} {', '.join(sorted(extra))}"

    def _values(self, inner: Schema, outer: Schema) -> Iterator[str]:
        allowed = _listed(outer)
        if allowed is None:
            return
        given = _listed(inner)
        verb = "can now be" if self.is_answer else "can no longer be"
        if given is None:
            yield f"{self.place} {verb} something that is not listed"
            return
        extra = [one for one in given if one not in allowed]
        if extra:
            yield f"{self.place} {verb} {', '.join(map(str, extra))}"

    def _bounds(self, inner: Schema, outer: Schema) -> Iterator[str]:
        for name in _LEAST:
            if name in outer and inner.get(name, float("-inf")) < outer[name]:
                yield f"{self.place} has another {name}"
        for name in _MOST:
            if name in outer and inner.get(name, float("inf")) > outer[name]:
                yield f"{self.place} has another {name}"
        if "enum" not in inner:
            changed = [name for name in _SAME if name in outer and inner.get(name) != outer[name]]
            yield from (f"{self.place} has another {name}" for name in changed)

    def _properties(self, inner: Schema, outer: Schema) -> Iterator[str]:
        inside, outside = inner.get("properties", {}), outer.get("properties", {})
        for name in sorted(set(outer.get("required", ())) - set(inner.get("required", ()))):
            verb = "may now be missing" if self.is_answer else "is now required"
            yield f"{self.place}/{name} {verb}"
        gone = outside.keys() - inside.keys() if self.is_answer else set()
        if not self.is_answer and outer.get("additionalProperties") is False:
            gone = inside.keys() - outside.keys()
        yield from (f"{self.place}/{name} is gone" for name in sorted(gone))
        for name in inside.keys() & outside.keys():
            yield from self.at(f"/{name}").faults(inside[name], outside[name])

    def _parts(self, inner: Schema, outer: Schema) -> Iterator[str]:
        if "items" in outer:
            yield from self.at("[]").faults(inner.get("items", {}), outer["items"])
        if "propertyNames" in outer:
            names = inner.get("propertyNames", {})
            yield from self.at(" names").faults(names, outer["propertyNames"])
        inside, outside = inner.get("additionalProperties", {}), outer.get("additionalProperties")
        if isinstance(outside, Mapping) and isinstance(inside, Mapping):
            yield from self.at("/*").faults(inside, outside)
        elif outside is False and inside is not False:
            verb = "can now have" if self.is_answer else "can no longer have"
            yield f"{self.place} {verb} names that are not listed"


def _resolve(document: Schema, schema: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    resolved: Schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return resolved


def _alternatives(schema: Schema) -> list[Schema]:
    """Return what may be chosen from; what stands beside the choices holds for each of them."""
    beside = {name: value for name, value in schema.items() if name != "anyOf"}
    return [_both(beside, one) for one in schema.get("anyOf", [{}])]


def _both(beside: Schema, choice: Schema) -> Schema:
    inside, more = beside.get("properties", {}), choice.get("properties", {})
    properties = {name: {**inside.get(name, {}), **more.get(name, {})} for name in inside | more}
    both = {**beside, **choice}
    return {**both, "properties": properties} if properties else both


def _types(schema: Schema) -> frozenset[str]:
    given = schema.get("type", _ANY_TYPE)
    return frozenset({given}) if isinstance(given, str) else frozenset(given)


def _listed(schema: Schema) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    listed: list[Any] | None = schema.get("enum")
    return listed
