"""Rooms import only from rooms on earlier lines, never from their own line."""

import ast
from pathlib import Path

import pytest

LINES = [
    ["errors"],
    ["domain"],
    ["text"],
    ["prompting", "storage", "formats", "models", "evaluation", "metrics"],
    ["labelers"],
    ["running"],
    ["workflow"],
    ["ui", "cli"],
    ["pages"],
]
RANK = {room: rank for rank, rooms in enumerate(LINES) for room in rooms}
ENTRY = {"__init__", "__main__"}  # may import anything: they are how the program starts


def room_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).parts
    return "pages" if parts[0] == "pages" else parts[1].removesuffix(".py")


def imported_rooms(source: str) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the room"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "workbench" and len(parts) > 1 and parts[1] in RANK:
                rooms.add(parts[1])
    return rooms


def wrong_arrows(room: str, imported: set[str]) -> list[str]:
    return sorted(f"{room} -> {other}" for other in imported if other != room and RANK[other] >= RANK[room])


def test_every_room_imports_only_from_earlier_lines(root: Path) -> None:
    arrows = []
    files = [*root.glob("workbench/**/*.py"), *root.glob("pages/*.py")]
    assert files
    for path in files:
        room = room_of(path, root)
        if room in ENTRY:
            continue
        assert room in RANK, f"{path}: the room {room} is on no line"
        arrows += [
            f"{path.relative_to(root)}: {arrow}" for arrow in wrong_arrows(room, imported_rooms(path.read_text()))
        ]
    assert arrows == []


@pytest.mark.parametrize(
    ("room", "line", "expected"),
    [
        ("storage", "from workbench.formats import labels", ["storage -> formats"]),
        ("text", "import workbench.storage.database", ["text -> storage"]),
        ("evaluation", "from workbench.domain.findings import State", []),
        ("pages", "from workbench import workflow", []),
        ("workflow", "from workbench.ui import app", ["workflow -> ui"]),
    ],
)
def test_a_wrong_arrow_is_seen(room: str, line: str, expected: list[str]) -> None:
    assert wrong_arrows(room, imported_rooms(line)) == expected


def test_streamlit_stays_in_ui_and_pages(root: Path) -> None:
    offenders = [
        str(path.relative_to(root))
        for path in root.glob("workbench/**/*.py")
        if room_of(path, root) != "ui"
        and any(
            "streamlit" in ast.unparse(node).split()
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
        )
    ]
    assert offenders == []
