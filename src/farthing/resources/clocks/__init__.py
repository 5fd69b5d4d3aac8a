"""The clock of a sandbox's tenant: it moves forward, and everything due happens on the way."""
