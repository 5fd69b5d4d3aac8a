"""Accounts: where a customer's money is held."""
