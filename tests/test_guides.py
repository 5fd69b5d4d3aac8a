"""The guides: what they tell readers to send works, and what they list is all that there is."""

import re
from typing import TYPE_CHECKING

import httpx2
import pytest
from tests import guides
from tests.conftest import make_tenant

from farthing.core.expressions.functions import FUNCTIONS, MACROS, MATCHES, METHODS, WRITTEN_OUT
from farthing.core.expressions.limits import LIMITS
from farthing.core.expressions.windows import QUESTIONS
from farthing.http.app import build
from farthing.resources.rules.model import MOST_ENABLED, SAYS, TRIGGERS
from farthing.resources.rules.store import names_of
from farthing.resources.tallies.model import COUNTED
from farthing.resources.trials.model import LONGEST_PERIOD, MOST_RUNNING, MOST_SAMPLES

if TYPE_CHECKING:
    from farthing.http.service import Service

RULES = "rules.md"
TEXT = (guides.FOLDER / RULES).read_text("utf-8")


async def test_every_request_of_the_guide_to_rules_works(service: "Service") -> None:
    transport = httpx2.ASGITransport(app=build(service))
    async with httpx2.AsyncClient(transport=transport, base_url="http://farthing.test") as client:
        tenant = await make_tenant(service, client)
        values = {
            "API": "",
            "KEY": tenant.key,
            "JSON": "Content-Type: application/json",
            "CUSTOMER": tenant.customer,
        }
        for command in guides.commands(RULES):
            sent = guides.read(command, values)
            answer = await client.request(
                sent.method, sent.path, headers=sent.headers, json=sent.body
            )
            assert answer.status_code in {200, 201, 202}, (command, answer.text)
            if sent.path == "/v1/rules/test":
                assert answer.json()["result"] == "refused"
            if noun := re.match("rule|backtest", str(answer.json().get("id"))):
                values[noun[0].upper()] = answer.json()["id"]
        assert values.keys() >= {"RULE", "BACKTEST"}


def test_the_guide_to_rules_names_all_that_the_language_has() -> None:
    words = [
        *(
            f"`{name}`"
            for name in (*TRIGGERS, *names_of("transaction.transition"), *SAYS, *COUNTED)
        ),
        *(f"{name}(" for name in (*FUNCTIONS, *METHODS, *WRITTEN_OUT, *MACROS)),
        *(f"history.{name}(" for name in QUESTIONS),
        *(f"| {most} |" for most, _ in LIMITS.values()),
        *(f"{number} " for number in (MOST_ENABLED, LONGEST_PERIOD.days, MOST_RUNNING)),
    ]
    assert MATCHES.takes
    assert [word for word in words if word not in TEXT] == []
    assert f"first {MOST_SAMPLES}" in TEXT


@pytest.mark.parametrize(
    "name", sorted({name for one in SAYS.values() for part in one for name in part})
)
def test_the_guide_to_rules_names_everything_that_an_action_says(name: str) -> None:
    said = {"four_eyes": "fourEyes", "expires_in": "expiresIn"}.get(name, name)
    assert f"`{said}`" in TEXT
