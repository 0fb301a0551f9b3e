"""A reply is of the form asked for, or it is no label at all."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.findings import Finding, LabelSet, Policies, Policy, State
from workbench.domain.prompts import ReplyForm
from workbench.domain.runs import Extraction, ExtractionStatus, Flag, Mention
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


QUOTE = "Small left effusion."


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


@pytest.mark.parametrize(
    "fence", ["```json\n{}\n```", "```\n{}\n```", "  ```JSON\n\n{}```\n", "```json {}```", "\n{}\n"]
)
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
        '```json\n{"findings": []}',
        '```json5\n{"findings": []}\n```',
        '```\n{"findings": []}\n```\nDone.',
        "```",
        "```null```",
        '{"findings": []}}',
        '\ufeff{"findings": []}',
        "{'findings': []}",
        '{"findings": [],}',
        '{"type": "object", "properties": {"findings": {"type": "array"}}}',
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


def test_the_same_label_twice_is_merged_keeps_the_quote_and_is_flagged() -> None:
    again = {"finding": "effusion", "state": "present", "evidence": ""}
    extraction = read(listed(again, *LISTED, again))
    assert extraction.mentions == read(listed(*LISTED)).mentions
    assert extraction.flags == {Flag.LISTED_TWICE: ("effusion",)}
    assert read(listed(*LISTED)).flags == {}
    doubled = '{"effusion": {"state": "present", "evidence": "x"}, ' + json.dumps(EVERY)[1:]
    assert read(doubled, ReplyForm.EVERY).flags == {Flag.LISTED_TWICE: ("effusion",)}


@pytest.mark.parametrize("end", range(1, len(listed(*LISTED))))
def test_json_that_breaks_off_is_truncated_whatever_the_server_calls_it(end: int) -> None:
    cut = listed(*LISTED)[:end]
    for reply in (cut, f"```json\n{cut}", cut + "\n \t" * 9):
        extraction = read(reply)
        assert extraction.status is ExtractionStatus.TRUNCATED
        assert extraction.mentions == {}


@pytest.mark.parametrize(
    ("reply", "reasoning"),
    [
        ("<think>Effusion, I think.</think>{}", "Effusion, I think."),
        ("\n<thinking>\nOne.\n</thinking>\n\n{}\n", "One."),
        ("<THINK>One.</THINK>```json\n{}\n```", "One."),
        ("[THINK]One.[/THINK]{}", "One."),
        ("<think></think>{}", ""),
        ('<think>A <think>in</think> B {"findings": []}</think>{}', 'A <think>in</think> B {"findings": []}'),
        ("<think>A <think> alone</think>{}", "A <think> alone"),
        ("<think>One.</think>\n<think>Two.</think>{}", "One.</think>\n<think>Two."),
        ("The template wrote the opening mark.</think>{}", "The template wrote the opening mark."),
    ],
)
def test_reasoning_before_the_answer_is_kept_apart_and_not_read(reply: str, reasoning: str) -> None:
    whole = reply.replace("{}", listed(*LISTED))
    extraction = read(whole)
    assert extraction.mentions == read(listed(*LISTED)).mentions
    assert (extraction.reasoning, extraction.raw) == (reasoning, whole)


def test_reasoning_that_the_server_hands_over_apart_is_kept_too() -> None:
    completion = Completion("<think>Two.</think>" + listed(), reasoning="One.")
    assert read_reply(completion, LABEL_SET, ReplyForm.MENTIONED).reasoning == "One.\n\nTwo."


@pytest.mark.parametrize("reply", ["<think>On and on {}", "<think>{}", "<thinking>\n{}\n</thinking>"])
def test_reasoning_without_an_answer_is_no_answer(reply: str) -> None:
    whole = reply.replace("{}", listed(*LISTED))
    assert read(whole).status is ExtractionStatus.MALFORMED
    assert read(whole, finish=Finish.LENGTH).status is ExtractionStatus.TRUNCATED
    assert listed(*LISTED) in read(whole).reasoning


def test_a_mark_of_reasoning_in_a_quotation_parts_nothing() -> None:
    quote = 'x</think>{"findings": []}'
    reply = listed({"finding": "effusion", "state": "present", "evidence": quote})
    assert read(reply).mentions == {"effusion": Mention(State.PRESENT, quote)}
    assert read("<think>One.</think>" + reply).status is ExtractionStatus.MALFORMED


def test_what_the_server_says_of_a_reply_is_kept() -> None:
    completion = Completion(listed(), Finish.STOP, 10, 5, "req-1", "qwen-2", 8, "eos", "json_object", latency=0.5)
    assert read_reply(completion, LABEL_SET, ReplyForm.MENTIONED) == Extraction(
        ExtractionStatus.OK, raw=listed(), input_tokens=10, output_tokens=5, latency=0.5, cached_tokens=8,
        request_id="req-1", served_model="qwen-2", finish_reason="eos", constraint="json_object",
    )  # fmt: skip


def test_characters_that_no_file_can_hold_are_kept_as_json_spells_them() -> None:
    entry = '{"finding": "effusion", "state": "present", "evidence": "left \\ud800\\u0000"}'
    completion = Completion(f'{{"findings": [{entry}]}}', reasoning="\ud800", model="\udfff", request_id="\ud800")
    extraction = read_reply(completion, LABEL_SET, ReplyForm.MENTIONED)
    assert extraction.mentions["effusion"].evidence == "left \\ud800\\u0000"
    kept = extraction.reasoning, extraction.served_model, extraction.request_id
    assert kept == ("\\ud800", "\\udfff", "\\ud800")
    named = read('{"findings": [{"finding": "\\ud800", "state": "present", "evidence": ""}]}')
    assert named.detail == "'\\\\ud800' is no finding of the label set."


@pytest.mark.parametrize(("odd", "spelled"), [("\0", "\\u0000"), ("\ud800", "\\ud800"), ("\udc80", "\\udc80")])
def test_a_reply_with_a_character_that_no_text_has_is_malformed_and_kept(odd: str, spelled: str) -> None:
    extraction = read(listed({"finding": "effusion", "state": "present", "evidence": "left"}).replace("left", odd))
    assert (extraction.status, extraction.mentions) == (ExtractionStatus.MALFORMED, {})
    assert "holds a NUL or half a character" in extraction.detail
    assert f'"evidence": "{spelled}"' in extraction.raw
    assert (
        read("<think>" + odd + "</think>" + listed()).status is ExtractionStatus.OK
    )  # what is never read does no harm


def test_a_reply_of_many_wrong_names_is_told_in_a_few_words() -> None:
    entries = [{"finding": f"f{n}", "state": "present", "evidence": ""} for n in range(1000)]
    extraction = read(listed(*entries))
    assert extraction.status is ExtractionStatus.WRONG_LABEL
    assert extraction.detail.endswith("'f9' is no finding of the label set; and 990 more.")


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


# Names and states as they might be misspelt, and as they are.
NAMES = st.sampled_from(["effusion", "Effusion", "effusions", " effusion", "pleural effusion", "edema", "oedema", ""])
STATES = st.sampled_from(
    ["present", "Present", "positive", "yes", "absent ", "absent", "uncertain", "not_mentioned", 1]
)
ENTRY = st.fixed_dictionaries({"finding": NAMES, "state": STATES, "evidence": st.sampled_from(["", QUOTE])})
SOUP = st.text() | st.recursive(
    st.text() | st.integers() | st.none() | st.floats() | NAMES | STATES,
    lambda v: (
        st.dictionaries(st.sampled_from(["findings", "finding", "state", "evidence", "effusion"]), v)
        | st.lists(v | ENTRY)
    ),
).map(json.dumps)
AROUND = st.sampled_from(["{}", "```json\n{}\n```", "<think>{}</think>{}", "{}{}", "{} Done.", "<think>{}", "```{}"])


@given(SOUP | st.binary().map(lambda soup: soup.decode("utf-8", "surrogateescape")), AROUND, st.sampled_from(ReplyForm),
       st.sampled_from(Finish))  # fmt: skip
def test_no_reply_raises_and_what_cannot_be_used_carries_no_label(
    soup: str, around: str, form: ReplyForm, finish: Finish
) -> None:
    extraction = read(around.replace("{}", soup), form, finish)
    if extraction.status is ExtractionStatus.OK:
        assert finish is Finish.STOP
    else:
        assert extraction.mentions == {}
        assert extraction.detail.endswith(".")
    (extraction.raw + extraction.detail + extraction.reasoning).encode()  # can be stored


@given(st.lists(ENTRY, max_size=5))
def test_only_what_is_spelled_as_asked_becomes_a_label(entries: list[dict[str, object]]) -> None:
    extraction = read(json.dumps({"findings": entries}))
    as_asked = all(e["finding"] in LABEL_SET.ids and e["state"] in [*State] for e in entries)
    said = {(e["finding"], e["state"]) for e in entries}
    agreed = len({finding for finding, _ in said}) == len(said)
    if not as_asked or not agreed:
        assert extraction.status in {ExtractionStatus.WRONG_LABEL, ExtractionStatus.MALFORMED}
        assert extraction.mentions == {}
    else:
        assert extraction.status is ExtractionStatus.OK
        kept = {(finding, mention.state) for finding, mention in extraction.mentions.items()}
        assert kept == {(f, s) for f, s in said if s != "not_mentioned"}


@given(st.integers(0, 60), st.characters())
def test_a_reply_with_one_character_changed_is_never_another_label(at: int, character: str) -> None:
    before = '{"findings":[{"finding":"effusion","state":"present","evidence":""}]}'
    extraction = read(before[:at] + character + before[at + 1 :])
    if extraction.status is ExtractionStatus.OK:
        assert {f: m.state for f, m in extraction.mentions.items()} == {"effusion": State.PRESENT}
