"""Four states and the reviewed mark survive a table of labels, whatever stands in its text cells."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.domain.findings import FAILED, LabelSet, State
from workbench.errors import InputError
from workbench.formats.exports import write_table
from workbench.formats.labels import RaterRow, read_labels, writing_codes
from workbench.formats.votes import wide_columns

Make = Callable[..., Path]

HEADER = "report_id,effusion,edema,cavity\n"


def test_the_chexpert_convention(file: Make, three: LabelSet) -> None:
    path = file(HEADER + "r1,1,0,-1\nr2,1.0,0.0,-1.0\nr3,,, 1 \nr4,nan,NaN,0\n")
    assert read_labels(path, three, rater="Ada") == [
        RaterRow("r1", "Ada", {"effusion": State.PRESENT, "edema": State.ABSENT, "cavity": State.UNCERTAIN}, True, 2),
        RaterRow("r2", "Ada", {"effusion": State.PRESENT, "edema": State.ABSENT, "cavity": State.UNCERTAIN}, True, 3),
        RaterRow("r3", "Ada", {"cavity": State.PRESENT}, True, 4),
        RaterRow("r4", "Ada", {"cavity": State.ABSENT}, True, 5),
    ]


def test_columns_may_come_in_any_order(file: Make, three: LabelSet) -> None:
    (row,) = read_labels(file("cavity,report_id,edema,effusion\n1,r1,0,\n"), three, rater="Ada")
    assert row.states == {"edema": State.ABSENT, "cavity": State.PRESENT}


@pytest.mark.parametrize(
    ("mark", "labels", "reviewed"),
    [
        ("1", ",,", True),
        ("yes", ",,", True),
        ("TRUE", ",,", True),
        ("1.0", ",,", True),
        ("", ",,", False),
        ("0", ",,", False),
        ("false", ",,", False),
        ("", ",0,", True),
        ("0", ",1,", False),  # a draft
    ],
)
def test_a_blank_row_counts_only_where_its_mark_says_so(
    file: Make, three: LabelSet, mark: str, labels: str, reviewed: bool
) -> None:
    path = file(f"report_id,reviewed,effusion,edema,cavity\nr1,{mark},{labels}\n")
    assert [row.reviewed for row in read_labels(path, three, rater="Ada")] == [reviewed]


def test_without_a_mark_a_blank_row_was_not_submitted(file: Make, three: LabelSet) -> None:
    rows = read_labels(file(HEADER + "r1,,,\nr2,0,,\n"), three, rater="Ada")
    assert [row.reviewed for row in rows] == [False, True]


def test_one_file_may_hold_several_raters(file: Make, three: LabelSet) -> None:
    path = file("report_id,rater,effusion,edema,cavity\nr1,Ada,1,,\nr1,Ben,,1,\n")
    expected = [("Ada", {"effusion": State.PRESENT}), ("Ben", {"edema": State.PRESENT})]
    assert [(row.rater, row.states) for row in read_labels(path, three)] == expected
    renamed = file("study,who,effusion,edema,cavity\nr1,Ada,1,,\nr1,Ben,,1,\n")
    rows = read_labels(renamed, three, report_column="study", rater_column="who")
    assert [(row.rater, row.states) for row in rows] == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEADER + "r1,2,,\n", r"row 2, effusion: '2' is no label; use 1, 0, -1"),
        (HEADER + "r1,,,\nr2,,maybe,\n", r"row 3, edema: 'maybe' is no label"),
        (HEADER + " ,1,,\n", "row 2: the report id is blank"),
        ("report_id,effusion,edema,cavity,edma\nr1,,,,\n", "the column edma, which is no finding of three 1"),
        ("report_id,effusion\nr1,1\n", "no column for edema, cavity"),
        ("id,effusion,edema,cavity\nr1,,,\n", "no column report_id; it has id, effusion"),
        (HEADER + "r1,1,,\nr1,0,,\n", "Ada labels report r1 in row 2 and differently in row 3"),
        ("report_id,reviewed,effusion,edema,cavity\nr1,perhaps,,,\n", "row 2: the reviewed mark 'perhaps'"),
        ("report_id,reading,effusion,edema,cavity\nr1,3,,,\n", "row 2: the reading is '3'"),
    ],
)
def test_a_fault_names_row_and_finding(file: Make, three: LabelSet, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_labels(file(content), three, rater="Ada")


def test_a_file_must_say_who_labelled(file: Make, three: LabelSet) -> None:
    with pytest.raises(InputError, match="does not say who labelled it"):
        read_labels(file(HEADER + "r1,1,,\n"), three)
    with pytest.raises(InputError, match="row 2: the rater is blank"):
        read_labels(file("report_id,rater,effusion,edema,cavity\nr1,,1,,\n"), three)


def test_the_same_row_twice_counts_once(file: Make, three: LabelSet) -> None:
    rows = read_labels(file(HEADER + "r1,1,,\nr1,1.0,,\n"), three, rater="Ada")
    assert [row.row for row in rows] == [2]


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
NAME = st.one_of(TEXT, st.sampled_from(["=1+1", "-1", "'-1", "''", "@a", "+x", "1,2", 'a"b', "a\nb", "a\rb"])).map(
    str.strip
)
ROWS = st.lists(
    st.builds(
        RaterRow,
        report_id=NAME.filter(bool),
        rater=NAME.filter(bool),
        states=st.dictionaries(
            st.sampled_from(["effusion", "edema", "cavity"]),
            st.sampled_from([State.PRESENT, State.ABSENT, State.UNCERTAIN]),
        ),
        reviewed=st.booleans(),
        row=st.just(0),
        comment=st.one_of(TEXT, st.sampled_from(["=cmd", "'", "-", "-1"])),
        reading=st.sampled_from([1, 2]),
    ),
    unique_by=lambda row: (row.report_id, row.rater, row.reading),
    max_size=6,
)

LABELS = {State.PRESENT: 1, State.ABSENT: 0, State.UNCERTAIN: -1, State.NOT_MENTIONED: None}


def write_wide(path: Path, label_set: LabelSet, rows: Iterable[RaterRow]) -> int:
    """Write the wide table of votes, also with labels of reports that were not submitted, which the export has not."""

    def cells(row: RaterRow) -> list[object]:
        labels = [LABELS[row.states.get(finding, State.NOT_MENTIONED)] for finding in label_set.ids]
        return [row.report_id, row.rater, row.reading, row.reviewed, *labels, row.comment, row.simulated]

    return write_table(path, wide_columns(label_set), map(cells, rows))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS)
def test_what_is_written_is_read_back_equal(tmp_path: Path, three: LabelSet, rows: list[RaterRow]) -> None:
    path = tmp_path / "labels.csv"
    assert write_wide(path, three, rows) == len(rows)
    read = read_labels(path, three)
    numbered = [replace(row, row=number) for number, row in enumerate(rows, start=2)]
    assert read == numbered


def test_the_columns_are_stable_and_numbers_are_plain(tmp_path: Path, three: LabelSet) -> None:
    states = {"cavity": State.UNCERTAIN, "effusion": State.NOT_MENTIONED, "edema": State.ABSENT}
    write_wide(tmp_path / "out.csv", three, [RaterRow("=r1", "Ada", states, True, comment="-1")])
    assert (tmp_path / "out.csv").read_text() == (
        "report_id,rater,reading,reviewed,effusion,edema,cavity,comment,simulated\n'=r1,Ada,1,1,,0,-1,-1,0\n"
    )


def test_codes_of_a_labeler_are_written_as_the_convention_has_them(tmp_path: Path, three: LabelSet) -> None:
    path = tmp_path / "out.csv"
    with writing_codes(path, three) as write:
        write("r1", [1, 0, -1])
        write("@r2", [-2, None, 1])
    assert path.read_text() == "report_id,effusion,edema,cavity\nr1,1,0,-1\n'@r2,,,1\n"
    assert [row.report_id for row in read_labels(path, three, rater="rules")] == ["r1", "@r2"]


def write_a_failure(path: Path, label_set: LabelSet) -> None:
    with writing_codes(path, label_set) as write:
        write("r1", [1, 0, FAILED])


def test_a_failed_reply_is_never_written_as_a_label(tmp_path: Path, three: LabelSet) -> None:
    with pytest.raises(KeyError):
        write_a_failure(tmp_path / "out.csv", three)
    assert list(tmp_path.iterdir()) == []
