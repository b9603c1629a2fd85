"""Enumerate what may be on the disk, for each instant of a trace at which the power may fail.

At every instant: only what was synchronised; everything; everything but one operation; one
operation only; the newest writes torn at each sector, alone and within everything; each length of
the journal (ORDERED); spoilt contents (LOSSY); and some subsets by a seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from symfleet.testing.power_cut.disk import Disk, Kept, Model, Spoil, Torn, Tree, sectors_of
from symfleet.testing.power_cut.operations import DataOperation, Note, Resize, Trace, Write

_SINGLE_MAX: Final = 24
"""Of more free operations the newest, the oldest and some between them are dropped one by one."""
_TORN_MAX: Final = 6


@dataclass(frozen=True, slots=True)
class CrashState:
    """One folder as it may be found. `notes`: how many notes the program had made before."""

    instant: int
    model: Model
    variant: str
    notes: int
    tree: Tree


def crash_states(
    trace: Trace,
    model: Model,
    dice: random.Random,
    *,
    subsets: int = 4,
    every: int = 1,
    variants_max: int = 10_000,
) -> Iterator[CrashState]:
    """Yield states of one model; `every`: look at each instant, or at some with a drawn start, and
    at no more variants of each than `variants_max`, drawn from all."""
    disk = Disk(trace.before, trace.operations, model)
    notes = 0
    first = dice.randrange(every)
    yield CrashState(0, model, "nothing", 0, disk.tree({}))
    for instant in range(1, len(trace.operations) + 1):
        operation = disk.step()
        if isinstance(operation, Note):
            notes += 1
        elif (instant - first) % every:
            continue
        variants = list(_variants(disk, model, dice, subsets))
        if len(variants) > variants_max:
            variants = dice.sample(variants, variants_max)
        for variant, kept in variants:
            yield CrashState(instant, model, variant, notes, disk.tree(kept))


def _variants(
    disk: Disk, model: Model, dice: random.Random, subsets: int
) -> Iterator[tuple[str, Kept]]:
    yield "synced only", {}
    match model:
        case Model.ORDERED:
            yield from _ordered(disk, dice, subsets)
        case Model.REORDERED:
            yield from _reordered(disk, dice, subsets)
        case Model.LOSSY:
            yield from _lossy(disk, dice, subsets)


def _reordered(disk: Disk, dice: random.Random, subsets: int) -> Iterator[tuple[str, Kept]]:
    data = disk.free_data
    free = sorted([index for index, _ in data] + [index for index, _ in disk.free_names])
    if not free:
        return
    everything: Kept = dict.fromkeys(free)
    yield "all", everything
    for index in _some(free, dice):
        yield f"all but {index}", {i: None for i in free if i != index}
        yield f"only {index}", {index: None}
    yield from _torn(everything, data, dice)
    yield from _torn({}, data, dice)
    for _ in range(subsets if len(free) > 2 else 0):
        share = dice.random()
        yield "subset", {i: None for i in free if dice.random() < share}


def _ordered(disk: Disk, dice: random.Random, subsets: int) -> Iterator[tuple[str, Kept]]:
    names, data = disk.free_names, disk.free_data
    whole: Kept = {index: None for index, _ in data}
    for length in range(len(names) + 1):
        journal: Kept = {index: None for index, _ in names[:length]}
        yield f"journal of {length}", journal
        if not data:
            continue
        everything: Kept = {**journal, **whole}
        yield f"journal of {length}, all data", everything
        for index in _some([index for index, _ in data], dice):
            yield (
                f"journal of {length}, data before {index}",
                {**journal, **{i: None for i, _ in data if i < index}},
            )
        yield from _torn(everything, data, dice)
        for _ in range(subsets):
            yield f"journal of {length}, subset", {**journal, **_flushed(data, dice)}


def _flushed(data: Sequence[tuple[int, DataOperation]], dice: random.Random) -> Kept:
    """Return some data: what lies behind an earlier end only from its beginning on."""
    share, ends, kept = dice.random(), dict[int, int](), dict[int, None]()
    stopped = set[int]()
    for index, change in data:
        inode = change.inode
        reaches = change.size if isinstance(change, Resize) else change.offset + len(change.data)
        appends = isinstance(change, Resize) or reaches > ends.get(inode, 0)
        ends[inode] = max(reaches, ends.get(inode, 0))
        if dice.random() >= share:
            stopped |= {inode} if appends else set()
        elif not (appends and inode in stopped):
            kept[index] = None
    return kept


def _lossy(disk: Disk, dice: random.Random, subsets: int) -> Iterator[tuple[str, Kept]]:
    names: Kept = {index: None for index, _ in disk.free_names}
    data = disk.free_data
    writes = [index for index, change in data if isinstance(change, Write)]
    cuts = [index for index, change in data if isinstance(change, Resize)]
    whole: Kept = {index: None for index, _ in data}
    yield "names lost", whole
    yield "names without data", names
    yield "names, cuts lost", {**names, **dict.fromkeys(writes)}
    yield "names, cuts only", {**names, **dict.fromkeys(cuts)}
    for spoil in Spoil if writes else ():
        yield f"names, {spoil.value}", {**names, **whole, **dict.fromkeys(writes, spoil)}
        yield f"no names, {spoil.value}", {**whole, **dict.fromkeys(writes, spoil)}
    for index in _some(writes, dice):
        for spoil in Spoil:
            yield f"{spoil.value} of {index}", {**names, **whole, index: spoil}
    spoils: tuple[Spoil | None, ...] = (None, *Spoil)
    for _ in range(subsets if len(writes) > 1 else 0):
        yield (
            "spoilt subset",
            {
                **names,
                **dict.fromkeys(cuts),
                **{index: dice.choice(spoils) for index in writes if dice.random() < 0.8},
            },
        )


def _some(indices: Sequence[int], dice: random.Random) -> Sequence[int]:
    if len(indices) <= _SINGLE_MAX:
        return indices
    third = _SINGLE_MAX // 3
    middle = dice.sample(indices[third:-third], third)
    return sorted({*indices[:third], *middle, *indices[-third:]})


def _torn(
    kept: Kept, data: Sequence[tuple[int, DataOperation]], dice: random.Random
) -> Iterator[tuple[str, Kept]]:
    """Tear the newest writes, each in several ways."""
    writes = [(index, change) for index, change in data if isinstance(change, Write)]
    for index, write in writes[-_TORN_MAX:]:
        sectors = sectors_of(write)
        if sectors < 2:
            continue
        cuts = range(1, sectors) if sectors <= 9 else sorted(dice.sample(range(1, sectors), 8))
        masks: list[Torn] = [(True,) * cut + (False,) * (sectors - cut) for cut in cuts]
        masks.append((False,) + (True,) * (sectors - 1))
        masks.append(tuple(dice.random() < 0.5 for _ in range(sectors)))
        for mask in masks:
            shown = "".join("x" if there else "-" for there in mask[:16])
            yield f"{len(kept)} kept, {index} torn {shown}", {**kept, index: mask}
