"""Trials: what rules would say of an object, and of the transactions of a time that has passed."""
