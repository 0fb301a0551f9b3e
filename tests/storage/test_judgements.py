"""Judgements come back as they went in, and the first of a key stays."""

from workbench.domain.judging import JudgedError, Judgement, ReportError
from workbench.domain.runs import ExtractionStatus
from workbench.storage import judgements
from workbench.storage.database import Database
from workbench.storage.judgements import JudgementKey

KEY = JudgementKey("j", "l", "r", "g")
JUDGED = Judgement(
    ExtractionStatus.OK,
    (JudgedError(ReportError.FALSE_FINDING, True, "气胸"), JudgedError(ReportError.WRONG_SEVERITY, False, "size")),
    ("effusion",),
    raw=("{}", "{}"),
    input_tokens=7,
    output_tokens=3,
)


def test_a_judgement_comes_back_as_it_went_in(database: Database) -> None:
    failed = Judgement(ExtractionStatus.MALFORMED, detail="The reply is empty.", raw=("",))
    other = JudgementKey("j", "l", "r", "other")
    with database.write() as conn:
        judgements.add(conn, KEY, JUDGED)
        judgements.add(conn, other, failed)
    with database.read() as conn:
        found = judgements.find(conn, [KEY, other, JudgementKey("x", "l", "r", "g")])
    assert found == {KEY: JUDGED, other: failed}


def test_the_first_judgement_of_a_pair_stays(database: Database) -> None:
    with database.write() as conn:
        judgements.add(conn, KEY, JUDGED)
        judgements.add(conn, KEY, Judgement(ExtractionStatus.REFUSED))
    with database.read() as conn:
        assert judgements.find(conn, [KEY]) == {KEY: JUDGED}


def test_thousands_are_looked_up(database: Database) -> None:
    keys = [JudgementKey("j", "l", "r", str(number)) for number in range(1_201)]
    with database.write() as conn:
        for key in keys:
            judgements.add(conn, key, JUDGED)
    with database.read() as conn:
        assert len(judgements.find(conn, keys)) == 1_201
