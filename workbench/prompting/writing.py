"""A prompt as the text of its file, readable and diffable: fixed key order, phrases in wrapped lists."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from workbench.domain.prompts import Cues, CueSet, Example, FindingGuidance, Prompt

WIDTH = 120
_INDENT = "  "
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[ .,()/-]+[A-Za-z0-9_]+)*\Z", re.ASCII)
# Words some YAML reader takes for something else than text; quoted, they are text to every reader.
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
_UNPRINTABLE = re.compile("[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def prompt_text(prompt: Prompt) -> str:
    """Return the text of a prompt's file; ``parse_prompt`` reads it back to the same hash. Keys with nothing in them
    are left out. Nothing of the machine (path, time, person) is in it.
    """
    guidance = prompt.guidance
    lines = [
        "---",
        "format: 1",
        f"label_set: {_word(guidance.label_set)}",
        f"language: {_word(guidance.language)}",
        f"title: {_word(guidance.title)}",
        f"reply: {guidance.reply.value}",
        *_text("instructions", guidance.instructions, 0),
        *_findings(guidance.findings),
        *_cues(guidance.cues),
        *_examples(guidance.examples),
        "---",
    ]
    body = prompt.body.replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(lines) + "\n" + body


def _findings(findings: Mapping[str, FindingGuidance]) -> Iterator[str]:
    if not findings:
        return
    yield "findings:"
    for finding_id, guidance in findings.items():
        inner = [
            *_text("definition", guidance.definition, 2),
            *_list("synonyms", guidance.synonyms, 2),
            *_list("exclusions", guidance.exclusions, 2),
            *_list("normal", guidance.normal, 2),
        ]
        yield f"{_INDENT}{_key(finding_id)}:" + ("" if inner else " {}")
        yield from inner


def _cues(cues: Cues) -> Iterator[str]:
    inner = [
        *_cue_set("negation", cues.negation),
        *_list("pseudo_negation", cues.pseudo_negation, 1),
        *_cue_set("uncertainty", cues.uncertainty),
        *_cue_set("history", cues.history),
    ]
    if inner:
        yield "cues:"
        yield from inner


def _cue_set(name: str, cue_set: CueSet) -> Iterator[str]:
    inner = [
        *_list("before", cue_set.before, 2),
        *_list("after", cue_set.after, 2),
        *_list("terminators", cue_set.terminators, 2),
    ]
    if inner:
        yield f"{_INDENT}{name}:"
        yield from inner


def _examples(examples: Sequence[Example]) -> Iterator[str]:
    if examples:
        yield "examples:"
    for example in examples:
        lines = [
            *_text("text", example.text, 2),
            *_flow("labels", [f"{_key(f)}: {s.value}" for f, s in example.labels.items()], 2, "{}"),
            *([f"{_INDENT * 2}report_id: {_quoted(example.report_id)}"] if example.report_id else []),
        ]
        yield _INDENT + "- " + lines[0].removeprefix(_INDENT * 2)
        yield from lines[1:]


def _text(key: str, value: str, depth: int) -> Iterator[str]:
    """Several lines become a block, which reads as it will be sent; anything a block could alter is quoted."""
    start = f"{_INDENT * depth}{key}: "
    if not value:
        return
    if "\n" not in value or not _fits_block(value):
        yield start + _quoted(value)
        return
    yield start + ("|" if value.endswith("\n") else "|-")
    for line in value.removesuffix("\n").split("\n"):
        yield _INDENT * (depth + 1) + line if line else ""


def _fits_block(value: str) -> bool:
    lines = value.removesuffix("\n").split("\n")
    if lines[0][:1] in ("", " ") or not lines[-1]:
        return False
    return not any(
        line != line.rstrip() or line.lstrip(" ")[:1].isspace() or _UNPRINTABLE.search(line) for line in lines
    )


def _list(key: str, phrases: Sequence[str], depth: int) -> Iterator[str]:
    if phrases:
        yield from _flow(key, map(_quoted, phrases), depth, "[]")


def _flow(key: str, parts: Iterable[str], depth: int, brackets: str) -> Iterator[str]:
    """Return ``key: [a, b]`` on one line or, where it is longer, wrapped under the key."""
    items = list(parts)
    one_line = f"{_INDENT * depth}{key}: {brackets[0]}{', '.join(items)}{brackets[1]}"
    if len(one_line) <= WIDTH or not items:
        yield one_line
        return
    yield f"{_INDENT * depth}{key}:"
    line = _INDENT * (depth + 1) + brackets[0]
    for item in items[:-1]:
        if len(line) + len(item) + 1 > WIDTH and line.strip() != brackets[0]:
            yield line.rstrip()
            line = _INDENT * (depth + 1) + " "
        line += item + ", "
    if len(line) + len(items[-1]) + 1 > WIDTH:
        yield line.rstrip()
        line = _INDENT * (depth + 1) + " "
    yield line + items[-1] + brackets[1]


def _word(value: str) -> str:
    """Return a name or title bare where no YAML reader could take it for anything but that text."""
    return value if _PLAIN.match(value) and value.lower() not in _RESERVED else _quoted(value)


def _key(value: str) -> str:
    """Return an id bare where it is one word: a comma in it would end it inside braces."""
    return _word(value) if value.replace("_", "").isalnum() else _quoted(value)


def _quoted(value: str) -> str:
    # JSON strings are YAML double-quoted strings; what YAML does not print bare is escaped as well.
    return _UNPRINTABLE.sub(_escape, json.dumps(value, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
