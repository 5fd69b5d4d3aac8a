"""What is written from the operations: fresh, complete, and the same on the wire."""

import inspect
import json
import subprocess
import sys
import typing
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from tests.client.test_retries import KEY

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.client import __main__ as generator
from tools.client.places import namespace_of

from farthing.client import AsyncFarthing, Farthing, Retries, errors, models
from farthing.core.errors import CATALOGUE
from farthing.core.operation import Operation
from farthing.http.openapi.responses import Problem as Published

OPERATIONS = generator.operations()
EXAMPLES = json.loads(files("farthing.http.openapi").joinpath("examples.json").read_text("utf-8"))
WITH_BODY = [one for one in OPERATIONS if one.body_example is not None]
ANSWERED = [one for one in OPERATIONS if one.id in EXAMPLES and one.stream is None]
CLIENTS = (Farthing(KEY), AsyncFarthing(KEY))
HEAVY = ("asyncpg", "starlette", "uvicorn", "structlog", "cryptography", "pycountry", "schwifty")


def name(operation: Operation) -> str:
    return operation.id


def method_of(client: Any, operation: Operation) -> Callable[..., Any]:
    for part in namespace_of(operation):
        client = getattr(client, part)
    return typing.cast("Callable[..., Any]", client)


def test_what_is_written_is_what_the_operations_say() -> None:
    made, there = generator.texts(), generator.present()
    stale = sorted(one for one in {*made, *there} if made.get(one) != there.get(one))
    assert stale == [], "run `make client` and look at what it changes"


def test_every_operation_has_a_method_in_both_clients() -> None:
    assert len(OPERATIONS) > 80
    for operation in OPERATIONS:
        signatures = []
        for client in CLIENTS:
            method = method_of(client, operation)
            assert (method.__doc__ or "").startswith(f"{operation.summary}."), operation.id
            signatures.append(inspect.signature(method).parameters)
        assert signatures[0] == signatures[1], operation.id


def test_every_error_has_an_exception_with_its_words() -> None:
    for code, problem in CATALOGUE.items():
        found = getattr(errors, problem.__name__)
        assert issubclass(found, errors.ApiError)
        assert (found.code, inspect.getdoc(found)) == (code, inspect.getdoc(problem))
        assert problem.__name__ in errors.__all__


def test_a_problem_has_everything_that_the_service_publishes() -> None:
    assert {*Published.__struct_fields__} <= {*errors.Problem.__struct_fields__}


class Recorder:
    """Takes every request, and refuses it."""

    def __init__(self) -> None:
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        problem = {"status": 418, "code": "recorded", "detail": "Only recorded."}
        return httpx2.Response(418, json=problem)


def given_by(operation: Operation, method: Callable[..., Any]) -> dict[str, Any]:
    """Say the example of an operation in the words of Python."""
    hints = typing.get_type_hints(method)
    body = operation.body
    assert body is not None
    names = {one.encode_name: one.name for one in msgspec.structs.fields(body)}
    example = operation.body_example or {}
    given = {names[wire]: msgspec.convert(one, hints[names[wire]]) for wire, one in example.items()}
    if "{id}" in operation.path:
        given["id"] = f"{operation.noun}/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
    return given


@pytest.mark.parametrize("operation", WITH_BODY, ids=name)
async def test_what_is_said_in_python_is_the_same_on_the_wire(operation: Operation) -> None:
    recorder, more = Recorder(), {"base_url": "http://nowhere", "retries": Retries(attempts=1)}
    token = KEY.replace("_key_", "_token_")
    sync = Farthing(token, transport=httpx2.MockTransport(recorder), **more)  # type: ignore[arg-type]  # a mapping has one type
    given = given_by(operation, method_of(sync, operation))
    with pytest.raises(errors.ApiError):
        method_of(sync, operation)(**given)
    twin = AsyncFarthing(token, transport=httpx2.MockTransport(recorder), **more)  # type: ignore[arg-type]  # a mapping has one type
    with pytest.raises(errors.ApiError):
        await method_of(twin, operation)(**given)
    path = operation.path.replace("{id}", given.get("id", "").replace("transaction/", "tx/"))
    for request in recorder.requests:
        assert (request.method, request.url.path) == (operation.method, path)
        assert json.loads(request.content) == operation.body_example
        assert request.headers["X-Token"] == token
    keys = {request.headers["Idempotency-Key"] for request in recorder.requests}
    assert len(keys) == 2


@pytest.mark.parametrize("operation", ANSWERED, ids=name)
def test_a_real_answer_is_read_into_its_model_and_nothing_of_it_is_lost(
    operation: Operation,
) -> None:
    returned = typing.get_type_hints(method_of(CLIENTS[0], operation))["return"]
    # Of a listing, the page is what the service answers.
    model = (typing.get_args(returned) or (returned,))[-1]
    answer = EXAMPLES[operation.id]["answer"]
    assert msgspec.to_builtins(msgspec.convert(answer, model)) == answer


def test_an_answer_of_a_later_service_is_read_all_the_same() -> None:
    answer = {**EXAMPLES["cards.get"]["answer"], "colour": "green"}
    assert msgspec.convert(answer, models.Card).id == answer["id"]
    event = {**EXAMPLES["events.get"]["answer"], "objectId": "voucher/1", "data": {"x": 1}}
    assert msgspec.convert(event, models.Event).object is None
    event |= {"objectId": "card/1", "data": {**answer, "scheme": "A_LATER_ONE"}}
    assert msgspec.convert(event, models.Event).object is None


def test_importing_the_client_brings_nothing_of_the_server() -> None:
    script = f"import farthing.client, sys; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_check_names_what_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generator, "FOLDER", tmp_path)
    generator.main([])
    generator.main(["--check"])
    (tmp_path / "_sync" / "cards.py").write_text("old")
    (tmp_path / "_sync" / "left_behind.py").touch()
    with pytest.raises(
        SystemExit, match=r"_sync/cards.py, _sync/left_behind.py. Run `make client`"
    ):
        generator.main(["--check"])
    generator.main([])
    generator.main(["--check"])
    assert capsys.readouterr().out == ""
