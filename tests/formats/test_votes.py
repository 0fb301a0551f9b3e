"""Votes in long and wide form: what was not reviewed is not negative, and what goes out comes in the same."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.domain.annotations import Annotation, Mark
from workbench.domain.findings import LabelSet, State
from workbench.errors import InputError
from workbench.formats.exports import write_table
from workbench.formats.labels import RaterRow, read_labels
from workbench.formats.votes import LONG, ReadVote, Vote, is_long, long_rows, read_long, wide_columns, wide_row

AT, NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
NASTY = [
    "=cmd()",
    "+1 x",
    "-no",
    "@me",
    "'tis",
    "-1",
    'a,"b"',
    "a\nb",
    "a\r\nb\rc",
    "😀",
    "积液",
    "مرحبا",
    "<script>",
    "nan",
]


def a_vote(label_set: LabelSet, report: str = "r1", rater: str = "Ada", **changes: object) -> Annotation:
    values: dict[str, object] = {
        "states": {"effusion": State.PRESENT, "cavity": State.UNCERTAIN},
        "submitted": True,
        "at": AT,
        "label_set_hash": label_set.hash,
        "evidence": {"effusion": "Small effusion."},
        "comment": "=1+1",
        "seconds": 12.5,
        "source": "browser",
    }
    return Annotation(report_id=report, rater=rater, **{**values, **changes})  # type: ignore[arg-type]


def write_long(path: Path, label_set: LabelSet, votes: Iterable[Vote]) -> Path:
    write_table(path, LONG, long_rows(label_set, votes))
    return path


def test_the_long_form_has_a_row_per_finding_and_says_what_was_not_reviewed(tmp_path: Path, three: LabelSet) -> None:
    marks = frozenset({Mark.TOO_FAST, Mark.COME_BACK})
    again = a_vote(three, states={}, evidence={}, comment="", reading=2)
    votes: list[Vote] = [
        ("r1", "Ada", a_vote(three, marks=marks, reason="-1")),
        ("r1", "Ada", again),
        ("r1", "Ben", None),
    ]
    tail = f"three,1,{three.hash}"
    when = "2026-03-01T09:30:00.000000+00:00"
    assert write_long(tmp_path / "v.csv", three, votes).read_text() == (
        "report_id,rater,reading,finding,state,submitted_at,reviewed,seconds,source,simulated,marks,reason,label_set,"
        "label_set_version,label_set_hash,comment,evidence\n"
        f"r1,Ada,1,effusion,present,{when},1,12.5,browser,0,come_back too_fast,-1,{tail},'=1+1,Small effusion.\n"
        f"r1,Ada,1,edema,not_mentioned,{when},1,12.5,browser,0,come_back too_fast,-1,{tail},'=1+1,\n"
        f"r1,Ada,1,cavity,uncertain,{when},1,12.5,browser,0,come_back too_fast,-1,{tail},'=1+1,\n"
        f"r1,Ada,2,effusion,not_mentioned,{when},1,12.5,browser,0,,,{tail},,\n"
        f"r1,Ada,2,edema,not_mentioned,{when},1,12.5,browser,0,,,{tail},,\n"
        f"r1,Ada,2,cavity,not_mentioned,{when},1,12.5,browser,0,,,{tail},,\n"
        f"r1,Ben,1,effusion,,,0,,,,,,{tail},,\n"
        f"r1,Ben,1,edema,,,0,,,,,,{tail},,\n"
        f"r1,Ben,1,cavity,,,0,,,,,,{tail},,\n"
    )


def test_the_wide_form_is_that_of_label_files(tmp_path: Path, three: LabelSet) -> None:
    votes: list[Vote] = [
        ("r1", "Ada", a_vote(three)),
        ("r2", "Ada", a_vote(three, "r2", states={"edema": State.ABSENT}, comment="", simulated=True)),
        ("r3", "Ada", a_vote(three, "r3", states={}, comment="")),
        ("r3", "Ada", a_vote(three, "r3", states={"edema": State.PRESENT}, comment="", reading=2)),
        ("r3", "=Ben", None),
    ]
    write_table(tmp_path / "w.csv", wide_columns(three), (wide_row(three, vote) for vote in votes))
    rows = [
        RaterRow("r1", "Ada", {"effusion": State.PRESENT, "cavity": State.UNCERTAIN}, True, 2, "=1+1"),
        RaterRow("r2", "Ada", {"edema": State.ABSENT}, True, 3, simulated=True),
        RaterRow("r3", "Ada", {}, True, 4),
        RaterRow("r3", "Ada", {"edema": State.PRESENT}, True, 5, reading=2),
        RaterRow("r3", "=Ben", {}, False, 6),
    ]
    assert read_labels(tmp_path / "w.csv", three) == rows
    assert (tmp_path / "w.csv").read_text() == (
        "report_id,rater,reading,reviewed,effusion,edema,cavity,comment,simulated\n"
        "r1,Ada,1,1,1,,-1,'=1+1,0\nr2,Ada,1,1,,0,,,1\nr3,Ada,1,1,,,,,0\nr3,Ada,2,1,,1,,,0\nr3,'=Ben,1,0,,,,,\n"
    )


WORDS = st.one_of(
    st.sampled_from(NASTY), st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
)
NAMES = WORDS.map(str.strip).filter(bool)
FINDINGS = st.sampled_from(["effusion", "edema", "cavity"])
GIVEN = st.fixed_dictionaries(
    {
        "states": st.dictionaries(FINDINGS, st.sampled_from(list(State))),
        "evidence": st.dictionaries(FINDINGS, WORDS),
        "comment": WORDS,
        "source": WORDS,
        "seconds": st.none() | st.floats(0, 1e6),
        "simulated": st.booleans(),
        "marks": st.frozensets(st.sampled_from(list(Mark))),
        "reason": WORDS,
        "reading": st.sampled_from([1, 2]),
        "at": st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    }
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(st.tuples(NAMES, NAMES), st.none() | GIVEN, max_size=4))
def test_the_long_form_comes_back_byte_for_byte(
    tmp_path: Path, three: LabelSet, drawn: dict[tuple[str, str], dict[str, object] | None]
) -> None:
    votes = [(*who, None if values is None else a_vote(three, *who, **values)) for who, values in drawn.items()]
    first = write_long(tmp_path / "first.csv", three, votes)
    read = read_long(first, three, now=NOW)
    assert [(vote.report_id, vote.rater) for vote in read] == list(drawn)
    second = write_long(tmp_path / "second.csv", three, [(v.report_id, v.rater, v.given) for v in read])
    assert second.read_bytes() == first.read_bytes()


def test_rows_may_come_in_any_order_and_few_columns_are_enough(file: Callable[..., Path], three: LabelSet) -> None:
    path = file(
        "state,finding,rater,report_id,reviewed\n"
        "not_mentioned,cavity,Ada,r1,1\n,edema,Ben,r1,0\npresent,effusion,Ada,r1,1\nabsent,edema,Ada,r1,1\n"
    )
    states = {"effusion": State.PRESENT, "edema": State.ABSENT}
    given = a_vote(three, states=states, evidence={}, comment="", seconds=None, source="file.csv", at=NOW)
    assert read_long(path, three, now=NOW) == [ReadVote("r1", "Ada", given, 2), ReadVote("r1", "Ben", None, 3)]


def test_a_report_read_twice_is_two_votes_and_a_file_without_readings_is_of_first_ones(
    file: Callable[..., Path], three: LabelSet
) -> None:
    head = "report_id,rater,finding,state,reviewed"
    once = [f"r1,Ada,{finding},absent,1" for finding in three.ids]
    twice = [f"{row},2" for row in once] + [f"{row}," for row in once]
    read = read_long(file("\n".join([f"{head},reading", *twice]) + "\n"), three, now=NOW)
    assert [vote.given.reading for vote in read if vote.given] == [2, 1]
    old = read_long(file("\n".join([head, *once]) + "\n"), three, now=NOW)
    assert [vote.given.reading for vote in old if vote.given] == [1]
    with pytest.raises(InputError, match="row 2: the reading is '3'; use 1, or 2"):
        read_long(file(f"{head},reading\n{once[0]},3\n"), three, now=NOW)


def test_a_file_is_long_when_it_has_findings_and_states_as_columns(file: Callable[..., Path]) -> None:
    assert is_long(file("report_id,rater,finding,state,reviewed\n"))
    assert not is_long(file("report_id,rater,effusion\n"))


HEADER = "report_id,rater,finding,state,reviewed,submitted_at,seconds,label_set_hash\n"
WHOLE = "r1,Ada,effusion,present,1,,,\nr1,Ada,edema,absent,1,,,\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEADER + WHOLE, "row 2: Ada reviewed report r1 and no state is given for cavity"),
        (HEADER + WHOLE + "r1,Ada,cavity,,1,,,\n", "no state is given for cavity"),
        (HEADER + WHOLE + "r1,Ada,edema,absent,1,,,\n", "row 4: edema is there twice"),
        (HEADER + WHOLE + "r1,Ada,cavity,absent,1,,,\n" * 2, "row 5: Ada labels report r1 from row 2 on and once more"),
        (HEADER + WHOLE + "r1,Ada,cavity,absent,0,,,\n", "row 4: reviewed of Ada on report r1 is not as in row 2"),
        (HEADER + "r1,Ada,tumour,present,1,,,\n", "row 2: tumour is no finding of three"),
        (HEADER + "r1,Ada,edema,1,1,,,\n", "row 2, edema: '1' is no state; use present, absent"),
        (HEADER + "r1,Ada,edema,absent,0,,,\n", "row 2: edema has a state and the report was not reviewed"),
        (HEADER + "r1,Ada,edema,absent,,,,\n", "row 2: reviewed is ''; use 1 or 0"),
        (HEADER + "r1,,edema,absent,1,,,\n", "row 2: the rater is blank"),
        (HEADER + ",Ada,edema,absent,1,,,\n", "row 2: the report id is blank"),
        (HEADER + "r1,Ada,edema,absent,0,,,abc\n", "given by another label set than this study's three 1"),
        (HEADER.replace("seconds", "second") + WHOLE, "the column second, which a long table of votes does not have"),
        ("report_id,rater,finding,state\n", "no column reviewed"),
    ],
)
def test_a_fault_names_its_row(file: Callable[..., Path], three: LabelSet, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_long(file(content), three, now=NOW)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("yesterday,", "submitted_at is 'yesterday'"),
        ("2026-03-01T09:30:00,", "with a time zone"),
        (",-1", "seconds is"),
    ],
)
def test_a_time_that_cannot_be_is_refused(file: Callable[..., Path], three: LabelSet, cells: str, message: str) -> None:
    rows = [f"r1,Ada,{finding},absent,1,{cells},\n" for finding in three.ids]
    with pytest.raises(InputError, match=message):
        read_long(file(HEADER + "".join(rows)), three, now=NOW)
