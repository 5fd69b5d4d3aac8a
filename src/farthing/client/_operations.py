# Written by `make client` from the operations of the service: do not edit.
"""What the client knows of each operation."""

from typing import Final

from farthing.client._asks import Operation

CUSTOMERS_CREATE: Final = Operation("POST", "/v1/customers", takes_key=True)
CUSTOMERS_UPDATE: Final = Operation(
    "PATCH", "/v1/customers/{id}", "customer", "customer", takes_key=True
)
CUSTOMERS_MOVE: Final = Operation(
    "PATCH", "/v1/customers/{id}/state", "customer", "customer", takes_key=True
)
CUSTOMERS_LIST: Final = Operation("GET", "/v1/customers", takes_key=True)
CUSTOMERS_GET: Final = Operation(
    "GET", "/v1/customers/{id}", "customer", "customer", takes_key=True
)
CUSTOMERS_TRANSITIONS: Final = Operation(
    "GET", "/v1/customers/{id}/transitions", "customer", "customer", takes_key=True
)
TOKENS_ISSUE: Final = Operation(
    "POST", "/v1/customers/{id}/tokens", "customer", "customer", takes_key=True
)
TOKENS_REVOKE: Final = Operation(
    "DELETE", "/v1/customers/{id}/tokens", "customer", "customer", takes_key=True
)
BANK_ACCOUNTS_CREATE: Final = Operation("POST", "/v1/bank-accounts")
BANK_ACCOUNTS_UPDATE: Final = Operation(
    "PATCH", "/v1/bank-accounts/{id}", "bank_account", "bank_account"
)
BANK_ACCOUNTS_MOVE: Final = Operation(
    "PATCH", "/v1/bank-accounts/{id}/state", "bank_account", "bank_account"
)
BANK_ACCOUNTS_LIST: Final = Operation("GET", "/v1/bank-accounts")
BANK_ACCOUNTS_GET: Final = Operation(
    "GET", "/v1/bank-accounts/{id}", "bank_account", "bank_account"
)
BANK_ACCOUNTS_TRANSITIONS: Final = Operation(
    "GET", "/v1/bank-accounts/{id}/transitions", "bank_account", "bank_account"
)
CARDS_CREATE: Final = Operation("POST", "/v1/cards")
CARDS_UPDATE: Final = Operation("PATCH", "/v1/cards/{id}", "card", "card")
CARDS_MOVE: Final = Operation("PATCH", "/v1/cards/{id}/state", "card", "card")
CARDS_LIST: Final = Operation("GET", "/v1/cards")
CARDS_GET: Final = Operation("GET", "/v1/cards/{id}", "card", "card")
CARDS_TRANSITIONS: Final = Operation("GET", "/v1/cards/{id}/transitions", "card", "card")
ACCOUNTS_CREATE: Final = Operation("POST", "/v1/accounts")
ACCOUNTS_UPDATE: Final = Operation("PATCH", "/v1/accounts/{id}", "account", "account")
ACCOUNTS_MOVE: Final = Operation("PATCH", "/v1/accounts/{id}/state", "account", "account")
ACCOUNTS_LIST: Final = Operation("GET", "/v1/accounts")
ACCOUNTS_GET: Final = Operation("GET", "/v1/accounts/{id}", "account", "account")
ACCOUNTS_TRANSITIONS: Final = Operation(
    "GET", "/v1/accounts/{id}/transitions", "account", "account"
)
TRANSACTIONS_INBOUND: Final = Operation("POST", "/v1/tx/inbound")
TRANSACTIONS_OUTBOUND: Final = Operation("POST", "/v1/tx/outbound")
TRANSACTIONS_INTERNAL: Final = Operation("POST", "/v1/tx/internal")
TRANSACTIONS_UPDATE: Final = Operation("PATCH", "/v1/tx/{id}", "transaction", "tx")
TRANSACTIONS_LIST: Final = Operation("GET", "/v1/tx")
TRANSACTIONS_GET: Final = Operation("GET", "/v1/tx/{id}", "transaction", "tx")
TRANSACTIONS_TRANSITIONS: Final = Operation("GET", "/v1/tx/{id}/transitions", "transaction", "tx")
TRANSACTIONS_MOVE: Final = Operation("PATCH", "/v1/tx/{id}/state", "transaction", "tx")
REFERENCES_CREATE: Final = Operation("POST", "/v1/references")
REFERENCES_UPDATE: Final = Operation("PATCH", "/v1/references/{id}", "reference", "reference")
REFERENCES_MOVE: Final = Operation("PATCH", "/v1/references/{id}/state", "reference", "reference")
REFERENCES_LIST: Final = Operation("GET", "/v1/references")
REFERENCES_GET: Final = Operation("GET", "/v1/references/{id}", "reference", "reference")
REFERENCES_TRANSITIONS: Final = Operation(
    "GET", "/v1/references/{id}/transitions", "reference", "reference"
)
APPROVALS_APPROVE: Final = Operation(
    "POST", "/v1/approvals/{id}/approve", "approval", "approval", takes_key=True
)
APPROVALS_REJECT: Final = Operation(
    "POST", "/v1/approvals/{id}/reject", "approval", "approval", takes_key=True
)
APPROVALS_LIST: Final = Operation("GET", "/v1/approvals", takes_key=True)
APPROVALS_GET: Final = Operation(
    "GET", "/v1/approvals/{id}", "approval", "approval", takes_key=True
)
APPROVALS_TRANSITIONS: Final = Operation(
    "GET", "/v1/approvals/{id}/transitions", "approval", "approval", takes_key=True
)
ACCOUNTS_STATEMENT: Final = Operation("GET", "/v1/accounts/{id}/statement", "account", "account")
EVENTS_LIST: Final = Operation("GET", "/v1/events", takes_key=True)
EVENTS_STREAM: Final = Operation("GET", "/v1/events/stream", takes_key=True)
EVENTS_GET: Final = Operation("GET", "/v1/events/{id}", "event", "event", takes_key=True)
SANDBOX_CLOCK_GET: Final = Operation("GET", "/v1/sandbox/clock", takes_key=True)
SANDBOX_CLOCK_ADVANCE: Final = Operation("POST", "/v1/sandbox/clock", takes_key=True)
SANDBOX_TRANSACTIONS_SETTLE: Final = Operation(
    "POST", "/v1/sandbox/tx/{id}/settle", "transaction", "tx", takes_key=True
)
SANDBOX_TRANSACTIONS_FAIL: Final = Operation(
    "POST", "/v1/sandbox/tx/{id}/fail", "transaction", "tx", takes_key=True
)
SANDBOX_TRANSACTIONS_STALL: Final = Operation(
    "POST", "/v1/sandbox/tx/{id}/stall", "transaction", "tx", takes_key=True
)
SANDBOX_TRANSACTIONS_RETURN: Final = Operation(
    "POST", "/v1/sandbox/tx/{id}/return", "transaction", "tx", takes_key=True
)
SANDBOX_TRANSACTIONS_DISPUTE: Final = Operation(
    "POST", "/v1/sandbox/tx/{id}/dispute", "transaction", "tx", takes_key=True
)
SANDBOX_TRANSACTIONS_WIN: Final = Operation(
    "POST", "/v1/sandbox/tx/{id}/dispute/win", "transaction", "tx", takes_key=True
)
SANDBOX_TRANSACTIONS_LOSE: Final = Operation(
    "POST", "/v1/sandbox/tx/{id}/dispute/lose", "transaction", "tx", takes_key=True
)
SANDBOX_TRANSACTIONS_CHALLENGE: Final = Operation(
    "POST", "/v1/sandbox/tx/{id}/challenge", "transaction", "tx", takes_key=True
)
SANDBOX_CARDS_CHALLENGE: Final = Operation(
    "POST", "/v1/sandbox/cards/{id}/challenge", "card", "card", takes_key=True
)
SANDBOX_CARDS_VERIFICATION: Final = Operation(
    "POST", "/v1/sandbox/cards/{id}/verification", "card", "card", takes_key=True
)
SANDBOX_BANK_ACCOUNTS_VERIFICATION: Final = Operation(
    "POST",
    "/v1/sandbox/bank-accounts/{id}/verification",
    "bank_account",
    "bank_account",
    takes_key=True,
)
SANDBOX_INBOUND: Final = Operation("POST", "/v1/sandbox/inbound", takes_key=True)
SANDBOX_RAIL_GET: Final = Operation("GET", "/v1/sandbox/rail", takes_key=True)
SANDBOX_RAIL_CHANGE: Final = Operation("POST", "/v1/sandbox/rail", takes_key=True)
SANDBOX_TENANTS_CREATE: Final = Operation("POST", "/v1/sandbox/tenants", is_of_house=True)
SANDBOX_TENANTS_GET: Final = Operation(
    "GET", "/v1/sandbox/tenants/{id}", "tenant", "tenant", is_of_house=True
)
SANDBOX_TENANTS_RESET: Final = Operation(
    "POST", "/v1/sandbox/tenants/{id}/reset", "tenant", "tenant", is_of_house=True
)
SANDBOX_TENANTS_KEEP: Final = Operation(
    "POST", "/v1/sandbox/tenants/{id}/snapshots", "tenant", "tenant", is_of_house=True
)
SANDBOX_TENANTS_RESTORE: Final = Operation(
    "POST", "/v1/sandbox/tenants/{id}/restore", "tenant", "tenant", is_of_house=True
)
SANDBOX_TENANTS_DELETE: Final = Operation(
    "DELETE", "/v1/sandbox/tenants/{id}", "tenant", "tenant", is_of_house=True
)
SANDBOX_FAULTS_ARM: Final = Operation("POST", "/v1/sandbox/faults", takes_key=True)
SANDBOX_FAULTS_LIST: Final = Operation("GET", "/v1/sandbox/faults", takes_key=True)
SANDBOX_FAULTS_CLEAR: Final = Operation("DELETE", "/v1/sandbox/faults", takes_key=True)
WEBHOOKS_CREATE: Final = Operation("POST", "/v1/webhooks", takes_key=True)
WEBHOOKS_UPDATE: Final = Operation(
    "PATCH", "/v1/webhooks/{id}", "webhook", "webhook", takes_key=True
)
WEBHOOKS_MOVE: Final = Operation(
    "PATCH", "/v1/webhooks/{id}/state", "webhook", "webhook", takes_key=True
)
WEBHOOKS_DELETE: Final = Operation(
    "DELETE", "/v1/webhooks/{id}", "webhook", "webhook", takes_key=True
)
WEBHOOKS_ROTATE: Final = Operation(
    "POST", "/v1/webhooks/{id}/rotate", "webhook", "webhook", takes_key=True
)
WEBHOOKS_TEST: Final = Operation(
    "POST", "/v1/webhooks/{id}/test", "webhook", "webhook", takes_key=True
)
WEBHOOKS_LIST: Final = Operation("GET", "/v1/webhooks", takes_key=True)
WEBHOOKS_GET: Final = Operation("GET", "/v1/webhooks/{id}", "webhook", "webhook", takes_key=True)
WEBHOOKS_TRANSITIONS: Final = Operation(
    "GET", "/v1/webhooks/{id}/transitions", "webhook", "webhook", takes_key=True
)
WEBHOOKS_DELIVERIES: Final = Operation(
    "GET", "/v1/webhooks/{id}/deliveries", "webhook", "webhook", takes_key=True
)
WEBHOOKS_RESEND: Final = Operation(
    "POST", "/v1/webhooks/{id}/resend", "webhook", "webhook", takes_key=True
)
RULES_CREATE: Final = Operation("POST", "/v1/rules", takes_key=True)
RULES_UPDATE: Final = Operation("PATCH", "/v1/rules/{id}", "rule", "rule", takes_key=True)
RULES_DELETE: Final = Operation("DELETE", "/v1/rules/{id}", "rule", "rule", takes_key=True)
RULES_LIST: Final = Operation("GET", "/v1/rules", takes_key=True)
RULES_GET: Final = Operation("GET", "/v1/rules/{id}", "rule", "rule", takes_key=True)
RULES_TRANSITIONS: Final = Operation(
    "GET", "/v1/rules/{id}/transitions", "rule", "rule", takes_key=True
)
RULES_TEST: Final = Operation("POST", "/v1/rules/test", takes_key=True)
RULES_BACKTEST: Final = Operation("POST", "/v1/rules/{id}/backtest", "rule", "rule", takes_key=True)
BACKTESTS_MOVE: Final = Operation(
    "PATCH", "/v1/backtests/{id}/state", "backtest", "backtest", takes_key=True
)
BACKTESTS_LIST: Final = Operation("GET", "/v1/backtests", takes_key=True)
BACKTESTS_GET: Final = Operation(
    "GET", "/v1/backtests/{id}", "backtest", "backtest", takes_key=True
)
BACKTESTS_TRANSITIONS: Final = Operation(
    "GET", "/v1/backtests/{id}/transitions", "backtest", "backtest", takes_key=True
)
ALERTS_LIST: Final = Operation("GET", "/v1/alerts", takes_key=True)
ALERTS_GET: Final = Operation("GET", "/v1/alerts/{id}", "alert", "alert", takes_key=True)
ALERTS_TRANSITIONS: Final = Operation(
    "GET", "/v1/alerts/{id}/transitions", "alert", "alert", takes_key=True
)
STATUS_GET: Final = Operation("GET", "/v1/status", is_open=True)
EVENTS_SCHEMAS: Final = Operation("GET", "/v1/events/schemas", takes_key=True)
MACHINES_LIST: Final = Operation("GET", "/v1/machines", is_open=True)
