"""Cards: how customers pay, and the vault that keeps their numbers."""
