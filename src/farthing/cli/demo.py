"""`farthing demo`: a day of a marketplace, by real calls, that leaves data worth looking at."""

import shlex
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from farthing.cli import amounts, shown
from farthing.cli.connection import Caller, Reach, connect
from farthing.cli.exits import Exit, Failure
from farthing.cli.failures import told
from farthing.cli.numbers import TEST_CARDS
from farthing.cli.table import commands
from farthing.client.models import (
    Address,
    AdjustmentOption,
    MoveOptions,
    Transaction,
    TransactionDetail,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Payment = Transaction | TransactionDetail

_TAG: Final = "demo"
_CURRENCY: Final = "GBP"
_UNDER_WAY: Final = frozenset({"ACCEPTED", "PROCESSING"})
_PATIENCE: Final = 20.0
_TICK: Final = 0.05
_SELLERS: Final = {"Bakery": "108800", "Potter": "108800", "Bookbinder": "108802"}
_BUYERS: Final = {"Ada": "visa", "Ben": "mastercard", "Cleo": "visa-debit", "Dev": "no-funds"}


@dataclass
class Day:
    """The marketplace: whose account is whose, and what was paid."""

    client: Caller
    owners: dict[str, str] = field(default_factory=dict)
    accounts: dict[str, str] = field(default_factory=dict)
    paid: dict[str, Payment] = field(default_factory=dict)
    orders: dict[str, Payment] = field(default_factory=dict)

    def open_shops(self) -> None:
        """Let sellers and buyers come, each with an account."""
        for name in (*_SELLERS, *_BUYERS):
            kind = "SOLE_TRADER" if name in _SELLERS else "INDIVIDUAL"
            made = self.client.customers.create(type=kind, name=name, tags=[_TAG])  # type: ignore[arg-type]  # both are types
            account = self.client.accounts.create(
                owner_id=made.id, currency_iso=_CURRENCY, tags=[_TAG]
            )
            self.owners[name], self.accounts[name] = made.id, account.id

    def give_cards(self) -> None:
        """Let buyers bring cards and sellers bank accounts."""
        home = Address(country_iso="GB")
        for name, card in _BUYERS.items():
            self.client.cards.create(
                owner_id=self.owners[name],
                card_number=TEST_CARDS[card],
                expiry="1230",
                cvv="123",
                billing_address=home,
                set_as_preferred=True,
            )
        for name, sort_code in _SELLERS.items():
            self.client.bank_accounts.create(
                owner_id=self.owners[name],
                currency_iso=_CURRENCY,
                country_iso="GB",
                account_number="31926819",
                sort_code=sort_code,
                billing_address=home,
                set_as_preferred=True,
            )

    def pay_in(self) -> None:
        """Let buyers pay by card; one of them has no money."""
        for name, amount in zip(_BUYERS, ("12000", "8000", "4500", "3000"), strict=True):
            self.paid[name] = self._settled(
                self.client.transactions.inbound(
                    account_id=self.accounts[name],
                    amount=amount,
                    method="card",
                    purpose="DEPOSIT",
                    description=f"Deposit of {name}",
                    tags=[_TAG],
                )
            )

    def order(self) -> None:
        """Let buyers order; the money waits in escrow."""
        orders = {"bread": ("Ada", "Bakery", "1500"), "vase": ("Ada", "Potter", "6000")}
        orders |= {"cup": ("Ben", "Potter", "2500"), "album": ("Cleo", "Bookbinder", "4000")}
        orders["clock"] = ("Ada", "Potter", "3500")
        for what, (buyer, seller, amount) in orders.items():
            self.orders[what] = self._settled(
                self.client.transactions.internal(
                    from_account_id=self.accounts[buyer],
                    to_account_id=self.accounts[seller],
                    amount=amount,
                    purpose="PURCHASE",
                    target_state_id="HELD",
                    description=f"Order of {buyer}: {what}",
                    group_id=f"order-{what}",
                    tags=[_TAG],
                )
            )

    def deliver(self) -> None:
        """Release escrow for what arrived, and give back what did not; the clock is on its way."""
        for what in ("bread", "cup", "album"):
            self._move(what, "EFFECTED")
        self._move("vase", "CANCELLED")

    def refund(self) -> None:
        """Give a part back: the cup has a crack."""
        self.orders["cup"] = self.client.transactions.move(
            self.orders["cup"].id,
            to_state_id="ADJUSTED",
            options=MoveOptions(adjustment=AdjustmentOption(adjustment_amount="500")),
        )

    def pay_out(self) -> None:
        """Pay sellers out; the bank of one of them sends it back."""
        for name, amount in (("Bakery", "1500"), ("Potter", "2000"), ("Bookbinder", "4000")):
            self.paid[name] = self._settled(
                self.client.transactions.outbound(
                    account_id=self.accounts[name],
                    amount=amount,
                    method="bankAccount",
                    purpose="WITHDRAWAL",
                    description=f"Payout to {name}",
                    tags=[_TAG],
                )
            )

    def dispute(self) -> None:
        """Let a cardholder dispute a part of a charge, and leave it open."""
        found = self.client.sandbox.transactions.dispute(self.paid["Ben"].id, amount="2000")
        self.paid["Ben"] = found.object

    def _move(self, what: str, state: str) -> None:
        self.orders[what] = self.client.transactions.move(
            self.orders[what].id,
            to_state_id=state,  # type: ignore[arg-type]  # one of its states
        )

    def _settled(self, payment: Payment) -> Payment:
        """Wait until the rail has said what becomes of a payment."""
        deadline = time.monotonic() + _PATIENCE
        while payment.state_id in _UNDER_WAY and time.monotonic() < deadline:
            time.sleep(_TICK)
            payment = self.client.transactions.get(payment.id)
        return payment


def demo(reach: Reach) -> None:
    """Play the day, and say what to look at."""
    command = commands()["tx.list"]
    with connect(reach) as caller, told(command, caller):
        if not caller.is_sandbox:
            raise Failure(
                "The demo plays with money, and this is a live key. Use one of a sandbox; "
                "`farthing up` starts one.",
                Exit.USAGE,
            )
        day = Day(caller)
        _play(day)
        _tell(day, "" if reach.home is None else f" --home {shlex.quote(str(reach.home))}")


def _play(day: Day) -> None:
    steps: dict[str, Callable[[], None]] = {
        "Sellers and buyers come": day.open_shops,
        "Cards and bank accounts": day.give_cards,
        "Buyers pay by card": day.pay_in,
        "Orders, held in escrow": day.order,
        "Escrow is released": day.deliver,
        "A refund": day.refund,
        "Payouts": day.pay_out,
        "A dispute": day.dispute,
    }
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=shown.console()) as progress:
        task = progress.add_task("", total=len(steps))
        for words, step in steps.items():
            progress.update(task, description=words)
            step()
            progress.advance(task)
        progress.update(task, description="The day is over")


def _tell(day: Day, home: str) -> None:
    out = shown.console(wraps=True)
    table = shown.plain("what", "amount", "stateId", "id")
    for name, one in (*day.paid.items(), *day.orders.items()):
        amount = amounts.say(one.amount, _CURRENCY)
        table.add_row(one.description or name, amount, shown.word(one.state_id), shown.word(one.id))
    out.print(table)
    disputed, held = (shown.word(one.id) for one in (day.paid["Ben"], day.orders["clock"]))
    out.print("\nLook at it:")
    for line in (
        f"farthing timeline {disputed}",
        f"farthing trigger win {disputed}",
        f"farthing tx move {held} --to EFFECTED --dry-run",
        "farthing tx list --state FAILED",
        f"farthing accounts list --owner {day.owners['Potter']}",
        "farthing events list --type 'transaction.*'",
        "farthing listen",
    ):
        out.print(f"  {line}{home}")
    out.print(f"Every operation, with its fields and states: {day.client.base_url}/docs")
