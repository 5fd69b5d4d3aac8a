"""The page for people: complete, safe, and made of nothing but itself."""

import asyncio
import dataclasses
import html
import json
import os
import re
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import msgspec
import pytest
import pytest_asyncio
import uvicorn
from starlette.types import ASGIApp
from tests.http.published import DOCUMENT, OPERATIONS, SECTIONS
from tests.loud import cannot_run

from farthing.catalog import MACHINES
from farthing.core.actors import Actor
from farthing.core.errors import CATALOGUE, Problem
from farthing.core.machine import Machine, row
from farthing.http.app import build
from farthing.http.docs import diagram
from farthing.http.docs.page import render
from farthing.http.openapi.sections import Section
from farthing.http.service import Service

if TYPE_CHECKING:
    from tests.conftest import Tenant

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-logging=stderr",
)  # fmt: skip


class Seen(HTMLParser):
    """What a browser would see: the anchors, the links, what is loaded, and balanced elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.names: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names.append(tag)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given["href"] or ""] if tag == "a" else []
        loading = ("src", "srcset", "action", "data", "xlink:href", "style")
        self.loaded += [given[name] or "" for name in loading if name in given]
        self.loaded += [name for name in given if name.startswith("on")]
        if tag not in {"meta", "input"}:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


@pytest_asyncio.fixture
async def text(client: httpx2.AsyncClient) -> str:
    answer = await client.get("/docs")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return answer.text


async def test_every_operation_error_and_machine_has_its_anchor(text: str) -> None:
    ids = Seen(text).ids
    assert len(ids) == len(set(ids))
    assert {one.id for one in OPERATIONS} <= set(ids)
    assert {f"error-{code}" for code in CATALOGUE} <= set(ids)
    assert {f"states-{machine.noun}" for machine in MACHINES} <= set(ids)


async def test_every_link_leads_somewhere(text: str) -> None:
    seen = Seen(text)
    inside = {one.removeprefix("#") for one in seen.links if one.startswith("#")}
    assert inside <= set(seen.ids)
    assert {one for one in seen.links if not one.startswith("#")} == {"/openapi.json"}


async def test_live_shows_nothing_that_only_a_sandbox_has(service: Service) -> None:
    settings = msgspec.structs.replace(service.settings, environment="live")
    transport = httpx2.ASGITransport(app=build(dataclasses.replace(service, settings=settings)))
    async with httpx2.AsyncClient(transport=transport, base_url="http://farthing.test") as live:
        document = (await live.get("/openapi.json")).json()
        text = (await live.get("/docs")).text
    there = {one.id for one in OPERATIONS if not one.sandbox_only}
    described = [one for item in document["paths"].values() for one in item.values()]
    assert {one["operationId"] for one in described} == there
    assert {tag for one in described for tag in one["tags"]} == {
        tag["name"] for tag in document["tags"]
    }
    seen = Seen(text)
    only_sandbox = {one.id for one in OPERATIONS if one.sandbox_only}
    assert only_sandbox
    assert only_sandbox.isdisjoint(seen.ids)
    assert there <= set(seen.ids)
    assert {one.removeprefix("#") for one in seen.links if one.startswith("#")} <= set(seen.ids)
    assert "/v1/sandbox" not in text + json.dumps(document)


async def test_the_type_of_a_problem_leads_to_its_place(
    client: httpx2.AsyncClient, text: str
) -> None:
    problem = (await client.get("/v1/customers")).json()
    address, _, anchor = problem["type"].partition("#")
    assert address == "/docs"
    assert anchor in Seen(text).ids


async def test_nothing_is_loaded_and_nothing_runs(text: str) -> None:
    seen = Seen(text)
    assert seen.loaded == []
    assert not {"script", "link", "img", "iframe", "object", "embed", "form"} & set(seen.names)
    style = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert len(style) == 1
    assert "url(" not in style[0]
    assert "@import" not in style[0]


async def test_the_browser_is_told_to_load_nothing(client: httpx2.AsyncClient) -> None:
    policy = (await client.get("/docs")).headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


async def test_each_operation_can_be_called_by_copying(text: str) -> None:
    for operation in OPERATIONS:
        article = text.partition(f'<article id="{operation.id}"')[2].partition("</article>")[0]
        plain = re.sub(r"<[^>]+>", "", article)
        assert f"{operation.method}" in plain
        assert operation.summary.partition("'")[0] in plain
        assert "curl &quot;$BASE/v1/" in plain
        assert ("X-Token: $TOKEN" in plain) == bool(operation.who)
        assert ("Idempotency-Key: $(date +%s)-$RANDOM" in plain) == operation.writes
        assert ("&lt;&lt;&#x27;JSON&#x27;" in plain) == (operation.body is not None)


async def test_an_operation_with_two_answers_shows_the_fields_of_both(text: str) -> None:
    article = text.partition('<article id="tx.move"')[2].partition("</article>")[0]
    answers = article.partition(">Answer ")[2]
    assert "<code>adjustments[].amount</code>" in answers
    assert "<code>entries[].accountId</code>" in answers
    assert "0 fields" not in re.findall(r"<small>([^<]*)</small>", text)


async def test_every_form_of_an_answer_is_shown(text: str) -> None:
    for operation in OPERATIONS:
        article = text.partition(f'<article id="{operation.id}"')[2].partition("</article>")[0]
        shown = re.findall(r"<code>Accept: ([^<]+)</code>", article)
        assert shown == list(operation.formats)


@pytest.mark.slow
async def test_a_command_that_is_copied_works(app: ASGIApp, text: str, tenant: "Tenant") -> None:
    _require("bash", "curl")
    article = text.partition('<article id="customers.create"')[2].partition("</pre>")[0]
    command = html.unescape(re.sub(r"<[^>]+>", "", article.partition("<pre")[2].partition(">")[2]))
    async with _served(app) as address:
        shell = await asyncio.create_subprocess_exec(
            "bash", "-c", command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "BASE": address, "TOKEN": tenant.key},
        )  # fmt: skip
        answer, log = await asyncio.wait_for(shell.communicate(), timeout=60)
    assert json.loads(answer)["address"]["street"] == "St James's Square", log.decode()


def _require(*programs: str) -> list[str]:
    """Find programs; without them the test is skipped aloud, and fails where it must run."""
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        cannot_run(f"Not installed: {', '.join(missing)}, so the page was not tried for real.")
    return [str(shutil.which(name)) for name in programs]


EVIL = "<script>alert('&')</script>"


def test_everything_is_escaped() -> None:
    document = {**DOCUMENT, "info": {**DOCUMENT["info"], "title": EVIL, "description": EVIL}}
    machine = Machine("evil", (EVIL, "B"), EVIL, (row(EVIL, "B", {Actor.CLIENT}, EVIL),))
    section = Section(SECTIONS[0].name, EVIL, (), machine)
    rendered = render(document, [section], style="")
    assert "<script" not in rendered
    assert rendered.count("&lt;script&gt;") > 5


def test_the_picture_has_every_state_and_every_way() -> None:
    for machine in MACHINES:
        picture = diagram.draw(machine)
        for state in machine.states:
            assert f">{state}</text>" in picture
        ways = {(one.source, one.target) for one in machine.table}
        assert picture.count('class="line"') == len(ways)
        assert all(f"{source} to {target}, by" in picture for source, target in ways)


def test_the_picture_can_show_a_way_from_a_state_to_itself() -> None:
    machine = Machine("loop", ("A",), "A", (row("A", "A", {Actor.PLATFORM}, "Again."),))
    assert 'class="way platform hue-0"' in diagram.draw(machine)


@asynccontextmanager
async def _served(app: ASGIApp) -> AsyncIterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([listener]))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        await serving


@pytest.mark.slow
async def test_a_real_browser_shows_the_page_and_complains_of_nothing(
    app: ASGIApp, tmp_path: Path
) -> None:
    (chromium,) = _require("chromium")
    async with _served(app) as address:
        browser = await asyncio.create_subprocess_exec(
            chromium, *FLAGS, f"--user-data-dir={tmp_path}", "--dump-dom", f"{address}/docs",
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        shown, log = await asyncio.wait_for(browser.communicate(), timeout=90)
    dom = shown.decode()
    assert "CONSOLE" not in log.decode()
    assert "Content Security Policy" not in log.decode()
    for operation in OPERATIONS:
        assert f'<article id="{operation.id}"' in dom
    for problem in CATALOGUE.values():
        assert issubclass(problem, Problem)
        assert f'<article id="error-{problem.code}"' in dom
