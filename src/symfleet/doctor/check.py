"""What a check says: fine, a warning, or a problem with its fix."""

from __future__ import annotations

import enum

import msgspec


class Verdict(enum.StrEnum):
    """How a check went. Only a problem keeps a campaign from running."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that was looked at; `fix` says what to do unless it is fine."""

    name: str
    verdict: Verdict
    detail: str
    fix: str = ""


def ok(name: str, detail: str) -> Check:
    """Say that something is as it must be."""
    return Check(name, Verdict.OK, detail)


def warning(name: str, detail: str, fix: str) -> Check:
    """Say that something will hurt, but does not prevent."""
    return Check(name, Verdict.WARNING, detail, fix)


def problem(name: str, detail: str, fix: str) -> Check:
    """Say that something prevents a campaign."""
    return Check(name, Verdict.PROBLEM, detail, fix)
