"""Which program is behind a command line."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path


def find_program(name: str, env: Mapping[str, str]) -> Path | None:
    if "/" in name:
        return Path(name) if Path(name).is_file() else None
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        candidate = Path(folder) / name
        if candidate.is_file():
            return candidate
    return None


def build_digest(argv: tuple[str, ...]) -> str:
    """Name the program behind `argv`: SHA-256 over it and over every argument that is a file, so
    that a script behind an interpreter counts too."""
    digest = hashlib.sha256()
    for number, word in enumerate(argv):
        path = find_program(word, {}) if number == 0 else Path(word)
        digest.update(f"{number}\0".encode())
        if path is not None and path.is_file():
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
