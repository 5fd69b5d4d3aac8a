"""Approvals: what rules let wait until somebody says yes or no."""
