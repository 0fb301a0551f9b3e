"""An archive is taken whole or refused in one sentence, and nothing in it lands outside its folder."""

import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.formats.archives import Manifest, Member, read_archive, write_archive

ABOUT = {"study": "Test", "made_by": "Lena"}
CONTENT = {"data/study.toml": b"title = 'x'\n", "prompts/积/0001.md": "积液 ".encode() * 500, "empty": b""}
Edit = Callable[[dict[str, bytes]], object]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive of three files."""
    members = []
    for i, (name, content) in enumerate(CONTENT.items()):
        path = tmp_path / f"source{i}"
        path.write_bytes(content)
        members.append(Member(name, path))
    write_archive(tmp_path / "backup.zip", members, about=ABOUT, steps=["0001"])
    return tmp_path / "backup.zip"


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A folder to unpack into."""
    folder = tmp_path / "inner" / "unpacked"
    folder.mkdir(parents=True)
    return folder


def rewrite(archive: Path, edit: Edit) -> None:
    """Pack an archive anew after a change to its entries, the manifest among them."""
    with zipfile.ZipFile(archive) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    edit(entries)
    with zipfile.ZipFile(archive, "w") as new:
        for name, content in entries.items():
            new.writestr(name, content)


def edit_manifest(entries: dict[str, bytes], edit: Callable[[dict[str, dict[str, object]]], object]) -> None:
    manifest = json.loads(entries["manifest.json"])
    edit(manifest["files"])
    entries["manifest.json"] = json.dumps(manifest).encode()


def test_what_goes_in_comes_out(archive: Path, empty: Path) -> None:
    manifest = read_archive(archive, empty)
    assert (manifest.about, manifest.steps) == (ABOUT, ["0001"])
    assert {name: (empty / name).read_bytes() for name in manifest.files} == CONTENT
    assert {path.relative_to(empty).as_posix() for path in empty.rglob("*") if path.is_file()} == set(CONTENT)
    assert manifest.files["data/study.toml"].bytes == len(CONTENT["data/study.toml"])


def test_only_its_owner_may_read_an_archive(archive: Path) -> None:
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600


def test_an_archive_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing cannot be read: No such file"):
        write_archive(tmp_path / "b.zip", [Member("a", tmp_path / "missing")], about={}, steps=[])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda e: e.update(empty=b"no longer"), "is damaged: empty is not as its manifest says"),
        (lambda e: e.update({"data/study.toml": b"title = 'y'\n"}), r"is damaged: data/study\.toml is not as"),
        (lambda e: e.update({"data/study.toml": b"title"}), r"is damaged: data/study\.toml is not as"),
        (lambda e: e.pop("prompts/积/0001.md"), r"is incomplete: prompts/积/0001\.md is missing"),
        (lambda e: e.update(more=b""), "holds more, which its manifest does not name"),
        (lambda e: e.pop("manifest.json"), r"has no manifest\.json"),
        (lambda e: e.update({"manifest.json": b"{"}), r"its manifest\.json cannot be read"),
        (lambda e: e.update({"manifest.json": b'{"format": 2}'}), r"its manifest\.json cannot be read"),
        (lambda e: edit_manifest(e, lambda files: files["empty"].update(bytes=-1)), "cannot be read"),
        (lambda e: edit_manifest(e, lambda files: files["empty"].update(sha256="0" * 63)), "cannot be read"),
    ],
)
def test_a_changed_archive_is_refused(archive: Path, empty: Path, edit: Edit, message: str) -> None:
    rewrite(archive, edit)
    with pytest.raises(InputError, match=message):
        read_archive(archive, empty)


@pytest.mark.parametrize(
    "name", ["../out", "a/../../out", "/tmp/out", "a/./b", "a//b", "..", "C:/out", "..\\out", "a\\..\\..\\out"]
)
def test_a_name_that_leads_out_of_the_folder_is_refused(archive: Path, empty: Path, name: str) -> None:
    def edit(entries: dict[str, bytes]) -> None:
        entries[name] = entries.pop("empty")
        edit_manifest(entries, lambda files: files.update({name: files.pop("empty")}))

    rewrite(archive, edit)
    before = {path for path in archive.parent.rglob("*") if not path.is_relative_to(empty)}
    with pytest.raises(InputError, match="leads out of the study"):
        read_archive(archive, empty)
    assert {path for path in archive.parent.rglob("*") if not path.is_relative_to(empty)} == before
    assert list(empty.rglob("*")) == []


def test_a_link_in_an_archive_is_unpacked_as_a_plain_file(tmp_path: Path, empty: Path) -> None:
    target = b"/etc/passwd"
    source = tmp_path / "link"
    source.write_bytes(target)
    write_archive(tmp_path / "b.zip", [Member("link", source)], about={}, steps=[])
    with zipfile.ZipFile(tmp_path / "b.zip") as old:
        manifest = old.read("manifest.json")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as new:
        info = zipfile.ZipInfo("link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        new.writestr(info, target)
        new.writestr("manifest.json", manifest)
    read_archive(tmp_path / "b.zip", empty)
    assert not (empty / "link").is_symlink()
    assert (empty / "link").read_bytes() == target


def test_a_file_that_is_there_twice_is_refused(archive: Path, empty: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(archive, "a") as added:
        added.writestr("empty", b"")
    with pytest.raises(InputError, match="holds a file twice"):
        read_archive(archive, empty)


@pytest.mark.parametrize("kept", [0, 10, 100, -1])
def test_a_cut_or_foreign_file_is_refused(archive: Path, empty: Path, kept: int) -> None:
    archive.write_bytes(archive.read_bytes()[:kept])
    with pytest.raises(InputError, match="is damaged or no backup"):
        read_archive(archive, empty)


def test_any_flipped_byte_is_noticed_or_harmless(archive: Path, tmp_path: Path) -> None:
    whole = archive.read_bytes()
    refused = 0
    for at in range(0, len(whole), 3):
        archive.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        folder = tmp_path / f"flipped{at}"
        folder.mkdir()
        try:
            manifest: Manifest = read_archive(archive, folder)
        except InputError:
            refused += 1
        else:  # a time stamp, say
            assert {name: (folder / name).read_bytes() for name in manifest.files} == CONTENT
    assert refused > 0


def test_a_missing_archive_is_named(tmp_path: Path, empty: Path) -> None:
    with pytest.raises(InputError, match=r"There is no file .*none\.zip"):
        read_archive(tmp_path / "none.zip", empty)
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_archive(tmp_path, empty)
