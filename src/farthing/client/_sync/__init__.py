# Written by `make client` from the operations of the service: do not edit.
"""Every operation of the service, by noun."""

from functools import cached_property

from farthing.client._driving import Driver
from farthing.client._sync.accounts import AccountsOperations
from farthing.client._sync.alerts import AlertsOperations
from farthing.client._sync.approvals import ApprovalsOperations
from farthing.client._sync.backtests import BacktestsOperations
from farthing.client._sync.bank_accounts import BankAccountsOperations
from farthing.client._sync.cards import CardsOperations
from farthing.client._sync.customers import CustomersOperations
from farthing.client._sync.events import EventsOperations
from farthing.client._sync.machines import MachinesOperations
from farthing.client._sync.references import ReferencesOperations
from farthing.client._sync.rules import RulesOperations
from farthing.client._sync.sandbox import SandboxOperations
from farthing.client._sync.status import StatusOperations
from farthing.client._sync.tokens import TokensOperations
from farthing.client._sync.transactions import TransactionsOperations
from farthing.client._sync.webhooks import WebhooksOperations


class Operations:
    """Every operation of the service, by noun."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    @cached_property
    def accounts(self) -> AccountsOperations:
        """Operations on accounts."""
        return AccountsOperations(self._driver)

    @cached_property
    def alerts(self) -> AlertsOperations:
        """Operations on alerts."""
        return AlertsOperations(self._driver)

    @cached_property
    def approvals(self) -> ApprovalsOperations:
        """Operations on approvals."""
        return ApprovalsOperations(self._driver)

    @cached_property
    def backtests(self) -> BacktestsOperations:
        """Operations on backtests."""
        return BacktestsOperations(self._driver)

    @cached_property
    def bank_accounts(self) -> BankAccountsOperations:
        """Operations on bank accounts."""
        return BankAccountsOperations(self._driver)

    @cached_property
    def cards(self) -> CardsOperations:
        """Operations on cards."""
        return CardsOperations(self._driver)

    @cached_property
    def customers(self) -> CustomersOperations:
        """Operations on customers."""
        return CustomersOperations(self._driver)

    @cached_property
    def events(self) -> EventsOperations:
        """Operations on events."""
        return EventsOperations(self._driver)

    @cached_property
    def machines(self) -> MachinesOperations:
        """Operations on machines."""
        return MachinesOperations(self._driver)

    @cached_property
    def references(self) -> ReferencesOperations:
        """Operations on references."""
        return ReferencesOperations(self._driver)

    @cached_property
    def rules(self) -> RulesOperations:
        """Operations on rules."""
        return RulesOperations(self._driver)

    @cached_property
    def sandbox(self) -> SandboxOperations:
        """Operations on sandbox."""
        return SandboxOperations(self._driver)

    @cached_property
    def status(self) -> StatusOperations:
        """Operations on status."""
        return StatusOperations(self._driver)

    @cached_property
    def tokens(self) -> TokensOperations:
        """Operations on tokens."""
        return TokensOperations(self._driver)

    @cached_property
    def transactions(self) -> TransactionsOperations:
        """Operations on transactions."""
        return TransactionsOperations(self._driver)

    @cached_property
    def webhooks(self) -> WebhooksOperations:
        """Operations on webhooks."""
        return WebhooksOperations(self._driver)
