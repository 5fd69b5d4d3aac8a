"""Statements: opening balance, entries and closing balance, and they tie to the ledger."""

import csv
import io
import itertools
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import distribution
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID
from xml.etree import ElementTree as ET

import httpx2
import pytest
import xmlschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.http.stage import NOON, Clock
from tests.ledger.books import Books

from farthing.db.committer import Committer
from farthing.http import formats
from farthing.http.service import Service
from farthing.ledger import effects
from farthing.ledger.effects import Posting
from farthing.resources.statements import api, model

if TYPE_CHECKING:
    from tests.conftest import Tenant

ALWAYS = (datetime.min.replace(tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))
MS = timedelta(milliseconds=1)
CSV, XML = "text/csv; charset=utf-8", "application/xml"
NAMESPACE = {"": "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"}
# The schema as ISO publishes it, which this package brings along; no code of it is used.
SCHEMA = distribution("camt053").locate_file("camt053/xsd/camt.053.001.08.xsd")


@dataclass
class Till:
    """An account of a customer, its ledger, and a clock that is set by hand."""

    tenant: "Tenant"
    books: Books
    customer: str
    account: str
    clock: Clock
    # What the ledger must have booked, by the rule that it never goes back in time.
    booked: list[tuple[datetime, int]] = field(default_factory=list)
    latest: datetime = ALWAYS[0]

    @classmethod
    async def open(cls, service: Service, tenant: "Tenant", currency: str = "GBP") -> "Till":
        clock = Clock(NOON)
        books = Books(service.pool, Committer(service.pool, clock=clock), tenant.id, currency)
        customer = await tenant.new_customer()
        return cls(tenant, books, customer, await tenant.new_account(customer, currency), clock)

    @property
    def id(self) -> UUID:
        return UUID(self.account.partition("/")[2])

    async def post(self, *postings: Posting, at: datetime | None = None) -> bool:
        """Post at a time by the clock; tell whether it was taken."""
        self.clock.now = at or self.clock.now
        answer = await self.books.post(*postings)
        if answer.status == 200:
            self.latest = max(self.latest, self.clock.now)
            legs = [leg for one in postings for leg in one.legs if leg.account_id == self.id]
            self.booked += [(self.latest, leg.complete) for leg in legs if leg.complete]
        return answer.status == 200

    async def pay_in(self, amount: int, at: datetime | None = None) -> None:
        assert await self.post(effects.move(self.books.outside, self.id, amount), at=at)

    async def pay_out(self, amount: int, at: datetime | None = None) -> None:
        assert await self.post(effects.move(self.id, self.books.outside, amount), at=at)

    async def lose(self, amount: int) -> None:
        """Lose a dispute, which can take more than there is."""
        pair = (self.books.outside, self.id, amount)
        assert await self.post(effects.set_aside(*pair), effects.charge_back(*pair))

    async def ask(
        self, begin: datetime, end: datetime, method: str = "GET", **more: Any
    ) -> httpx2.Response:
        query = urlencode({"from": begin.isoformat(), "to": end.isoformat()})
        return await self.tenant.call(method, f"{self.path}?{query}", **more)

    @property
    def path(self) -> str:
        return f"/v1/accounts/{self.account}/statement"

    async def statement(self, begin: datetime = ALWAYS[0], end: datetime = ALWAYS[1]) -> Any:
        answer = await self.ask(begin, end)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def camt(self, begin: datetime = ALWAYS[0], end: datetime = ALWAYS[1]) -> bytes:
        answer = await self.ask(begin, end, Accept=XML)
        assert (answer.status_code, answer.headers["content-type"]) == (200, XML), answer.text
        return answer.content


def adds_up(statement: Any) -> None:
    """Assert that a statement agrees with itself."""
    balance = int(statement["openingBalance"])
    for entry in statement["entries"]:
        balance += int(entry["amount"])
        assert int(entry["balance"]) == balance
    assert balance == int(statement["closingBalance"])
    amounts = [int(entry["amount"]) for entry in statement["entries"]]
    credited, debited = [a for a in amounts if a > 0], [-a for a in amounts if a < 0]
    assert statement["credits"] == {"count": len(credited), "amount": str(sum(credited))}
    assert statement["debits"] == {"count": len(debited), "amount": str(sum(debited))}


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


OFFSETS = st.integers(min_value=0, max_value=12)
STEPS = st.lists(
    st.tuples(
        OFFSETS,
        st.sampled_from(["in", "out", "reserve", "withhold", "lose"]),
        st.integers(min_value=1, max_value=500),
    ),
    max_size=10,
)


def posting(till: Till, kind: str, amount: int) -> tuple[Posting, ...]:
    outside = till.books.outside
    return {
        "in": (effects.move(outside, till.id, amount),),
        "out": (effects.move(till.id, outside, amount),),
        "reserve": (effects.reserve(till.id, outside, amount),),
        "withhold": (effects.withhold(till.id, amount),),
        "lose": (
            effects.set_aside(outside, till.id, amount),
            effects.charge_back(outside, till.id, amount),
        ),
    }[kind]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, cuts=st.lists(st.integers(-2, 14), max_size=4))
async def test_any_split_of_a_period_adds_up(
    service: Service, tenant: "Tenant", steps: list[tuple[int, str, int]], cuts: list[int]
) -> None:
    till = await Till.open(service, tenant)
    for offset, kind, amount in steps:
        await till.post(*posting(till, kind, amount), at=NOON + offset * MS)
    ends = [NOON - 3 * MS, *sorted({NOON + cut * MS for cut in cuts}), NOON + 15 * MS]
    whole = await till.statement(ends[0], ends[-1])
    parts = [await till.statement(*pair) for pair in itertools.pairwise(ends)]
    for (begin, end), part in zip(itertools.pairwise(ends), parts, strict=True):
        adds_up(part)
        shown = [(moment(one["createdAt"]), int(one["amount"])) for one in part["entries"]]
        assert shown == [one for one in till.booked if begin <= one[0] < end]
    adds_up(whole)
    assert [one for part in parts for one in part["entries"]] == whole["entries"]
    assert [part["openingBalance"] for part in parts[1:]] == [
        part["closingBalance"] for part in parts[:-1]
    ]
    assert whole["openingBalance"] == parts[0]["openingBalance"] == "0"
    assert whole["closingBalance"] == parts[-1]["closingBalance"]
    account = (await tenant.call("GET", f"/v1/accounts/{till.account}")).json()
    assert whole["closingBalance"] == account["completeBalance"]


async def test_a_statement_says_whose_it_is_and_what_was_booked(
    service: Service, tenant: "Tenant"
) -> None:
    till = await Till.open(service, tenant)
    await till.pay_in(1000)
    await till.post(effects.reserve(till.id, till.books.outside, 300), at=NOON + MS)
    await till.post(effects.withhold(till.id, 50))
    await till.post(effects.effect(till.id, till.books.outside, 300), at=NOON + 2 * MS)
    statement = await till.statement(NOON + MS, NOON + timedelta(hours=1))
    ledger = await till.books.pool.fetch(
        "SELECT * FROM entries WHERE account_id = $1 AND number = 4", till.id
    )
    assert statement == {
        "accountId": till.account,
        "ownerId": till.customer,
        "currencyISO": "GBP",
        "from": "2026-01-31T12:00:00.001Z",
        "to": "2026-01-31T13:00:00.000Z",
        "openingBalance": "1000",
        "closingBalance": "700",
        "credits": {"count": 0, "amount": "0"},
        "debits": {"count": 1, "amount": "300"},
        "entries": [
            {
                "number": 4,
                "createdAt": "2026-01-31T12:00:00.002Z",
                "transactionId": f"transaction/{ledger[0]['subject_id']}",
                "effect": "effect",
                "amount": "-300",
                "balance": "700",
            }
        ],
    }


async def test_an_account_without_entries_has_a_statement_of_nothing(
    service: Service, tenant: "Tenant"
) -> None:
    statement = await (await Till.open(service, tenant)).statement()
    assert statement["openingBalance"] == statement["closingBalance"] == "0"
    assert statement["entries"] == []


async def test_a_period_begins_at_its_first_moment_and_ends_before_its_last(
    service: Service, tenant: "Tenant"
) -> None:
    till = await Till.open(service, tenant)
    await till.pay_in(5)
    shown = await till.statement(NOON, NOON + MS)
    assert [one["amount"] for one in shown["entries"]] == ["5"]
    assert (await till.statement(NOON - MS, NOON))["entries"] == []
    # What is finer than a millisecond is left out, so the answer says what was meant.
    fine = await till.statement(NOON + 0.9 * MS, NOON + 1.9 * MS)
    assert (fine["from"], fine["to"]) == (shown["from"], shown["to"])
    assert fine["entries"] == shown["entries"]


async def test_an_account_below_zero_says_so(service: Service, tenant: "Tenant") -> None:
    till = await Till.open(service, tenant)
    await till.pay_in(100)
    await till.pay_out(100)
    await till.lose(70)
    statement = await till.statement()
    adds_up(statement)
    assert statement["closingBalance"] == "-70"
    assert [one["effect"] for one in statement["entries"]] == ["move", "move", "charge_back"]


async def test_the_statement_of_another_does_not_exist(
    service: Service, tenant: "Tenant", other_tenant: "Tenant"
) -> None:
    till = await Till.open(service, tenant)
    own = await tenant.token_for(till.customer)
    neighbour = await tenant.token_for(await tenant.new_customer())
    assert (await till.ask(*ALWAYS, token=own)).status_code == 200
    for token in (neighbour, other_tenant.token):
        for accept in ("*/*", "text/csv", "application/xml"):
            answer = await till.ask(*ALWAYS, token=token, Accept=accept)
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("query", "faults"),
    [
        ("", {"?from": "required", "?to": "required"}),
        ("from=2026-01-01T00:00:00Z", {"?to": "required"}),
        ("from=2026-01-01T00:00:00Z&to=yesterday", {"?to": "invalid_format"}),
        (
            "from=2026-01-01T00:00:00&to=2026-01-02",
            {"?from": "invalid_format", "?to": "invalid_format"},
        ),
        ("from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z", {"?to": "wrong_order"}),
        ("from=2026-01-01T00:00:00.0001Z&to=2026-01-01T00:00:00.0009Z", {"?to": "wrong_order"}),
        ("from=2026-01-02T00:00:00Z&to=2026-01-02T00:30:00%2B01:00", {"?to": "wrong_order"}),
        (
            "from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&limit=5&annotation.a=b",
            {"?limit": "unknown_field", "?annotation.a": "unknown_field"},
        ),
    ],
)  # fmt: skip
async def test_a_period_that_cannot_be_is_refused(
    service: Service, tenant: "Tenant", query: str, faults: dict[str, str]
) -> None:
    till = await Till.open(service, tenant)
    answer = await tenant.call("GET", f"{till.path}?{query}")
    assert answer.status_code == 422, answer.text
    assert {one["pointer"]: one["code"] for one in answer.json()["errors"]} == faults


@pytest.mark.slow
async def test_a_period_with_too_many_entries_must_be_split(
    service: Service, tenant: "Tenant"
) -> None:
    till = await Till.open(service, tenant)
    many = [effects.move(till.books.outside, till.id, 1)] * model.MOST_ENTRIES
    # What is not booked does not count.
    assert await till.post(*many, effects.withhold(till.id, 1))
    await till.pay_in(1, at=NOON + MS)
    most = await till.statement(NOON, NOON + MS)
    assert (len(most["entries"]), most["closingBalance"]) == (10_000, "10000")
    refused = await till.ask(NOON, NOON + 2 * MS)
    assert refused.json()["errors"] == [
        {
            "pointer": "?to",
            "code": "too_many",
            "detail": "The period has more than 10,000 entries. Choose a shorter one.",
        }
    ]
    for accept in ("text/csv", "application/xml"):
        assert (await till.ask(NOON, NOON + MS, Accept=accept)).status_code == 200
        assert (await till.ask(NOON, NOON + 2 * MS, Accept=accept)).status_code == 422


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("*/*", "application/json"),
        ("", "application/json"),
        (" , ", "application/json"),
        ("application/json", "application/json"),
        ("text/csv", CSV),
        ("TEXT/CSV ; Charset=utf-8", CSV),
        ("text/*", CSV),
        ("application/xml", XML),
        ("application/*", "application/json"),
        ("text/csv, application/json", "application/json"),
        ("text/csv, application/json;q=0.9", CSV),
        ("text/csv;q=0.1,application/xml;q=0.2", XML),
        ("text/csv;q=0.001", CSV),
        ("application/json;q=0, */*;q=0.5", CSV),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", XML),
        ("text/csv;q=0.3;q=1, */*;q=0.5", "application/json"),
        ("garbage;;=, text/csv", CSV),
    ],
)
async def test_the_caller_chooses_the_form(
    service: Service, tenant: "Tenant", accept: str, media_type: str
) -> None:
    till = await Till.open(service, tenant)
    for method in ("GET", "HEAD"):
        answer = await till.ask(*ALWAYS, method=method, Accept=accept)
        assert (answer.status_code, answer.headers["content-type"]) == (200, media_type)


@pytest.mark.parametrize(
    "accept",
    ["image/png", "application/json;q=0", "text/csv;q=0.000", "text/csv;q=2", "text/csv;q=-1",
     "text/csv;q=nan", "text/csv;q=0, text/*", "garbage", "*", "application/jso", "text/csvx"],
)  # fmt: skip
async def test_a_form_that_there_is_not_is_refused(
    service: Service, tenant: "Tenant", accept: str
) -> None:
    till = await Till.open(service, tenant)
    for method in ("GET", "HEAD"):
        answer = await till.ask(*ALWAYS, method=method, Accept=accept)
        assert answer.status_code == 406
        assert answer.headers["content-type"] == "application/problem+json"
    problem = (await till.ask(*ALWAYS, Accept=accept)).json()
    assert problem["code"] == "not_acceptable"
    assert "application/json, text/csv, application/xml" in problem["detail"]


def test_accept_may_be_absent_or_come_on_several_lines() -> None:
    (operation,) = api.OPERATIONS
    lines = [(b"accept", b"text/csv;q=0.5"), (b"accept", b"application/xml")]
    assert formats.choose(operation, {"headers": []}) == "application/json"
    assert formats.choose(operation, {"headers": lines}) == "application/xml"


async def test_what_has_one_form_is_answered_in_it_whatever_is_accepted(tenant: "Tenant") -> None:
    answer = await tenant.call("GET", "/v1/accounts", Accept="text/csv")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")


async def test_a_problem_stays_a_problem_document(service: Service, tenant: "Tenant") -> None:
    till = await Till.open(service, tenant)
    answer = await till.ask(NOON, NOON, Accept="text/csv")
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


def test_only_what_has_other_forms_can_refuse_one() -> None:
    (operation,) = api.OPERATIONS
    plain = replace(operation, formats={})
    codes = [{one.code for one in each.errors} for each in (operation, plain)]
    assert ["not_acceptable" in each for each in codes] == [True, False]


async def test_csv_has_the_same_figures_line_by_line(service: Service, tenant: "Tenant") -> None:
    till = await Till.open(service, tenant)
    await till.pay_in(1000)
    await till.pay_out(250, at=NOON + MS)
    shown = await till.statement(NOON, NOON + 2 * MS)
    answer = await till.ask(NOON, NOON + 2 * MS, Accept="text/csv")
    assert answer.content.endswith(b"\r\n")
    assert answer.content.count(b"\n") == answer.content.count(b"\r\n") == 5
    opening, *lines, closing = csv.DictReader(io.StringIO(answer.text, newline=""))
    common = {"accountId": till.account, "currencyISO": "GBP"}
    empty = {"number": "", "transactionId": "", "effect": "", "amount": ""}
    begin = {"line": "opening", "createdAt": shown["from"], "balance": shown["openingBalance"]}
    end = {"line": "closing", "createdAt": shown["to"], "balance": shown["closingBalance"]}
    assert opening == common | empty | begin
    assert closing == common | empty | end
    assert lines == [
        {"line": "entry", **common, **entry, "number": str(entry["number"])}
        for entry in shown["entries"]
    ]
    assert [one["amount"] for one in lines] == ["1000", "-250"]


def a_statement(effect: str) -> model.StatementView:
    """Return a statement that no ledger has made."""
    entry = model.StatementEntryView(
        number=1, created_at="2026-01-31T12:00:00.000Z", effect=effect,
        transaction_id=f"transaction/{UUID(int=7)}", amount="-5", balance="-5",
    )  # fmt: skip
    total = model.TotalView(count=1, amount="5")
    return model.StatementView(
        account_id=f"account/{UUID(int=5)}", owner_id=f"customer/{UUID(int=6)}",
        currency_iso="GBP", from_="2026-01-01T00:00:00.000Z", to="2026-02-01T00:00:00.000Z",
        opening_balance="0", closing_balance="-5", credits=total, debits=total, entries=[entry],
    )  # fmt: skip


@pytest.mark.parametrize("beginning", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_text_is_a_formula_for_a_spreadsheet(beginning: str) -> None:
    evil = f'{beginning}cmd|"/c calc"!A0'
    text = api.write_csv(a_statement(effect=evil)).decode()
    _, _, line, _ = csv.reader(io.StringIO(text, newline=""))
    assert line[5] == f"'{evil}"
    # A number that is negative is a number all the same.
    assert line[6:8] == ["-5", "-5"]


@pytest.fixture(scope="module")
def schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(str(SCHEMA))


def texts(document: bytes, path: str) -> list[str | None]:
    root = ET.fromstring(document)  # noqa: S314 - we have just made it
    return [one.text for one in root.findall(path, NAMESPACE)]


async def test_camt_is_valid_and_has_the_same_figures(
    service: Service, tenant: "Tenant", schema: xmlschema.XMLSchema
) -> None:
    till = await Till.open(service, tenant)
    await till.pay_in(100_050)
    await till.pay_out(100_049, at=NOON + MS)
    await till.lose(7)
    begin, end = NOON - timedelta(days=1), NOON + timedelta(days=1)
    shown = await till.statement(begin, end)
    document = await till.camt(begin, end)
    schema.validate(document.decode())
    assert document.startswith(b'<?xml version="1.0" encoding="UTF-8"?>')
    hexadecimal = [one["transactionId"][12:].replace("-", "") for one in shown["entries"]]
    account = "BkToCstmrStmt/Stmt/Acct"
    entry = "BkToCstmrStmt/Stmt/Ntry"
    balance = "BkToCstmrStmt/Stmt/Bal"
    assert {path: texts(document, path) for path in CAMT_PATHS} == {
        f"{account}/Id/Othr/Id": [till.id.hex],
        f"{account}/Ccy": ["GBP"],
        "BkToCstmrStmt/Stmt/FrToDt/FrDtTm": ["2026-01-30T12:00:00Z"],
        "BkToCstmrStmt/Stmt/FrToDt/ToDtTm": ["2026-02-01T12:00:00Z"],
        f"{balance}/Tp/CdOrPrtry/Cd": ["OPBD", "CLBD"],
        f"{balance}/Amt": ["0.00", "0.06"],
        f"{balance}/CdtDbtInd": ["CRDT", "DBIT"],
        f"{balance}/Dt/DtTm": ["2026-01-30T12:00:00Z", "2026-02-01T12:00:00Z"],
        "BkToCstmrStmt/Stmt/TxsSummry/TtlCdtNtries/Sum": ["1000.50"],
        "BkToCstmrStmt/Stmt/TxsSummry/TtlDbtNtries/Sum": ["1000.56"],
        "BkToCstmrStmt/Stmt/TxsSummry/TtlDbtNtries/NbOfNtries": ["2"],
        f"{entry}/NtryRef": ["1", "2", "4"],
        f"{entry}/Amt": ["1000.50", "1000.49", "0.07"],
        f"{entry}/CdtDbtInd": ["CRDT", "DBIT", "DBIT"],
        f"{entry}/Sts/Cd": ["BOOK", "BOOK", "BOOK"],
        f"{entry}/BookgDt/DtTm": [
            "2026-01-31T12:00:00Z", "2026-01-31T12:00:00.001Z", "2026-01-31T12:00:00.001Z"
        ],
        f"{entry}/ValDt/Dt": ["2026-01-31", "2026-01-31", "2026-01-31"],
        f"{entry}/AcctSvcrRef": hexadecimal,
        f"{entry}/BkTxCd/Prtry/Cd": ["move", "move", "charge_back"],
    }  # fmt: skip


CAMT_PATHS = [
    f"BkToCstmrStmt/Stmt/{path}"
    for path in (
        "Acct/Id/Othr/Id", "Acct/Ccy", "FrToDt/FrDtTm", "FrToDt/ToDtTm", "Bal/Tp/CdOrPrtry/Cd",
        "Bal/Amt", "Bal/CdtDbtInd", "Bal/Dt/DtTm", "TxsSummry/TtlCdtNtries/Sum",
        "TxsSummry/TtlDbtNtries/Sum", "TxsSummry/TtlDbtNtries/NbOfNtries", "Ntry/NtryRef",
        "Ntry/Amt", "Ntry/CdtDbtInd", "Ntry/Sts/Cd", "Ntry/BookgDt/DtTm", "Ntry/ValDt/Dt",
        "Ntry/AcctSvcrRef", "Ntry/BkTxCd/Prtry/Cd",
    )
]  # fmt: skip


async def test_every_message_is_another_but_the_same_statement_keeps_its_name(
    service: Service, tenant: "Tenant"
) -> None:
    till = await Till.open(service, tenant)
    first, again = await till.camt(), await till.camt()
    await till.pay_in(1)
    later = await till.camt()
    names = [texts(one, "BkToCstmrStmt/Stmt/Id") for one in (first, again, later)]
    assert names[0] == names[1] != names[2]
    messages = [texts(one, "BkToCstmrStmt/GrpHdr/MsgId")[0] for one in (first, again, later)]
    assert len(set(messages)) == 3


@pytest.mark.parametrize(
    ("currency", "figures"),
    [("JPY", ["0", "1234567"]), ("GBP", ["0.00", "12345.67"]), ("BHD", ["0.000", "1234.567"]),
     ("CLF", ["0.0000", "123.4567"])],
)  # fmt: skip
async def test_camt_has_as_many_decimals_as_the_currency(
    service: Service,
    tenant: "Tenant",
    schema: xmlschema.XMLSchema,
    currency: str,
    figures: list[str],
) -> None:
    till = await Till.open(service, tenant, currency)
    await till.pay_in(1_234_567)
    document = await till.camt()
    schema.validate(document.decode())
    assert texts(document, "BkToCstmrStmt/Stmt/Bal/Amt") == figures
    assert texts(document, "BkToCstmrStmt/Stmt/Ntry/Amt") == figures[1:]
    assert f'Ccy="{currency}"'.encode() in document


async def test_camt_is_not_to_be_had_where_its_digits_do_not_suffice(
    service: Service, tenant: "Tenant", schema: xmlschema.XMLSchema
) -> None:
    till = await Till.open(service, tenant)
    await till.pay_in(10**18 - 1)
    schema.validate((await till.camt()).decode())
    await till.pay_in(1, at=NOON + MS)
    refused = await till.ask(*ALWAYS, Accept="application/xml")
    assert (refused.status_code, refused.json()["code"]) == (406, "not_acceptable")
    assert (await till.statement())["closingBalance"] == str(10**18)
    assert (await till.ask(*ALWAYS, Accept="text/csv")).status_code == 200
