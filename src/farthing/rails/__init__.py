"""The ways in which money leaves and enters: the port, and what stands behind it."""
