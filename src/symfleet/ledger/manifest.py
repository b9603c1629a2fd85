"""Manifest v1: what a decision declares, in one canonical form.

A manifest is bound to the item, the input and the fencing token that decided it (C3). It is
accepted on reading only if encoding it again gives the same bytes (C4), so a manifest that was
edited, reordered or written by another program is refused rather than interpreted.
"""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Final, Literal

import msgspec

from symfleet.errors import DataError
from symfleet.protocol.item_results import Flips
from symfleet.protocol.operations import Child, Decide
from symfleet.types import Epoch, Fence, FencingToken, Incarnation, InputId, Outcome, WorkId

_DIGEST_DOMAIN: Final = b"symfleet manifest v1\0"
_HEX64: Final = re.compile(r"[0-9a-f]{64}")

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Positive = Annotated[int, msgspec.Meta(ge=1)]


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one decision declares. `children` holds every distinct child that was reported, kept or
    not, in ascending order; `coverage` and `flips` are digests."""

    schema: Literal[1]
    work_id: WorkId
    input_id: InputId
    epoch: _Positive
    fence: _Positive
    incarnation: _Positive
    outcome: Outcome
    children: tuple[InputId, ...]
    generated: _Count
    coverage: str
    flips: str


_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final = msgspec.msgpack.Decoder(Manifest, strict=True)


def distinct_children(children: tuple[Child, ...]) -> tuple[Child, ...]:
    """Return each child once (the first report of it wins), in manifest order."""
    if len(children) < 2:
        return children
    first: dict[InputId, Child] = {}
    for child in children:
        first.setdefault(child.input_id, child)
    return tuple(first[name] for name in sorted(first))


def _coverage_digest(edges: bytes, children: tuple[Child, ...]) -> str:
    digest = hashlib.sha256(len(edges).to_bytes(8, "little"))
    digest.update(edges)
    for child in children:
        digest.update(child.input_id.encode() + len(child.edges).to_bytes(8, "little"))
        digest.update(child.edges)
    return digest.hexdigest()


def _flips_digest(flips: Flips) -> str:
    text = f"{flips.sat},{flips.unsat},{flips.timeout},{flips.unknown},{flips.skipped}"
    return hashlib.sha256(text.encode()).hexdigest()


def manifest_of(
    decide: Decide, children: tuple[Child, ...], incarnation: Incarnation
) -> tuple[Manifest, bytes]:
    """Return the manifest of a decision and its bytes. `children` are the distinct ones.

    It depends on the operation and on the deciding coordinator only, never on what the ledger
    knows, so that a repeated decision has the same manifest (`already`).
    """
    manifest = Manifest(
        schema=1,
        work_id=decide.work_id,
        input_id=decide.input_id,
        epoch=decide.token.epoch,
        fence=decide.token.fence,
        incarnation=incarnation,
        outcome=decide.outcome,
        children=tuple([child.input_id for child in children]),
        generated=decide.generated,
        coverage=_coverage_digest(decide.edges, children),
        flips=_flips_digest(decide.flips),
    )
    return manifest, _encoder.encode(manifest)


def decode_manifest(encoded: object) -> Manifest:
    """Read a stored manifest; raise DataError unless it is complete and canonical (C4)."""
    if not isinstance(encoded, bytes):
        raise _refuse(repr(encoded)[:40], "it is not a byte string")
    try:
        manifest = _decoder.decode(encoded)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise _refuse(encoded[:40].hex(), str(error)) from error
    if _encoder.encode(manifest) != encoded:
        raise _refuse(manifest.work_id, "encoding it again gives other bytes")
    digests = (manifest.work_id, manifest.input_id, manifest.coverage, manifest.flips)
    for digest in (*digests, *manifest.children):
        if not _HEX64.fullmatch(digest):
            raise _refuse(digest[:80], "a digest is not 64 lower-case hexadecimal digits")
    if not manifest.outcome.is_verdict:
        raise _refuse(manifest.work_id, f"{manifest.outcome} is not a verdict")
    if any(a >= b for a, b in zip(manifest.children, manifest.children[1:], strict=False)):
        raise _refuse(manifest.work_id, "its children are not sorted and unique")
    if manifest.generated < len(manifest.children):
        raise _refuse(manifest.work_id, "it declares more children than were generated")
    return manifest


def _refuse(where: str, why: str) -> DataError:
    return DataError("a manifest is not valid", where=where, why=why, hint="see the ledger's audit")


def token_of(manifest: Manifest) -> FencingToken:
    """Return the fencing token that a manifest is bound to."""
    return FencingToken(Epoch(manifest.epoch), Fence(manifest.fence))


def manifest_digest(manifest: Manifest) -> str:
    """Digest what was found, without who decided it when (epoch, fence, incarnation)."""
    core = (
        manifest.schema,
        manifest.work_id,
        manifest.input_id,
        manifest.outcome,
        manifest.children,
        manifest.generated,
        manifest.coverage,
        manifest.flips,
    )
    return hashlib.sha256(_DIGEST_DOMAIN + _encoder.encode(core)).hexdigest()
