"""Rules: what a tenant wants to happen to objects that are made or moved."""
