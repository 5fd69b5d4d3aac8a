"""Bank accounts: where customers are paid out to."""
