"""Scripts that write parts of the source."""
