"""Writes what the command line knows of the operations of the service."""
