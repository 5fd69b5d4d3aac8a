# Written by `make client` from the operations of the service: do not edit.
"""Every operation of the service, by noun."""

from functools import cached_property

from farthing.client._async.accounts import AsyncAccountsOperations
from farthing.client._async.alerts import AsyncAlertsOperations
from farthing.client._async.approvals import AsyncApprovalsOperations
from farthing.client._async.backtests import AsyncBacktestsOperations
from farthing.client._async.bank_accounts import AsyncBankAccountsOperations
from farthing.client._async.cards import AsyncCardsOperations
from farthing.client._async.customers import AsyncCustomersOperations
from farthing.client._async.events import AsyncEventsOperations
from farthing.client._async.machines import AsyncMachinesOperations
from farthing.client._async.references import AsyncReferencesOperations
from farthing.client._async.rules import AsyncRulesOperations
from farthing.client._async.sandbox import AsyncSandboxOperations
from farthing.client._async.status import AsyncStatusOperations
from farthing.client._async.tokens import AsyncTokensOperations
from farthing.client._async.transactions import AsyncTransactionsOperations
from farthing.client._async.webhooks import AsyncWebhooksOperations
from farthing.client._driving import AsyncDriver


class AsyncOperations:
    """Every operation of the service, by noun."""

    def __init__(self, driver: AsyncDriver) -> None:
        self._driver = driver

    @cached_property
    def accounts(self) -> AsyncAccountsOperations:
        """Operations on accounts."""
        return AsyncAccountsOperations(self._driver)

    @cached_property
    def alerts(self) -> AsyncAlertsOperations:
        """Operations on alerts."""
        return AsyncAlertsOperations(self._driver)

    @cached_property
    def approvals(self) -> AsyncApprovalsOperations:
        """Operations on approvals."""
        return AsyncApprovalsOperations(self._driver)

    @cached_property
    def backtests(self) -> AsyncBacktestsOperations:
        """Operations on backtests."""
        return AsyncBacktestsOperations(self._driver)

    @cached_property
    def bank_accounts(self) -> AsyncBankAccountsOperations:
        """Operations on bank accounts."""
        return AsyncBankAccountsOperations(self._driver)

    @cached_property
    def cards(self) -> AsyncCardsOperations:
        """Operations on cards."""
        return AsyncCardsOperations(self._driver)

    @cached_property
    def customers(self) -> AsyncCustomersOperations:
        """Operations on customers."""
        return AsyncCustomersOperations(self._driver)

    @cached_property
    def events(self) -> AsyncEventsOperations:
        """Operations on events."""
        return AsyncEventsOperations(self._driver)

    @cached_property
    def machines(self) -> AsyncMachinesOperations:
        """Operations on machines."""
        return AsyncMachinesOperations(self._driver)

    @cached_property
    def references(self) -> AsyncReferencesOperations:
        """Operations on references."""
        return AsyncReferencesOperations(self._driver)

    @cached_property
    def rules(self) -> AsyncRulesOperations:
        """Operations on rules."""
        return AsyncRulesOperations(self._driver)

    @cached_property
    def sandbox(self) -> AsyncSandboxOperations:
        """Operations on sandbox."""
        return AsyncSandboxOperations(self._driver)

    @cached_property
    def status(self) -> AsyncStatusOperations:
        """Operations on status."""
        return AsyncStatusOperations(self._driver)

    @cached_property
    def tokens(self) -> AsyncTokensOperations:
        """Operations on tokens."""
        return AsyncTokensOperations(self._driver)

    @cached_property
    def transactions(self) -> AsyncTransactionsOperations:
        """Operations on transactions."""
        return AsyncTransactionsOperations(self._driver)

    @cached_property
    def webhooks(self) -> AsyncWebhooksOperations:
        """Operations on webhooks."""
        return AsyncWebhooksOperations(self._driver)
