"""Webhooks: addresses to which events are delivered, signed, in order per object."""
