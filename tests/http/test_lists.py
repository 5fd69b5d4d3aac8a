"""Lists: newest first, page by page, each object once."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.conftest import Tenant


async def walk(tenant: "Tenant", path: str) -> list[Any]:
    """Follow the cursor to the end."""
    results: list[Any] = []
    cursor = ""
    while True:
        page = (await tenant.call("GET", f"{path}{cursor}")).json()
        results += page["results"]
        if "nextCursor" not in page:
            return results
        cursor = f"&cursor={page['nextCursor']}"


async def test_a_list_is_newest_first_and_20_long(tenant: "Tenant") -> None:
    made = [await tenant.new_customer() for _ in range(22)]
    page = (await tenant.call("GET", "/v1/customers")).json()
    assert [one["id"] for one in page["results"]] == made[:1:-1]
    assert page["nextCursor"]


async def test_following_the_cursor_shows_every_object_once_also_while_others_arrive(
    tenant: "Tenant",
) -> None:
    made = [await tenant.new_customer() for _ in range(7)]
    first = (await tenant.call("GET", "/v1/customers?limit=3")).json()
    await tenant.new_customer()
    path = f"/v1/customers?limit=3&cursor={first['nextCursor']}"
    rest = []
    while path:
        page = (await tenant.call("GET", path)).json()
        rest += page["results"]
        cursor = page.get("nextCursor")
        path = f"/v1/customers?limit=3&cursor={cursor}" if cursor else ""
    seen = [one["id"] for one in first["results"] + rest]
    assert seen == [*made[::-1], tenant.customer]


async def test_a_full_last_page_has_no_cursor(tenant: "Tenant") -> None:
    await tenant.new_customer()
    page = (await tenant.call("GET", "/v1/customers?limit=2")).json()
    assert len(page["results"]) == 2
    assert "nextCursor" not in page


async def test_filters_by_state_tag_annotation_owner_and_time(tenant: "Tenant") -> None:
    owner = await tenant.new_customer()
    red = await tenant.new_account(owner, tags=["red", "big"], annotations={"k": "v", "l": "w"})
    blue = await tenant.new_account(tenant.customer, tags=["blue"], annotations={"k": "x"})
    await tenant.call("PATCH", f"/v1/accounts/{blue}/state", {"toStateId": "DISABLED"})
    made_at = (await tenant.call("GET", f"/v1/accounts/{blue}")).json()["createdAt"]

    async def found(query: str) -> list[str]:
        return [one["id"] for one in await walk(tenant, f"/v1/accounts?{query}")]

    assert await found("limit=1") == [blue, red]
    assert await found("tag=red") == [red]
    assert await found("tag=re") == []
    assert await found("annotation.k=v") == [red]
    assert await found("annotation.k=v&annotation.l=w&tag=big") == [red]
    assert await found("annotation.k=v&annotation.l=x") == []
    assert await found(f"ownerId={owner}") == [red]
    assert await found("stateId=DISABLED") == [blue]
    assert await found(f"createdFrom={made_at}") == [blue]
    assert await found(f"createdTo={made_at}") == [red]
    assert await found("createdFrom=2999-01-01T00:00:00Z") == []
    assert await found("createdTo=1999-01-01T00:00:00%2B02:00") == []
