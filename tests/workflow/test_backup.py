"""A study put away and brought back is the same study; a damaged archive brings nothing back."""

import json
import sqlite3
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from workbench.domain.actors import Actor, Role
from workbench.errors import ConflictError, InputError, RightsError, WorkbenchError
from workbench.storage import annotations as annotation_store
from workbench.workflow import reference
from workbench.workflow.backup import back_up, restore
from workbench.workflow.demo import demo
from workbench.workflow.export import Shape, export_votes
from workbench.workflow.opening import open_study
from workbench.workflow.practice import practice_file
from workbench.workflow.study import Study

LEAD = "Dr. Lead"


@pytest.fixture
def archive(rated: Study, lead: Actor, tmp_path: Path) -> Path:
    """A backup of the rated study, its reference frozen."""
    reference.freeze(rated, lead, "development")
    back_up(rated, lead, tmp_path / "backup.zip")
    return tmp_path / "backup.zip"


def rewrite(archive: Path, edit: Callable[[dict[str, bytes]], object]) -> None:
    """Change entries of an archive and make its sums right again."""
    with zipfile.ZipFile(archive) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    manifest = json.loads(entries.pop("manifest.json"))
    edit(entries)
    manifest["files"] = {n: {"sha256": sha256(c).hexdigest(), "bytes": len(c)} for n, c in entries.items()}
    with zipfile.ZipFile(archive, "w") as new:
        for name, content in entries.items():
            new.writestr(name, content)
        new.writestr("manifest.json", json.dumps(manifest))


def test_a_restored_study_is_the_one_that_was_put_away(
    rated: Study, lead: Actor, archive: Path, tmp_path: Path
) -> None:
    study, told = restore(archive, tmp_path / "new" / "restored", LEAD)
    assert study.folder == tmp_path / "new" / "restored"
    assert told.about["study"] == "Test study"
    assert told.about["made_by"] == LEAD
    assert set(told.files) == {"data/workbench.db", "data/study.toml", "data/cxr21.yaml", "data/practice/cxr21.yaml"}
    export_votes(rated, lead, "development", tmp_path / "before.csv", shape=Shape.LONG)
    export_votes(study, study.actor(LEAD), "development", tmp_path / "after.csv", shape=Shape.LONG)
    assert (tmp_path / "before.csv").read_bytes() == (tmp_path / "after.csv").read_bytes()
    assert reference.get_reference(study, lead).hash == reference.get_reference(rated, lead).hash
    assert study.database.integrity() == []
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_practice_reports_come_back_too(rated: Study, lead: Actor, tmp_path: Path) -> None:
    path = practice_file(rated)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("format: 1\n", encoding="utf-8")
    back_up(rated, lead, tmp_path / "backup.zip")
    study, _ = restore(tmp_path / "backup.zip", tmp_path / "restored", LEAD)
    assert practice_file(study).read_bytes() == path.read_bytes()


# Saves labels of r1 without a pause, two in one transaction, until its input ends.
RATER = """
import sys, threading
from datetime import UTC, datetime
from pathlib import Path
from workbench.domain.annotations import Annotation
from workbench.storage import annotations
from workbench.storage.database import Database

path, rater, label_set_hash = sys.argv[1:]
database, number = Database(Path(path)), 0
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
while not ended.is_set():
    with database.write() as conn:
        for _ in range(2):
            given = Annotation("r1", rater, {}, True, datetime.now(UTC), label_set_hash, comment=str(number))
            annotations.append(conn, given)
            number += 1
    if number == 20:
        print("busy", flush=True)
"""


def test_six_people_go_on_working_while_a_backup_is_made(rated: Study, lead: Actor, tmp_path: Path) -> None:
    command = [sys.executable, "-c", RATER, str(rated.database.path)]
    working = [
        subprocess.Popen(
            [*command, f"Dr. {n}", rated.label_set.hash], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for n in range(6)
    ]
    try:
        for process in working:
            assert process.stdout is not None
            assert process.stdout.readline() == "busy\n"
        back_up(rated, lead, tmp_path / "backup.zip")
        assert [process.poll() for process in working] == [None] * 6
    finally:
        for process in working:
            process.communicate(timeout=120)
    assert [process.returncode for process in working] == [0] * 6
    study, _ = restore(tmp_path / "backup.zip", tmp_path / "restored", LEAD)
    assert study.database.integrity() == []
    for n in range(6):
        with study.database.read() as copy, rated.database.read() as live:
            then = [a.comment for a in annotation_store.history(copy, "r1", f"Dr. {n}")]
            now = [a.comment for a in annotation_store.history(live, "r1", f"Dr. {n}")]
        # Whole transactions, none missing between the first and the last.
        assert len(then) % 2 == 0
        assert 20 <= len(then) <= len(now)
        assert then == [str(number) for number in range(len(then))]


def test_a_study_with_prompts_runs_and_scores_comes_back_whole(tmp_path: Path) -> None:
    made = demo(tmp_path / "demo").study
    lead = made.actor(next(name for name, roles in made.settings.people.items() if Role.LEAD in roles))
    told = back_up(made, lead, tmp_path / "backup.zip")
    assert {f"prompts/cxr21/000{n}.md" for n in (1, 2, 3, 4)} < set(told.files)
    restore(tmp_path / "backup.zip", tmp_path / "restored", lead.name)
    again = open_study(tmp_path / "restored")
    for table in ("reports", "annotations", "revisions", "extractions", "evaluations", "decisions"):
        with made.database.read() as one, again.database.read() as other:
            query = f"SELECT * FROM {table} ORDER BY 1"
            assert [tuple(row) for row in one.execute(query)] == [tuple(row) for row in other.execute(query)]
    for file in (made.folder / "prompts").rglob("*.md"):
        assert (again.folder / file.relative_to(made.folder)).read_bytes() == file.read_bytes()


def test_the_manifest_says_what_is_in_it_and_of_which_version(archive: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        manifest = json.loads(file.read("manifest.json"))
        assert set(manifest["files"]) == set(file.namelist()) - {"manifest.json"}
        for name, wanted in manifest["files"].items():
            assert sha256(file.read(name)).hexdigest() == wanted["sha256"]
    assert manifest["steps"][0] == "0001_reports"
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600


def test_nobody_but_a_lead_or_admin_puts_away_or_brings_back(
    rated: Study, rater: Actor, archive: Path, tmp_path: Path
) -> None:
    with pytest.raises(RightsError, match="may not back up the study"):
        back_up(rated, rater, tmp_path / "other.zip")
    assert not (tmp_path / "other.zip").exists()
    for name in (rater.name, "Somebody"):
        with pytest.raises(RightsError):
            restore(archive, tmp_path / "restored", name)
    back_up(rated, Actor("Admin", frozenset({Role.ADMIN})), tmp_path / "other.zip")
    assert not (tmp_path / "restored").exists()


def test_nothing_is_ever_overwritten(rated: Study, archive: Path, tmp_path: Path) -> None:
    with pytest.raises(ConflictError, match="already holds a study"):
        restore(archive, rated.folder, LEAD)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(ConflictError, match="is not empty"):
        restore(archive, tmp_path / "full", LEAD)
    with pytest.raises(ConflictError, match="is not empty"):
        restore(archive, archive, LEAD)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["notes.txt"]
    (tmp_path / "empty").mkdir()
    assert restore(archive, tmp_path / "empty", LEAD)[0].folder == tmp_path / "empty"
    with pytest.raises(ConflictError, match="part of the study itself"):
        back_up(rated, rated.actor(LEAD), rated.folder / "data" / "workbench.db")


def damage_the_database(entries: dict[str, bytes]) -> None:
    content = bytearray(entries["data/workbench.db"])
    content[8192:20480] = b"\xff" * (20480 - 8192)
    entries["data/workbench.db"] = bytes(content)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (damage_the_database, "the database in it is damaged"),
        (
            lambda e: e.update({"data/workbench.db": b"text " * 999}),
            "database in it is damaged .file is not a database",
        ),
        (lambda e: e.pop("data/study.toml"), r"is incomplete: data/study\.toml is missing"),
        (lambda e: e.pop("data/workbench.db"), r"is incomplete: data/workbench\.db is missing"),
        (lambda e: e.pop("data/cxr21.yaml"), r"holds no study that can be opened: There is no file data/cxr21\.yaml"),
        (lambda e: e.update({"data/study.toml": b"title ="}), r"no study that can be opened: data/study\.toml"),
        (lambda e: e.update({"../../out": b""}), "leads out of the study"),
    ],
)
def test_what_is_no_sound_study_is_refused_though_its_sums_are_right(
    archive: Path, tmp_path: Path, edit: Callable[[dict[str, bytes]], object], message: str
) -> None:
    rewrite(archive, edit)
    before = set(tmp_path.iterdir())
    with pytest.raises(InputError, match=message):
        restore(archive, tmp_path / "restored", LEAD)
    assert set(tmp_path.iterdir()) == before


def test_a_damaged_archive_leaves_nothing_behind(archive: Path, tmp_path: Path) -> None:
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 0xFF
    archive.write_bytes(content)
    before = set(tmp_path.iterdir())
    with pytest.raises(InputError, match="is damaged"):
        restore(archive, tmp_path / "new" / "restored", LEAD)
    assert set(tmp_path.iterdir()) == before


def test_an_archive_of_a_later_version_is_refused(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    manifest = json.loads(entries["manifest.json"])
    manifest["steps"].append("9999_future")
    with zipfile.ZipFile(archive, "w") as new:
        for name, content in (entries | {"manifest.json": json.dumps(manifest).encode()}).items():
            new.writestr(name, content)
    with pytest.raises(InputError, match="made by a later version of the workbench .step 9999_future"):
        restore(archive, tmp_path / "restored", LEAD)


def test_a_damaged_study_is_not_put_away_as_a_backup(rated: Study, lead: Actor, tmp_path: Path) -> None:
    with closing(sqlite3.connect(rated.database.path)) as conn:
        conn.execute("INSERT INTO unlocks (cohort, actor, at, reason, details) VALUES ('gone', '', '', '', '{}')")
        conn.commit()
    before = set(tmp_path.iterdir())
    with pytest.raises(WorkbenchError, match="is damaged .unlocks: a row names a missing cohorts.*no backup was made"):
        back_up(rated, lead, tmp_path / "backup.zip")
    assert set(tmp_path.iterdir()) == before


def test_files_outside_the_study_are_named_not_left_out(rated: Study, lead: Actor, tmp_path: Path) -> None:
    outside = tmp_path / "replies.jsonl"
    outside.write_text("{}\n")
    toml = rated.folder / "data" / "study.toml"
    toml.write_text(toml.read_text() + f'\n[labelers.script]\nkind = "scripted"\nfile = "{outside}"\n')
    study = open_study(rated.folder)
    with pytest.raises(InputError, match=r"replies\.jsonl belongs to the study and lies outside"):
        back_up(study, lead, tmp_path / "backup.zip")
    outside.rename(rated.folder / "data" / "replies.jsonl")
    toml.write_text(toml.read_text().replace(str(outside), "data/replies.jsonl"))
    told = back_up(open_study(rated.folder), lead, tmp_path / "backup.zip")
    assert "data/replies.jsonl" in told.files


def test_a_place_that_cannot_be_written_is_named(rated: Study, lead: Actor, archive: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none/b\.zip cannot be written"):
        back_up(rated, lead, tmp_path / "none" / "b.zip")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be restored to"):
        restore(archive, tmp_path / "file" / "study", LEAD)
