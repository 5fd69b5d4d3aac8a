"""Transactions: money on its way, from state to state, and every step in the ledger."""
