"""A prompt file: YAML front matter with the guidance, then the Jinja body.

What is read is exactly what was written: the hash of a prompt is the same before and after a trip through its file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from workbench.domain.findings import LabelSet, State
from workbench.domain.prompts import Cues, CueSet, Example, FindingGuidance, Guidance, Prompt, ReplyForm
from workbench.errors import InputError
from workbench.prompting import front_matter
from workbench.prompting.writing import prompt_text
from workbench.text.phrases import spellings

__all__ = ["MAX_CHARACTERS", "parse_prompt", "prompt_text", "read_prompt"]

MAX_CHARACTERS = 400_000  # about 100,000 tokens: more than any model would be sent with each report
_BYTE_ORDER_MARK = "\ufeff"


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank; write it out or take it away.")
    return value


def _readable(value: str) -> str:
    try:
        spellings(_not_blank(value))
    except InputError as error:
        raise ValueError(f"cannot be read. {error}") from None
    return value


_Text = Annotated[str, AfterValidator(_not_blank)]
_Phrases = tuple[Annotated[str, AfterValidator(_readable)], ...]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Finding(_Part):
    definition: str = ""
    synonyms: _Phrases = ()
    exclusions: _Phrases = ()
    normal: _Phrases = ()


class _CueSet(_Part):
    before: _Phrases = ()
    after: _Phrases = ()
    terminators: _Phrases = ()


class _Cues(_Part):
    negation: _CueSet = _CueSet()
    pseudo_negation: _Phrases = ()
    uncertainty: _CueSet = _CueSet()
    history: _CueSet = _CueSet()


class _Example(_Part):
    text: _Text
    labels: dict[str, State]
    report_id: str = ""


class _File(_Part):
    format: Literal["1"]
    label_set: _Text
    language: _Text
    title: str
    reply: ReplyForm = ReplyForm.MENTIONED
    instructions: str = ""
    findings: dict[str, _Finding] = Field(default_factory=dict)
    cues: _Cues = _Cues()
    examples: tuple[_Example, ...] = ()


def parse_prompt(text: str, *, label_set: LabelSet | None = None, where: str = "prompt") -> Prompt:
    """Return the prompt a file's text holds.

    Args:
        text: the whole file; a byte-order mark and CRLF line ends count for nothing.
        label_set: when given, the file must be written for it and name its findings only; they come back in its order.
        where: what messages call the file.

    Raises:
        InputError: one sentence that names the file, the line and the value, and says what to do.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"{where} has {len(text):,} characters; a prompt file may have {MAX_CHARACTERS:,} at most.")
    normalised = text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n").replace("\r", "\n")
    matter = front_matter.read(normalised, where, raw=frozenset({("format",)}))
    try:
        file = _File.model_validate(matter.values)
    except ValidationError as error:
        raise InputError(_sentence(error, matter, where)) from None
    if not matter.body.strip():
        raise InputError(f"{where} has no body: the template of the system text must follow the second ---.")
    if label_set is not None:
        _check_ids(file, label_set, matter, where)
    return Prompt(_guidance(file, label_set), matter.body)


def read_prompt(path: Path, *, label_set: LabelSet | None = None) -> Prompt:
    """Return the prompt in a file; see ``parse_prompt``. Messages name the file and not the folders it lies in.

    Raises:
        InputError: the file cannot be read, is not UTF-8, or is refused by ``parse_prompt``.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror}.") from None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path.name}, line {line}: byte {raw[error.start]:#04x} at position {error.start + 1} is not UTF-8; "
            "save the file as UTF-8."
        ) from None
    return parse_prompt(text, label_set=label_set, where=path.name)


def _guidance(file: _File, label_set: LabelSet | None) -> Guidance:
    ids = file.findings if label_set is None else [i for i in label_set.ids if i in file.findings]
    return Guidance(
        label_set=file.label_set,
        language=file.language,
        title=file.title,
        instructions=file.instructions,
        findings={i: FindingGuidance(**dict(file.findings[i])) for i in ids},
        cues=Cues(
            negation=CueSet(**dict(file.cues.negation)),
            pseudo_negation=file.cues.pseudo_negation,
            uncertainty=CueSet(**dict(file.cues.uncertainty)),
            history=CueSet(**dict(file.cues.history)),
        ),
        examples=tuple(Example(e.text, dict(e.labels), e.report_id) for e in file.examples),
        reply=file.reply,
    )


def _check_ids(file: _File, label_set: LabelSet, matter: front_matter.FrontMatter, where: str) -> None:
    if file.label_set != label_set.id:
        line = matter.line(("label_set",))
        raise InputError(
            f"{where}, line {line}: the prompt is for label set {file.label_set}, and this study uses {label_set.id}; "
            "change one of them."
        )
    _check_known(file.findings, label_set, matter, ("findings",), where)
    for index, example in enumerate(file.examples):
        _check_known(example.labels, label_set, matter, ("examples", index, "labels"), where)


def _check_known(
    named: Mapping[str, object],
    label_set: LabelSet,
    matter: front_matter.FrontMatter,
    path: front_matter.Path,
    where: str,
) -> None:
    known = set(label_set.ids)
    for finding_id in named:
        if finding_id not in known:
            raise InputError(
                f"{where}, line {matter.line((*path, finding_id))}: {front_matter.place(path)} names {finding_id!r}, "
                f"which is no finding of label set {label_set.id}; its findings are {', '.join(label_set.ids)}."
            )


def _sentence(error: ValidationError, matter: front_matter.FrontMatter, where: str) -> str:
    """Return one sentence for one thing that is wrong: an unknown key first, since a misspelt one is missing too."""
    problems = error.errors(include_url=False)
    first = min(problems, key=lambda each: each["type"] != "extra_forbidden")
    path: front_matter.Path = tuple(first["loc"])
    got, context = first["input"], first.get("ctx", {})
    match first["type"]:
        case "extra_forbidden":
            problem = f"is not a key that is known here; known are {', '.join(_known_keys(path))}"
        case "missing":
            problem = "is missing"
        case "enum":
            problem = f"is {got!r}; allowed are {context['expected'].replace(' or ', ', ')}"
        case "literal_error":
            problem = f"is {got}, and this version reads format 1"
        case "value_error":
            problem = str(context["error"]).removesuffix(".")
        case "string_type":
            problem = f"must be text, not {_shape(got)}"
        case "tuple_type":
            problem = f'must be a list such as ["...", "..."], not {_shape(got)}'
        case _:
            problem = f"must be keys with values, not {_shape(got)}"
    return f"{where}, line {matter.line(path)}: {front_matter.place(path)} {problem}."


def _shape(value: object) -> str:
    if isinstance(value, dict):
        return "keys with values"
    return "a list" if isinstance(value, list) else f"the text {value!r}"


def _known_keys(path: front_matter.Path) -> list[str]:
    model: type[BaseModel] = _File
    match path[:-1]:
        case ("findings", _):
            model = _Finding
        case ("cues",):
            model = _Cues
        case ("cues", _):
            model = _CueSet
        case ("examples", _):
            model = _Example
        case _:
            pass
    return list(model.model_fields)
