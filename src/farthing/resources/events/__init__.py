"""Events: every change of every object, in the order of the commits."""
