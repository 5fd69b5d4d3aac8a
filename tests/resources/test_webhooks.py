"""Webhooks: what can be done with them, and what becomes of what they are sent."""

import asyncio
import base64
import itertools
import os
import sys
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import pytest_asyncio
from standardwebhooks import Webhook, WebhookVerificationError
from tests.duties import duty
from tests.resources.hooks import Got, World, world

from farthing.config import SettingsError
from farthing.core.clock import system_clock
from farthing.core.errors import Unavailable
from farthing.resources.deliveries.model import CLAIM, MOST_JITTER, PAUSES
from farthing.resources.webhooks.actions import Courier, faults_of_target

if TYPE_CHECKING:
    from tests.conftest import Database, Tenant


@pytest_asyncio.fixture
async def here(database: "Database") -> AsyncIterator[World]:
    async with world(database) as opened:
        yield opened


async def test_a_delivery_is_verified_by_the_stock_package(here: World) -> None:
    hook = await here.hook()
    customer = await here.customer()
    await here.deliver()
    (got,) = here.receiver.got
    said = Webhook(hook["secret"]).verify(got.body, got.headers)
    assert (said["type"], said["objectId"]) == ("customer.created", customer)
    assert said["id"] == got.headers["webhook-id"]
    with pytest.raises(WebhookVerificationError):
        Webhook(hook["secret"]).verify(got.body + b" ", got.headers)
    (delivery,) = await here.deliveries(hook)
    assert delivery["status"] == "delivered"
    assert delivery["eventId"] == said["id"]
    assert [one["statusCode"] for one in delivery["attempts"]] == [204]


async def test_a_webhook_gets_what_it_asked_for_from_its_making_on(here: World) -> None:
    await here.customer()
    hook = await here.hook("/some", events=["customer.updated"])
    everything = await here.hook("/all", events=["*"])
    await here.customer(updates=1)
    await here.deliver()
    assert [one.event["type"] for one in here.receiver.at("/some")] == ["customer.updated"]
    # The others make no difference to each other, so their order may be any.
    assert sorted(one.event["type"] for one in here.receiver.at("/all")) == [
        "customer.created",
        "customer.updated",
        "webhook.created",
    ]
    assert len(await here.deliveries(hook)) == 1
    assert len(await here.deliveries(everything)) == 3


async def test_events_of_one_object_arrive_in_order_whatever_fails(here: World) -> None:
    failures = iter([500, 200, 503, 200, 200, 500, 404, 302])

    async def moody(_: Got) -> tuple[int, bytes]:
        return next(failures, 200), b""

    here.receiver.answers["/hook"] = moody
    await here.hook()
    customers = [await here.customer() for _ in range(3)]
    for number in range(5):
        for customer in customers:
            await here.update(customer, number)
        await here.deliver()
        here.clock.advance(timedelta(minutes=7))
    for _ in range(4):
        await here.deliver()
        here.clock.advance(timedelta(hours=6))
    for customer in customers:
        seen = [one.event for one in here.receiver.got if one.event["objectId"] == customer]
        versions = [one["objectVersion"] for one in seen]
        assert versions == sorted(versions)
        assert set(versions) == set(range(1, 7))


async def test_while_one_waits_for_its_retry_the_later_ones_of_its_object_wait_too(
    here: World,
) -> None:
    here.receiver.says("/hook", 500)
    hook = await here.hook()
    customer = await here.customer(updates=2)
    await here.deliver()
    await here.update(customer, 9)
    await here.deliver()
    assert len(here.receiver.got) == 1
    here.receiver.says("/hook", 200)
    other = await here.customer()
    await here.deliver()
    assert [one.event["objectId"] for one in here.receiver.got[1:]] == [other]
    here.clock.advance(timedelta(seconds=6))
    await here.deliver()
    versions = [
        one.event["objectVersion"] for one in here.receiver.got if other not in one.event.values()
    ]
    assert versions == [1, 1, 2, 3, 4]
    statuses = {one["status"] for one in await here.deliveries(hook)}
    assert statuses == {"delivered"}


async def test_retries_follow_the_schedule_and_the_last_one_marks_the_webhook(
    here: World,
) -> None:
    here.receiver.says("/hook", 500, b"out of order")
    hook = await here.hook()
    witness = await here.hook("/witness", events=["webhook.*"])
    await here.customer()
    await here.deliver()
    for number, pause in enumerate(PAUSES, 1):
        assert len(here.receiver.at("/hook")) == number
        assert await here.state(hook) == "ENABLED"
        here.clock.advance(pause - timedelta(milliseconds=1))
        await here.deliver()
        assert len(here.receiver.at("/hook")) == number, "not before its time"
        here.clock.advance(pause * MOST_JITTER + timedelta(milliseconds=2))
        await here.deliver()
    assert len(here.receiver.at("/hook")) == len(PAUSES) + 1 == 10
    assert await here.state(hook) == "FAILING"
    await here.deliver()
    told = [one.event for one in here.receiver.at("/witness")]
    assert [(one["type"], one["objectId"]) for one in told if one["type"] == "webhook.failing"] == [
        ("webhook.failing", hook["id"])
    ]
    assert told[-1]["data"]["stateId"] == "FAILING"
    (delivery,) = await here.deliveries(hook)
    assert delivery["status"] == "failed"
    assert [one["number"] for one in delivery["attempts"]] == list(range(1, 11))
    assert {one["answer"] for one in delivery["attempts"]} == {"out of order"}
    assert "nextAttemptAt" not in delivery
    here.clock.advance(timedelta(days=30))
    await here.deliver()
    assert len(here.receiver.at("/hook")) == 10, "and never again by itself"
    here.receiver.says("/hook", 200)
    await here.customer()
    await here.deliver()
    assert await here.state(hook) == "ENABLED", "a success shows that it works"
    assert witness["stateId"] == "ENABLED"


async def test_only_2xx_is_a_success_and_redirects_are_not_followed(here: World) -> None:
    statuses = (301, 302, 307, 308, 304, 400, 404, 429, 500)
    hooks = {status: await here.hook(f"/{status}") for status in statuses}
    for status in statuses:
        here.receiver.says(f"/{status}", status)
    await here.customer()
    await here.deliver()
    # Each was asked once, and nobody elsewhere.
    assert sorted(one.path for one in here.receiver.got) == sorted(f"/{one}" for one in statuses)
    for status, hook in hooks.items():
        (delivery,) = await here.deliveries(hook)
        assert delivery["status"] == "waiting", status
        (attempt,) = delivery["attempts"]
        assert attempt["statusCode"] == status
        assert ("error" in attempt) == (300 <= status < 400), status


async def test_410_disables_and_what_waits_stays(here: World) -> None:
    here.receiver.says("/hook", 410)
    hook = await here.hook()
    customer = await here.customer(updates=1)
    await here.deliver()
    assert await here.state(hook) == "DISABLED"
    assert len(here.receiver.got) == 1
    await here.update(customer, 7)
    here.clock.advance(timedelta(days=3))
    await here.deliver()
    assert len(here.receiver.got) == 1
    history = await here.call("GET", f"/v1/webhooks/{hook['id']}/transitions")
    assert history["history"][-1]["reason"] == "The endpoint answered 410: it is gone."
    here.receiver.says("/hook", 200)
    await here.call("PATCH", f"/v1/webhooks/{hook['id']}/state", {"toStateId": "ENABLED"})
    await here.update(customer, 8)
    await here.deliver()
    # What happened while it was disabled went by; what had been planned before was not lost.
    assert [one.event["objectVersion"] for one in here.receiver.got[1:]] == [2, 4]


async def test_a_dead_endpoint_delays_no_other(here: World) -> None:
    async def hang(_: Got) -> tuple[int, bytes]:
        await asyncio.sleep(60)
        return 200, b""

    here.receiver.answers["/dead"] = hang
    dead = await here.hook("/dead")
    await here.hook("/alive")
    for _ in range(30):
        await here.customer()
    async with asyncio.timeout(10):
        while len(here.receiver.at("/alive")) < 30:
            await here.dispatcher.run()
    assert 0 < len(here.receiver.at("/dead")) <= 16
    assert {one["status"] for one in await here.deliveries(dead)} == {"waiting"}


async def test_an_answer_that_does_not_come_is_a_failure(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farthing.outgoing.TIMEOUT_SECONDS", 0.2)

    async def hang(_: Got) -> tuple[int, bytes]:
        await asyncio.sleep(5)
        return 200, b""

    here.receiver.answers["/hook"] = hang
    hook = await here.hook()
    await here.customer()
    await here.deliver()
    (delivery,) = await here.deliveries(hook)
    (attempt,) = delivery["attempts"]
    assert "statusCode" not in attempt
    assert attempt["error"].startswith("No whole answer within")
    assert attempt["durationMs"] >= 200


async def test_of_an_answer_the_first_kilobyte_is_kept(here: World) -> None:
    here.receiver.says("/hook", 200, b"\0" + b"x" * 300_000)
    hook = await here.hook()
    await here.customer()
    await here.deliver()
    (delivery,) = await here.deliveries(hook)
    assert delivery["attempts"][0]["answer"] == "\ufffd" + "x" * 1023


async def test_connections_are_kept(here: World) -> None:
    await here.hook()
    for _ in range(5):
        await here.customer()
        await here.deliver()
    assert len(here.receiver.got) == 5
    assert here.receiver.connections == 1


async def test_both_secrets_sign_for_a_day_after_a_rotation(here: World) -> None:
    hook = await here.hook()
    rotated = await here.call("POST", f"/v1/webhooks/{hook['id']}/rotate")
    assert rotated["secret"] != hook["secret"]
    assert len(base64.b64decode(rotated["secret"].removeprefix("whsec_"))) == 32
    await here.customer()
    await here.deliver()
    here.clock.advance(timedelta(hours=24))
    await here.customer()
    await here.deliver()
    during, after = here.receiver.got
    for one in (during, after):
        Webhook(rotated["secret"]).verify(one.body, one.headers)
    Webhook(hook["secret"]).verify(during.body, during.headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(hook["secret"]).verify(after.body, after.headers)


async def test_a_secret_is_shown_once_and_kept_nowhere_in_the_clear(here: World) -> None:
    key = {"Idempotency_Key": "the-same"}
    body = {"url": here.receiver.url("/hook")}
    hook = await here.call("POST", "/v1/webhooks", body, **key)
    again = await here.call("POST", "/v1/webhooks", body, **key)
    assert again == hook
    rotated = await here.call(
        "POST", f"/v1/webhooks/{hook['id']}/rotate", **key | {"Idempotency_Key": "x"}
    )
    await here.deliver()
    shown = [
        await here.call("GET", f"/v1/webhooks/{hook['id']}"),
        await here.call("GET", "/v1/webhooks"),
    ]
    tables = ("webhooks", "events", "idempotency", "deliveries", "history")
    kept = [
        str(row)
        for table in tables
        for row in await here.service.pool.fetch(f"SELECT t::text FROM {table} AS t")  # noqa: S608 - our own names
    ]
    bodies = [
        bytes(row["body"]) for row in await here.service.pool.fetch("SELECT body FROM idempotency")
    ]
    for secret in (hook["secret"], rotated["secret"]):
        raw = base64.b64decode(secret.removeprefix("whsec_"))
        for form in (secret, secret.removeprefix("whsec_"), raw.hex(), secret.encode().hex()):
            assert not any(form in text for text in kept)
            assert form not in msgspec.json.encode(shown).decode()
            assert not any(form.encode() in one for one in bodies)
        assert not any(secret.encode() in one.body for one in here.receiver.got)


async def test_a_killed_worker_loses_nothing(here: World) -> None:
    started = asyncio.Event()

    async def hang(_: Got) -> tuple[int, bytes]:
        started.set()
        await asyncio.sleep(60)
        return 200, b""

    here.receiver.answers["/hook"] = hang
    hook = await here.hook()
    customer = await here.customer(updates=2)
    killed = here.another_worker()
    await killed.dispatch()
    await asyncio.wait_for(started.wait(), 10)
    for task in killed._tasks:  # noqa: SLF001 - as a kill would end them: nothing is recorded
        task.cancel()
    killed._note = lambda _: None  # type: ignore[method-assign, assignment]  # noqa: SLF001 - the same
    here.receiver.says("/hook", 200)
    await here.deliver()
    assert len(here.receiver.got) == 1, "its claim has not run out"
    here.clock.advance(CLAIM)
    await here.deliver()
    seen = [one.event["objectVersion"] for one in here.receiver.got]
    assert seen == [1, 1, 2, 3]
    assert {one.event["objectId"] for one in here.receiver.got} == {customer}
    first = (await here.deliveries(hook))[0]
    assert [one["number"] for one in first["attempts"]] == [1, 2]
    assert first["attempts"][0]["error"].startswith("The process that sent it ended")


@pytest.mark.slow
async def test_a_worker_that_is_really_killed_loses_nothing(here: World) -> None:
    async def hang(_: Got) -> tuple[int, bytes]:
        await asyncio.sleep(60)
        return 200, b""

    here.receiver.answers["/hook"] = hang
    await here.hook()
    customers = [await here.customer(updates=1) for _ in range(30)]
    settings = here.service.settings
    environment = os.environ | {
        "FARTHING_DATABASE_URL": settings.database_url,
        "FARTHING_MASTER_KEY": settings.master_key,
        "FARTHING_WEBHOOK_PRIVATE": "true",
    }
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "farthing", "worker", env=environment
    )
    try:
        async with asyncio.timeout(60):
            await here.receiver.wait_for(16)
    finally:
        worker.kill()
        await worker.wait()
    here.receiver.got.clear()
    here.receiver.says("/hook", 200)
    here.clock.now = system_clock() + CLAIM
    await here.deliver()
    seen = [(one.event["objectId"], one.event["objectVersion"]) for one in here.receiver.got]
    assert sorted(seen) == sorted((one, version) for one in customers for version in (1, 2))
    for customer in customers:
        assert [version for one, version in seen if one == customer] == [1, 2]


async def test_what_was_acknowledged_is_recorded_also_if_the_database_was_away(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farthing.dispatch._RECORD_PAUSE", 0.01)
    committer = here.service.committer
    submit, failures = committer.submit, iter(range(3))

    async def away(context: Any, command: Any) -> Any:
        answer = await submit(context, command)
        if here.receiver.got and next(failures, None) is not None:
            # It was done, or was not, and nobody knows.
            raise Unavailable("The database is away.")
        return answer

    here.receiver.says("/hook", 500)
    hook = await here.hook()
    await here.customer()
    monkeypatch.setattr(committer, "submit", away)
    await here.deliver()
    (delivery,) = await here.deliveries(hook)
    assert [one["number"] for one in delivery["attempts"]] == [1]
    assert next(failures, None) is None, "it was tried again until it was known"


async def test_two_workers_at_once_never_send_the_same_attempt_twice(here: World) -> None:
    async def slow(_: Got) -> tuple[int, bytes]:
        await asyncio.sleep(0.005)
        return 200, b""

    here.receiver.answers["/hook"] = slow
    hook = await here.hook()
    workers = [here.dispatcher, *(here.another_worker() for _ in range(3))]
    stop = asyncio.Event()

    async def work(worker: Any) -> None:
        while not stop.is_set():
            await worker.run()

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for worker in workers:
            group.create_task(work(worker))
        await asyncio.gather(*(here.customer(updates=4) for _ in range(20)))
        await here.receiver.wait_for(100)
        await asyncio.sleep(0.2)
        stop.set()
    for worker in workers:
        await worker.idle()
    seen = [one.headers["webhook-id"] for one in here.receiver.got]
    assert len(seen) == len(set(seen)) == 100
    by_object: dict[str, list[int]] = {}
    for one in here.receiver.got:
        by_object.setdefault(one.event["objectId"], []).append(one.event["objectVersion"])
    assert set(map(tuple, by_object.values())) == {(1, 2, 3, 4, 5)}
    assert all(len(one["attempts"]) == 1 for one in await here.deliveries(hook))


async def test_a_worker_that_is_asked_to_stop_gives_back_what_it_has_not_begun(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farthing.dispatch._LAST_SECONDS", 0.2)

    async def hang(_: Got) -> tuple[int, bytes]:
        await asyncio.sleep(60)
        return 200, b""

    here.receiver.answers["/hook"] = hang
    await here.hook()
    for _ in range(20):
        await here.customer()
    stopped = here.another_worker()
    await stopped.dispatch()
    async with asyncio.timeout(10):
        await here.receiver.wait_for(16)
        await stopped.close()
    here.receiver.says("/hook", 200)
    await here.deliver()
    assert len(here.receiver.got) == 20, "what it had begun waits until its claim has run out"
    here.clock.advance(CLAIM)
    await here.deliver()
    assert len(here.receiver.got) == 36


async def test_resend_one_an_event_or_all_since(here: World) -> None:
    hook = await here.hook()
    path = f"/v1/webhooks/{hook['id']}/resend"
    await here.customer()
    here.clock.advance(timedelta(hours=1))
    since = here.clock.now.isoformat()
    await here.customer()
    await here.customer()
    await here.deliver()
    first, second, third = [one["eventId"] for one in await here.deliveries(hook)]
    delivery = (await here.deliveries(hook))[0]["id"]
    answer = await here.call("POST", path, {"deliveryId": delivery})
    assert answer["delivery"]["eventId"] == first
    await here.call("POST", path, {"eventId": third})
    await here.deliver()
    assert (await here.call("POST", path, {"since": since}))["firstEventId"] == second
    await here.deliver()
    seen = [one.headers["webhook-id"] for one in here.receiver.got]
    assert sorted(seen[3:5]) == sorted([first, third])
    assert sorted(seen[5:]) == sorted([second, third])
    assert await here.call("POST", path, {"since": "2999-01-01T00:00:00Z"}) == {}
    await here.deliver()
    assert len(here.receiver.got) == 7
    for body, code in (
        ({"eventId": "event/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"}, "unknown_event"),
        ({"deliveryId": "delivery/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"}, "unknown_delivery"),
        ({}, "not_exactly_one"),
        ({"eventId": third, "since": since}, "not_exactly_one"),
    ):
        refused = await here.tenant.call("POST", path, body, token=here.tenant.key)
        assert refused.json()["errors"][0]["code"] == code
    await here.call("PATCH", f"/v1/webhooks/{hook['id']}/state", {"toStateId": "DISABLED"})
    assert await here.refused("POST", path, {"eventId": third}) == (409, "webhook_not_active")


async def test_a_test_is_sent_at_once_and_tells_what_came_back(here: World) -> None:
    here.receiver.says("/hook", 418, b"short and stout")
    hook = await here.hook(events=["card.created"])
    answer = await here.call("POST", f"/v1/webhooks/{hook['id']}/test")
    assert (answer["statusCode"], answer["answer"]) == (418, "short and stout")
    (got,) = here.receiver.got
    said = Webhook(hook["secret"]).verify(got.body, got.headers)
    assert (said["type"], said["objectId"]) == ("webhook.test", hook["id"])


async def test_deliveries_are_listed_newest_first_by_pages_and_status(here: World) -> None:
    hook = await here.hook()
    for _ in range(4):
        await here.customer()
    await here.deliver()
    here.receiver.says("/hook", 500)
    await here.customer()
    await here.deliver()
    path = f"/v1/webhooks/{hook['id']}/deliveries"
    first = await here.call("GET", f"{path}?limit=3")
    rest = await here.call("GET", f"{path}?limit=3&cursor={first['nextCursor']}")
    seen = [one["id"] for one in first["results"] + rest["results"]]
    assert len(set(seen)) == 5
    assert "nextCursor" not in rest
    assert [one["status"] for one in first["results"]] == ["waiting", "delivered", "delivered"]
    assert [one["id"] for one in await here.deliveries(hook, "&status=waiting")] == seen[:1]


async def test_a_tenant_has_20_webhooks_at_most(here: World) -> None:
    made = [await here.hook() for _ in range(20)]
    body = {"url": here.receiver.url("/hook")}
    assert await here.refused("POST", "/v1/webhooks", body) == (409, "too_many_webhooks")
    deleted = await here.call("DELETE", f"/v1/webhooks/{made[0]['id']}")
    assert deleted["stateId"] == "DELETED"
    await here.hook()
    await here.call("PATCH", f"/v1/webhooks/{made[1]['id']}/state", {"toStateId": "DELETED"})
    await here.hook()
    assert await here.refused("POST", "/v1/webhooks", body) == (409, "too_many_webhooks")


async def test_nothing_is_sent_to_a_deleted_webhook_and_nothing_of_it_changes(here: World) -> None:
    here.receiver.says("/hook", 500)
    hook = await here.hook()
    path = f"/v1/webhooks/{hook['id']}"
    await here.customer()
    await here.deliver()
    await here.call("DELETE", path)
    here.clock.advance(timedelta(days=1))
    await here.customer()
    await here.deliver()
    assert len(here.receiver.got) == 1
    assert await here.refused("DELETE", path) == (409, "transition_not_allowed")
    assert await here.refused("PATCH", path, {"tags": []}) == (409, "webhook_not_active")
    for verb in ("rotate", "test"):
        assert await here.refused("POST", f"{path}/{verb}") == (409, "webhook_not_active")


async def test_a_webhook_can_be_updated(here: World) -> None:
    hook = await here.hook()
    changes = {
        "url": here.receiver.url("/new"),
        "events": ["customer.created"],
        "description": "moved",
        "tags": ["a"],
    }
    changed = await here.call("PATCH", f"/v1/webhooks/{hook['id']}", changes)
    assert {name: changed[name] for name in changes} == changes
    await here.customer(updates=1)
    await here.deliver()
    assert [(one.path, one.event["type"]) for one in here.receiver.got] == [
        ("/new", "customer.created")
    ]


def test_private_addresses_cannot_be_allowed_in_live(database: "Database") -> None:
    with pytest.raises(SettingsError, match="FARTHING_WEBHOOK_PRIVATE"):
        Courier(database.settings(environment="live", webhook_private=True))


FORBIDDEN = {
    "http://2130706433/": "malformed_host",
    "http://0x7f.0.0.1/": "malformed_host",
    "http://0177.0.0.1/": "malformed_host",
    "http://[fe80::1%25lo]/": "malformed_host",
    "http://user:secret@shop.example/": "credentials_in_url",
    "ftp://shop.example/": "invalid_format",
    "http://169.254.169.254/latest": "forbidden_address",
    "http://[::ffff:169.254.169.254]/": "forbidden_address",
    "http://0.0.0.0/": "forbidden_address",
    "http://[fd00:ec2::254]/": "forbidden_address",
}


async def test_an_address_that_hides_or_is_forbidden_is_refused_at_once(here: World) -> None:
    made = await here.hook()
    ways = (("POST", "/v1/webhooks"), ("PATCH", f"/v1/webhooks/{made['id']}"))
    for (url, code), (method, path) in itertools.product(FORBIDDEN.items(), ways):
        answer = await here.tenant.call(method, path, {"url": url}, token=here.tenant.key)
        assert answer.status_code == 422, (url, method)
        (fault,) = answer.json()["errors"]
        assert (fault["pointer"], fault["code"]) == ("/url", code), (url, method)
        assert "secret" not in answer.text, (url, method)


async def test_private_addresses_are_refused_by_default(tenant: "Tenant") -> None:
    for url in ("http://127.0.0.1/", "http://[::1]/", "http://10.0.0.1/", "http://[fd12::1]/"):
        answer = await tenant.call("POST", "/v1/webhooks", {"url": url}, token=tenant.key)
        assert answer.json()["errors"][0]["code"] == "forbidden_address"


def test_live_requires_https(database: "Database") -> None:
    live = database.settings(environment="live")
    (fault,) = faults_of_target("http://shop.example/", live)
    assert (fault.pointer, fault.code) == ("/url", "https_required")
    assert faults_of_target("https://shop.example/", live) == []


async def test_events_that_never_happen_are_refused_each_at_its_place(here: World) -> None:
    made = await here.hook()
    wrong = ["customer.*", "customer.exploded", "*", "unicorn.*", "card.created"]
    body = {"url": "http://0.0.0.0/", "events": wrong}
    for method, path in (("POST", "/v1/webhooks"), ("PATCH", f"/v1/webhooks/{made['id']}")):
        answer = await here.tenant.call(method, path, body, token=here.tenant.key)
        assert answer.status_code == 422
        assert [(one["pointer"], one["code"]) for one in answer.json()["errors"]] == [
            ("/url", "forbidden_address"),
            ("/events/1", "unknown_type"),
            ("/events/3", "unknown_type"),
        ]
        assert "unicorn" not in answer.text
    assert (await here.call("GET", f"/v1/webhooks/{made['id']}"))["events"] == made["events"]


async def test_a_tenant_whose_clock_is_ahead_waits_no_longer_than_others(here: World) -> None:
    await here.call("POST", "/v1/sandbox/clock", {"advance": "P3D"})
    hook = await here.hook()
    here.receiver.says("/hook", 500)
    await here.customer()
    await here.deliver()
    here.receiver.says("/hook", 204)
    here.clock.advance(timedelta(seconds=10))
    await here.deliver()
    (delivered,) = await here.deliveries(hook)
    assert (delivered["status"], len(delivered["attempts"])) == ("delivered", 2)
    # The receiver compares the time of the signature with its own clock.
    signed = [int(one.headers["webhook-timestamp"]) for one in here.receiver.at("/hook")]
    assert max(signed) <= here.clock.now.timestamp()


async def arm(here: World, kind: str, **fields: Any) -> None:
    await here.call("POST", "/v1/sandbox/faults", {"kind": kind, "count": 1, **fields})


async def test_a_client_can_have_a_delivery_twice(here: World) -> None:
    await here.hook()
    await arm(here, "duplicateDelivery")
    await here.customer(updates=1)
    await here.deliver()
    ids = [one.headers["webhook-id"] for one in here.receiver.at("/hook")]
    assert (len(ids), len(set(ids))) == (3, 2)


async def test_a_client_can_lose_a_delivery_on_the_way_and_gets_it_later(here: World) -> None:
    hook = await here.hook()
    await arm(here, "dropDelivery")
    await here.customer()
    await here.deliver()
    assert here.receiver.at("/hook") == []
    here.clock.advance(timedelta(seconds=10))
    await here.deliver()
    (delivered,) = await here.deliveries(hook)
    lost, taken = delivered["attempts"]
    assert "asked to lose it" in lost["error"]
    assert taken["statusCode"] == 204


async def test_a_client_can_have_deliveries_out_of_order(here: World) -> None:
    await here.hook()
    await arm(here, "reorderDelivery")
    await here.customer(updates=2)
    await here.deliver()
    versions = [msgspec.json.decode(one.body)["objectVersion"] for one in here.receiver.at("/hook")]
    assert versions == [2, 1, 3]


async def test_a_client_can_have_a_delivery_late(here: World) -> None:
    await here.hook()
    await arm(here, "delayDelivery", milliseconds=300)
    await here.customer()
    began = time.monotonic()
    await here.deliver()
    assert time.monotonic() - began >= 0.3
    assert len(here.receiver.at("/hook")) == 1


async def test_an_old_secret_ends_by_the_tenants_clock(here: World) -> None:
    hook = await here.hook()
    await here.call("POST", f"/v1/webhooks/{hook['id']}/rotate")
    await here.customer()
    await here.deliver()
    await here.call("POST", "/v1/sandbox/clock", {"advance": "P2D"})
    await here.customer()
    await here.deliver()
    signed = [one.headers["webhook-signature"].split(" ") for one in here.receiver.at("/hook")]
    assert [len(one) for one in signed] == [2, 1]


async def test_a_delivery_is_forgotten_thirty_days_after_it_ended(here: World) -> None:
    janitor = duty(here.service, "forget what has expired")
    taken, waiting = await here.hook("/taken"), await here.hook("/waiting")
    gone = await here.hook("/gone")
    here.receiver.says("/waiting", 500)
    here.receiver.says("/gone", 410)
    customer = await here.customer()
    await here.deliver()
    here.clock.advance(timedelta(days=30))
    await janitor.run()
    kept = [await here.deliveries(one) for one in (taken, gone, waiting)]
    assert [one["status"] for (one,) in kept] == ["delivered", "failed", "waiting"]
    here.clock.advance(timedelta(milliseconds=1))
    await janitor.run()
    kept = [await here.deliveries(one) for one in (taken, gone, waiting)]
    assert [len(one) for one in kept] == [0, 0, 1]
    events = await here.call("GET", f"/v1/events?objectId={customer}")
    assert [one["type"] for one in events["results"]] == ["customer.created"]


async def test_deliveries_are_forgotten_by_the_clock_of_their_tenant(here: World) -> None:
    hook = await here.hook()
    await here.customer()
    await here.deliver()
    await here.call("POST", "/v1/sandbox/clock", {"advance": "P30D"})
    await duty(here.service, "forget what has expired").run()
    assert len(await here.deliveries(hook)) == 1
    await here.call("POST", "/v1/sandbox/clock", {"advance": "PT1S"})
    assert await here.deliveries(hook) == []
