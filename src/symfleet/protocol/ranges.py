"""What numbers, names and texts on the wire may be.

A receiver stores numbers in 63 bits, adds them up, waits for them and sends to them; it keeps names
as 32 bytes and texts in columns that know no NUL. A body with anything else does not fit its kind:
that is found out where it is decoded, and nowhere later as an exception.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from symfleet.types import Epoch, Fence, Incarnation, InputId, StateId, WorkId

NUMBER_MAX: Final = 2**63 - 1
AMOUNT_MAX: Final = 2**48
"""Of what is added up over a campaign, whose sums must fit into 63 bits. In microseconds this is
nine years."""

_HEX: Final = msgspec.Meta(pattern="^[0-9a-f]{64}$", max_length=64)

Count = Annotated[int, msgspec.Meta(ge=0, le=NUMBER_MAX)]
Amount = Annotated[int, msgspec.Meta(ge=0, le=AMOUNT_MAX)]
Word64 = Annotated[int, msgspec.Meta(ge=0)]
"""64 bits: the wire has no larger number."""
RankNumber = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 2)]
Signal = Annotated[int, msgspec.Meta(ge=0, le=255)]
ExitStatus = Annotated[int, msgspec.Meta(ge=-1, le=255)]
Wait = Annotated[float, msgspec.Meta(ge=0, le=86_400)]
Period = Annotated[float, msgspec.Meta(gt=0, le=86_400)]
Life = Annotated[Incarnation, msgspec.Meta(ge=0)]
EpochNumber = Annotated[Epoch, msgspec.Meta(ge=0, le=NUMBER_MAX)]
FenceNumber = Annotated[Fence, msgspec.Meta(ge=0, le=NUMBER_MAX)]
WorkName = Annotated[WorkId, _HEX]
StateName = Annotated[StateId, _HEX]
InputName = Annotated[InputId, _HEX]
Text = Annotated[str, msgspec.Meta(pattern=r"^[^\0]*\Z")]
"""Without NUL, which a server's text columns refuse."""


def plain(text: str, most: int = 500) -> str:
    """Return what somebody else wrote as a `Text` of bounded length."""
    return text[:most].replace("\0", "?")


def require_edges(edges: bytes) -> None:
    """Raise ValueError unless packed edges are whole numbers of 32 bits."""
    if len(edges) % 4:
        raise ValueError("edges are whole numbers of 32 bits")


def require_amounts(*amounts: int) -> None:
    """Raise ValueError unless each can be added up over a campaign."""
    if min(amounts) < 0 or max(amounts) > AMOUNT_MAX:
        raise ValueError(f"an amount is from 0 to {AMOUNT_MAX}")
