"""Deliveries: events on their way to webhooks, and every attempt."""
