"""Many small cases of one rule in one test: cheap, and everything that fails is told."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Case = TypeVar("Case")


def for_each(
    cases: Iterable[Case], name: Callable[[Case], str]
) -> Callable[[Callable[[Case], None]], Callable[[], None]]:
    """Make one test of a check that takes a case; it fails with everything that is wrong."""
    kept = list(cases)
    assert kept

    def decorate(check: Callable[[Case], None]) -> Callable[[], None]:
        def test() -> None:
            wrong: dict[str, str] = {}
            for case in kept:
                try:
                    check(case)
                except AssertionError as error:
                    wrong[name(case)] = str(error)
            told = "\n".join(f"{case}: {error}" for case, error in wrong.items())
            assert not wrong, f"{len(wrong)} of {len(kept)} cases fail:\n{told}"

        test.__name__, test.__module__ = check.__name__, check.__module__
        return test

    return decorate
