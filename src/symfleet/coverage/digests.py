"""The digest of a file: which bytes a program or a part of an engine is made of."""

from __future__ import annotations

import hashlib
from pathlib import Path

from symfleet.errors import IOFailure


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file; raise IOFailure when it cannot be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise IOFailure(
            "a file cannot be read",
            where=str(path),
            why=error.strerror or str(error),
            hint="check that it exists and that you may read it",
        ) from error
