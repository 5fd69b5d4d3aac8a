"""Events for tests: a log read to its end, and whether events are what their schemas say."""

import functools
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jsonschema import Draft202012Validator

from farthing.http.event_types import describe_events

if TYPE_CHECKING:
    from tests.conftest import Tenant


async def follow_to_the_end(tenant: "Tenant", **query: str) -> list[Any]:
    """Follow the cursor until there is no more."""
    results: list[Any] = []
    more = True
    while more:
        # With the key, because tokens end when a clock is moved.
        answer = await tenant.call("GET", f"/v1/events?{urlencode(query)}", token=tenant.key)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        results += page["results"]
        query["cursor"], more = page["nextCursor"], page["hasMore"]
    return results


@functools.cache
def _validators() -> dict[str, Draft202012Validator]:
    return {
        one.type: Draft202012Validator(
            one.schema, format_checker=Draft202012Validator.FORMAT_CHECKER
        )
        for one in describe_events().results
    }


def faults_of(event: dict[str, Any]) -> list[str]:
    """List what is wrong with an event by the schema of its type."""
    errors = _validators()[event["type"]].iter_errors(event)
    return [f"{event['type']} {one.json_path}: {one.message}" for one in errors]
