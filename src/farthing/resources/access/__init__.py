"""Tenants, credentials and access tokens."""
