"""The two clients: the same operations, one waits and one awaits."""

from typing import Final, Self

import httpx2

from farthing import __version__
from farthing.client import _credentials
from farthing.client._asks import check_identifier
from farthing.client._async import AsyncOperations
from farthing.client._driving import AsyncDriver, Driver
from farthing.client._retries import Retries
from farthing.client._session import Session
from farthing.client._sync import Operations

_PATIENT: Final = Retries()
_SECONDS: Final = 30.0
# Whatever proxy the environment names, a service on this machine is reached without it.
_HERE: Final = dict.fromkeys(("all://127.0.0.1", "all://localhost", "all://[::1]"))


def _session(
    api_key: str, *, sandbox: bool, base_url: str | None, retries: Retries, tenant: str | None
) -> Session:
    credential = _credentials.read(api_key, sandbox=sandbox)
    if tenant is not None:
        check_identifier("customer", tenant)
    address = _credentials.address(base_url, sandbox=sandbox)
    return Session(address, credential, retries, tenant)


def _headers() -> dict[str, str]:
    return {"User-Agent": f"farthing-python/{__version__}"}


def _describe(name: str, session: Session) -> str:
    environment = "live" if session.credential.is_live else "sandbox"
    customer = f" for {session.customer}" if session.customer else ""
    return f"<{name}, {environment} at {session.base_url}{customer}>"


class Farthing(Operations):
    """A client that waits for answers; threads can share it.

    >>> client = Farthing(api_key, sandbox=True)
    >>> ada = client.customers.create(type="INDIVIDUAL", name="Ada")
    >>> account = client.for_customer(ada.id).accounts.create(
    ...     owner_id=ada.id, currency_iso="GBP"
    ... )
    >>> account.available_balance
    '0'

    `sandbox` says which environment the key must be of, and which address is called:
    `FARTHING_SANDBOX_URL` or `FARTHING_LIVE_URL`, unless `base_url` names one. A key of the other
    environment is refused before anything is sent.

    >>> Farthing(api_key, sandbox=False)
    Traceback (most recent call last):
    ValueError: This is a key of sandbox, and the client was made with sandbox=False...

    The client gets access tokens by itself, and acts for the whole tenant with that of the tenant's
    own customer. A write that got no answer is sent again under the same idempotency key, as
    `retries` says; `timeout` is for each attempt, in seconds. With an operator's key, `tenant`
    names the tenant, as `customer/<uuid>`, where the operation names no object.

    >>> client.accounts.get("account/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
    Traceback (most recent call last):
    farthing.client.errors.NotFound: not_found: There is no such account. (request ...)
    """

    def __init__(
        self,
        api_key: str,
        *,
        sandbox: bool = True,
        base_url: str | None = None,
        timeout: float = _SECONDS,
        retries: Retries = _PATIENT,
        tenant: str | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        session = _session(
            api_key, sandbox=sandbox, base_url=base_url, retries=retries, tenant=tenant
        )
        http = httpx2.Client(timeout=timeout, transport=transport, headers=_headers(), mounts=_HERE)
        super().__init__(Driver(session, http))

    def for_customer(self, customer: str) -> Self:
        """Return this client as one customer, who sees and touches only its own.

        It gets the customer's access token when it is first needed, and a new one in time. Both
        share their connections: there is nothing to close, and to close one closes both.

        >>> ada = client.customers.create(type="INDIVIDUAL", name="Ada")
        >>> client.for_customer(ada.id).customers.get(ada.id).name
        'Ada'
        """
        own = type(self).__new__(type(self))
        session = self._driver.session.for_customer(customer)
        Operations.__init__(own, Driver(session, self._driver.http))
        return own

    def close(self) -> None:
        """Close the connections."""
        self._driver.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return _describe(type(self).__name__, self._driver.session)


class AsyncFarthing(AsyncOperations):
    """A client that awaits answers; everything else is as in `Farthing`.

    >>> async def names():
    ...     async with AsyncFarthing(api_key, sandbox=True) as client:
    ...         await client.customers.create(type="INDIVIDUAL", name="Ada", tags=["new"])
    ...         return [one.name async for one in client.customers.list(tag="new")]
    >>> asyncio.run(names())
    ['Ada']
    """

    def __init__(
        self,
        api_key: str,
        *,
        sandbox: bool = True,
        base_url: str | None = None,
        timeout: float = _SECONDS,
        retries: Retries = _PATIENT,
        tenant: str | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        session = _session(
            api_key, sandbox=sandbox, base_url=base_url, retries=retries, tenant=tenant
        )
        http = httpx2.AsyncClient(
            timeout=timeout, transport=transport, headers=_headers(), mounts=_HERE
        )
        super().__init__(AsyncDriver(session, http))

    def for_customer(self, customer: str) -> Self:
        """Return this client as one customer, who sees and touches only its own."""
        own = type(self).__new__(type(self))
        session = self._driver.session.for_customer(customer)
        AsyncOperations.__init__(own, AsyncDriver(session, self._driver.http))
        return own

    async def aclose(self) -> None:
        """Close the connections."""
        await self._driver.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return _describe(type(self).__name__, self._driver.session)
