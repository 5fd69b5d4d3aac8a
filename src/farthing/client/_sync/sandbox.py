# Written by `make client` from the operations of the service: do not edit.
"""Operations on sandbox."""

from functools import cached_property

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import Namespace
from farthing.client._sync.sandbox_bank_accounts import SandboxBankAccountsOperations
from farthing.client._sync.sandbox_cards import SandboxCardsOperations
from farthing.client._sync.sandbox_clock import SandboxClockOperations
from farthing.client._sync.sandbox_faults import SandboxFaultsOperations
from farthing.client._sync.sandbox_rail import SandboxRailOperations
from farthing.client._sync.sandbox_tenants import SandboxTenantsOperations
from farthing.client._sync.sandbox_transactions import SandboxTransactionsOperations
from farthing.client.models import ControlledTransaction


class SandboxOperations(Namespace):
    """Sandbox: whatever can happen outside, made to happen by a request.

    >>> ada = client.customers.create(type="INDIVIDUAL", name="Ada")
    >>> account = client.accounts.create(owner_id=ada.id, currency_iso="GBP")
    >>> reference = client.references.create(to_id=account.id)
    >>> arrived = client.sandbox.inbound(
    ...     reference=reference.reference, amount="2500", currency_iso="GBP"
    ... ).object
    >>> client.sandbox.transactions.dispute(arrived.id, amount="500").object.state_id
    'DISPUTED'
    >>> client.sandbox.clock.advance(advance="P3D").complete
    True
    >>> client.sandbox.faults.arm(kind="unavailable", count=2).remaining
    2
    >>> client.accounts.get(account.id).id == account.id  # after two attempts that failed
    True
    """

    @cached_property
    def bank_accounts(self) -> SandboxBankAccountsOperations:
        """Operations on bank accounts in the sandbox."""
        return SandboxBankAccountsOperations(self._driver)

    @cached_property
    def cards(self) -> SandboxCardsOperations:
        """Operations on cards in the sandbox."""
        return SandboxCardsOperations(self._driver)

    @cached_property
    def clock(self) -> SandboxClockOperations:
        """Operations on clock in the sandbox."""
        return SandboxClockOperations(self._driver)

    @cached_property
    def faults(self) -> SandboxFaultsOperations:
        """Operations on faults in the sandbox."""
        return SandboxFaultsOperations(self._driver)

    @cached_property
    def rail(self) -> SandboxRailOperations:
        """Operations on rail in the sandbox."""
        return SandboxRailOperations(self._driver)

    @cached_property
    def tenants(self) -> SandboxTenantsOperations:
        """Operations on tenants in the sandbox."""
        return SandboxTenantsOperations(self._driver)

    @cached_property
    def transactions(self) -> SandboxTransactionsOperations:
        """Operations on transactions in the sandbox."""
        return SandboxTransactionsOperations(self._driver)

    def inbound(
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
        return self._send(ask, ControlledTransaction)
