"""Writes the Python client from the operations of the service."""
