"""The manifest of labels in parts: what is labelled by what, and what was written of it so far."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workbench.domain.hashing import content_hash, short
from workbench.errors import ConflictError, InputError
from workbench.formats.writing import replacing

MANIFEST = "manifest.json"
_Count = Annotated[int, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceMark(_Strict):
    """Where the reports are read; ``sha256`` is that of ``formats.sources``."""

    name: str
    form: str
    sha256: str
    columns: dict[str, str] = {}
    encoding: str = "utf-8"


class PromptMark(_Strict):
    """The prompt, by its file's name and its identity."""

    file: str
    hash: str


class LabelSetMark(_Strict):
    """The label set."""

    id: str
    version: str
    hash: str


class LabelerMark(_Strict):
    """The labeler; ``engine`` is the version of the rules engine, empty where another labels."""

    name: str
    kind: str
    hash: str
    engine: str = ""
    model: str | None = None


class Task(_Strict):
    """What is labelled by what, into what. Parts of two tasks never stand in one folder."""

    source: SourceMark
    prompt: PromptMark
    label_set: LabelSetMark
    labeler: LabelerMark
    sections: tuple[str, ...]
    splitting: str  # version of finding the sections in a text
    binary: bool
    policies: dict[str, object] | None  # for uncertain, where binary
    form: Literal["csv", "parquet"]
    part_reports: Annotated[int, Field(ge=1)]

    @property
    def hash(self) -> str:
        """Return the identity of the task. Names of files do not count."""
        return content_hash("labelling", [of(self) for _, of, _ in _PARTS_OF_A_TASK])


class UsageMark(_Strict):
    """The tokens that a model took; see ``domain.runs.Usage``."""

    replies: _Count
    input_tokens: _Count
    output_tokens: _Count
    cached_tokens: _Count
    unknown: _Count
    written_tokens: _Count = 0
    batch_input_tokens: _Count = 0
    batch_output_tokens: _Count = 0
    batch_cached_tokens: _Count = 0
    batch_written_tokens: _Count = 0
    lost: _Count = 0


class PartMark(_Strict):
    """A whole part. ``rows`` and ``failed`` add up to its ``reports``, the first and last of which are named."""

    file: str
    reports: _Count
    rows: _Count
    failed: _Count
    first: str
    last: str
    sha256: str
    read_sha256: str  # of ids and texts as they were labelled
    usage: UsageMark | None = None


class FailuresMark(_Strict):
    """The file of the reports without labels, as long as it was after the last whole part."""

    file: str
    rows: _Count
    bytes: _Count
    sha256: str


class PartsManifest(_Strict):
    """Everything that stands in ``manifest.json``."""

    format: Literal[1] = 1
    finished: bool = False
    reports: _Count = 0
    labelled: _Count = 0
    failed: _Count = 0
    task: Task
    failures: FailuresMark | None = None
    parts: tuple[PartMark, ...] = ()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def save_manifest(folder: Path, manifest: PartsManifest) -> None:
    """Put a manifest into its folder in place of the one that is there."""
    with replacing(folder / MANIFEST) as file:
        file.write(manifest.model_dump_json(indent=1) + "\n")


def known_manifest(folder: Path) -> PartsManifest | None:
    """Return the manifest of a folder, None for an empty folder.

    Raises:
        InputError: the folder holds other things, or its manifest is none.
    """
    try:
        return PartsManifest.model_validate_json((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        first = next(iter(sorted(folder.iterdir())), None)
        if first is None:
            return None
        raise InputError(
            f"{folder} holds {first.name} and no {MANIFEST}, so it is no folder of labels; name another."
        ) from None
    except OSError as error:
        raise InputError(f"{folder / MANIFEST} cannot be read: {error.strerror or error}.") from None
    except ValidationError as error:
        raise InputError(
            f"{folder / MANIFEST} is no manifest of labels ({error.errors()[0]['msg']}); name another folder."
        ) from None


_PARTS_OF_A_TASK: Sequence[tuple[str, Callable[[Task], object], Callable[[Task], str]]] = (
    ("source", lambda t: t.source.sha256, lambda t: f"{t.source.name} ({short(t.source.sha256)})"),
    (
        "way of reading it",
        lambda t: (t.source.form, t.source.columns, t.source.encoding),
        lambda t: ", ".join([t.source.form, t.source.encoding, *(f"{k}={v}" for k, v in t.source.columns.items())]),
    ),
    ("prompt", lambda t: t.prompt.hash, lambda t: f"{t.prompt.file} ({short(t.prompt.hash)})"),
    ("label set", lambda t: t.label_set.hash, lambda t: f"{t.label_set.id} {t.label_set.version}"),
    (
        "labeler",
        lambda t: (t.labeler.hash, t.labeler.engine),
        lambda t: f"{t.labeler.name} ({short(t.labeler.hash)})",
    ),
    ("choice of sections", lambda t: t.sections, lambda t: ", ".join(t.sections)),
    ("way of finding sections", lambda t: t.splitting, lambda t: f"version {t.splitting} of this program's"),
    ("choice of states", lambda t: t.binary, lambda t: "--binary" if t.binary else "all four states"),
    ("policy for uncertain", lambda t: t.policies, lambda t: str(t.policies)),
    ("form", lambda t: t.form, lambda t: t.form),
    ("number of reports in a part", lambda t: t.part_reports, lambda t: f"{t.part_reports:,}"),
)


def require_same(folder: Path, begun: Task, asked: Task) -> None:
    """Raise ConflictError where what is asked for is not what a folder was begun with; the first difference is said."""
    for what, of, shown in _PARTS_OF_A_TASK:
        if of(begun) != of(asked):
            raise ConflictError(
                f"{folder} was begun with another {what}: {shown(begun)}, and now it is {shown(asked)}; go on with "
                "what it was begun with, or name another folder."
            )


def require_whole(folder: Path, manifest: PartsManifest) -> None:
    """Raise InputError where a file that the manifest names is not what was written."""
    for part in manifest.parts:
        path = folder / part.file
        if not path.is_file() or file_hash(path) != part.sha256:
            raise InputError(f"{path} is missing or was changed; put it back as it was, or begin in another folder.")
    mark = manifest.failures
    if mark is not None:
        path = folder / mark.file
        begins = b""
        if path.is_file():
            with path.open("rb") as file:
                begins = file.read(mark.bytes)
        if hashlib.sha256(begins).hexdigest() != mark.sha256:
            raise InputError(f"{path} is missing or was changed; put it back as it was, or begin in another folder.")
