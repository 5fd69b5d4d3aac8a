"""Orders: what a rail was told to do with a transaction's money."""
