"""Settlements: what the outside did with the money, and how the books follow."""
