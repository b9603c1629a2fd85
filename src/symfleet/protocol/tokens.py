"""Dispatch tokens: which delivery, never which work.

A token is SHA-256 over a domain separator, the coordinator incarnation's secret, rank, slot and a
sequence number that grows before each mint (D1). A delivery that fails burns its token; gaps mean
nothing. The secret is new for each incarnation, so a restarted coordinator cannot mint a token of
its predecessor. A token identifies; it does not authenticate.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Final

from symfleet.types import DispatchToken, SlotAddress

_DOMAIN: Final = b"symfleet dispatch v1\0"
_COORDINATES: Final = struct.Struct("<IIQ")

NO_TOKEN: Final = DispatchToken("0" * 64)
"""What a frame without a delivery carries; no mint yields it (it would be a SHA-256 of zero)."""


class TokenMint:
    """Source of the tokens of one coordinator incarnation; nobody else mints (D2)."""

    __slots__ = ("_prefix", "_sequence")

    def __init__(self, secret: bytes) -> None:
        self._prefix = hashlib.sha256(_DOMAIN + secret)
        self._sequence = 0

    @property
    def minted(self) -> int:
        """How many tokens exist."""
        return self._sequence

    def mint(self, place: SlotAddress) -> DispatchToken:
        """Return a token that was never returned before, for a delivery to this slot."""
        self._sequence += 1
        digest = self._prefix.copy()
        digest.update(_COORDINATES.pack(place.rank, place.slot, self._sequence))
        token = DispatchToken(digest.hexdigest())
        assert token != NO_TOKEN, "D1: a token is never the empty one"
        return token
