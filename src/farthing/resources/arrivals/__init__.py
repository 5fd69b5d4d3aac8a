"""Arrivals: money that comes from outside, and where it belongs."""
