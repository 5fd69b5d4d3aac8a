"""References: what a payer puts on a bank transfer, so that the money finds its account."""
