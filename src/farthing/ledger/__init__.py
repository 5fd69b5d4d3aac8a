"""Money: balances, entries and the effects that move it."""
