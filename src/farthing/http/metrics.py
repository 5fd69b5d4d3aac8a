"""Metrics: counts and times by operation, never by tenant or object."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class Metrics:
    """The metrics of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "farthing_requests",
            "Requests answered.",
            ["operation", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "farthing_request_seconds",
            "Time from the request's head to the answer's end.",
            ["operation"],
            registry=self.registry,
        )
        self.waiting = Gauge(
            "farthing_commands_waiting",
            "Commands that wait for their commit.",
            registry=self.registry,
        )

        # To find a labelled metric costs more than to count with it.
        self._of: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def record(self, operation: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        found = self._of.get((operation, status))
        if found is None:
            counter = self.requests.labels(operation, str(status))
            found = self._of[operation, status] = (counter, self.seconds.labels(operation))
        found[0].inc()
        found[1].observe(seconds)

    def text(self) -> bytes:
        """Return everything in Prometheus's text format."""
        return generate_latest(self.registry)
