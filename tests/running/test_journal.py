"""Answers are written down as they come, outlive a kill, and are taken for the same report only."""

from pathlib import Path

import pytest

from workbench.domain.runs import Usage
from workbench.errors import ConflictError, InputError
from workbench.running.journal import Answer, open_journal

ONE, TWO = Answer([1, -2], Usage(1, 900, 20, 800)), Answer("refused: “no”", Usage(unknown=1))


def fill(path: Path) -> None:
    with open_journal(path, "me") as journal:
        journal.add(7, "r7", "Text.", TWO)
        journal.add(3, "r3", "Other.", ONE)


def test_what_was_written_is_known_when_it_is_opened_again(tmp_path: Path) -> None:
    fill(tmp_path / "j")
    with open_journal(tmp_path / "j", "me") as journal:
        assert journal.usage == Usage(1, 900, 20, 800, 1)
        assert (journal.take(3, "r3", "Other."), journal.take(7, "r7", "Text.")) == (ONE, TWO)
        assert journal.take(3, "r3", "Other.") is None
        assert journal.usage == Usage()


@pytest.mark.parametrize(("number", "report", "text"), [(3, "r4", "Other."), (3, "r3", "other."), (4, "r3", "Other.")])
def test_an_answer_to_another_report_is_none(tmp_path: Path, number: int, report: str, text: str) -> None:
    fill(tmp_path / "j")
    with open_journal(tmp_path / "j", "me") as journal:
        assert journal.take(number, report, text) is None


def test_reports_of_whole_parts_are_not_held_in_memory(tmp_path: Path) -> None:
    fill(tmp_path / "j")
    with open_journal(tmp_path / "j", "me", first=4) as journal:
        assert journal.usage == TWO.usage
        assert (journal.take(3, "r3", "Other."), journal.take(7, "r7", "Text.")) == (None, TWO)


@pytest.mark.parametrize("cut", range(1, 200, 13))
def test_a_line_that_was_being_written_is_left_out_and_written_over(tmp_path: Path, cut: int) -> None:
    fill(tmp_path / "j")
    data = (tmp_path / "j").read_bytes()
    (tmp_path / "j").write_bytes(data[:-cut])
    with open_journal(tmp_path / "j", "me") as journal:
        assert journal.take(3, "r3", "Other.") is None
        journal.add(3, "r3", "Other.", ONE)
    with open_journal(tmp_path / "j", "me") as journal:
        assert journal.take(3, "r3", "Other.") == ONE


def test_answers_of_another_labelling_are_kept_and_refused(tmp_path: Path) -> None:
    fill(tmp_path / "j")
    before = (tmp_path / "j").read_bytes()
    with (
        pytest.raises(ConflictError, match="given to another source, prompt or labeler"),
        open_journal(tmp_path / "j", "you"),
    ):
        pass
    (tmp_path / "mine.txt").write_text('{"a": 1}\n')
    with pytest.raises(InputError, match="is not a file of answers"), open_journal(tmp_path / "mine.txt", "me"):
        pass
    assert ((tmp_path / "j").read_bytes(), (tmp_path / "mine.txt").read_text()) == (before, '{"a": 1}\n')


def test_one_that_got_no_answer_keeps_no_place(tmp_path: Path) -> None:
    with open_journal(tmp_path / "j", "me"):
        header = (tmp_path / "j").read_bytes()
    assert not (tmp_path / "j").exists()
    (tmp_path / "j").write_bytes(header)  # as a kill leaves it
    with open_journal(tmp_path / "j", "you") as journal:
        journal.add(3, "r3", "Other.", ONE)
    with open_journal(tmp_path / "j", "you") as journal:
        assert journal.take(3, "r3", "Other.") == ONE
    assert (tmp_path / "j").exists()


def test_a_line_that_was_changed_is_named(tmp_path: Path) -> None:
    fill(tmp_path / "j")
    (tmp_path / "j").write_text((tmp_path / "j").read_text().replace("[7,", "7,"))
    with pytest.raises(InputError, match="line 2, is no answer"), open_journal(tmp_path / "j", "me"):
        pass


def test_two_cannot_write_into_one(tmp_path: Path) -> None:
    with (
        open_journal(tmp_path / "j", "me"),
        pytest.raises(ConflictError, match="Another labelling is writing"),
        open_journal(tmp_path / "j", "me"),
    ):
        pass


def test_a_place_where_it_cannot_be_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"), open_journal(tmp_path / "no" / "j", "me"):
        pass
