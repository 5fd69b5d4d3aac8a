"""Customers: the people and businesses whose money it is."""
