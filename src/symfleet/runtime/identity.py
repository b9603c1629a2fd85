"""Who we are: this installation, this interpreter, this life."""

from __future__ import annotations

import importlib.metadata
import secrets
import sys
from functools import cache

from symfleet.types import Incarnation

UNINSTALLED = "0.1.0+tree"


@cache
def version() -> str:
    """Return the installed version; a source tree that was never installed has one of its own."""
    try:
        return importlib.metadata.version("symfleet")
    except importlib.metadata.PackageNotFoundError:
        return UNINSTALLED


def python_version() -> str:
    """Return this interpreter's version."""
    return ".".join(str(part) for part in sys.version_info[:3])


def new_incarnation() -> Incarnation:
    """Return 64 random bits, never 0."""
    return Incarnation(secrets.randbits(64) or 1)
