"""Keys and card numbers: nowhere in a repr, an exception or a log; keys only where they belong."""

import logging
import pickle
import traceback
from collections.abc import Callable
from pprint import pformat
from typing import Any

import pytest
from rich.pretty import pretty_repr
from tests.client.conftest import Maker, Running, Shop
from tests.client.test_calls import new_customer
from tests.client.test_retries import KEY

from farthing.client import AsyncFarthing, Farthing, Retries, errors
from farthing.client._session import read
from farthing.client.models import AccessToken, Address

NUMBER = "4000000000000002"
# As a repr shows it: the digits alone could be part of anything.
CVV = "'987'"
LIVE = KEY.replace("sandbox", "live")


def pay(client: Any, owner: str, **fields: Any) -> Any:
    # The caller's own variables are the caller's own matter.
    return client.cards.create(
        owner_id=owner,
        expiry="1230",
        cvv=CVV.strip("'"),
        billing_address=Address(country_iso="GB"),
        **{"card_number": NUMBER, **fields},
    )


def everything_said_of(error: BaseException) -> str:
    """Return whatever a log could show of an exception, the variables of our frames included."""
    assert error.__cause__ is None
    assert error.__context__ is None
    said = [str(error), repr(error), repr(vars(error)), repr(pickle.dumps(error))]
    trace = traceback.TracebackException.from_exception(error, capture_locals=True)
    ours = [frame for frame in trace.stack if "/farthing/client/" in frame.filename]
    assert ours
    return "\n".join([*said, *(repr(frame.locals) for frame in ours)])


def refuse(client: Any) -> None:
    client.sandbox.faults.arm(kind="unavailable", count=2)


def cut(client: Any) -> None:
    client.sandbox.faults.arm(kind="cut", count=2)


@pytest.mark.parametrize(
    ("fields", "prepare", "kind"),
    [
        ({"tags": ["x"] * 51}, None, errors.ValidationFailed),
        ({"card_number": NUMBER + "1"}, None, errors.ValidationFailed),
        ({}, refuse, errors.Unavailable),
        ({}, cut, errors.ConnectionFailed),
    ],
)
def test_no_exception_shows_a_card_number_or_a_key(
    make: Maker,
    shop: Shop,
    fields: dict[str, Any],
    prepare: Callable[[Any], None] | None,
    kind: type[Exception],
) -> None:
    client = make(shop.key, retries=Retries(attempts=1))
    ada = new_customer(client)
    assert client.cards.list(limit=1)
    client.accounts.create(owner_id=ada, currency_iso="GBP")
    if prepare is not None:
        prepare(client)
    with pytest.raises(kind) as caught:
        pay(client, ada, **fields)
    said = everything_said_of(caught.value)
    for secret in (NUMBER, CVV, shop.key, "farthing_token"):
        assert secret not in said


def test_what_cannot_be_written_as_json_shows_no_card_number(client: Any) -> None:
    with pytest.raises(TypeError) as caught:
        pay(client, new_customer(client), tags=[object()])
    assert NUMBER not in everything_said_of(caught.value)


def test_an_answer_that_cannot_be_read_is_not_shown() -> None:
    with pytest.raises(errors.UnexpectedAnswer) as caught:
        read(b'{"accessToken": "farthing_token_sandbox"}', AccessToken)
    assert "farthing_token" not in everything_said_of(caught.value)


def test_no_log_shows_a_card_number_or_a_key(
    make: Maker, shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        client = make(shop.key)
        card = pay(client, new_customer(client))
    assert card.card_number_suffix == "0002"
    assert caplog.records
    for secret in (NUMBER, CVV, shop.key, "farthing_token"):
        assert secret not in caplog.text


def test_no_repr_shows_a_key(running: Running, client: Any, shop: Shop) -> None:
    ada = new_customer(client)
    own = client.for_customer(ada)
    own.customers.get(ada)
    told = f"sandbox at {running.url}"
    assert repr(client).endswith(f"Farthing, {told}>")
    assert repr(own).endswith(f"Farthing, {told} for {ada}>")
    inner = getattr(own, "_inner", own)._driver  # noqa: SLF001 - also inside nothing shows it
    shown = repr(inner) + repr(inner.session) + repr(inner.session.tokens)
    assert shop.key not in shown
    assert "farthing_token" not in shown


@pytest.mark.parametrize("show", [repr, pformat, pretty_repr])
def test_no_answer_shows_the_secret_in_it(
    make: Maker, client: Any, shop: Shop, show: Callable[[Any], str]
) -> None:
    token = client.tokens.issue(shop.id)
    hook = client.webhooks.create(url="https://example.org/hook")
    tenant = make(shop.operator).sandbox.tenants.create(name="For a moment")
    shown = show([token, hook, tenant])
    for secret in (token.access_token, hook.secret, tenant.api_key):
        assert secret not in shown


@pytest.mark.parametrize("kind", [Farthing, AsyncFarthing])
def test_a_key_of_the_other_environment_is_refused_before_anything_is_sent(kind: Any) -> None:
    for key, sandbox in ((LIVE, True), (KEY, False)):
        # There is no such port: whoever sent something would be told so.
        with pytest.raises(ValueError, match="Nothing was sent") as caught:
            kind(key, sandbox=sandbox, base_url="http://127.0.0.1:99999")
        assert key not in str(caught.value)
    assert "live at https://pay.example" in repr(
        kind(LIVE, sandbox=False, base_url="https://pay.example/")
    )


@pytest.mark.parametrize(
    "text", ["", "secret", KEY[:-1], f"{KEY}A", KEY.replace("key", "lock"), None]
)
def test_what_is_no_key_is_refused_and_not_repeated(text: Any) -> None:
    with pytest.raises(ValueError, match="no key of Farthing") as caught:
        Farthing(text)
    assert not text or text not in str(caught.value)


def test_the_environment_says_where_the_service_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FARTHING_SANDBOX_URL", raising=False)
    monkeypatch.delenv("FARTHING_LIVE_URL", raising=False)
    assert "at http://127.0.0.1:4960>" in repr(Farthing(KEY))
    with pytest.raises(ValueError, match="FARTHING_LIVE_URL"):
        Farthing(LIVE, sandbox=False)
    for nowhere in ("127.0.0.1:4960", "http://", "https://a\nb", "ftp://pay.example", "http://[::"):
        with pytest.raises(ValueError, match="Say where the service is"):
            Farthing(KEY, base_url=nowhere)
    monkeypatch.setenv("FARTHING_SANDBOX_URL", "https://sandbox.example")
    monkeypatch.setenv("FARTHING_LIVE_URL", "https://pay.example")
    assert "sandbox at https://sandbox.example>" in repr(Farthing(KEY))
    assert "live at https://pay.example>" in repr(Farthing(LIVE, sandbox=False))
    assert "at https://here.example>" in repr(Farthing(KEY, base_url="https://here.example"))
