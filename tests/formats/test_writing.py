"""A file appears whole or not at all, and no cell in it runs as a formula."""

import csv
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.formats.writing import guard, make_folder, replacing, row_writer, unguard


@pytest.mark.parametrize(
    ("cell", "guarded"),
    [
        ("=SUM(A1)", "'=SUM(A1)"),
        ("+1 more", "'+1 more"),
        ("-no", "'-no"),
        ("@here", "'@here"),
        ("'tis", "''tis"),
        ("-1", "-1"),
        ("+0.5", "+0.5"),
        ("-1.0", "-1.0"),
        ("-1+1", "'-1+1"),
        ("a=b", "a=b"),
        ("\t=SUM(A1)", "'\t=SUM(A1)"),
        ("\r=SUM(A1)", "'\r=SUM(A1)"),
        ("\n=SUM(A1)", "'\n=SUM(A1)"),
        ("\ttab", "'\ttab"),
        ("＝SUM(A1)", "'＝SUM(A1)"),
        ("＋阳性", "'＋阳性"),
        ("", ""),
    ],
)
def test_what_a_spreadsheet_would_run_is_guarded_and_numbers_are_not(cell: str, guarded: str) -> None:
    assert guard(cell) == guarded
    assert unguard(guarded) == cell


@given(st.text(st.sampled_from("=+-@'1.a \t\r\n＝"), max_size=6))
@example("''")
@example("'-1")
@example("'\t=1")
def test_one_prefix_is_taken_off_what_was_guarded(cell: str) -> None:
    assert unguard(guard(cell)) == cell


@pytest.mark.parametrize("cell", ["'tis", "'", "'a"])
def test_an_apostrophe_that_guards_nothing_stays(cell: str) -> None:
    assert unguard(cell) == cell


def test_the_file_takes_its_place_when_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    with replacing(path) as file:
        file.write("积液\n")
        assert path.read_text() == "old"
    assert path.read_bytes() == "积液\n".encode()
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.csv"]


def write_and_fail(path: Path) -> None:
    with replacing(path) as file:
        file.write("half")
        raise KeyboardInterrupt


def test_an_interruption_leaves_the_old_file_and_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_and_fail(path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.csv"]


def test_a_new_file_is_as_readable_as_any_and_an_old_one_keeps_its_rights(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    for name in ("new.csv", "new.csv"):
        with replacing(tmp_path / name) as file:
            file.write("x")
        assert (tmp_path / name).stat().st_mode == plain.stat().st_mode
    os.chmod(tmp_path / "new.csv", 0o600)  # noqa: PTH101
    with replacing(tmp_path / "new.csv") as file:
        file.write("y")
    assert (tmp_path / "new.csv").stat().st_mode & 0o777 == 0o600


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder; name the file"), replacing(tmp_path):
        pass
    with pytest.raises(InputError, match=r"none/out\.csv cannot be written: its folder does not exist"):
        replacing(tmp_path / "none" / "out.csv").__enter__()
    with pytest.raises(InputError, match="is a device or a pipe"):
        replacing(Path(os.devnull)).__enter__()
    with pytest.raises(InputError, match="cannot be written: File name too long"):
        replacing(tmp_path / ("n" * 300)).__enter__()


def test_a_disk_that_fills_up_is_told_and_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbench.formats.writing.os.fsync", full)
    with pytest.raises(InputError, match="could not be written: No space left on device; nothing"), replacing(path):
        pass
    assert (path.read_text(), [entry.name for entry in tmp_path.iterdir()]) == ("old", ["out.csv"])


def test_a_link_stays_a_link_and_what_it_points_at_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "out.csv", tmp_path / "there" / "labels.csv"
    link.symlink_to(target)
    with replacing(link) as file:
        file.write("new")
    assert (link.is_symlink(), target.read_text()) == (True, "new")


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1, max_size=4))
@example(["a\rb", "c"])
@example([""])
def test_any_row_that_is_written_is_read_back_by_python(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str]
) -> None:
    path = tmp_path_factory.mktemp("rows") / "out.csv"
    with replacing(path) as file:
        row_writer(file)(cells)
    with path.open(encoding="utf-8", newline="") as written:
        assert list(csv.reader(written)) == [cells]


def test_a_folder_is_made_with_those_around_it_and_left_as_it_is_where_it_stands(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    make_folder(folder)
    (folder / "kept").touch()
    make_folder(folder)
    assert [path.name for path in folder.iterdir()] == ["kept"]


def test_a_file_in_the_place_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    with pytest.raises(InputError, match="there cannot be made a folder: File exists"):
        make_folder(tmp_path / "there")
