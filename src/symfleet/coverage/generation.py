"""Which program a coverage map belongs to.

A generation is everything that changes what an execution yields. Results of two generations are
never mixed: a campaign whose key differs is refused unless a new generation is asked for.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from symfleet.config.model import CampaignConfig
from symfleet.coverage.digests import digest_of_file
from symfleet.ledger.contract import GenerationKey
from symfleet.types import GenerationId, Keep

_DOMAIN: Final = b"symfleet generation v1\0"


class Aspect(enum.Enum):
    """What a campaign cannot change without further ado."""

    TARGET = "target"
    ARGUMENTS = "arguments"
    INPUT_MODE = "input mode"
    ENGINE = "engine build"
    LIMITS = "limits"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is other than in the campaign; `text` has both values."""

    aspect: Aspect
    text: str


def engine_build_of(engine: Sequence[str], version: str) -> str:
    """Name the build of an engine: our version, its command line, and every file in that line."""
    digest = hashlib.sha256(_DOMAIN + version.encode())
    for word in engine:
        path = Path(word)
        named = digest_of_file(path) if path.is_file() else word
        digest.update(len(named).to_bytes(8, "little") + named.encode())
    return digest.hexdigest()


def generation_key(config: CampaignConfig, program: Path, engine_build: str) -> GenerationKey:
    """Make the key of this target under this configuration.

    The target counts by its bytes, not by its path: a campaign may be moved with its program.
    """
    return GenerationKey(
        target_digest=digest_of_file(program),
        arguments=config.target.argv[1:],
        input_mode=config.target.effective_input_mode,
        engine_build=engine_build,
        limits=config.result_limits(),
    )


def generation_id_of(key: GenerationKey, number: int = 1) -> GenerationId:
    """Name a generation by the SHA-256 of its key and, from the second on, of its number: a
    campaign that comes back to an earlier program begins anew with it."""
    which = b"" if number == 1 else b"%d:" % number
    return GenerationId(hashlib.sha256(_DOMAIN + which + msgspec.msgpack.encode(key)).hexdigest())


def key_differences(stored: GenerationKey, present: GenerationKey) -> list[Difference]:
    """Say what differs, both values each; empty when the keys are equal."""
    found = [
        _difference(aspect, aspect.value, _short(old), _short(new))
        for aspect, old, new in (
            (Aspect.TARGET, stored.target_digest, present.target_digest),
            (Aspect.ARGUMENTS, " ".join(stored.arguments), " ".join(present.arguments)),
            (Aspect.INPUT_MODE, stored.input_mode, present.input_mode),
            (Aspect.ENGINE, stored.engine_build, present.engine_build),
        )
        if old != new
    ]
    before, after = dict(stored.limits), dict(present.limits)
    found += [
        _difference(Aspect.LIMITS, name, before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    return found


def keep_difference(stored: Keep, present: Keep) -> list[Difference]:
    """Say that a campaign keeps other inputs; empty when it does not."""
    return [] if stored is present else [_difference(Aspect.KEEP, "keep", stored, present)]


def _difference(aspect: Aspect, name: str, old: object, new: object) -> Difference:
    return Difference(aspect, f"{name}: {old} in the campaign, {new} now")


def _short(text: str) -> str:
    return text if len(text) <= 16 else text[:16] + "..."
