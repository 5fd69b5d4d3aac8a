"""One operation on the page: what it takes, what it answers, what can go wrong, how to call it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from farthing.http.docs import samples
from farthing.http.docs.fields import Reader
from farthing.http.docs.html import Html, element, inline, join

Described = Mapping[str, Any]

_CREATED: Final = "201"
_SHORT: Final = 8


def article(method: str, path: str, operation: Described, document: Described) -> Html:
    """Show one operation."""
    reader = Reader(document["components"]["schemas"])
    whole = {**operation, "parameters": list(_parameters(operation, document))}
    left = element("div", *_facts(whole, reader, document), class_="facts")
    right = element("div", *_samples(method, path, whole), class_="samples")
    return element(
        "article",
        _heading(method, path, operation),
        element("div", left, right, class_="columns"),
        id=operation["operationId"],
        class_="operation",
    )


def badge(method: str) -> Html:
    """Show a method in its colour."""
    return element("span", method, class_=f"method {method.lower()}")


def _heading(method: str, path: str, operation: Described) -> Html:
    name = operation["operationId"]
    anchor = element("a", "#", href=f"#{name}", class_="anchor", aria_label="Link to this")
    address = element("p", badge(method), " ", element("code", path), class_="address")
    return element("header", element("h3", operation["summary"], " ", anchor), address)


def _parameters(operation: Described, document: Described) -> Iterator[Described]:
    for one in operation["parameters"]:
        name = one.get("$ref", "").rpartition("/")[2]
        yield document["components"]["parameters"][name] if name else one


def _facts(operation: Described, reader: Reader, document: Described) -> Iterator[Html]:
    yield _who(operation, document)
    for paragraph in operation["description"].split("\n\n")[1:]:
        # The machine's table has a place of its own, beside its picture.
        if not paragraph.startswith("|"):
            yield element("p", inline(paragraph))
    yield from _inputs(operation, reader)
    yield from _answer(operation, reader)
    yield _errors(operation)


def _who(operation: Described, document: Described) -> Html:
    schemes = document["components"]["securitySchemes"]
    names = [name for one in operation["security"] for name in one]
    chips = [
        element("a", schemes[name]["description"].partition(".")[0], href=f"#credential-{name}")
        for name in names
    ]
    return element("p", "Open to ", *(chips or [element("b", "anyone")]), class_="who")


def _inputs(operation: Described, reader: Reader) -> Iterator[Html]:
    named = [one for one in operation["parameters"] if one["in"] != "header"]
    if named:
        yield element("h4", "Parameters")
        yield reader.rows((one["name"], one["in"], described(one)) for one in named)
    headers = [one["name"] for one in operation["parameters"] if one["in"] == "header"]
    chips = [element("a", name, href="#headers") for name in headers]
    yield join([element("h4", "Headers"), element("p", *chips, class_="chips")])
    if "requestBody" in operation:
        yield element("h4", "Body")
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        yield reader.table(body, required="required")


def described(parameter: Described) -> dict[str, Any]:
    """Return the schema of a parameter together with the words for it."""
    return {**parameter["schema"], "description": parameter.get("description", "")}


def _answer(operation: Described, reader: Reader) -> Iterator[Html]:
    status, answer = next(iter(operation["responses"].items()))
    yield element("h4", "Answer ", element("span", status, class_="status good"))
    content = answer.get("content", {})
    media = content.get("application/json")
    if media is None:
        for name, one in content.items():
            yield element("p", element("code", name), ": ", inline(one["schema"]["description"]))
        return
    # An operation whose query can ask for something else has two answers.
    for schema in media["schema"].get("anyOf", [media["schema"]]):
        sentence = reader.resolve(schema).get("description", "")
        count = sum(1 for _ in reader.fields(schema))
        summary = element("summary", inline(sentence), " ", element("small", f"{count} fields"))
        # A long table that another operation of the section shows already stays folded.
        unfolded = {"open": ""} if status == _CREATED or count <= _SHORT else {}
        yield element("details", summary, reader.table(schema, optional="optional"), **unfolded)
    yield from _other_formats(content)


def _other_formats(content: Described) -> Iterator[Html]:
    others = {name: media for name, media in content.items() if name != "application/json"}
    for name, media in others.items():
        accept = element("code", f"Accept: {name}")
        yield element("p", "With ", accept, ": ", inline(media["schema"]["description"]))


def _errors(operation: Described) -> Html:
    chips = [
        element("a", element("b", status), " ", code, href=f"#error-{code}")
        for status, code in codes(operation)
    ]
    return join([element("h4", "Errors"), element("p", *chips, class_="chips")])


def codes(operation: Described) -> Iterator[tuple[str, str]]:
    """Yield the status and the code of every problem that an operation declares."""
    for status, answer in operation["responses"].items():
        media = answer.get("content", {}).get("application/problem+json")
        if media is not None:
            for code in media["schema"]["allOf"][1]["properties"]["code"]["enum"]:
                yield status, code


def _samples(method: str, path: str, operation: Described) -> Iterator[Html]:
    yield _sample("Request", samples.curl(method, path, operation))
    status, answer = next(iter(operation["responses"].items()))
    media = answer.get("content", {}).get("application/json", {})
    if "example" in media:
        yield _sample(f"Answer {status}", samples.pretty(media["example"]))


def _sample(title: str, text: str) -> Html:
    code = element("code", samples.coloured(text))
    return element("figure", element("figcaption", title), element("pre", code, tabindex="0"))
