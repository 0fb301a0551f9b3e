"""Systems scored on a data set: what is missing, empty or failed, and a model that is asked nothing twice."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.domain.actors import Actor
from workbench.domain.findings import State
from workbench.domain.prompts import Example, Prompt
from workbench.domain.runs import ExtractionStatus
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.running.spending import Cap
from workbench.workflow.leaderboard import leaderboard
from workbench.workflow.leaderboard_words import coverage_words
from workbench.workflow.prompts import save_candidate
from workbench.workflow.ran_score import label_systems, score_systems
from workbench.workflow.settings import LabelerConfig
from workbench.workflow.study import Study
from workbench.workflow.study_pairs import pair_of, studies_with
from workbench.workflow.systems import System, add_data_set, add_systems, find_data_set, submissions

REFERENCES = "study_id,reference\n1,Pleural effusion.\n2,Pneumothorax.\n3,Clear.\n4,\n5,nan\n"
Write = Callable[[str, str], Path]


@pytest.fixture
def revised(study: Study, lead: Actor, make_prompt: Callable[..., Prompt]) -> str:
    """A revision of the study that knows two findings."""
    return save_candidate(study, lead, make_prompt(), message="m", parent=None).prompt_hash


def test_missing_empty_and_left_out_reports_are_told_apart(
    study: Study, lead: Actor, csv_file: Write, revised: str
) -> None:
    data_set = add_data_set(study, lead, csv_file("ref.csv", REFERENCES))
    some = csv_file("some.csv", "study_id,generated\n1,\n2,None\n9,Clear.\n4,Clear.\n")
    words = "Large pleural effusion and pneumothorax. " * 175  # 1,050 words
    every = csv_file("every.csv", f"study_id,generated\n1,effusion\n2,{words}\n3,Clear.\n4,Wet.\n5,Wet.\n")
    one, other = add_systems(study, lead, data_set, [System(some), System(every)])
    assert (one.written, one.empty, one.missing, one.unknown) == (1, 1, 3, 1)
    assert (other.written, other.empty, other.missing) == (5, 0, 0)
    scoring = score_systems(study, lead, data_set, revision=revised)
    assert scoring.study_ids == ("1", "2", "3")
    assert scoring.no_reference == {"missing": 1, "empty": 1, "failed": 0, "quoted": 0}
    assert scoring.common.tolist() == [True, False, False]
    some_score, every_score = scoring.systems
    # The empty report mentions nothing: the effusion of study 1 is missed. Studies 2 and 3 were left out.
    assert (some_score.coverage.scored, some_score.coverage.empty, some_score.coverage.missing) == (1, 1, 2)
    assert some_score.own is some_score.common
    assert some_score.own is not None
    assert (some_score.own.evaluation.macro_f1.value, some_score.own.evaluation.macro_f1.n) == (0.0, 1)
    # One word and 1,050 words are reports like any other.
    assert every_score.own is not None
    assert every_score.own.evaluation.of("pneumothorax").f1.value == 1.0
    assert every_score.own.evaluation.of("pleural_effusion").f1.value == 0.0
    assert every_score.own.per_report == pytest.approx((0.0, 2 / 3, 1.0))


def test_reports_in_another_language_than_the_prompt_are_counted_and_a_reference_in_one_gives_no_truth(
    study: Study, lead: Actor, csv_file: Write, revised: str
) -> None:
    data_set = add_data_set(study, lead, csv_file("ref.csv", REFERENCES.replace("Clear.", "双肺清晰。")))
    chinese = csv_file("chinese.csv", "study_id,generated\n1,右侧胸腔积液。\n2,Pneumothorax.\n3,Clear.\n")
    english = csv_file("english.csv", "study_id,generated\n1,Pleural effusion.\n2,Pneumothorax.\n3,Clear.\n")
    add_systems(study, lead, data_set, [System(chinese), System(english)])
    scoring = score_systems(study, lead, data_set, revision=revised)
    assert scoring.study_ids == ("1", "2")
    assert scoring.no_reference == {"missing": 1, "empty": 1, "failed": 0, "quoted": 0, "other_language": 1}
    of_chinese, of_english = scoring.of("chinese"), scoring.of("english")
    assert (of_chinese.coverage.failed, of_chinese.coverage.other_language) == (1, 1)
    assert (of_english.coverage.failed, of_english.coverage.other_language) == (0, 0)
    assert coverage_words(of_chinese) == (
        "2 scored, 1 of them failed (1 in a language that the prompt's phrases are not in)"
    )
    # The effusion of study 1 is a miss, as with any failed reply.
    assert of_chinese.own is not None
    assert of_chinese.own.evaluation.of("pleural_effusion").f1.value == 0.0
    assert of_chinese.own.evaluation.macro_f1.value == 0.5
    pair = pair_of(study, lead, scoring, "chinese", "1")
    assert pair.in_generated is not None
    assert pair.in_generated.status is ExtractionStatus.OTHER_LANGUAGE


def test_the_system_that_makes_the_common_studies_few_is_named(
    study: Study, lead: Actor, csv_file: Write, revised: str
) -> None:
    data_set = add_data_set(study, lead, csv_file("ref.csv", REFERENCES))
    same = REFERENCES.replace("reference", "generated")
    files = [csv_file(name, text) for name, text in (("a.csv", same), ("b.csv", same))]
    add_systems(study, lead, data_set, [System(path) for path in files])
    assert leaderboard(study, lead, data_set, revision=revised).ground == ""
    add_systems(study, lead, data_set, [System(csv_file("tiny.csv", "study_id,generated\n2,Clear.\n"))])
    board = leaderboard(study, lead, data_set, revision=revised)
    assert board.ground == (
        "The systems are ranked on the one study that all of them have; without tiny, which has 1, there would be 3."
    )
    # A system whose reports all go with studies that have no reference leaves the others' board as it was.
    add_systems(study, lead, data_set, [System(csv_file("tiny.csv", "study_id,generated\n4,Wet.\n"))])
    board = leaderboard(study, lead, data_set, revision=revised)
    assert (board.ground, int(board.scoring.common.sum()), board.systems[-1]) == ("", 3, "tiny")


def test_reports_equal_to_the_reference_have_1(study: Study, lead: Actor, csv_file: Write, revised: str) -> None:
    data_set = add_data_set(study, lead, csv_file("ref.csv", REFERENCES))
    same = csv_file("same.csv", REFERENCES.replace("reference", "generated"))
    add_systems(study, lead, data_set, [System(same)])
    board = leaderboard(study, lead, data_set, revision=revised)
    values = {column.metric.id: column.ranking.of("same").value.value for column in board.columns}
    # BLEU-4 of two words is 0 by its definition.
    assert values["ran_score"] == values["bleu1"] == values["rouge_l"] == 1.0
    assert board.scoring.of("same").own.exact_match.value == 1.0  # type: ignore[union-attr]


def test_a_pair_and_the_studies_behind_a_cell_can_be_looked_at(
    study: Study, lead: Actor, csv_file: Write, revised: str
) -> None:
    data_set = add_data_set(study, lead, csv_file("ref.csv", REFERENCES))
    path = csv_file("a.csv", "study_id,generated\n1,Pneumothorax.\n2,Large pneumothorax.\n3,Clear.\n")
    add_systems(study, lead, data_set, [System(path)])
    scoring = score_systems(study, lead, data_set, revision=revised)
    pair = pair_of(study, lead, scoring, "a", "1")
    assert (pair.matched, pair.missed, pair.invented) == ((), ("pleural_effusion",), ("pneumothorax",))
    assert pair.in_reference is not None
    assert pair.in_reference.mentions["pleural_effusion"].evidence == "Pleural effusion."
    assert (pair.reference, pair.generated, pair.f1) == ("Pleural effusion.", "Pneumothorax.", 0.0)
    assert studies_with(scoring, "a", "pneumothorax") == [("1", "invented", 0.0), ("2", "matched", 1.0)]
    assert [study_id for study_id, _, _ in studies_with(scoring, "a")] == ["1", "2", "3"]


def test_a_task_reads_its_sections_alone(study: Study, lead: Actor, csv_file: Write, revised: str) -> None:
    texts = 'study_id,reference,generated\n1,"Findings: Pneumothorax. Impression: Pleural effusion.",Pneumothorax.\n'
    path = csv_file("a.csv", texts)
    scores = {}
    for task in ("findings", "findings+impression"):
        data_set = add_data_set(study, lead, path, name="both", task=task)
        add_systems(study, lead, data_set, [System(path)])
        (found,) = score_systems(study, lead, data_set, revision=revised).systems
        assert found.own is not None
        scores[task] = found.own.evaluation.macro_f1.value
    assert scores == {"findings": 1.0, "findings+impression": 0.5}


def test_what_cannot_be_taken_in_is_refused_in_a_sentence(study: Study, lead: Actor, csv_file: Write) -> None:
    with pytest.raises(NotFoundError, match="begin with `workbench score"):
        find_data_set(study, lead)
    data_set = add_data_set(study, lead, csv_file("ref.csv", REFERENCES))
    with pytest.raises(ConflictError, match="ref for findings\\+impression already"):
        add_data_set(study, lead, csv_file("other.csv", "study_id,reference\n1,Wet.\n"), name="ref")
    with pytest.raises(InputError, match="holds no reference report"):
        add_data_set(study, lead, csv_file("none.csv", "study_id,generated\n1,Wet.\n"))
    with pytest.raises(InputError, match="There is no task all"):
        add_data_set(study, lead, csv_file("ref.csv", REFERENCES), task="all")
    with pytest.raises(InputError, match="holds no generated report"):
        add_systems(study, lead, data_set, [System(csv_file("none.csv", "study_id,reference\n1,Wet.\n"))])
    with pytest.raises(InputError, match="none of its studies is in the data set ref; its first is x"):
        add_systems(study, lead, data_set, [System(csv_file("none.csv", "study_id,generated\nx,Wet.\n"))])
    good = csv_file("good.csv", "study_id,generated\n1,Wet.\n")
    with pytest.raises(InputError, match="Two systems are called good"):
        add_systems(study, lead, data_set, [System(good), System(good)])
    # All of them or none.
    with pytest.raises(InputError, match="none of its studies"):
        add_systems(study, lead, data_set, [System(good), System(csv_file("bad.csv", "study_id,generated\nx,Wet.\n"))])
    assert submissions(study, lead, data_set) == []


@pytest.mark.parametrize("name", ["two\nlines", "x" * 101, "a\ttab", " "])
def test_a_name_that_no_table_can_show_in_a_line_is_refused(
    study: Study, lead: Actor, csv_file: Write, name: str
) -> None:
    good, references = csv_file("good.csv", "study_id,generated\n1,Wet.\n"), csv_file("ref.csv", REFERENCES)
    with pytest.raises(InputError, match=r"no data set can be called .* one to 100 printable characters"):
        add_data_set(study, lead, references, name=name)
    data_set = add_data_set(study, lead, references)
    with pytest.raises(InputError, match=r"good\.csv: no system can be called .* one to 100 printable characters"):
        add_systems(study, lead, data_set, [System(good, name)])
    assert submissions(study, lead, data_set) == []


def test_a_system_is_known_by_one_spelling(study: Study, lead: Actor, csv_file: Write) -> None:
    data_set = add_data_set(study, lead, csv_file("ref.csv", REFERENCES))
    good, other = (
        csv_file("good.csv", "study_id,generated\n1,Wet.\n"),
        csv_file("b.csv", "study_id,generated\n1,Dry.\n"),
    )
    with pytest.raises(InputError, match="Two systems are called My net"):
        add_systems(study, lead, data_set, [System(good, "My net"), System(other, "MY  NET")])
    add_systems(study, lead, data_set, [System(good, "My net")])
    with pytest.raises(InputError, match="has a system called My net, and my net differs from it by letter case"):
        add_systems(study, lead, data_set, [System(other, "my net")])
    add_systems(study, lead, data_set, [System(other, "My net")])  # the same name again is what it wrote last
    assert [each.system for each in submissions(study, lead, data_set)] == ["My net"]


def test_only_leads_take_systems_in(study: Study, lead: Actor, rater: Actor, csv_file: Write) -> None:
    with pytest.raises(RightsError, match="take in a data set"):
        add_data_set(study, rater, csv_file("ref.csv", REFERENCES))
    data_set = add_data_set(study, lead, csv_file("ref.csv", REFERENCES))
    with pytest.raises(RightsError, match="take in generated reports"):
        add_systems(study, rater, data_set, [])


def with_model(study: Study, url: str) -> Study:
    more = {**study.settings.labelers, "m": LabelerConfig(kind="openai", model="m", base_url=f"{url}/v1")}
    return replace(study, settings=study.settings.model_copy(update={"labelers": more}))


@pytest.fixture
def by_model(
    study: Study, lead: Actor, csv_file: Write, start_fault_server: Callable[..., Any], revised: str
) -> tuple[Study, Any, Any, str]:
    """A study with a language model, its server, and a system on three studies."""
    server = start_fault_server()
    it = with_model(study, server.url)
    reference = csv_file(
        "r.csv", "study_id,reference\n1,pneumothorax present.\n2,pleural_effusion present.\n3,Clear.\n"
    )
    generated = csv_file("g.csv", 'study_id,generated\n1,pneumothorax present.\n2,"Wet {deal 400}"\n3,\n')
    data_set = add_data_set(it, lead, reference)
    add_systems(it, lead, data_set, [System(generated)])
    return it, server, data_set, revised


HELLO = 1  # a server is first asked something that holds nothing of any report


def test_a_model_is_asked_about_each_text_once_and_about_blank_ones_never(
    by_model: tuple[Study, Any, Any, str], lead: Actor
) -> None:
    it, server, data_set, revised = by_model
    with pytest.raises(InputError, match="m has not labelled 4 of 4 texts"):
        leaderboard(it, lead, data_set, revision=revised, labeler="m")
    assert label_systems(it, lead, data_set, revision=revised, labeler="m") == ""
    assert len(server.log()["reports"]) == 4 + HELLO
    before = server.log()["calls"]
    (system,) = score_systems(it, lead, data_set, revision=revised, labeler="m").systems
    assert (system.coverage.scored, system.coverage.empty, system.coverage.failed) == (3, 1, 1)
    assert system.own is not None
    # The failed report misses the effusion (method 12); the empty one has nothing to miss.
    assert system.own.evaluation.of("pleural_effusion").fn == 1
    assert system.own.per_report == (1.0, 0.0, 1.0)
    # Going on asks for what failed alone.
    label_systems(it, lead, data_set, revision=revised, labeler="m")
    assert server.log()["calls"] - before == 1


def test_a_cap_stops_it_and_the_same_call_goes_on(by_model: tuple[Study, Any, Any, str], lead: Actor) -> None:
    it, server, data_set, revised = by_model
    stopped = label_systems(it, lead, data_set, revision=revised, labeler="m", cap=Cap(tokens=1))
    assert "cap of 1 tokens" in stopped
    assert not server.log()["reports"]  # a report might take more than the cap, so none is sent
    assert label_systems(it, lead, data_set, revision=revised, labeler="m") == ""
    assert len(server.log()["reports"]) == 4 + HELLO


def test_texts_go_to_no_host_that_is_not_open(study: Study, lead: Actor, csv_file: Write, revised: str) -> None:
    more = {**study.settings.labelers, "m": LabelerConfig(kind="openai", model="m", base_url="https://example.org/v1")}
    it = replace(study, settings=study.settings.model_copy(update={"labelers": more}))
    data_set = add_data_set(it, lead, csv_file("ref.csv", REFERENCES))
    with pytest.raises(RightsError, match="restricted"):
        label_systems(it, lead, data_set, revision=revised, labeler="m")


def test_rows_of_a_patient_are_drawn_together(study: Study, lead: Actor, csv_file: Write, revised: str) -> None:
    rows = "study_id,patient_id,reference,generated\n" + "".join(
        f"{i},p{i % 2},Pneumothorax.,{'Pneumothorax.' if i % 2 else 'Clear.'}\n" for i in range(40)
    )
    path = csv_file("a.csv", rows)
    data_set = add_data_set(study, lead, path)
    add_systems(study, lead, data_set, [System(path)])
    scoring = score_systems(study, lead, data_set, revision=revised)
    assert scoring.patients_known
    (system,) = scoring.systems
    assert system.own is not None
    figure = system.own.evaluation.macro_f1
    # Of two patients a draw has both, or one of them twice: F1 0, 2/3 or 1 and nothing between.
    assert (figure.low, figure.high) == (0.0, 1.0)
    assert np.isclose(figure.value or 0, 2 / 3)


def test_a_report_quoted_in_the_prompt_is_no_study(
    study: Study, lead: Actor, csv_file: Write, make_prompt: Callable[..., Prompt]
) -> None:
    made = make_prompt()
    example = Example("Pneumothorax.", {"pneumothorax": State.PRESENT})
    quoting = replace(made, guidance=replace(made.guidance, examples=(example,)))
    revised = save_candidate(study, lead, quoting, message="m", parent=None).prompt_hash
    data_set = add_data_set(study, lead, csv_file("ref.csv", REFERENCES))
    add_systems(study, lead, data_set, [System(csv_file("a.csv", "study_id,generated\n1,Clear.\n2,Clear.\n"))])
    scoring = score_systems(study, lead, data_set, revision=revised)
    assert scoring.study_ids == ("1", "3")
    assert scoring.no_reference["quoted"] == 1
