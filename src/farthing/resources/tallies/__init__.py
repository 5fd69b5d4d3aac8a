"""Tallies: exact counts and sums over any window of time, for rules."""
