"""Work that falls due by the clock."""
