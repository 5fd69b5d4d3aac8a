# Written by `make client` from the operations of the service: do not edit.
"""Operations on bank accounts."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from farthing.client import _operations as operations
from farthing.client._asks import Ask
from farthing.client._model import Body
from farthing.client._namespaces import Namespace
from farthing.client._reading import Listing
from farthing.client.models import (
    Address,
    BankAccount,
    BankAccountPage,
    BankAccountState,
    Transitions,
)


class BankAccountsOperations(Namespace):
    """Bank accounts: where customers are paid out to.

    >>> from farthing.client.models import Address
    >>> ada = client.customers.create(type="INDIVIDUAL", name="Ada")
    >>> client.bank_accounts.create(
    ...     owner_id=ada.id,
    ...     currency_iso="GBP",
    ...     country_iso="GB",
    ...     account_number="12345678",
    ...     sort_code="204514",
    ...     billing_address=Address(country_iso="GB"),
    ... ).state_id
    'ENABLED'
    """

    def create(
        self,
        *,
        owner_id: str,
        currency_iso: str,
        country_iso: str,
        billing_address: Address,
        account_number: str | None = None,
        sort_code: str | None = None,
        iban: str | None = None,
        bic: str | None = None,
        set_as_preferred: bool | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> BankAccount:
        """Create a bank account.

        - `owner_id`: Must be customer/<uuid>, with the uuid in lower case.
        - `currency_iso`: The currency that is paid into the account.
        - `country_iso`: Where the account is held.
        - `account_number`: The eight digits of a UK account number; comes with `sortCode`.
        - `sort_code`: The six digits of a UK sort code, no dashes; comes with `accountNumber`.
        - `iban`: An IBAN of ISO 13616, in capitals and without spaces.
        - `bic`: A SWIFT BIC of 8 or 11 characters; comes with `iban`.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises OwnerNotActive, RefusedByRule.
        """
        ask = Ask(
            operations.BANK_ACCOUNTS_CREATE,
            body=Body(
                {
                    "ownerId": owner_id,
                    "currencyISO": currency_iso,
                    "countryISO": country_iso,
                    "billingAddress": billing_address,
                    "accountNumber": account_number,
                    "sortCode": sort_code,
                    "iban": iban,
                    "bic": bic,
                    "setAsPreferred": set_as_preferred,
                    "tags": tags,
                    "annotations": annotations,
                }
            ),
            key=idempotency_key,
        )
        return self._send(ask, BankAccount)

    def update(
        self,
        id: str,
        *,
        account_number: str | None = None,
        sort_code: str | None = None,
        iban: str | None = None,
        bic: str | None = None,
        billing_address: Address | None = None,
        set_as_preferred: bool | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> BankAccount:
        """Update a bank account.

        - `account_number`: The eight digits of a UK account number; comes with `sortCode`.
        - `sort_code`: The six digits of a UK sort code, no dashes; comes with `accountNumber`.
        - `iban`: An IBAN of ISO 13616, in capitals and without spaces.
        - `bic`: A SWIFT BIC of 8 or 11 characters; comes with `iban`.
        - `tags`: Free-form labels; rules can use them.
        - `annotations`: Free-form names with their values; rules can use them.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises DestinationFixed.
        """
        ask = Ask(
            operations.BANK_ACCOUNTS_UPDATE,
            id,
            body=Body(
                {
                    "accountNumber": account_number,
                    "sortCode": sort_code,
                    "iban": iban,
                    "bic": bic,
                    "billingAddress": billing_address,
                    "setAsPreferred": set_as_preferred,
                    "tags": tags,
                    "annotations": annotations,
                }
            ),
            key=idempotency_key,
        )
        return self._send(ask, BankAccount)

    def move(
        self,
        id: str,
        *,
        to_state_id: BankAccountState,
        reason: str | None = None,
        tags: Sequence[str] | None = None,
        annotations: Mapping[str, str] | None = None,
        from_state_id: BankAccountState | None = None,
        idempotency_key: str | None = None,
    ) -> BankAccount:
        """Move a bank account to another state.

        - `reason`: Why; kept in the history.
        - `tags`: Added to the tags that there are.
        - `annotations`: Merged by name into those that there are.
        - `idempotency_key`: What is sent twice under one key is done once; drawn by default.

        Raises StateMismatch, TransitionNotAllowed, RequirementsUnresolved, RefusedByRule.
        """
        ask = Ask(
            operations.BANK_ACCOUNTS_MOVE,
            id,
            body=Body(
                {
                    "reason": reason,
                    "tags": tags,
                    "annotations": annotations,
                    "fromStateId": from_state_id,
                    "toStateId": to_state_id,
                }
            ),
            key=idempotency_key,
        )
        return self._send(ask, BankAccount)

    def list(
        self,
        *,
        limit: int | None = None,
        annotations: Mapping[str, str] | None = None,
        cursor: str | None = None,
        tag: str | None = None,
        created_from: datetime | None = None,
        created_to: datetime | None = None,
        owner_id: str | None = None,
        state_id: BankAccountState | None = None,
    ) -> Listing[BankAccount, BankAccountPage]:
        """List bank accounts, newest first.

        - `limit`: How many results at the most, over all pages; all of them by default.
        - `annotations`: Only objects with these annotations.
        - `cursor`: The `nextCursor` of the page before.
        - `tag`: Only objects with this tag.
        - `created_from`: Only objects made at this time or later.
        - `created_to`: Only objects made before this time.
        - `owner_id`: Must be customer/<uuid>, with the uuid in lower case.
        """
        ask = Ask(
            operations.BANK_ACCOUNTS_LIST,
            query={
                "cursor": cursor,
                "tag": tag,
                "createdFrom": created_from,
                "createdTo": created_to,
                "ownerId": owner_id,
                "stateId": state_id,
                "annotation": annotations,
            },
        )
        return self._list(ask, BankAccountPage, limit)

    def get(self, id: str) -> BankAccount:
        """Read one bank account."""
        ask = Ask(operations.BANK_ACCOUNTS_GET, id)
        return self._send(ask, BankAccount)

    def transitions(self, id: str) -> Transitions:
        """Read the history of one bank account and its possible next states."""
        ask = Ask(operations.BANK_ACCOUNTS_TRANSITIONS, id)
        return self._send(ask, Transitions)
