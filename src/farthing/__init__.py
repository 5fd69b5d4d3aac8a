"""Farthing: an open payments core."""
