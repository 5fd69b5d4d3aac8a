"""Moves: what callers ask of transactions that are there."""
