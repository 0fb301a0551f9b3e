"""MIMIC-CXR's reports as they are published: a text file per report, in a folder per patient.

    files/p10/p10000032/s50414267.txt

The patient is the folder (p10000032), the report id the file's name (s50414267). What is given may be the whole tree, a
part of it down to one patient's folder, or a zip archive of either (mimic-cxr-reports.zip). Files of other names are
not looked at, unless they lie beside reports and end in ``.txt``: such a report would be left out unseen.
"""

import codecs
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from workbench.errors import InputError
from workbench.formats.tables import LONGEST_CELL, codec_of, no_encoding

_PATIENT = re.compile(r"p\d+")
_REPORT = re.compile(r"(s\d+)\.txt")


@dataclass(frozen=True, slots=True)
class MimicReport:
    """A report of the tree; ``file`` is its place below what was given, such as p10/p10000032/s50414267.txt."""

    id: str
    patient_id: str
    text: str
    file: str


class _Tree(Protocol):
    """Something that holds files: each with its place and size, folder by folder in the order of their names."""

    def files(self) -> Iterator[tuple[str, int]]: ...

    def read(self, name: str) -> bytes: ...


def is_mimic(path: Path) -> bool:
    """Return whether this can be such a tree: a folder, or a file whose name ends in .zip."""
    return path.is_dir() or path.suffix.lower() == ".zip"


def iter_mimic(path: Path, encoding: str = "utf-8") -> Iterator[MimicReport]:
    """Yield the reports in the order of their places, one at a time, texts verbatim.

    A folder takes constant memory; an archive the list of its files, about half a kilobyte each.

    Raises:
        InputError: there is no such tree or no report in it, a text file beside the reports is not named as they are,
            or a report cannot be read or is not in the encoding; the file is named.
    """
    codec = codec_of(encoding)
    with _opened(path) as tree:
        for name, patient, report_id, _ in _reports(path, tree):
            yield MimicReport(report_id, patient, _decoded(tree.read(name), codec, f"{path}: {name}"), name)


def mimic_list(path: Path) -> tuple[int, str]:
    """Return how many reports there are, and a hash of their places and sizes in bytes, without reading any.

    Raises:
        InputError: as ``iter_mimic``.
    """
    digest, count = sha256(), 0
    with _opened(path) as tree:
        for name, _, _, size in _reports(path, tree):
            digest.update(f"{name}\t{size}\n".encode("utf-8", "surrogateescape"))
            count += 1
    return count, digest.hexdigest()


def _reports(path: Path, tree: _Tree) -> Iterator[tuple[str, str, str, int]]:
    """Yield place, patient, report id and size of each report."""
    empty, top = True, path.resolve().name  # what is given may be a patient's own folder
    for name, size in tree.files():
        above, _, file = f"{top}/{name}".rpartition("/")
        patient, named = above.rpartition("/")[2], _REPORT.fullmatch(file)
        if not file.lower().endswith(".txt") or file.startswith(".") or not (named or _PATIENT.fullmatch(patient)):
            continue
        if not named or not _PATIENT.fullmatch(patient):
            raise InputError(
                f"{path}: {name} is not named as MIMIC-CXR names reports (p10000032/s50414267.txt: the patient, then "
                "the report); rename it or take it out."
            )
        empty = False
        yield name, patient, named[1], size
    if empty:
        raise InputError(f"{path} holds no report named as MIMIC-CXR names them, such as p10000032/s50414267.txt.")


def _decoded(data: bytes, codec: str, where: str) -> str:
    if len(data) > LONGEST_CELL:
        raise InputError(f"{where} is no report: it has more than {LONGEST_CELL:,} bytes.")
    if codec == "utf-8":
        data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        byte = data[error.start : error.start + 1].hex()
        raise InputError(
            f"{where}: byte {error.start} (0x{byte}) is not {codec.upper()}; name the encoding of the files (latin-1, "
            "...) or save it as UTF-8."
        ) from None
    except LookupError:  # "hex" and its like are codecs, but not of text
        raise InputError(no_encoding(codec)) from None
    if "\0" in text:
        raise InputError(f"{where}: a NUL byte, so this is damaged or no text file; get it again.")
    return text


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def files(self) -> Iterator[tuple[str, int]]:
        return self._below(str(self._path), "")

    def _below(self, folder: str, prefix: str) -> Iterator[tuple[str, int]]:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            if entry.is_dir():
                yield from self._below(entry.path, f"{prefix}{entry.name}/")
            else:
                yield prefix + entry.name, entry.stat().st_size

    def read(self, name: str) -> bytes:
        return (self._path / name).read_bytes()


class _Archive:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def files(self) -> Iterator[tuple[str, int]]:
        found = [info for info in self._archive.infolist() if not info.is_dir()]
        found.sort(key=lambda info: info.filename.split("/"))  # as a folder's entries come
        return ((info.filename, info.file_size) for info in found)

    def read(self, name: str) -> bytes:
        with self._archive.open(name) as file:
            return file.read(LONGEST_CELL + 1)  # whatever the archive says of its length


@contextmanager
def _opened(path: Path) -> Iterator[_Tree]:
    try:
        if path.is_dir():
            yield _Folder(path)
        else:
            with zipfile.ZipFile(path) as archive:
                yield _Archive(archive)
    except FileNotFoundError as error:
        raise InputError(f"There is no file {error.filename or path}.") from None
    except (zipfile.BadZipFile, NotImplementedError, EOFError, zlib.error) as error:
        raise InputError(f"{path} is no zip archive or is damaged ({error}); get it again.") from None
    except RuntimeError as error:  # how zipfile refuses one with a password
        raise InputError(f"{path} cannot be unpacked ({error}); unpack it and name the folder.") from None
    except OSError as error:
        raise InputError(f"{error.filename or path} cannot be read: {error.strerror or error}.") from None
