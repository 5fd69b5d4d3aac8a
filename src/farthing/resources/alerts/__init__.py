"""Alerts: what rules wanted somebody to know."""
