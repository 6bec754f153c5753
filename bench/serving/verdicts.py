"""What must hold, what was measured, and whether it does."""

from dataclasses import dataclass

HOLDS, FAILS, OPEN = "yes", "no", "-"


@dataclass(frozen=True)
class Verdict:
    """A limit and what came of it."""

    where: str
    what: str
    measured: str
    limit: str
    holds: str


def at_least(where: str, what: str, measured: float, limit: float) -> Verdict:
    """Whether what was measured reaches a limit."""
    holds = HOLDS if measured >= limit else FAILS
    return Verdict(where, what, f"{measured:.3f}", f">= {limit:g}", holds)


def at_most(where: str, what: str, measured: float, limit: float) -> Verdict:
    """Whether what was measured keeps within a limit."""
    holds = HOLDS if measured <= limit else FAILS
    return Verdict(where, what, f"{measured:.3f}", f"<= {limit:g}", holds)


def ahead(where: str, what: str, measured: float) -> Verdict:
    """Whether a ratio is above one."""
    return Verdict(where, what, f"{measured:.2f}", "> 1", HOLDS if measured > 1 else FAILS)


def failed(where: str, what: str, why: str, limit: str) -> Verdict:
    """A limit that is not kept because there is nothing to measure."""
    return Verdict(where, what, why, limit, FAILS)


def left_open(where: str, what: str, why: str, limit: str) -> Verdict:
    """A limit of which nothing can be said."""
    return Verdict(where, what, why, limit, OPEN)


def print_verdicts(verdicts: list[Verdict]) -> None:
    """A line for each limit."""
    print(f"\n{'where':22}{'what is limited':72}{'measured':>14}{'limit':>9}{'holds':>7}")
    for each in verdicts:
        print(f"{each.where:22}{each.what:72}{each.measured:>14}{each.limit:>9}{each.holds:>7}")
