"""Members, orders, and the way of the money.

An order is one transaction of Farthing, and its state is that of the order: HELD while the money
waits for the goods, EFFECTED once they are there. Nothing is kept here that could disagree.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from farthing.client import Farthing
from farthing.client.models import Address, AdjustmentOption, MoveOptions, Transaction

CURRENCY = "GBP"
FEE_PERCENT = 10
# A buyer who says nothing for so long has the goods.
PATIENCE = timedelta(days=14)

_AT_HOME = Address(country_iso="GB")


@dataclass(frozen=True)
class Seller:
    """Somebody who sells; the money is in the account."""

    id: str
    account_id: str


@dataclass(frozen=True)
class Buyer:
    """Somebody who buys, with a card."""

    id: str
    card_id: str


class Market:
    """The marketplace, whose fees go to an account of its owner."""

    def __init__(self, client: Farthing, owner_id: str) -> None:
        self._client = client
        self.fees_id = client.accounts.create(owner_id=owner_id, currency_iso=CURRENCY).id

    def welcome_seller(self, name: str, sort_code: str, account_number: str) -> Seller:
        """Take a seller in, with the bank account to which payouts go."""
        customer = self._client.customers.create(type="INDIVIDUAL", name=name, tags=["seller"])
        self._client.bank_accounts.create(
            owner_id=customer.id,
            currency_iso=CURRENCY,
            country_iso="GB",
            sort_code=sort_code,
            account_number=account_number,
            billing_address=_AT_HOME,
            set_as_preferred=True,
        )
        account = self._client.accounts.create(owner_id=customer.id, currency_iso=CURRENCY)
        return Seller(customer.id, account.id)

    def welcome_buyer(self, name: str, card_number: str, expiry: str, cvv: str) -> Buyer:
        """Take a buyer in, with a card."""
        customer = self._client.customers.create(type="INDIVIDUAL", name=name, tags=["buyer"])
        card = self._client.cards.create(
            owner_id=customer.id,
            card_number=card_number,
            expiry=expiry,
            cvv=cvv,
            billing_address=_AT_HOME,
        )
        return Buyer(customer.id, card.id)

    def buy(self, buyer: Buyer, seller: Seller, pence: int, what: str) -> Transaction:
        """Take the price from the buyer's card, and hold it for the seller."""
        return self._client.transactions.inbound(
            account_id=seller.account_id,
            payment_instrument_id=buyer.card_id,
            amount=str(pence),
            method="card",
            purpose="PURCHASE",
            target_state_id="HELD",
            description=what,
        )

    def deliver(self, order_id: str) -> None:
        """Give the seller the money, less our fee: the goods are there."""
        order = self._client.transactions.move(
            order_id, to_state_id="EFFECTED", idempotency_key=f"deliver {order_id}"
        )
        fee = int(order.amount) * FEE_PERCENT // 100
        if fee:
            self._client.transactions.internal(
                from_account_id=self._account_of(order),
                to_account_id=self.fees_id,
                amount=str(fee),
                purpose="TRANSFER",
                description="Fee",
                idempotency_key=f"fee {order_id}",
            )

    def deliver_overdue(self, now: datetime) -> list[str]:
        """Deliver every order whose buyer has said nothing for too long."""
        held = self._client.transactions.list(state_id="HELD", created_to=now - PATIENCE)
        overdue = [order.id for order in held]
        for order_id in overdue:
            self.deliver(order_id)
        return overdue

    def cancel(self, order_id: str) -> None:
        """Give the buyer all of the money back, while it waits."""
        self._client.transactions.move(order_id, to_state_id="CANCELLED")

    def refund(self, order_id: str, pence: int) -> None:
        """Give the buyer a part of the money back, or all of it, after the delivery."""
        amount = AdjustmentOption(adjustment_amount=str(pence))
        options = MoveOptions(adjustment=amount)
        self._client.transactions.move(order_id, to_state_id="ADJUSTED", options=options)

    def pay_out(self, seller: Seller) -> Transaction:
        """Send the seller everything that is theirs."""
        return self._client.transactions.outbound(
            account_id=seller.account_id,
            amount=str(self.balance(seller.account_id)),
            method="bankAccount",
            purpose="WITHDRAWAL",
        )

    def balance(self, account_id: str) -> int:
        """Return what is available in an account, in pence; what is held is not."""
        return int(self._client.accounts.get(account_id).available_balance)

    def _account_of(self, order: Transaction) -> str:
        (account,) = self._client.accounts.list(owner_id=order.to_owner_id)
        return account.id
