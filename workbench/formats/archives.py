"""A zip archive whose manifest holds the SHA-256 of each file in it: taken whole, or refused."""

import hashlib
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workbench.errors import InputError
from workbench.formats.writing import replacing_path

MANIFEST = "manifest.json"
_CHUNK = 1 << 20
_LARGEST_MANIFEST = 64 << 20
# What Python's zipfile raises on damaged files, found by flipping bytes: names, too, may no longer be UTF-8.
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError, struct.error)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Sum(_Part):
    """What a file must be: its SHA-256 as 64 hex digits, and its length."""

    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    bytes: Annotated[int, Field(ge=0)]


class Manifest(_Part):
    """What an archive holds. ``about`` says what of, made when and by whom; ``steps`` is the database's version."""

    format: Literal[1]
    about: dict[str, str]
    steps: list[str]
    files: dict[str, Sum]


@dataclass(frozen=True, slots=True)
class Member:
    """A file to be put into an archive, and its name there."""

    name: str
    path: Path


def write_archive(path: Path, members: Iterable[Member], *, about: Mapping[str, str], steps: list[str]) -> Manifest:
    """Write files and their manifest as one zip archive that only its owner may read; it appears whole or not at all.

    Raises:
        InputError: it cannot be written there, or a file cannot be read.
    """
    sums: dict[str, Sum] = {}
    with replacing_path(path, private=True) as aside, zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in members:
            sums[member.name] = _put(archive, member)
        manifest = Manifest(format=1, about=dict(about), steps=steps, files=sums)
        archive.writestr(MANIFEST, json.dumps(manifest.model_dump(), ensure_ascii=False, indent=2))
    return manifest


def _put(archive: zipfile.ZipFile, member: Member) -> Sum:
    digest, length = hashlib.sha256(), 0
    try:
        info = zipfile.ZipInfo.from_file(member.path, member.name, strict_timestamps=False)
        opened = member.path.open("rb")
    except OSError as error:
        raise InputError(f"{member.path} cannot be read: {error.strerror or error}.") from error
    info.compress_type = zipfile.ZIP_DEFLATED
    with opened as source, archive.open(info, "w", force_zip64=True) as target:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            length += len(chunk)
            target.write(chunk)
    return Sum(sha256=digest.hexdigest(), bytes=length)


def read_archive(path: Path, folder: Path) -> Manifest:
    """Unpack an archive into an empty folder, checking every file against the manifest, and return the manifest.

    What is unpacked when a fault is found stays in the folder: give one that can be thrown away.

    Raises:
        InputError: it is no archive of the workbench, damaged, incomplete, holds a file that its manifest does not
            name, or a name that leads out of the folder.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _manifest(path, archive)
            _check_names(path, archive, manifest)
            for name, wanted in manifest.files.items():
                _take(path, archive, name, wanted, folder)
    except _DAMAGED as error:
        raise InputError(f"{path} is damaged or no backup ({error}); use another copy of it.") from error
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}.") from error
    except OSError as error:
        raise InputError(f"{path} cannot be unpacked: {error.strerror or error}.") from error
    return manifest


def _manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    if MANIFEST not in archive.namelist():
        raise InputError(f"{path} has no {MANIFEST}: it is incomplete, or no backup of the workbench.")
    if archive.getinfo(MANIFEST).file_size > _LARGEST_MANIFEST:
        raise InputError(f"{path}: its {MANIFEST} is too large to be one; use another copy.")
    try:
        return Manifest.model_validate_json(archive.read(MANIFEST))
    except ValidationError as error:
        raise InputError(f"{path}: its {MANIFEST} cannot be read ({error.errors()[0]['msg']}).") from error


def _check_names(path: Path, archive: zipfile.ZipFile, manifest: Manifest) -> None:
    names = [name for name in archive.namelist() if name != MANIFEST]
    for name in [*names, *manifest.files]:
        # A backslash and a colon lead elsewhere on other systems.
        if not name or PurePosixPath(name).is_absolute() or set("\\:\0") & set(name) or _wanders(name):
            raise InputError(f"{path} holds a file named {name!r}, which leads out of the study; do not trust it.")
    if len(set(names)) < len(archive.namelist()) - 1:
        raise InputError(f"{path} holds a file twice; use another copy.")
    missing = sorted(set(manifest.files) - set(names))
    unknown = sorted(set(names) - set(manifest.files))
    if missing:
        raise InputError(f"{path} is incomplete: {missing[0]} is missing; use another copy.")
    if unknown:
        raise InputError(f"{path} holds {unknown[0]}, which its manifest does not name; use another copy.")


def _wanders(name: str) -> bool:
    return any(part in {"", ".", ".."} for part in name.split("/"))


def _take(path: Path, archive: zipfile.ZipFile, name: str, wanted: Sum, folder: Path) -> None:
    """Unpack one file as a plain file, whatever the archive says it is, and no more of it than the manifest says."""
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, left = hashlib.sha256(), wanted.bytes
    with archive.open(name) as source, target.open("xb") as file:
        while chunk := source.read(min(_CHUNK, left + 1)):
            left -= len(chunk)
            if left < 0:
                break
            digest.update(chunk)
            file.write(chunk)
    if left or digest.hexdigest() != wanted.sha256:
        raise InputError(f"{path} is damaged: {name} is not as its manifest says; use another copy.")
