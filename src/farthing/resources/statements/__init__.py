"""Statements: what was booked in an account within a period, and what it came to."""
