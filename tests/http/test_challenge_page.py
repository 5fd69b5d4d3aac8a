"""The challenge page as a cardholder meets it: in a browser, without JavaScript, and only once."""

import asyncio
import base64
import http.client
import json
import os
import secrets
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import pytest
import pytest_asyncio
from tests.cli.test_serving import PATIENCE, free_port, serving
from tests.conftest import make_tenant
from tests.duties import duty
from tests.loud import cannot_run

from farthing.core.ids import new_id
from farthing.http.app import build

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Database, Tenant

    from farthing.http.service import Service

NUMBER = "4000002500003155"
MERCHANT = "Fish & <b>Chips</b> 'n' \"Peas\""
APPROVE, DECLINE = {"decision": "approve"}, {"decision": "decline"}


@dataclass(frozen=True)
class Asked:
    """A card that waits for its cardholder."""

    card: dict[str, Any]
    tenant: "Tenant"
    database: "Database"

    @property
    def path(self) -> str:
        """The path of the page."""
        return str(urlsplit(self.card["requirements"]["threeDSecure"]).path)

    @property
    def row_id(self) -> str:
        return str(self.card["id"]).partition("/")[2]

    async def now(self) -> dict[str, Any]:
        return dict((await self.tenant.call("GET", f"/v1/cards/{self.card['id']}")).json())

    async def number_is_kept(self) -> bool:
        sql = "SELECT 1 FROM vault.numbers WHERE id = $1"
        return bool(await self.database.fetch(sql, self.row_id))

    async def events(self) -> list[tuple[str, Any]]:
        sql = "SELECT type, data FROM events WHERE object_id = $1 ORDER BY object_version"
        found = await self.database.fetch(sql, self.row_id)
        return [(one["type"], json.loads(one["data"])) for one in found]


@pytest_asyncio.fixture
async def asked(service: "Service", client: httpx2.AsyncClient, database: "Database") -> Asked:
    shop = await make_tenant(service, client, MERCHANT)
    body = {
        "ownerId": await shop.new_customer(name="Ada Lovelace"),
        "cardNumber": NUMBER,
        "expiry": "1239",
        "cvv": "765",
        "billingAddress": {"street": "St James's Square", "countryISO": "GB"},
        "setAsPreferred": True,
    }
    card = (await shop.call("POST", "/v1/cards", body)).json()
    assert card["stateId"] == "PROCESSING"
    return Asked(card, shop, database)


@pytest_asyncio.fixture
async def page(service: "Service") -> AsyncIterator[httpx2.AsyncClient]:
    """Give a cardholder's client: no credential, nothing but the link."""
    transport = httpx2.ASGITransport(app=build(service))
    async with httpx2.AsyncClient(transport=transport, base_url="http://farthing.test") as opened:
        yield opened


async def test_it_shows_the_merchant_and_four_digits_and_nothing_else(
    asked: Asked, page: httpx2.AsyncClient
) -> None:
    answer = await page.get(asked.path)
    assert answer.status_code == 200
    assert "Fish &amp; &lt;b&gt;Chips&lt;/b&gt; &#x27;n&#x27; &quot;Peas&quot;" in answer.text
    assert "VISA ending in 3155" in answer.text
    for secret in (NUMBER, NUMBER[:6], "765", "1239", "Ada", "James", asked.row_id):
        assert secret not in answer.text


async def test_it_leaves_no_trace_and_lets_nobody_frame_it(
    asked: Asked, page: httpx2.AsyncClient
) -> None:
    shown, refused = await page.get(asked.path), await page.get("/challenges/nothing")
    for answer in (shown, refused, await page.post(asked.path, data=APPROVE)):
        rules = answer.headers["content-security-policy"].split(";")
        policy = dict(rule.strip().split(" ", 1) for rule in rules)
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["form-action"] == "'self'"
        assert "script-src" not in policy
        assert "unsafe" not in policy["style-src"]
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in answer.headers
        assert "<script" not in answer.text


async def test_to_approve_enables_the_card(asked: Asked, page: httpx2.AsyncClient) -> None:
    answer = await page.post(asked.path, data=APPROVE)
    assert (answer.status_code, "Approved" in answer.text) == (200, True)
    card = await asked.now()
    assert (card["stateId"], card["requirements"]) == ("ENABLED", {})
    assert await asked.events() == [("card.created", asked.card), ("card.enabled", card)]
    assert await asked.number_is_kept()


async def test_to_decline_fails_the_card_and_erases_its_number(
    asked: Asked, page: httpx2.AsyncClient
) -> None:
    assert await asked.number_is_kept()
    answer = await page.post(asked.path, data=DECLINE)
    assert (answer.status_code, "Declined" in answer.text) == (200, True)
    card = await asked.now()
    assert (card["stateId"], card["requirements"]) == ("FAILED", {})
    assert not await asked.number_is_kept()
    assert card["setAsPreferred"] is False
    assert await asked.events() == [("card.created", asked.card), ("card.failed", card)]


@pytest.mark.parametrize("first", [APPROVE, DECLINE])
async def test_the_link_works_once(
    asked: Asked, page: httpx2.AsyncClient, first: dict[str, str]
) -> None:
    await page.post(asked.path, data=first)
    before = await asked.now()
    again = [
        await page.get(asked.path),
        await page.post(asked.path, data=APPROVE),
        await page.post(asked.path, data=DECLINE),
    ]
    assert {answer.status_code for answer in again} == {404}
    assert all("not good any more" in answer.text for answer in again)
    assert await asked.now() == before


async def test_the_link_expires_and_the_worker_fails_the_card(
    asked: Asked, page: httpx2.AsyncClient, service: "Service"
) -> None:
    past = "UPDATE challenges SET expires_at = now() - interval '1 second' WHERE object_id = $1"
    await asked.database.execute(past, asked.row_id)
    assert (await page.get(asked.path)).status_code == 404
    assert (await page.post(asked.path, data=APPROVE)).status_code == 404
    assert (await asked.now())["stateId"] == "PROCESSING"
    await duty(service, "expire challenges").run()
    card = await asked.now()
    assert (card["stateId"], card["requirements"]) == ("FAILED", {})
    assert not await asked.number_is_kept()


async def test_of_many_answers_at_once_one_wins(asked: Asked, page: httpx2.AsyncClient) -> None:
    both = [APPROVE, DECLINE] * 8
    answers = await asyncio.gather(*(page.post(asked.path, data=data) for data in both))
    (winner,) = [answer for answer in answers if answer.status_code == 200]
    assert [answer.status_code for answer in answers].count(404) == 15
    state = "ENABLED" if "Approved" in winner.text else "FAILED"
    assert (await asked.now())["stateId"] == state
    assert len(await asked.events()) == 2


async def test_a_garbled_link_leads_nowhere(asked: Asked, page: httpx2.AsyncClient) -> None:
    link = base64.urlsafe_b64decode(asked.path.rpartition("/")[2])
    forged = (link[:16] + secrets.token_bytes(32), new_id().bytes + link[16:], link[:-3])
    coded = [base64.urlsafe_b64encode(one).decode() for one in forged]
    for wrong in (*coded, "a", "%00", "%F0%9F%92%B3", "a" * 4000):
        for method in ("GET", "POST"):
            answer = await page.request(method, f"/challenges/{wrong}", data=APPROVE)
            assert (answer.status_code, "not good any more" in answer.text) == (404, True), wrong
    assert await asked.now() == asked.card


@pytest.mark.parametrize("body", [b"", b"decision=perhaps", b"decision", b"\xff\x00", b"{}"])
async def test_an_answer_that_is_none_asks_again(
    asked: Asked, page: httpx2.AsyncClient, body: bytes
) -> None:
    answer = await page.post(asked.path, content=body)
    assert (answer.status_code, "Is this you?" in answer.text) == (200, True)
    assert await asked.now() == asked.card


async def test_nobody_moves_the_card_while_its_cardholder_is_asked(asked: Asked) -> None:
    shop, path = asked.tenant, f"/v1/cards/{asked.card['id']}"
    for token in (shop.token, await shop.token_for(asked.card["ownerId"]), shop.operator):
        for target in ("PENDING", "ENABLED", "FAILED", "INACTIVE", "DISABLED", "CLOSED"):
            answer = await shop.call("PATCH", f"{path}/state", {"toStateId": target}, token=token)
            problem = answer.json()
            assert (answer.status_code, problem["code"]) == (409, "requirements_unresolved")
            assert (problem["currentStateId"], problem["allowedStateIds"]) == ("PROCESSING", [])
        told = await shop.call("GET", f"{path}/transitions", token=token)
        assert told.json()["possible"] == []
    assert await asked.now() == asked.card


class Browser:
    """A real Chromium, through the WebDriver protocol that its chromedriver speaks."""

    def __init__(self, port: int, **options: Any) -> None:
        self._port, self._session = port, ""
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        made = self.send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{made['sessionId']}"
        # What is looked for may come with the next page.
        self.send("POST", "/timeouts", {"implicit": 10_000})

    def send(self, method: str, path: str, body: object = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        connection.request(method, self._session + path, json.dumps(body) if body else None)
        value = json.loads(connection.getresponse().read())["value"]
        connection.close()
        assert not (isinstance(value, dict) and "error" in value), value
        return value

    def open(self, url: str) -> None:
        self.send("POST", "/url", {"url": url})

    def find(self, css: str) -> str:
        found = self.send("POST", "/element", {"using": "css selector", "value": css})
        return f"/element/{next(iter(found.values()))}"

    def look(self, css: str, what: str = "text") -> Any:
        return self.send("GET", f"{self.find(css)}/{what}")


def chromium() -> str:
    """Find the browser; that there is none must not go unseen."""
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None or shutil.which("chromedriver") is None:
        cannot_run("No chromium with chromedriver: nobody looked at the challenge page.")
    return found


@pytest.fixture(scope="module", params=["with", "without"])
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Give a browser with JavaScript, and one without."""
    binary, command = chromium(), ["chromedriver", f"--port={(port := free_port())}"]
    prefs = {
        "profile.managed_default_content_settings.javascript": 1 + (request.param == "without")
    }
    # Chromium's sandbox refuses to be run by root, as in a container.
    flags = ["--headless=new"] + ["--no-sandbox"] * (os.geteuid() == 0)
    phone = {"deviceMetrics": {"width": 360, "height": 640, "touch": False}}
    options = {"binary": binary, "args": flags, "prefs": prefs, "mobileEmulation": phone}
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert any(b"successfully" in line for line in process.stdout or ())
            yield (opened := Browser(port, **options))
            opened.send("DELETE", "")
        finally:
            process.terminate()


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["approve", "decline"])
async def test_a_cardholder_clicks_in_a_real_browser(
    asked: Asked, browser: Browser, answer: str, tmp_path: "Path"
) -> None:
    with serving(asked.database) as (port, _):
        browser.open(f"http://127.0.0.1:{port}{asked.path}")
        assert browser.look("dl") == f"Merchant\n{MERCHANT}\nCard\nVISA ending in 3155"
        # The style is applied, so the policy lets it pass.
        green = browser.look("button[value=approve]", "css/background-color")
        assert green == "rgba(23, 105, 63, 1)"
        frame = browser.look("main", "rect")
        assert 0 <= frame["x"] <= 360 - frame["width"]
        (tmp_path / "page.png").write_bytes(base64.b64decode(browser.send("GET", "/screenshot")))
        browser.send("POST", f"{browser.find(f'button[value={answer}]')}/click", {"by": "hand"})
        assert browser.look("p") == "You can close this page."
        assert browser.look("h1").startswith("Approved" if answer == "approve" else "Declined")
        assert browser.send("POST", "/se/log", {"type": "browser"}) == []
    assert (await asked.now())["stateId"] == ("ENABLED" if answer == "approve" else "FAILED")
