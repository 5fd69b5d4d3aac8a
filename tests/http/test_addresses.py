"""Addresses: the longest collection and ending that leave an identifier between them are meant."""

from typing import TYPE_CHECKING, Any

import pytest

from farthing.http.addresses import Addresses

if TYPE_CHECKING:
    from starlette.types import ASGIApp

PATHS = (
    "/v1/tx",
    "/v1/tx/inbound",
    "/v1/tx/{id}",
    "/v1/tx/{id}/state",
    "/v1/sandbox/rail",
    "/v1/sandbox/tx/{id}/settle",
    "/v1/sandbox/tx/{id}/dispute",
    "/v1/sandbox/tx/{id}/dispute/win",
    "/v1/deep/and/deeper/{id}",
)
UUID = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"


def named(name: str) -> "ASGIApp":
    async def app(scope: Any, _: Any, __: Any) -> None:
        scope["found"] = name

    return app


@pytest.mark.parametrize(
    ("path", "found", "identifier"),
    [
        ("/v1/tx", "/v1/tx", None),
        ("/v1/tx/inbound", "/v1/tx/inbound", None),
        (f"/v1/tx/tx/{UUID}", "/v1/tx/{id}", f"tx/{UUID}"),
        (f"/v1/tx/tx/{UUID}/state", "/v1/tx/{id}/state", f"tx/{UUID}"),
        ("/v1/tx/", "/v1/tx/{id}", ""),
        ("/v1/tx//state", "/v1/tx/{id}/state", ""),
        ("/v1/tx/state", "/v1/tx/{id}", "state"),
        (f"/v1/tx/tx/{UUID}/dispute/win", "/v1/tx/{id}", f"tx/{UUID}/dispute/win"),
        ("/v1/sandbox/rail", "/v1/sandbox/rail", None),
        (f"/v1/sandbox/tx/tx/{UUID}/settle", "/v1/sandbox/tx/{id}/settle", f"tx/{UUID}"),
        (f"/v1/sandbox/tx/tx/{UUID}/dispute", "/v1/sandbox/tx/{id}/dispute", f"tx/{UUID}"),
        (f"/v1/sandbox/tx/tx/{UUID}/dispute/win", "/v1/sandbox/tx/{id}/dispute/win", f"tx/{UUID}"),
        ("/v1/sandbox/tx//dispute/win", "/v1/sandbox/tx/{id}/dispute/win", ""),
        ("/v1/sandbox/tx/nonsense/settle", "/v1/sandbox/tx/{id}/settle", "nonsense"),
        ("/v1/sandbox/tx/a/b/c/settle", "/v1/sandbox/tx/{id}/settle", "a/b/c"),
        (f"/v1/deep/and/deeper/tx/{UUID}", "/v1/deep/and/deeper/{id}", f"tx/{UUID}"),
        (f"/v1/sandbox/tx/tx/{UUID}", None, None),
        (f"/v1/sandbox/tx/tx/{UUID}/win", None, None),
        ("/v1/sandbox/tx/settle", None, None),
        ("/v1/sandbox/tx", None, None),
        ("/v1/sandbox/rail/", None, None),
        ("/v1/sandbox", None, None),
        ("/v1/deep/and", None, None),
        ("/v2/tx/inbound", None, None),
        ("/", None, None),
        ("", None, None),
        ("/" * 1000, None, None),
    ],
)
async def test_an_address_leads_to_one_endpoint_and_names_one_identifier(
    path: str, found: str | None, identifier: str | None
) -> None:
    addresses = Addresses({one: named(one) for one in PATHS}, named("others"))
    scope: dict[str, Any] = {"type": "http", "path": path}
    await addresses(scope, None, None)  # type: ignore[arg-type]  # nobody speaks
    assert scope["found"] == (found or "others")
    assert scope["path_params"].get("id") == identifier
