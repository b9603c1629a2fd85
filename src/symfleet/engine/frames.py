"""The executor protocol: what a worker and an engine say to each other over a pipe.

docs/reference/executor-protocol.md is the text; this is the same in types. A frame is a 32-bit
little-endian body length and a MessagePack map of that many bytes. Everything is bounded: a length
above FRAME_BYTES_MAX is refused before a byte of the body is kept.
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar

import msgspec

from symfleet.errors import DataError
from symfleet.types import NO_SPACE

PROTOCOL_VERSION: Final = 1
FRAME_BYTES_MAX: Final = 80 * 1024 * 1024
_HEADER_BYTES: Final = 4


class Frame(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="t"):
    """Base of all frames."""


# ---- from the worker ----------------------------------------------------------------------------


class Hello(Frame, frozen=True, tag="hello"):
    """First frame: what to run and within which limits. Answered by Ready or Failure."""

    protocol: int
    argv: list[str]
    input_mode: str
    work_dir: str
    keep: str
    limits: dict[str, int]
    seed: int
    env: dict[str, str]


class Known(Frame, frozen=True, tag="known"):
    """Edges that the campaign has already."""

    edges: bytes


class Run(Frame, frozen=True, tag="run"):
    """Explore one input. Answered by Started, Progress*, Child*, Done."""

    id: int
    input: bytes
    bound: int
    focus: list[tuple[int, int]] | None
    solitary: bool


class SelfTestRequest(Frame, frozen=True, tag="selftest"):
    """Ask whether the engine works at all."""


class StopRequest(Frame, frozen=True, tag="stop"):
    """The process ends with 0."""


FromWorker = Hello | Known | Run | SelfTestRequest | StopRequest

# ---- from the executor --------------------------------------------------------------------------


class Ready(Frame, frozen=True, tag="ready"):
    """The engine can run inputs."""

    engine: str
    edges: int
    build: str
    pid: int


class Failure(Frame, frozen=True, tag="failure"):
    """The engine cannot run this target on this host."""

    reason: str
    message: str
    hint: str


def no_space(folder: str, error: OSError) -> Failure:
    """Return what is said of a folder that takes nothing more."""
    message = f"cannot write in {folder}: {error.strerror}"
    return Failure(NO_SPACE, message, "free some space there")


class Started(Frame, frozen=True, tag="started"):
    """The run began."""

    id: int


class Progress(Frame, frozen=True, tag="progress"):
    """Work is being done: the counter grew."""

    id: int
    counter: int


class Child(Frame, frozen=True, tag="child"):
    """One new input."""

    id: int
    input: bytes
    digest: str
    how: str
    site: int
    direction: int
    outcome: str
    signal: int
    edges: bytes
    unstable: int
    wall_us: int


class Done(Frame, frozen=True, tag="done"):
    """The run ended with a verdict (or with `stalled` or `killed`, which are none)."""

    id: int
    digest: str
    outcome: str
    exit_code: int
    signal: int
    edges: bytes
    unstable: int
    generated: int
    dropped: int
    flips: dict[str, int]
    how: dict[str, int]
    executions: int
    solver_us: int
    wall_us: int
    cpu_us: int
    rss_kib_max: int
    rows: int = 0
    events: int = 0
    degraded: list[str] = []  # msgspec copies defaults
    truncated: int | None = None
    reason: str | None = None
    opened: list[str] = []
    left_out: dict[str, int] = {}


class SelfTestAnswer(Frame, frozen=True, tag="selftest"):
    """Verdict of the self-test."""

    ok: bool
    message: str


FromExecutor = Ready | Failure | Started | Progress | Child | Done | SelfTestAnswer

_encoder: Final = msgspec.msgpack.Encoder()
FROM_WORKER: Final[msgspec.msgpack.Decoder[FromWorker]] = msgspec.msgpack.Decoder(FromWorker)
FROM_EXECUTOR: Final[msgspec.msgpack.Decoder[FromExecutor]] = msgspec.msgpack.Decoder(FromExecutor)


def encode_frame(frame: FromWorker | FromExecutor) -> bytes:
    """Return `frame` with its length prefix; raise DataError above FRAME_BYTES_MAX."""
    body = _encoder.encode(frame)
    if len(body) > FRAME_BYTES_MAX:
        raise DataError(
            "an executor frame is too large",
            where=type(frame).__name__,
            why=f"{len(body)} bytes, at most {FRAME_BYTES_MAX} are allowed",
            hint="lower --max-input or the number of children",
        )
    return len(body).to_bytes(_HEADER_BYTES, "little") + body


FrameT = TypeVar("FrameT")


class FrameReader(Generic[FrameT]):
    """Cut a byte stream into frames. Keeps at most one frame and one read of the pipe."""

    def __init__(self, decoder: msgspec.msgpack.Decoder[FrameT]) -> None:
        self._decoder = decoder
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Take what was read from the pipe."""
        self._buffer += data

    @property
    def is_empty(self) -> bool:
        """Whether no part of a frame is waiting for its rest."""
        return not self._buffer

    def next(self) -> FrameT | None:
        """Return the next whole frame, or None; raise DataError when the stream makes no sense."""
        if len(self._buffer) < _HEADER_BYTES:
            return None
        length = int.from_bytes(self._buffer[:_HEADER_BYTES], "little")
        if length > FRAME_BYTES_MAX:
            raise DataError(
                "an executor frame is too large",
                why=f"{length} bytes announced, at most {FRAME_BYTES_MAX} are allowed",
                hint="the peer does not speak the executor protocol",
            )
        end = _HEADER_BYTES + length
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[_HEADER_BYTES:end])
        del self._buffer[:end]
        try:
            return self._decoder.decode(body)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise DataError(
                "an executor frame cannot be read",
                where=body[:40].hex(),
                why=str(error),
                hint="both sides must be of one build",
            ) from error
