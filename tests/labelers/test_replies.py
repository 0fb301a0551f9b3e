"""A reply is of the form asked for, or it is no label at all."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.findings import Finding, LabelSet, Policies, Policy, State
from workbench.domain.prompts import ReplyForm
from workbench.domain.runs import Extraction, ExtractionStatus, Mention
from workbench.labelers.replies import read_reply
from workbench.models.base import Completion, Finish
from workbench.prompting.reply_form import json_schema

LABEL_SET = LabelSet(
    "demo",
    "1",
    "Demo",
    tuple(Finding(i, i, i, "lung", "") for i in ("effusion", "edema", "pneumothorax")),
    Policies(Policy.PRESENT),
    Policies(Policy.PRESENT),
)
TEXT = "Small left effusion. No pneumothorax, ACUTE\nedema not excluded."
LISTED = [
    {"finding": "pneumothorax", "state": "absent", "evidence": "No pneumothorax"},
    {"finding": "effusion", "state": "present", "evidence": "Small left effusion."},
]
EVERY = {
    "effusion": {"state": "present", "evidence": "Small left effusion."},
    "edema": {"state": "uncertain", "evidence": "edema not excluded"},
    "pneumothorax": {"state": "not_mentioned", "evidence": ""},
}


def listed(*items: object) -> str:
    return json.dumps({"findings": list(items)})


def read(reply: str, form: ReplyForm = ReplyForm.MENTIONED, finish: Finish = Finish.STOP) -> Extraction:
    return read_reply(Completion(reply, finish, 10, 5), LABEL_SET, form)


def test_a_list_of_mentions_becomes_labels_in_label_set_order() -> None:
    extraction = read(listed(*LISTED))
    assert extraction == Extraction(
        ExtractionStatus.OK,
        {
            "effusion": Mention(State.PRESENT, "Small left effusion."),
            "pneumothorax": Mention(State.ABSENT, "No pneumothorax"),
        },
        raw=listed(*LISTED),
        input_tokens=10,
        output_tokens=5,
    )
    assert list(extraction.mentions) == ["effusion", "pneumothorax"]
    assert extraction.state("edema") is State.NOT_MENTIONED


def test_an_empty_list_mentions_nothing() -> None:
    assert read('{"findings": []}').status is ExtractionStatus.OK
    assert read('{"findings": []}').mentions == {}


def test_a_list_may_say_that_a_finding_is_not_mentioned() -> None:
    extraction = read(listed(*LISTED, {"finding": "edema", "state": "not_mentioned", "evidence": ""}))
    assert extraction.mentions == read(listed(*LISTED)).mentions
    assert extraction.detail == ""


def test_a_bare_state_is_not_the_form_that_was_asked_for() -> None:
    extraction = read(json.dumps({**EVERY, "edema": "absent"}), ReplyForm.EVERY)
    assert (extraction.status, extraction.detail) == (ExtractionStatus.MALFORMED, "edema has no text as evidence.")


def test_a_spelled_out_reply_leaves_out_what_is_not_mentioned() -> None:
    extraction = read(json.dumps(EVERY), ReplyForm.EVERY)
    assert extraction.status is ExtractionStatus.OK
    assert {f: m.state for f, m in extraction.mentions.items()} == {
        "effusion": State.PRESENT,
        "edema": State.UNCERTAIN,
    }


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```", "  ```JSON\n\n{}```\n", "\n{}\n"])
def test_one_fence_around_the_whole_reply_is_taken_off(fence: str) -> None:
    reply = fence.replace("{}", listed(*LISTED))
    assert read(reply).mentions == read(listed(*LISTED)).mentions
    assert read(reply).raw == reply


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n\n ",
        "null",
        "[]",
        '"findings"',
        '{"findings": []} I hope that helps.',
        'Here you are: {"findings": []}',
        'Here you are:\n```json\n{"findings": []}\n```',
        '```json\n{"findings": []}\n```\n```json\n{"findings": []}\n```',
        '{"findings": []}{"findings": []}',
        '{"findings": {}}',
        '{"findings": null}',
        '{"labels": []}',
        '{"findings": [], "note": "x"}',
        '{"findings": [], "findings": []}',
        '{"findings": ["effusion"]}',
        '{"findings": [{"finding": "effusion", "state": "present"}]}',
        '{"findings": [{"finding": "effusion", "state": "present", "evidence": null}]}',
        '{"findings": [{"finding": "effusion", "state": "present", "evidence": "x", "score": 1}]}',
        '{"findings": [{"finding": "effusion", "finding": "edema", "state": "present", "evidence": "x"}]}',
        '{"findings": [NaN]}',
        "[" * 100_000,
        '{"findings": [' + "1" * 10_000 + "]}",
    ],
)
def test_any_other_form_is_malformed_and_carries_no_label(reply: str) -> None:
    extraction = read(reply)
    assert extraction.status is ExtractionStatus.MALFORMED
    assert extraction.mentions == {}
    assert extraction.raw == reply
    assert extraction.detail.endswith(".")


def test_the_same_label_twice_is_merged_and_keeps_the_quote() -> None:
    again = {"finding": "effusion", "state": "present", "evidence": ""}
    assert read(listed(again, *LISTED, again)).mentions == read(listed(*LISTED)).mentions


def test_two_states_of_one_finding_are_no_label() -> None:
    extraction = read(listed(*LISTED, {"finding": "effusion", "state": "absent", "evidence": "No"}))
    assert extraction.status is ExtractionStatus.MALFORMED
    assert extraction.detail == "effusion is given twice, once present and once absent."
    twice = '{"effusion": {"state": "present", "evidence": ""}, ' + json.dumps(EVERY)[1:].replace("present", "absent")
    assert read(twice, ReplyForm.EVERY).status is ExtractionStatus.MALFORMED


def test_a_missing_finding_is_never_absent() -> None:
    extraction = read(json.dumps({f: v for f, v in EVERY.items() if f != "edema"}), ReplyForm.EVERY)
    assert extraction.status is ExtractionStatus.MALFORMED
    assert extraction.detail == "The reply leaves out edema."
    assert extraction.state("edema") is None


def test_details_never_repeat_the_report() -> None:
    for reply in (f"The report says: {TEXT}", f'{{"findings": ["{TEXT[:10]}"]}}', '{"findings": [1'):
        assert "Small" not in read(reply).detail


@pytest.mark.parametrize(("form", "reply"), [(ReplyForm.MENTIONED, {"findings": LISTED}), (ReplyForm.EVERY, EVERY)])
def test_the_schema_takes_what_is_read_and_no_more(form: ReplyForm, reply: dict[str, object]) -> None:
    schema = json_schema(LABEL_SET, form)
    jsonschema.validate(reply, schema)
    for wrong in ({}, {**reply, "covid": 1}, {"findings": [{**LISTED[0], "finding": "covid"}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


@given(st.text() | st.recursive(st.text() | st.integers() | st.none(), lambda v: st.dictionaries(st.sampled_from(
    ["findings", "finding", "state", "evidence", "effusion", "present"]), v) | st.lists(v)).map(json.dumps),
    st.sampled_from(ReplyForm))  # fmt: skip
def test_no_reply_raises(reply: str, form: ReplyForm) -> None:
    extraction = read(reply, form)
    assert (extraction.status is ExtractionStatus.OK) or extraction.mentions == {}
