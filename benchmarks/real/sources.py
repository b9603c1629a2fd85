"""Fetch upstream sources from the distribution's source packages, and check what was fetched.

The machine's own package sources are followed, with `deb` read as `deb-src`, in a private apt
configuration: nothing of the machine's is changed, and no archive is named here. What apt has
verified by signature is verified again by the digests below, so that numbers of two machines are
known to be about the same code.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_COMMAND_S: Final = 180
_SYSTEM_SOURCES: Final = Path("/etc/apt")


class SourceError(Exception):
    """Sources could not be had, or are not the ones that are pinned."""


@dataclass(frozen=True, slots=True)
class Package:
    """One source package; `digests` maps an upstream tarball's name to its SHA-256."""

    name: str
    digests: dict[str, str]


PACKAGES: Final = (
    Package(
        "cjson",
        {
            "cjson_1.7.15.orig.tar.gz": (
                "5308fd4bd90cef7aa060558514de6a1a4a0819974a26e6ed13973c5f624c24b2"
            ),
            "cjson_1.7.18.orig.tar.gz": (
                "3aa806844a03442c00769b83e99970be70fbef03735ff898f4811dd03b9f5ee5"
            ),
        },
    ),
    Package(
        "libyaml",
        {
            "libyaml_0.2.5.orig.tar.gz": (
                "fa240dbf262be053f3898006d502d514936c818e422afdcf33921c63bed9bf2e"
            ),
        },
    ),
    Package(
        "expat",
        {
            "expat_2.5.0.orig.tar.gz": (
                "ab00ee05c7067fd10a35c5d2a4922ebba746ddd50ff83b79c828da17bbdf1757"
            ),
        },
    ),
)

CXX_PACKAGES: Final = (
    Package(
        "tinyxml2",
        {
            "tinyxml2_9.0.0+dfsg.orig.tar.xz": (
                "96510f47a5db537f70dff3e83dd71fd2180cbba4aa76c589a549467e7f34bc9b"
            ),
        },
    ),
    Package(
        "rapidjson",
        {
            "rapidjson_1.1.0+dfsg2.orig.tar.gz": (
                "92aa6402743012e5f2c3db17def1ff5273df4f3ca7a8f8ed9f1041d392c14ce7"
            ),
        },
    ),
)


def fetch(package: Package, cache: Path) -> Path:
    """Return the folder of the package's upstream sources, fetched unless they are in the cache.

    Raises SourceError when apt offers no sources, or a tarball is not pinned.
    """
    cache = cache.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    tarball = _cached(package, cache) or _download(package, cache)
    _check(package, tarball)
    folder = cache / re.sub(r"\.orig\.tar\.\w+$", "", tarball.name)
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            _run(["tar", "--no-same-owner", "-xf", str(tarball)], Path(scratch))
            (top,) = Path(scratch).iterdir()
            top.rename(folder)
    return folder


def _cached(package: Package, cache: Path) -> Path | None:
    return next((cache / name for name in package.digests if (cache / name).exists()), None)


def _check(package: Package, tarball: Path) -> None:
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest()
    wanted = package.digests.get(tarball.name)
    if digest != wanted:
        raise SourceError(
            f"{tarball.name} has SHA-256 {digest}; pinned is {wanted or 'nothing'}. "
            f"A new upstream version is pinned by a line in {__file__}"
        )


def _download(package: Package, cache: Path) -> Path:
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        options = _private_configuration(Path(scratch))
        _run(["apt-get", "-q", *options, "update"], Path(scratch))
        target = Path(scratch) / "fetched"
        target.mkdir()
        _run(["apt-get", "-q", *options, "source", "--download-only", package.name], target)
        tarballs = sorted(target.glob("*.orig.tar.*[!c]"))
        if len(tarballs) != 1:
            raise SourceError(f"{package.name}: expected one upstream tarball, got {tarballs}")
        _check(package, tarballs[0])
        return tarballs[0].rename(cache / tarballs[0].name)


def _private_configuration(folder: Path) -> list[str]:
    """Write a configuration with source packages of this release; return apt's options for it."""
    for name in ("parts", "lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    codename = _codename()
    for source in sorted(_SYSTEM_SOURCES.glob("sources.list.d/*.sources")):
        (folder / "parts" / source.name).write_text(_deb822_sources(source.read_text(), codename))
    lists = [_SYSTEM_SOURCES / "sources.list", *_SYSTEM_SOURCES.glob("sources.list.d/*.list")]
    lines = [line for file in lists if file.exists() for line in file.read_text().splitlines()]
    (folder / "sources.list").write_text(
        "".join(f"{_deb_src(line)}\n" for line in lines if _is_of_release(line, codename))
    )
    settings = {
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": folder / "parts",
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder / "cache",
    }
    if os.geteuid() == 0:
        settings["APT::Sandbox::User"] = Path("root")  # apt's own user cannot read our folder
    return [part for key, value in settings.items() for part in ("-o", f"{key}={value}")]


def _codename() -> str:
    release = Path("/etc/os-release").read_text()
    found = re.search(r"^VERSION_CODENAME=(\w+)", release, re.MULTILINE)
    if found is None:
        raise SourceError("/etc/os-release names no release: is this Debian or Ubuntu?")
    return found[1]


def _deb822_sources(text: str, codename: str) -> str:
    """Keep the stanzas of the release itself, as sources of source packages.

    Updates and security fixes change Debian's patches, never the upstream tarball.
    """
    stanzas = re.split(r"\n\s*\n", text)
    kept = [s for s in stanzas if re.search(rf"(?m)^Suites:(.*\s)?{codename}(\s|$)", s)]
    changed = [re.sub(r"(?m)^Types:.*$", "Types: deb-src", stanza) for stanza in kept]
    return "\n\n".join(re.sub(r"(?m)^Suites:.*$", f"Suites: {codename}", s) for s in changed)


def _is_of_release(line: str, codename: str) -> bool:
    return bool(re.match(rf"deb\s+(\[[^]]*\]\s+)?\S+\s+{codename}\s", line))


def _deb_src(line: str) -> str:
    return re.sub(r"^deb\s", "deb-src ", line)


def _run(command: list[str], folder: Path) -> None:
    result = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=_COMMAND_S, check=False
    )
    if result.returncode != 0:
        raise SourceError(f"{command[0]} {command[-1]}: {result.stderr.strip()[-500:]}")
