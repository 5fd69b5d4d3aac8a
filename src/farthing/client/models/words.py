# Written by `make client` from the operations of the service: do not edit.
"""Lists of words that have a name."""

from typing import Literal

AccountState = Literal["PENDING", "ENABLED", "DISABLED", "CLOSED"]
AdjustmentType = Literal["REFUND", "CHARGEBACK"]
BankAccountState = Literal["PENDING", "ENABLED", "DISABLED", "CLOSED"]
CardState = Literal["PENDING", "PROCESSING", "FAILED", "ENABLED", "INACTIVE", "DISABLED", "CLOSED"]
CardType = Literal["debit", "credit", "unknown"]
CustomerState = Literal["PENDING", "ENABLED", "DISABLED", "LOCKED", "CLOSING", "TERMINATED"]
CustomerType = Literal["INDIVIDUAL", "SOLE_TRADER", "ORGANISATION", "INCORPORATED_BUSINESS"]
FaultKind = Literal[
    "rateLimited",
    "unavailable",
    "delay",
    "cut",
    "duplicateDelivery",
    "delayDelivery",
    "reorderDelivery",
    "dropDelivery",
]
Flow = Literal["INBOUND", "OUTBOUND", "INTERNAL"]
FromState = Literal[
    "PENDING",
    "ACCEPTED",
    "PROCESSING",
    "HELD",
    "EFFECTED",
    "CHARGEBACK",
    "ADJUSTED",
    "ERRORED",
    "CANCELLED",
    "FAILED",
]
Health = Literal["ok", "degraded", "down"]
Method = Literal["card", "bankAccount", "transfer"]
Mood = Literal["normal", "slow", "down", "forgetful"]
Purpose = Literal["PURCHASE", "TRANSFER", "DEPOSIT", "WITHDRAWAL"]
ReferenceState = Literal["ENABLED", "EXPIRED", "CLOSED"]
Scheme = Literal["VISA", "MASTERCARD"]
Status = Literal["waiting", "delivered", "failed"]
StorageType = Literal["CARD_ON_FILE", "ONE_TIME_USE"]
ToState = Literal[
    "PENDING", "PROCESSING", "HELD", "EFFECTED", "ADJUSTED", "ERRORED", "CANCELLED", "FAILED"
]
TransactionState = Literal[
    "PENDING",
    "ACCEPTED",
    "PROCESSING",
    "HELD",
    "EFFECTED",
    "DISPUTED",
    "ADJUSTED",
    "ERRORED",
    "CANCELLED",
    "FAILED",
]
WebhookState = Literal["ENABLED", "FAILING", "DISABLED", "DELETED"]
