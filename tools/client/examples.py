"""Examples of the namespaces; they run as tests, where `client` is a Farthing of a fresh tenant."""

from typing import Final

_ACCOUNT: Final = """\
>>> ada = client.customers.create(type="INDIVIDUAL", name="Ada")
>>> account = client.accounts.create(owner_id=ada.id, currency_iso="GBP")
"""
# Money that arrives, so that there is some.
_FUNDED: Final = f"""\
{_ACCOUNT}\
>>> reference = client.references.create(to_id=account.id)
>>> arrived = client.sandbox.inbound(
...     reference=reference.reference, amount="2500", currency_iso="GBP"
... ).object
"""

# A rule on payouts, which lets somebody look at each.
_WATCHED: Final = f"""\
{_FUNDED}\
>>> from farthing.client.models import Action
>>> rule = client.rules.create(
...     name="Somebody looks at every payout",
...     on="transaction.create",
...     when='object.flow == "OUTBOUND"',
...     then=[Action(action="approve"), Action(action="alert", message="A payout.")],
... )
"""
_PAID_OUT: Final = f"""\
{_WATCHED}\
>>> from farthing.client.models import Address
>>> bank_account = client.bank_accounts.create(
...     owner_id=ada.id,
...     currency_iso="GBP",
...     country_iso="GB",
...     account_number="12345678",
...     sort_code="204514",
...     billing_address=Address(country_iso="GB"),
...     set_as_preferred=True,
... )
>>> payout = client.transactions.outbound(
...     account_id=account.id, amount="2500", method="bankAccount", purpose="WITHDRAWAL"
... )
"""

EXAMPLES: Final[dict[str, str]] = {
    "customers": """\
>>> ada = client.customers.create(type="INDIVIDUAL", name="Ada", tags=["vip"])
>>> client.customers.update(ada.id, name="Ada Lovelace").name
'Ada Lovelace'
>>> [one.name for one in client.customers.list(tag="vip")]
['Ada Lovelace']
>>> client.customers.move(ada.id, to_state_id="DISABLED").state_id
'DISABLED'
""",
    "tokens": """\
>>> ada = client.customers.create(type="INDIVIDUAL")
>>> client.tokens.issue(ada.id)  # for an application of the customer's own
<AccessToken, not shown>
>>> client.tokens.revoke(ada.id).customer_id == ada.id
True
""",
    "bank_accounts": """\
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
""",
    "cards": """\
>>> from farthing.client.models import Address
>>> ada = client.customers.create(type="INDIVIDUAL", name="Ada")
>>> card = client.for_customer(ada.id).cards.create(
...     owner_id=ada.id,
...     card_number="4242424242424242",
...     expiry="1230",
...     cvv="123",
...     billing_address=Address(country_iso="GB", postal_code="SW1Y 4JH"),
... )
>>> card.state_id, card.scheme, card.card_number_suffix
('ENABLED', 'VISA', '4242')
""",
    "accounts": f"""\
{_FUNDED}\
>>> client.accounts.get(account.id).available_balance
'2500'
>>> client.accounts.transitions(account.id).possible[0].why
'Nothing may move for a while.'
""",
    "transactions": f"""\
{_FUNDED}\
>>> client.transactions.get(arrived.id).state_id
'EFFECTED'
>>> from farthing.client.models import AdjustmentOption, MoveOptions
>>> refund = MoveOptions(adjustment=AdjustmentOption(adjustment_amount="500"))
>>> client.transactions.move_dry_run(arrived.id, to_state_id="ADJUSTED", options=refund).path
['EFFECTED', 'ADJUSTED']
>>> client.transactions.move(arrived.id, to_state_id="ADJUSTED", options=refund).adjustments
[Adjustment(id='adjustment/...', type='REFUND', amount='500', ...)]
""",
    "references": f"""\
{_ACCOUNT}\
>>> reference = client.references.create(to_id=account.id)
>>> reference.reference, reference.receiving_details.sort_code
('RF...', '...')
""",
    "approvals": f"""\
{_PAID_OUT}\
>>> payout.requirements
{{'approval': 'approval/...'}}
>>> client.approvals.approve(payout.requirements["approval"], reason="Known.").state_id
'APPROVED'
""",
    "rules": f"""\
{_WATCHED}\
>>> payout = {{"flow": "OUTBOUND", "amount": "900", "currencyISO": "GBP"}}
>>> client.rules.test(on="transaction.create", object=payout, owner_id=ada.id).result
'awaitsApproval'
>>> client.rules.update(rule.id, enabled=False).state_id
'DISABLED'
""",
    "backtests": f"""\
{_WATCHED}\
>>> from datetime import UTC, datetime, timedelta
>>> now = datetime.now(UTC)
>>> backtest = client.rules.backtest(rule.id, from_=now - timedelta(days=30), to=now)
>>> client.backtests.get(backtest.id).rule_id == rule.id
True
""",
    "alerts": f"""\
{_PAID_OUT}\
>>> [(alert.message, alert.object_id == payout.id) for alert in client.alerts.list()]
[('A payout.', True)]
""",
    "events": """\
>>> ada = client.customers.create(type="INDIVIDUAL", name="Ada")
>>> [event.type for event in client.events.list(object_id=ada.id)]
['customer.created']
>>> page = next(client.events.list(limit=1).pages())
>>> with client.events.stream(after=page.next_cursor, type="customer.*") as stream:
...     event = next(stream)
>>> event.type, event.object.name
('customer.created', 'Ada')
""",
    "webhooks": """\
>>> hook = client.webhooks.create(url="https://example.org/hook", events=["transaction.*"])
>>> hook  # its secret is what `verify_webhook` takes
<WebhookWithSecret, not shown>
>>> client.webhooks.delete(hook.id).state_id
'DELETED'
""",
    "sandbox": f"""\
{_FUNDED}\
>>> client.sandbox.transactions.dispute(arrived.id, amount="500").object.state_id
'DISPUTED'
>>> client.sandbox.clock.advance(advance="P3D").complete
True
>>> client.sandbox.faults.arm(kind="unavailable", count=2).remaining
2
>>> client.accounts.get(account.id).id == account.id  # after two attempts that failed
True
""",
    "status": """\
>>> client.status.get().environment
'sandbox'
""",
    "machines": """\
>>> [one.noun for one in client.machines.list().results if "DISPUTED" in one.states]
['transaction']
""",
}
