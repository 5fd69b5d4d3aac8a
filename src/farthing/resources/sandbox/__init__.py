"""Sandbox: whatever can happen outside, made to happen by a request."""
