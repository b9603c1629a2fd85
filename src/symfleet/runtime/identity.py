"""Who we are: this installation, this interpreter, this life."""

from __future__ import annotations

import secrets
import sys

import symfleet
from symfleet.types import Incarnation


def version() -> str:
    """Return this installation's version."""
    return symfleet.__version__


def python_version() -> str:
    """Return this interpreter's version."""
    return ".".join(str(part) for part in sys.version_info[:3])


def new_incarnation() -> Incarnation:
    """Return 64 random bits, never 0."""
    return Incarnation(secrets.randbits(64) or 1)
