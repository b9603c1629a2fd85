"""Run an instrumented target as the executor does, and read what it recorded.

`Target` holds a fork server; `Recording` is one execution's rows and events; `check_recording` is
the oracle of the engine's front half: every row, evaluated on the bytes that the target was given,
must explain every event. A recording that passes describes the run truthfully, whatever the
program was.

Usable by hand: `python recording.py [--dump] INPUT TARGET [ARGUMENT...]`, `@@` is the input's path.
"""

from __future__ import annotations

import contextlib
import dataclasses
import mmap
import os
import pathlib
import select
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Self

from float_rows import float_value, text_value

ABI_VERSION = 2
TABLE_MAGIC = 0x54464D59
HELLO_MAGIC = 0x4F4C4853
COVER, RECORD = 0, 1
ROW = struct.Struct("<BBHIIIQ")
EVENT = struct.Struct("<BBHIQQ")
LAYOUT = struct.Struct("<II9Q")  # magic, version, total size, four (offset, capacity)
SELECTION = struct.Struct("<IIQQQQ")  # flags, input kind, device, inode, size, pinned time
COUNTERS = struct.Struct("<12Q")  # next_row .. opens_len
OPENS_BYTES = 4096
LOSSES_BYTES = 8 + 64 * 128
PIN_TIME, PIN_PID, PIN_RANDOM = 1, 2, 4
DEADLINE_S = 30.0

CONST, INPUT, LENGTH, FLOAT, TEXT = 1, 2, 3, 64, 65
UDIVW, UREMW = 98, 99
ITE, ZEXT, SEXT, EXTRACT, CONCAT = 36, 32, 33, 34, 35
BRANCH, GOAL, FACT, EOF = 1, 2, 3, 4
NAMES = {
    1: "const",
    2: "input",
    3: "length",
    8: "add",
    9: "sub",
    10: "mul",
    11: "udiv",
    12: "sdiv",
    13: "urem",
    14: "srem",
    15: "and",
    16: "or",
    17: "xor",
    18: "shl",
    19: "lshr",
    20: "ashr",
    24: "eq",
    25: "ne",
    26: "ult",
    27: "ule",
    28: "slt",
    29: "sle",
    32: "zext",
    33: "sext",
    34: "extract",
    35: "concat",
    36: "ite",
    40: "bswap",
    41: "ctpop",
    42: "ctlz",
    43: "cttz",
    48: "uaddo",
    49: "saddo",
    50: "usubo",
    51: "ssubo",
    52: "umulo",
    53: "smulo",
    56: "table",
    64: "float",
    65: "text",
    96: "bitreverse",
    97: "umulh",
    98: "udivw",
    99: "uremw",
    100: "array",
    120: "number",
    121: "printed",
    122: "printed_size",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    op: int
    bits: int
    aux: int
    a: int
    b: int
    c: int
    k: int


@dataclasses.dataclass(frozen=True, slots=True)
class Event:
    kind: int
    taken: int
    aux: int
    label: int
    site: int
    value: int


@dataclasses.dataclass(frozen=True, slots=True)
class Recording:
    """One execution: how it ended, and its table."""

    status: int
    rows: list[Row]
    events: list[Event]
    blobs: bytes
    edges: bytes
    degraded: int
    lost_rows: int
    lost_events: int
    unmodelled: int
    symbolic_bytes: int
    input_opens: int
    opened: list[str]

    @property
    def branches(self) -> list[Event]:
        return [event for event in self.events if event.kind == BRANCH]


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def digits_of(number: int, base: int) -> str:
    if base in (8, 10, 16):
        return format(number, {8: "o", 10: "d", 16: "x"}[base])
    digits = ""
    while number or not digits:
        number, digit = divmod(number, base)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


def printed(value: int, bits: int, form: int, suffix: int) -> bytes:
    """Return the text that an SF_OP_PRINTED row speaks of, as Python formats it."""
    base, width = form & 0x3F, form >> 13 & 0xFF
    precision = (form >> 21 & 0x7F) - 1
    number = signed(value, bits) if form & 0x40 else value
    digits = digits_of(abs(number), base)
    digits = "" if precision == 0 and number == 0 else digits.rjust(precision, "0")
    if base == 8 and form & 0x1000 and not digits.startswith("0"):
        digits = "0" + digits
    sign = "-" if number < 0 else ""
    if form & 0x40 and not sign:
        sign = "+" if form & 0x400 else " " if form & 0x800 else ""
    if base == 16 and form & 0x1000 and number:
        sign += "0x"
    if form & 0x200 and precision < 0 and not form & 0x100:
        digits = digits.rjust(width - len(sign), "0")
    text = (sign + digits).ljust(width) if form & 0x100 else (sign + digits).rjust(width)
    text = text.upper() if form & 0x80 else text
    return text.encode() + suffix.to_bytes(8, "little")[: min(suffix >> 56, 7)]


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def operands_of(row: Row) -> list[int]:
    """Return the labels that a row names, without those at its end that it has not."""
    if row.op in (FLOAT, TEXT):
        labels = [row.a, row.b, row.c, row.k]
        return labels[: labels.index(0)] if 0 in labels else labels
    return [row.a, row.b] + ([row.c] if row.op in (ITE, UDIVW, UREMW) else [])


def evaluate(recording: Recording, data: bytes) -> list[int | None]:
    """Return the value of every row on an input; rows of bytes that are not there see zeros.

    None is the value of what `float_rows` does not compute, and of what depends on it.
    """
    values: list[int] = [0] * len(recording.rows)
    unknown: set[int] = set()
    for index, row in enumerate(recording.rows):
        if not row.op:
            continue
        value = None
        if unknown.isdisjoint(operands_of(row)):
            value = _row_value(recording, row, values, data)
        if value is None:
            unknown.add(index)
        else:
            values[index] = value
    return [None if index in unknown else value for index, value in enumerate(values)]


def _four_value(row: Row, values: list[int]) -> int | None:
    operands = [values[label] for label in operands_of(row)]
    if row.op == FLOAT:
        return float_value(row.aux, row.bits, operands)
    text = b"".join(operand.to_bytes(8, "little") for operand in operands)
    return text_value(row.aux, text)


@dataclasses.dataclass(frozen=True, slots=True)
class Operands:
    """Of one row: unsigned (a, b), signed (x, y), the widths and the mask of the result."""

    a: int
    b: int
    x: int
    y: int
    bits: int
    width: int
    mask: int

    def wraps(self, exact: int) -> int:
        return int(signed(exact & (1 << self.width) - 1, self.width) != exact)


OPERATIONS: dict[str, Callable[[Operands], int]] = {
    "add": lambda o: o.a + o.b & o.mask,
    "sub": lambda o: o.a - o.b & o.mask,
    "mul": lambda o: o.a * o.b & o.mask,
    "udiv": lambda o: o.a // o.b,
    "sdiv": lambda o: quotient(o.x, o.y) & o.mask,
    "urem": lambda o: o.a % o.b,
    "srem": lambda o: o.x - quotient(o.x, o.y) * o.y & o.mask,
    "and": lambda o: o.a & o.b,
    "or": lambda o: o.a | o.b,
    "xor": lambda o: o.a ^ o.b,
    "shl": lambda o: o.a << o.b & o.mask if o.b < o.bits else 0,
    "lshr": lambda o: o.a >> o.b if o.b < o.bits else 0,
    "ashr": lambda o: o.x >> min(o.b, o.bits) & o.mask,
    "eq": lambda o: int(o.a == o.b),
    "ne": lambda o: int(o.a != o.b),
    "ult": lambda o: int(o.a < o.b),
    "ule": lambda o: int(o.a <= o.b),
    "slt": lambda o: int(o.x < o.y),
    "sle": lambda o: int(o.x <= o.y),
    "zext": lambda o: o.a,
    "bswap": lambda o: int.from_bytes(o.a.to_bytes(o.bits // 8, "little"), "big"),
    "ctpop": lambda o: o.a.bit_count(),
    "ctlz": lambda o: o.bits - o.a.bit_length(),
    "cttz": lambda o: (o.a & -o.a).bit_length() - 1 if o.a else o.bits,
    "uaddo": lambda o: int(o.a + o.b >> o.width != 0),
    "usubo": lambda o: int(o.a < o.b),
    "umulo": lambda o: int(o.a * o.b >> o.width != 0),
    "saddo": lambda o: o.wraps(o.x + o.y),
    "ssubo": lambda o: o.wraps(o.x - o.y),
    "smulo": lambda o: o.wraps(o.x * o.y),
    "bitreverse": lambda o: int(f"{o.a:0{o.bits}b}"[::-1], 2),
    "umulh": lambda o: o.a * o.b >> o.bits,
}


def _is_binary(op: int) -> bool:
    """Whether a and b are operands of which one may be the constant."""
    return 8 <= op <= 29 or 48 <= op <= 53 or NAMES.get(op) == "umulh"


def _is_flag(op: int) -> bool:
    """Whether the operands are of the width aux."""
    return 24 <= op <= 29 or 48 <= op <= 53


def _row_value(recording: Recording, row: Row, values: list[int], data: bytes) -> int | None:
    if row.op in (FLOAT, TEXT):
        return _four_value(row, values)
    mask = (1 << row.bits) - 1
    a = values[row.a] if row.a else row.k
    b = values[row.b] if row.b else row.k
    size = row.bits // 8
    match row.op:
        case 1:  # CONST
            return row.k
        case 2:  # INPUT
            return int.from_bytes(data[row.k : row.k + size].ljust(size, b"\0"), "little")
        case 3:  # LENGTH
            return len(data)
        case 33:  # SEXT
            return signed(a, recording.rows[row.a].bits) & mask
        case 34:  # EXTRACT
            return a >> row.aux & mask
        case 35:  # CONCAT
            return a << recording.rows[row.b].bits | b
        case 36:  # ITE
            return values[row.b] if a else values[row.c]
        case 56:  # TABLE
            at = row.c + a * size
            return int.from_bytes(recording.blobs[at : at + size], "little")
        case 98 | 99:  # UDIVW, UREMW
            whole = a << row.bits | b
            parts = divmod(whole, values[row.c])
            return parts[row.op - 98] & mask
        case 100:  # ARRAY
            at = row.c + a * size
            inside = a < row.k
            return int.from_bytes(recording.blobs[at : at + size], "little") if inside else 0
        case 120:  # NUMBER
            return a
        case 121:  # PRINTED
            text = printed(a, recording.rows[row.a].bits, row.c, row.k)
            return text[row.aux] if row.aux < len(text) else 0
        case 122:  # PRINTED_SIZE
            return len(printed(a, recording.rows[row.a].bits, row.c, row.k))
        case _:
            pass  # an operation of two operands: below
    width = row.aux if _is_flag(row.op) else row.bits
    operands = Operands(a, b, signed(a, width), signed(b, width), row.bits, width, mask)
    return OPERATIONS[NAMES[row.op]](operands)


def check_recording(recording: Recording, data: bytes) -> list[str]:
    """Return what contradicts the run: an empty list when every event is explained."""
    faults: list[str] = []
    rows = recording.rows
    for index, row in enumerate(rows):
        faults += [f"row {index} {row}: {fault}" for fault in _row_faults(rows, index, row)]
    if faults:
        return faults
    values = evaluate(recording, data)
    for index, event in enumerate(recording.events):
        if event.kind == EOF or not event.kind:
            continue
        seen = values[event.label]
        if seen is None:
            continue
        expected = event.value if event.kind == FACT else event.taken
        if event.kind == FACT and event.value == 0 and rows[event.label].bits == 1:
            expected = event.value
        if seen != expected:
            faults.append(
                f"event {index} {event}: row gives {seen}; {show(recording, event.label)}"
            )
        if event.kind != FACT and rows[event.label].bits != 1:
            faults.append(f"event {index} {event}: condition of {rows[event.label].bits} bits")
    return faults


def _row_faults(rows: Sequence[Row], index: int, row: Row) -> Iterator[str]:
    if index == 0 or not row.op:
        return
    if row.op not in NAMES:
        yield "unknown op"
    if not 1 <= row.bits <= 64:
        yield "width out of range"
    operands = operands_of(row)
    if any(label >= index for label in operands):
        yield "operand behind its user"
    binary = _is_binary(row.op)
    if binary and not (row.a or row.b):
        yield "two constants"
    if row.op in (ITE, CONCAT, UDIVW, UREMW) and not all(operands):
        yield "missing operand"
    if row.op == CONCAT and rows[row.a].bits + rows[row.b].bits != row.bits:
        yield "widths do not add up"
    width = row.aux if _is_flag(row.op) else row.bits
    if binary and any(label and rows[label].bits != width for label in (row.a, row.b)):
        yield "operand of another width"


def show(recording: Recording, label: int, depth: int = 6) -> str:
    """Return a row as text, its operands down to a depth."""
    row = recording.rows[label]
    if row.op == CONST:
        return hex(row.k)
    if row.op == INPUT:
        return f"in[{row.k}:{row.k + row.bits // 8}]"
    if row.op == LENGTH:
        return "length"
    if depth == 0:
        return f"#{label}"
    operands = [row.a, row.b] if _is_binary(row.op) else []
    if row.op in (FLOAT, TEXT):
        operands = operands_of(row)
    elif row.op == CONCAT:
        operands = [row.a, row.b]
    elif row.op in (ITE, UDIVW, UREMW):
        operands = [row.a, row.b, row.c]
    elif not operands:
        operands = [row.a]
    shown = [show(recording, o, depth - 1) if o else hex(row.k) for o in operands]
    extra = f"@{row.aux:#x}" if row.op in (EXTRACT, FLOAT, TEXT) else ""
    return f"{NAMES.get(row.op, row.op)}{row.bits}{extra}({', '.join(shown)})"


class Target:
    """A fork server of one instrumented program."""

    def __init__(
        self,
        command: Sequence[str],
        input_path: pathlib.Path,
        *,
        rows: int = 1 << 20,
        events: int = 1 << 18,
        blobs: int = 1 << 22,
        edges: int = 1 << 20,
        flags: int = 0,
    ) -> None:
        self._input = input_path
        self._flags = flags
        sizes = [(rows, ROW.size), (events, EVENT.size), (blobs, 1), (edges, 1)]
        header = LAYOUT.size + SELECTION.size + COUNTERS.size + OPENS_BYTES + LOSSES_BYTES
        offset = -(-header // 4096) * 4096
        layout: list[int] = []
        for capacity, size in sizes:
            layout += [offset, capacity]
            offset += -(-capacity * size // 4096) * 4096
        self._layout = layout
        self._table_fd = os.memfd_create("table")
        os.truncate(self._table_fd, offset)
        self._table = mmap.mmap(self._table_fd, offset)
        LAYOUT.pack_into(self._table, 0, TABLE_MAGIC, ABI_VERSION, offset, *layout)
        command_read, self._command_fd = os.pipe()
        self._status_fd, status_write = os.pipe()
        input_path.touch()
        input_fd = os.open(input_path, os.O_RDONLY)
        self._describe_input()
        passed = (command_read, status_write, self._table_fd, input_fd)
        channel = ",".join(str(each) for each in passed)
        arguments = [str(input_path) if each == "@@" else each for each in command]
        with input_path.open("rb") as standard_input:
            self._process = subprocess.Popen(
                arguments,
                stdin=standard_input if "@@" not in command else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, "SYMFLEET_CHANNEL": channel},
                pass_fds=passed,
            )
        os.close(command_read)
        os.close(status_write)
        os.close(input_fd)
        hello = self._receive(24)
        magic, version, self.edges, _flags, self.build_id = struct.unpack("<IIIIQ", hello)
        assert (magic, version) == (HELLO_MAGIC, ABI_VERSION)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._command_fd)
        os.close(self._status_fd)
        assert self._process.stdout is not None
        self._process.stdout.close()
        try:
            self._process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(DEADLINE_S)
        self._table.close()
        os.close(self._table_fd)

    def run(self, data: bytes, mode: int = RECORD) -> Recording:
        """Execute the program on an input and return what it recorded."""
        self._input.write_bytes(data)
        self._reset()
        os.write(self._command_fd, struct.pack("<II", 1, mode))
        _pid, error = struct.unpack("<iI", self._receive(8))
        assert error == 0, os.strerror(error)
        status = struct.unpack("<iIQQQ", self._receive(32))[0]
        return self._read(status)

    def output(self) -> bytes:
        """Return what the program has printed until now."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        out = b""
        while select.select([descriptor], [], [], 0)[0]:
            part = os.read(descriptor, 1 << 16)
            if not part:
                break
            out += part
        return out

    def _reset(self) -> None:
        rows_off, _, events_off, _, _, _, edges_off, edges_cap = self._layout
        counters = self._counters()
        for offset, size in (
            (rows_off, (counters[0] + 1) * ROW.size),
            (events_off, counters[1] * EVENT.size),
            (edges_off, min(edges_cap, self.edges)),
        ):
            self._table[offset : offset + size] = bytes(size)
        self._describe_input()
        COUNTERS.pack_into(self._table, LAYOUT.size + SELECTION.size, 1, *[0] * 11)

    def _describe_input(self) -> None:
        status = self._input.stat()
        identity = (status.st_dev, status.st_ino, status.st_size)
        SELECTION.pack_into(self._table, LAYOUT.size, self._flags, 1, *identity, 1_000_000_000)

    def _counters(self) -> tuple[int, ...]:
        return COUNTERS.unpack_from(self._table, LAYOUT.size + SELECTION.size)

    def _read(self, status: int) -> Recording:
        rows_off, _, events_off, _, blobs_off, _, edges_off, _ = self._layout
        counters = self._counters()
        next_row, next_event, next_blob, degraded, lost_rows, lost_events = counters[:6]
        unmodelled, symbolic, opens, _progress, _position, opens_len = counters[6:]
        opens_off = LAYOUT.size + SELECTION.size + COUNTERS.size
        names = self._table[opens_off : opens_off + opens_len].split(b"\0")[:-1]
        rows = self._table[rows_off : rows_off + next_row * ROW.size]
        events = self._table[events_off : events_off + next_event * EVENT.size]
        return Recording(
            status=status,
            rows=[Row(*each) for each in ROW.iter_unpack(rows)],
            events=[Event(*each) for each in EVENT.iter_unpack(events)],
            blobs=self._table[blobs_off : blobs_off + next_blob],
            edges=self._table[edges_off : edges_off + self.edges],
            degraded=degraded,
            lost_rows=lost_rows,
            lost_events=lost_events,
            unmodelled=unmodelled,
            symbolic_bytes=symbolic,
            input_opens=opens,
            opened=[os.fsdecode(name) for name in names],
        )

    def _receive(self, size: int) -> bytes:
        deadline = time.monotonic() + DEADLINE_S
        out = b""
        while len(out) < size:
            left = deadline - time.monotonic()
            ready = select.select([self._status_fd], [], [], max(left, 0))[0]
            part = os.read(self._status_fd, size - len(out)) if ready else b""
            if not part:
                raise RuntimeError(f"the target does not answer: {self.output()!r}")
            out += part
        return out


def main(arguments: list[str]) -> int:
    dump = "--dump" in arguments
    data_path, *command = [each for each in arguments if each != "--dump"]
    data = pathlib.Path(data_path).read_bytes()
    copy = pathlib.Path(f"{data_path}.recorded")
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: copy.unlink(missing_ok=True))
        target = stack.enter_context(Target(command, copy))
        recording = target.run(data)
        print(target.output().decode(errors="replace"), end="")
    faults = check_recording(recording, data)
    for event in recording.events if dump else []:
        kind = ["invalid", "branch", "goal", "fact", "eof"][event.kind]
        what = show(recording, event.label) if event.label else ""
        print(
            f"{kind} {event.taken} value {event.value:#x} site {event.site:016x}.{event.aux} {what}"
        )
    print(
        f"status {recording.status:#x} rows {len(recording.rows)} events {len(recording.events)} "
        f"edges {sum(map(bool, recording.edges))}/{len(recording.edges)} "
        f"symbolic {recording.symbolic_bytes} unmodelled {recording.unmodelled} "
        f"faults {len(faults)}"
    )
    print("\n".join(faults[:20]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
