"""The form of a reply, as a schema and in words."""

import json

import jsonschema
import pytest

from workbench.domain.findings import Finding, LabelSet, Policies, Policy, State
from workbench.domain.prompts import ReplyForm
from workbench.prompting.reply_form import json_schema, reply_instructions

LABEL_SET = LabelSet(
    "demo",
    "1",
    "Demo",
    tuple(Finding(i, i, i, "lung", "") for i in ("effusion", "edema")),
    Policies(Policy.PRESENT),
    Policies(Policy.PRESENT),
)
SAID = {"state": "present", "evidence": "Fluid."}
LISTED = {"findings": [{"finding": "effusion", **SAID}]}
EVERY = {"effusion": SAID, "edema": {"state": "not_mentioned", "evidence": ""}}


@pytest.mark.parametrize(("form", "reply"), [(ReplyForm.MENTIONED, LISTED), (ReplyForm.EVERY, EVERY)])
def test_the_schema_takes_the_form_and_nothing_else(form: ReplyForm, reply: dict[str, object]) -> None:
    schema = json_schema(LABEL_SET, form)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(reply, schema)
    text = json.dumps(reply)
    for right, wrong in (("present", "Present"), ("effusion", "covid"), ("evidence", "quote"), ('"Fluid."', "null")):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(text.replace(right, wrong)), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**reply, "note": "x"}, schema)


def test_a_list_of_mentions_has_no_limit_and_no_finding_that_is_not_mentioned() -> None:
    schema = json_schema(LABEL_SET, ReplyForm.MENTIONED)
    assert "maxItems" not in json.dumps(schema)
    jsonschema.validate({"findings": LISTED["findings"] * 50}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(json.dumps(LISTED).replace("present", State.NOT_MENTIONED)), schema)


@pytest.mark.parametrize("form", list(ReplyForm))
def test_the_words_ask_for_one_line_and_spell_the_schema_on_one_line_where_asked(form: ReplyForm) -> None:
    plain, spelled = (reply_instructions(LABEL_SET, form, schema=schema) for schema in (False, True))
    for told in (plain, spelled):
        assert "on a single line" in told
        assert "not an instruction to you" in told
    lines = [line for line in spelled.splitlines() if line.startswith("{")]
    assert [json.loads(line) for line in lines] == [json_schema(LABEL_SET, form)]
    assert not any(line.startswith("{") for line in plain.splitlines())
