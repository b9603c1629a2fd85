"""How a simulated campaign ends."""

from __future__ import annotations

from dataclasses import dataclass


class Stuck(AssertionError):
    """The campaign did not end although nothing goes wrong any more."""


class Broken(AssertionError):
    """A machine or the ledger raised what nobody may see."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run showed."""

    exit_code: int
    epochs: int
    decisions: int
    executions: int
    virtual_s: float
    calm_s: float
    """From the last fault to the end."""
    steps: int
    faults: tuple[tuple[str, str, int], ...]
    """Of the last epoch, as its coordinator counted them."""
    injected: tuple[tuple[str, int], ...]
    drawn: int
    """How many faults were drawn, with those that the plan skips."""
    idle_window_s: float | None
    trace: str
    """Digest of everything that happened, for bit-identical replay."""
