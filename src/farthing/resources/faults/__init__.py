"""Faults that the sandbox plays at a client's wish, so that it can try what it does about them."""
