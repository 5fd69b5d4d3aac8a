"""Tenants of a sandbox: made, reset, kept as they are, put back, and thrown away."""
