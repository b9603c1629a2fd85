"""From bytes to an admission: the input, the work that it becomes, and whether its name is true."""

from __future__ import annotations

import re
from typing import Final

from symfleet.protocol.operations import Admission
from symfleet.protocol.work import WorkItem, encode_item, state_id_of, work_id_of
from symfleet.types import GenerationId, InputId, input_id_of

_DIGEST_NAME: Final = re.compile(r"[0-9a-f]{64}")


def admission_of(data: bytes, origin: str, generation: GenerationId) -> Admission:
    """Make the admission of an input from outside: one execution of all of it."""
    input_id = input_id_of(data)
    item = WorkItem(generation=generation, input=input_id)
    return Admission(
        input_id=input_id,
        data=data,
        work_id=work_id_of(item),
        state_id=state_id_of(item),
        payload=encode_item(item),
        origin=origin,
    )


def is_misnamed(name: str, input_id: InputId) -> bool:
    """Whether a file's name claims a digest that its bytes do not have (A1)."""
    return _DIGEST_NAME.fullmatch(name) is not None and name != input_id


def printable_path(path: str) -> str:
    """Show a path as text that every store can hold; undecodable bytes are escaped."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
