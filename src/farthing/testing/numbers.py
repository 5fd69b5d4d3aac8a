"""The numbers of the sandbox that have a fate, by what they mean."""

from typing import Final


class Cards:
    """Card numbers; any expiry that is not past and any three digits as CVV go with them."""

    visa: Final = "4242424242424242"
    mastercard: Final = "5555555555554444"
    mastercard_2_series: Final = "2223003122003222"
    visa_debit: Final = "4000056655665556"
    mastercard_debit: Final = "5200828282828210"
    # Asks the cardholder to approve it before it is stored.
    challenged: Final = "4000002500003155"
    # Asks the cardholder to approve every charge.
    charges_challenged: Final = "4000002760003184"
    declined: Final = "4000000000000002"
    insufficient_funds: Final = "4000000000009995"
    # What becomes of a charge is not known until the sandbox is told.
    charges_unknown: Final = "4000000000000119"
    # The whole charge is disputed a minute later.
    charges_disputed: Final = "4000000000000259"
    refunds_refused: Final = "4000000000005126"
    charges_declined: Final = "4000000000000341"


class SortCodes:
    """Sort codes; the account number does not matter."""

    works: Final = "108800"
    # Stays PENDING.
    unverified: Final = "108801"
    payouts_returned: Final = "108802"
    # What becomes of a payout is not known until the sandbox is told.
    payouts_unknown: Final = "108803"
    # Payouts are pending until the sandbox is told.
    payouts_pending: Final = "108804"


class Numbers:
    """Numbers with a fate; any other number that could exist simply works."""

    cards = Cards
    sort_codes = SortCodes
    account: Final = "31926819"
