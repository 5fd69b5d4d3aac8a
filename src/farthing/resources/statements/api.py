"""How statements are spoken of on the wire: as JSON, as CSV and as ISO 20022 camt.053."""

import csv
import io
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final
from uuid import UUID, uuid5

from msgspec import Meta, field

from farthing.core.clock import say_time, system_clock, whole
from farthing.core.errors import Fault, NotAcceptable
from farthing.core.ids import new_id
from farthing.core.money import decimals
from farthing.core.operation import TOKENS, Operation
from farthing.core.wire import Request
from farthing.resources.accounts.model import NOUN
from farthing.resources.statements import actions
from farthing.resources.statements.model import StatementEntryView, StatementView, TotalView

PATH: Final = "/v1/accounts/{id}/statement"

_COLUMNS: Final = (
    *("line", "accountId", "number", "createdAt", "transactionId", "effect"),
    *("amount", "balance", "currencyISO"),
)
# What a spreadsheet takes for the beginning of a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
# camt.053 has room for so many digits in an amount; an account can hold one more.
_MOST_DIGITS: Final = 18


class StatementQuery(Request, frozen=True, kw_only=True):
    """The period of a statement."""

    from_: Annotated[
        datetime, Meta(tz=True, description="The first moment of the period, to the millisecond.")
    ] = field(name="from")
    to: Annotated[
        datetime,
        Meta(tz=True, description="The first moment after the period, to the millisecond."),
    ]

    @staticmethod
    def crossed(given: dict[str, Any], _: datetime) -> Iterator[Fault]:
        """Refuse a period that ends before it begins."""
        begin, end = given.get("from"), given.get("to")
        if begin and end and whole(begin) >= whole(end):
            yield Fault("/to", "wrong_order", "Must be later than from.")


def write_csv(statement: StatementView) -> bytes:
    """CSV of RFC 4180 in UTF-8: a line of names, the opening balance, each entry, the closing."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\r\n")
    lines.writerow(_COLUMNS)
    lines.writerow(_csv_balance(statement, "opening", statement.from_, statement.opening_balance))
    lines.writerows(_csv_entry(statement, entry) for entry in statement.entries)
    lines.writerow(_csv_balance(statement, "closing", statement.to, statement.closing_balance))
    return text.getvalue().encode()


def _csv_balance(statement: StatementView, line: str, moment: str, balance: str) -> list[Any]:
    texts = _texts(line, statement.account_id, "", moment, "", "")
    return [*texts, "", int(balance), statement.currency_iso]


def _csv_entry(statement: StatementView, entry: StatementEntryView) -> list[Any]:
    before = _texts("entry", statement.account_id)
    after = _texts(entry.created_at, entry.transaction_id, entry.effect)
    numbers = (int(entry.amount), int(entry.balance))
    return [*before, entry.number, *after, *numbers, statement.currency_iso]


def _texts(*cells: str) -> list[str]:
    """Keep a spreadsheet from calculating what is only text."""
    return [f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in cells]


def write_camt(statement: StatementView) -> bytes:
    """ISO 20022 camt.053.001.08: amounts in the currency's major unit, booked entries only."""
    return _Camt(statement).write()


class _Camt:
    """A statement on its way into the words of ISO 20022."""

    def __init__(self, statement: StatementView) -> None:
        # A fifth of a second and 17 MiB that only whoever asks for camt.053 has to pay.
        from pyiso20022.camt import camt_053_001_08 as camt  # noqa: PLC0415 - see above
        from xsdata.models.datatype import XmlDate, XmlDateTime  # noqa: PLC0415 - see above

        self._camt, self._date, self._moment = camt, XmlDate.from_string, XmlDateTime.from_string
        self._statement = statement
        self._decimals = decimals(statement.currency_iso)
        self._account = UUID(statement.account_id.partition("/")[2])

    def write(self) -> bytes:
        from xsdata.formats.dataclass.serializers import XmlSerializer  # noqa: PLC0415 - see above

        camt = self._camt
        header = camt.GroupHeader81(msg_id=new_id().hex, cre_dt_tm=self._now())
        message = camt.BankToCustomerStatementV08(grp_hdr=header, stmt=[self._stmt()])
        document = camt.Document(bk_to_cstmr_stmt=message)
        return XmlSerializer().render(document, {None: document.Meta.namespace}).encode()

    def _now(self) -> Any:
        return self._moment(say_time(system_clock()))

    def _stmt(self) -> Any:
        camt, statement = self._camt, self._statement
        begin, end = self._moment(statement.from_), self._moment(statement.to)
        # Entries are only ever added, so these three tell one content from any other.
        content = f"{statement.from_}/{statement.to}/{len(statement.entries)}"
        return camt.AccountStatement9(
            id=uuid5(self._account, content).hex,
            cre_dt_tm=self._now(),
            fr_to_dt=camt.DateTimePeriod1(fr_dt_tm=begin, to_dt_tm=end),
            acct=self._acct(),
            bal=[
                self._bal("OPBD", statement.opening_balance, begin),
                self._bal("CLBD", statement.closing_balance, end),
            ],
            txs_summry=camt.TotalTransactions6(
                ttl_cdt_ntries=self._total(statement.credits),
                ttl_dbt_ntries=self._total(statement.debits),
            ),
            ntry=[self._ntry(entry) for entry in statement.entries],
        )

    def _acct(self) -> Any:
        camt = self._camt
        other = camt.GenericAccountIdentification1(id=self._account.hex)
        return camt.CashAccount39(
            id=camt.AccountIdentification4Choice(othr=other), ccy=self._statement.currency_iso
        )

    def _bal(self, code: str, amount: str, moment: Any) -> Any:
        camt = self._camt
        kind = camt.BalanceType10Choice(cd=code)
        return camt.CashBalance8(
            tp=camt.BalanceType13(cd_or_prtry=kind),
            amt=self._amt(amount),
            cdt_dbt_ind=self._side(amount),
            dt=camt.DateAndDateTime2Choice(dt_tm=moment),
        )

    def _total(self, total: TotalView) -> Any:
        number = str(total.count)
        return self._camt.NumberAndSumOfTransactions1(
            nb_of_ntries=number, sum=self._major(total.amount)
        )

    def _ntry(self, entry: StatementEntryView) -> Any:
        camt = self._camt
        own = camt.ProprietaryBankTransactionCodeStructure1(cd=entry.effect, issr="Farthing")
        moment, day = self._moment(entry.created_at), self._date(entry.created_at[:10])
        return camt.ReportEntry10(
            ntry_ref=str(entry.number),
            amt=self._amt(entry.amount),
            cdt_dbt_ind=self._side(entry.amount),
            sts=camt.EntryStatus1Choice(cd="BOOK"),
            bookg_dt=camt.DateAndDateTime2Choice(dt_tm=moment),
            val_dt=camt.DateAndDateTime2Choice(dt=day),
            acct_svcr_ref=UUID(entry.transaction_id.partition("/")[2]).hex,
            bk_tx_cd=camt.BankTransactionCodeStructure4(prtry=own),
        )

    def _amt(self, amount: str) -> Any:
        return self._camt.ActiveOrHistoricCurrencyAndAmount(
            value=self._major(amount), ccy=self._statement.currency_iso
        )

    def _major(self, amount: str) -> Decimal:
        """Return an amount in the major unit, without its sign."""
        digits = amount.removeprefix("-")
        if len(digits) > _MOST_DIGITS:
            raise NotAcceptable(
                f"camt.053 has room for {_MOST_DIGITS} digits in an amount, and this statement has "
                "one with more. Take application/json or text/csv."
            )
        return Decimal(digits).scaleb(-self._decimals)

    def _side(self, amount: str) -> Any:
        code = self._camt.CreditDebitCode
        return code.DBIT if amount.startswith("-") else code.CRDT


OPERATIONS: Final = (
    Operation(
        id="accounts.statement",
        method="GET",
        path=PATH,
        summary="Read the statement of an account for a period",
        who=TOKENS,
        read=actions.read,
        noun=NOUN,
        query=StatementQuery,
        answer=StatementView,
        query_example={"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"},
        formats={"text/csv": write_csv, "application/xml": write_camt},
    ),
)
