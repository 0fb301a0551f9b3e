"""YAML front matter into plain values, strictly, with the line of each value.

YAML turns words into other things than what stands there: the cue ``no``, a synonym ``1`` or ``null``. Here a value is
the text that was written or it is refused. Nodes are read rather than built by the library, because only nodes know
their tag (was it a string?), their line, and every repetition of a key.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from workbench.errors import InputError

_TYPE_NAMES = {
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "null": "empty",
    "timestamp": "a date",
}
PathPart = str | int
Path = tuple[PathPart, ...]
_PREFIX = "tag:yaml.org,2002:"
_CONTAINERS = frozenset({_PREFIX + "map", _PREFIX + "seq"})
_OPEN = "---"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The values of a front matter, its lines by path, and the body that follows it."""

    values: dict[str, object]
    lines: dict[Path, int] = field(repr=False)
    body: str

    def line(self, path: Sequence[PathPart]) -> int:
        """Return the line of the file on which a value stands, or the nearest value around it that does."""
        parts = tuple(path)
        while parts and parts not in self.lines:
            parts = parts[:-1]
        return self.lines.get(parts, 1)


def split(text: str, where: str) -> tuple[str, str]:
    """Return front matter and body of a file with line feeds only.

    Raises:
        InputError: the file does not begin with ``---`` or no second ``---`` ends the front matter.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != _OPEN:
        raise InputError(f"{where} has no front matter: its first line must be ---, then the guidance, then --- again.")
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == _OPEN:
            return "\n".join(lines[1:number]) + "\n", "\n".join(lines[number + 1 :])
    raise InputError(f"{where}: the front matter is never closed; put a line --- between the guidance and the body.")


def read(text: str, where: str, *, raw: frozenset[Path] = frozenset()) -> FrontMatter:
    """Return the values of a file's front matter: dicts, lists and strings, nothing else.

    ``raw`` names the values that may be other than strings (a format number); they too are returned as written.

    Raises:
        InputError: not YAML, a tab in the indentation, a key twice, a value that is not a string, an anchor or alias.
    """
    matter, body = split(text, where)
    for number, line in enumerate(matter.split("\n"), start=2):
        if line.lstrip(" ").startswith("\t"):
            raise InputError(f"{where}, line {number} is indented with a tab; use spaces.")
    reader = _Reader(where, raw)
    values = reader.value(_compose(matter, where), ())
    if not isinstance(values, dict):
        raise InputError(f"{where}: the front matter must be keys with values, such as format: 1.")
    return FrontMatter(values, reader.lines, body)


def _compose(matter: str, where: str) -> Node:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 2)
    try:
        node = yaml.compose(matter)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 2 if mark else 1
        raise InputError(f"{where}, line {line} is not readable as YAML: {error.problem or error.context}.") from None
    except (YAMLError, RecursionError, ValueError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise InputError(f"{where}: the front matter is not readable as YAML: {reason}.") from None
    if node is None:
        raise InputError(f"{where}: the front matter is empty; it must hold format, label_set, language and title.")
    assert isinstance(node, Node)  # noqa: S101 - the library leaves it untyped
    return node


class _Reader:
    def __init__(self, where: str, raw: frozenset[Path]) -> None:
        self.where = where
        self.raw = raw
        self.lines: dict[Path, int] = {}

    def value(self, node: Node, path: Path) -> object:
        self.lines[path] = node.start_mark.line + 2  # the --- above, and counting from 1
        if node.anchor is not None:
            raise self.error(path, "anchors and aliases (& and *) are not used in prompt files; write the value out")
        if not isinstance(node, ScalarNode) and str(node.tag) not in _CONTAINERS:
            raise self.error(path, f"the tag {node.tag} is not used in prompt files; take it away")
        if isinstance(node, MappingNode):
            return self.mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return self.scalar(node, path)

    def mapping(self, node: MappingNode, path: Path) -> dict[str, object]:
        result: dict[str, object] = {}
        for key_node, value_node in node.value:
            key = self.value(key_node, (*path, "?"))
            del self.lines[*path, "?"]
            if not isinstance(key, str):
                raise self.error(path, "a key must be a word")
            if key in result:
                line = key_node.start_mark.line + 2
                raise InputError(f"{self.where}, line {line}: {place((*path, key))} stands twice; keep one of them.")
            result[key] = self.value(value_node, (*path, key))
            self.lines[(*path, key)] = key_node.start_mark.line + 2
        return result

    def scalar(self, node: Node, path: Path) -> str:
        assert isinstance(node, ScalarNode)  # noqa: S101 - there are three kinds of node
        kind = str(node.tag).removeprefix(_PREFIX)
        if kind != "str" and path not in self.raw:
            raise self.error(path, _not_text(kind, str(node.value)))
        return str(node.value)

    def error(self, path: Path, message: str) -> InputError:
        return InputError(f"{self.where}, line {self.lines[path]}: {place(path)}: {message}.")


def _not_text(kind: str, written: str) -> str:
    if kind == "null":
        shown = f"{written} is" if written else "it is"
        return f'{shown} empty where text is needed; put it in quotes, write [] or "", or leave the key out'
    return f'{written} is {_TYPE_NAMES.get(kind, "not text")} to YAML; put it in quotes: "{written}"'


def place(path: Sequence[PathPart]) -> str:
    """Return the words for where a value stands: "findings, pneumothorax, synonyms, entry 2"."""
    if not path:
        return "the front matter"
    return ", ".join(_part(part) for part in path)


def _part(part: PathPart) -> str:
    if isinstance(part, int):
        return f"entry {part + 1}"
    return "a key" if part == "?" else part
