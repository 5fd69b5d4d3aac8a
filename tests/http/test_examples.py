"""The examples in the reference are real: each is sent, and answered as it is printed."""

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest_asyncio
from tests.http.published import answer_schema, faults
from tests.http.stage import Sent, stage

if TYPE_CHECKING:
    from tests.conftest import Database

RECORDED = Path(str(files("farthing.http.openapi").joinpath("examples.json")))
HOW = "record them again: RECORD_EXAMPLES=1 pytest tests/http/test_examples.py, then make docs"


@pytest_asyncio.fixture(scope="module")
async def performed(database: "Database") -> dict[str, Sent]:
    """Send every example once, in a database where nobody else is."""
    own = await database.create_current()
    async with stage(own.settings()) as opened:
        return {name: await opened.perform(one) for name, one in opened.operations.items()}


def _example(sent: Sent) -> dict[str, Any]:
    query = {"query": sent.query} if sent.query else {}
    return {**query, "answer": sent.told}


def test_every_example_succeeds(performed: dict[str, Sent]) -> None:
    for name, sent in performed.items():
        assert sent.response.status_code == sent.operation.status, f"{name}: {sent.response.text}"


def test_a_real_answer_fits_the_published_schema_and_has_no_field_beside_it(
    performed: dict[str, Sent],
) -> None:
    for name, sent in performed.items():
        if sent.operation.stream:
            assert sent.response.headers["content-type"] == "text/event-stream"
            continue
        schema = answer_schema(name, sent.operation.status)
        assert faults(schema, sent.response.json(), strict=True) == [], name


def test_the_printed_answers_are_those_of_a_real_service(performed: dict[str, Sent]) -> None:
    found = {name: _example(sent) for name, sent in sorted(performed.items())}
    if "RECORD_EXAMPLES" in os.environ:
        RECORDED.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", "utf-8")
    recorded = json.loads(RECORDED.read_text("utf-8"))
    assert sorted(recorded) == sorted(found), HOW
    for name, example in found.items():
        assert recorded[name] == example, f"{name}: {HOW}"


def test_nothing_real_is_printed(performed: dict[str, Sent]) -> None:
    printed = RECORDED.read_text("utf-8")
    for sent in performed.values():
        said = {"id": sent.response.text} if sent.operation.stream else sent.response.json()
        for secret in {"accessToken", "secret", "apiKey", "id"} & said.keys():
            assert said[secret] not in printed
