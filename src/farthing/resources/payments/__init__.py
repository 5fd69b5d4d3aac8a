"""Payments: how transactions come to be, into the platform, out of it, and within."""
