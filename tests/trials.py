"""Alerts and backtests for tests, which come of rules and not of themselves."""

from typing import Any

from tests.payments import Send, create

_SOMEBODY = "Somebody to be looked at"
_RULE: dict[str, Any] = {
    "name": "Look at some customers",
    "on": "customer.create",
    "when": f'has(object.name) && object.name == "{_SOMEBODY}"',
    "then": [{"action": "alert", "message": "Have a look."}],
}


async def new_alert(send: Send, with_key: Send) -> str:
    """Let a rule raise an alert, and return it; the rule is gone afterwards."""
    rule = await create(with_key, "/v1/rules", _RULE)
    await create(send, "/v1/customers", {"type": "INDIVIDUAL", "name": _SOMEBODY})
    gone = await with_key("DELETE", f"/v1/rules/{rule['id']}", None)
    assert gone.status_code == 200, gone.text
    raised = (await with_key("GET", f"/v1/alerts?ruleId={rule['id']}", None)).json()
    return str(raised["results"][0]["id"])


async def new_backtest(with_key: Send) -> str:
    """Ask for a backtest of a rule that nobody follows, and return it."""
    body = {**_RULE, "on": "transaction.create", "when": "true", "enabled": False}
    rule = await create(with_key, "/v1/rules", body)
    period = {"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}
    path = f"/v1/rules/{rule['id']}/backtest"
    answer = await with_key("POST", path, period)
    if answer.status_code == 409:
        # Too many are waiting, because nobody works here.
        running = (await with_key("GET", "/v1/backtests?stateId=RUNNING", None)).json()["results"]
        for one in running:
            state = f"/v1/backtests/{one['id']}/state"
            await with_key("PATCH", state, {"toStateId": "CANCELLED"})
        answer = await with_key("POST", path, period)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])
