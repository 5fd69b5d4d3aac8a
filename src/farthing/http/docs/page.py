"""The reference as one page: no script, nothing from elsewhere, everything escaped."""

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from farthing.core.errors import CATALOGUE
from farthing.core.machine import Machine
from farthing.http.docs import diagram
from farthing.http.docs.fields import Reader
from farthing.http.docs.html import Html, element, inline, join, prose, table
from farthing.http.docs.operations import article, badge, codes, described
from farthing.http.openapi import words
from farthing.http.openapi.responses import sentence
from farthing.http.openapi.sections import Section
from farthing.http.system import describe as describe_machine

Document = Mapping[str, Any]
Listed = tuple[str, str, Mapping[str, Any]]

_LEGEND: Final = (
    "An arrow has the colour of the state that it leads to. Dashed: only the platform itself does "
    "this. The dot marks where an object starts, the thick frame where it ends."
)


def render(document: Document, sections: Sequence[Section], style: str) -> str:
    """Render the page."""
    by_section = {one.name: list(_listed(document, one.name)) for one in sections}
    title = f"{document['info']['title']} {document['info']['version']}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} reference"),
        element("style", Html(style)),
    )
    body = element(
        "body",
        element("a", "To the content", href="#content", class_="skip"),
        _side(document, sections, by_section),
        element("main", *_content(document, sections, by_section), id="content"),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _listed(document: Document, section: str) -> Iterator[Listed]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if section in operation["tags"]:
                yield method.upper(), path, operation


def _side(
    document: Document, sections: Sequence[Section], by_section: Mapping[str, list[Listed]]
) -> Html:
    groups = [_group(one, by_section[one.name]) for one in sections]
    start = [("#credentials", "Credentials"), ("#headers", "Headers"), ("#errors", "Errors")]
    general = [_link(target, title) for target, title in start]
    return element(
        "div",
        element("a", document["info"]["title"], href="#content", class_="brand"),
        element("input", type="checkbox", id="menu"),
        element("label", "Contents", for_="menu"),
        element("nav", element("ul", *general), *groups, aria_label="Contents"),
        class_="side",
    )


def _group(section: Section, listed: Sequence[Listed]) -> Html:
    links = [
        _link(f"#{operation['operationId']}", badge(method), element("span", operation["summary"]))
        for method, _, operation in listed
    ]
    if section.machine is not None:
        links.append(_link(f"#states-{section.machine.noun}", "States and transitions"))
    heading = element("a", section.title, href=f"#section-{section.name}")
    return join([element("h2", heading), element("ul", *links)])


def _link(target: str, *words: str) -> Html:
    return element("li", element("a", *words, href=target))


def _content(
    document: Document, sections: Sequence[Section], by_section: Mapping[str, list[Listed]]
) -> Iterator[Html]:
    yield _introduction(document)
    yield _credentials(document)
    yield _headers(document)
    for section in sections:
        yield _section(section, by_section[section.name], document)
    yield _errors(document)


def _introduction(document: Document) -> Html:
    info = document["info"]
    version = element("small", info["version"])
    raw = element("a", "openapi.json", href="/openapi.json")
    return element(
        "section",
        element("h1", info["title"], " ", version),
        element("div", prose(info["description"]), class_="introduction"),
        element("p", "The same as data: ", raw, " (OpenAPI ", document["openapi"], ")."),
        class_="wide",
    )


def _credentials(document: Document) -> Html:
    schemes = document["components"]["securitySchemes"]
    rows = []
    for name, scheme in schemes.items():
        title, _, meaning = scheme["description"].partition(". ")
        rows.append((element("b", title, id=f"credential-{name}"), inline(meaning)))
    return element(
        "section",
        element("h2", "Credentials"),
        element("p", inline("Every credential travels in the header `X-Token`.")),
        table(("credential", "what it is"), rows),
        element(
            "p",
            inline(
                "The examples take the address of the service from `$BASE`, such as "
                "`http://127.0.0.1:4960`, and a credential from `$TOKEN`."
            ),
        ),
        id="credentials",
        class_="wide",
    )


def _headers(document: Document) -> Html:
    reader = Reader(document["components"]["schemas"])
    components = document["components"]
    sent = [(name, described(one)) for name, one in components["parameters"].items()]
    back = [(name, described(one)) for name, one in components["headers"].items()]
    return element(
        "section",
        element("h2", "Headers"),
        element("h4", "In a request"),
        reader.rows((name, "", schema) for name, schema in sent),
        element("h4", "In an answer"),
        reader.rows((name, "", schema) for name, schema in back),
        id="headers",
        class_="wide",
    )


def _section(section: Section, listed: Sequence[Listed], document: Document) -> Html:
    states = [] if section.machine is None else [_states(section, section.machine)]
    return element(
        "section",
        element("h2", section.title),
        element("p", inline(section.sentence), class_="lead"),
        *(article(method, path, operation, document) for method, path, operation in listed),
        *states,
        id=f"section-{section.name}",
    )


def _states(section: Section, machine: Machine) -> Html:
    rows = [
        (
            element("code", step.from_state_id),
            element("code", step.to_state_id),
            words.actors(step.who),
            inline(" ".join(filter(None, (step.why, step.condition, step.effect)))),
        )
        for step in describe_machine(machine).transitions
    ]
    return element(
        "article",
        element("h3", f"States of {section.title.lower()}"),
        element(
            "div",
            element(
                "figure", diagram.draw(machine), element("figcaption", _LEGEND), class_="picture"
            ),
            table(("from", "to", "who may", "what it means"), rows),
            class_="states",
        ),
        id=f"states-{machine.noun}",
    )


def _errors(document: Document) -> Html:
    raised = _raised(document)
    entries = [_error(code, raised.get(code, [])) for code in CATALOGUE]
    return element(
        "section",
        element("h2", "Errors"),
        element("p", inline("The `type` of a problem leads to its place here."), class_="lead"),
        *entries,
        id="errors",
        class_="wide",
    )


def _raised(document: Document) -> dict[str, list[str]]:
    """Collect by code the operations that declare it."""
    found: dict[str, list[str]] = {}
    for item in document["paths"].values():
        for operation in item.values():
            for _, code in codes(operation):
                found.setdefault(code, []).append(operation["operationId"])
    return found


def _error(code: str, operations: Sequence[str]) -> Html:
    problem = CATALOGUE[code]
    status = element("span", str(problem.status), class_="status bad")
    phrase = element("small", HTTPStatus(problem.status).phrase)
    links = [element("a", name, href=f"#{name}") for name in operations]
    where = element(
        "details",
        element("summary", f"{len(links)} operations"),
        element("p", *links, class_="chips"),
    )
    return element(
        "article",
        element("h3", status, " ", element("code", code), " ", phrase),
        element("p", inline(sentence(problem))),
        *([where] if links else []),
        id=f"error-{code}",
        class_="error",
    )
