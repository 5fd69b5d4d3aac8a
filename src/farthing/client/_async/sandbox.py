# Written by `make client` from the operations of the service: do not edit.
"""Operations on sandbox."""

from functools import cached_property

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._async.sandbox_bank_accounts import AsyncSandboxBankAccountsOperations
from farthing.client._async.sandbox_cards import AsyncSandboxCardsOperations
from farthing.client._async.sandbox_clock import AsyncSandboxClockOperations
from farthing.client._async.sandbox_faults import AsyncSandboxFaultsOperations
from farthing.client._async.sandbox_rail import AsyncSandboxRailOperations
from farthing.client._async.sandbox_tenants import AsyncSandboxTenantsOperations
from farthing.client._async.sandbox_transactions import AsyncSandboxTransactionsOperations
from farthing.client._model import Body
from farthing.client._namespaces import AsyncNamespace
from farthing.client.models import ControlledTransaction


class AsyncSandboxOperations(AsyncNamespace):
    """Sandbox: whatever can happen outside, made to happen by a request."""

    @cached_property
    def bank_accounts(self) -> AsyncSandboxBankAccountsOperations:
        """Operations on bank accounts in the sandbox."""
        return AsyncSandboxBankAccountsOperations(self._driver)

    @cached_property
    def cards(self) -> AsyncSandboxCardsOperations:
        """Operations on cards in the sandbox."""
        return AsyncSandboxCardsOperations(self._driver)

    @cached_property
    def clock(self) -> AsyncSandboxClockOperations:
        """Operations on clock in the sandbox."""
        return AsyncSandboxClockOperations(self._driver)

    @cached_property
    def faults(self) -> AsyncSandboxFaultsOperations:
        """Operations on faults in the sandbox."""
        return AsyncSandboxFaultsOperations(self._driver)

    @cached_property
    def rail(self) -> AsyncSandboxRailOperations:
        """Operations on rail in the sandbox."""
        return AsyncSandboxRailOperations(self._driver)

    @cached_property
    def tenants(self) -> AsyncSandboxTenantsOperations:
        """Operations on tenants in the sandbox."""
        return AsyncSandboxTenantsOperations(self._driver)

    @cached_property
    def transactions(self) -> AsyncSandboxTransactionsOperations:
        """Operations on transactions in the sandbox."""
        return AsyncSandboxTransactionsOperations(self._driver)

    async def inbound(
        self,
        *,
        reference: str,
        amount: str,
        currency_iso: str,
        from_name: str | None = None,
        idempotency_key: str | None = None,
    ) -> ControlledTransaction:
        """Let a bank transfer arrive.

        - `reference`: What the payer wrote; it may be unknown.
        - `amount`: Must be a string of at most 18 digits, the amount in the smallest unit and not
          0, such as 1000.
        - `currency_iso`: Must be a currency of ISO 4217 in capitals, such as GBP.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises ControlNotApplicable, TransitionNotAllowed, AmountExceedsRemaining, BalanceLimit,
        AccountNotActive, OwnerNotActive.
        """
        ask = Ask(
            operations.SANDBOX_INBOUND,
            body=Body(
                {
                    "reference": reference,
                    "amount": amount,
                    "currencyISO": currency_iso,
                    "fromName": from_name,
                }
            ),
            key=idempotency_key,
        )
        return await self._send(ask, ControlledTransaction)
