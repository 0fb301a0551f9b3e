"""Public bug reports about replies of language models: truncated, refused, extra or wrong labels, missing sections."""

import asyncio
import json
from collections.abc import Mapping, Sequence

import pytest

from workbench.domain.findings import Finding, LabelSet, Policies, Policy
from workbench.domain.prompts import Guidance, Prompt, ReplyForm
from workbench.domain.reports import Report, Section
from workbench.domain.runs import Extraction, ExtractionStatus, Flag, LabelerSettings
from workbench.labelers.language_model import LanguageModelLabeler
from workbench.labelers.replies import read_reply
from workbench.models.base import Completion, Finish, Message
from workbench.prompting.tokens import count_tokens

LABEL_SET = LabelSet(
    "demo",
    "1",
    "Demo",
    tuple(Finding(i, i, i, "lung", "") for i in ("effusion", "edema")),
    Policies(Policy.PRESENT),
    Policies(Policy.PRESENT),
)
TEXT = "Small effusion with edema."


def read(reply: str, finish: Finish = Finish.STOP, form: ReplyForm = ReplyForm.EVERY) -> Extraction:
    return read_reply(Completion(reply, finish), LABEL_SET, form)


def said(state: str, evidence: str = "") -> dict[str, str]:
    return {"state": state, "evidence": evidence}


@pytest.mark.parametrize(
    "reply",
    [
        '{"effusion":1,"edema":',
        "",
        json.dumps({"effusion": said("present", "Small effusion"), "edema": said("absent")}),  # whole by chance
        "Sorry, but the",
    ],
)
def test_case_16_a_truncated_reply_is_truncated_before_it_is_parsed_and_never_negative(reply: str) -> None:
    extraction = read(reply, Finish.LENGTH)
    assert extraction.status is ExtractionStatus.TRUNCATED
    assert extraction.raw == reply
    assert [extraction.state(finding) for finding in LABEL_SET.ids] == [None, None]
    assert TEXT not in extraction.detail


@pytest.mark.parametrize("words", ["", "I can't help with that.", '{"effusion": "absent"}'])
def test_case_17_a_refusal_is_refused_and_not_all_negative(words: str) -> None:
    extraction = read(words, Finish.REFUSAL)
    assert extraction.status is ExtractionStatus.REFUSED
    assert [extraction.state(finding) for finding in LABEL_SET.ids] == [None, None]


@pytest.mark.parametrize(
    ("reply", "detail"),
    [
        ({"Pleural Efusion": 1, "Covid": 1, "edema": "maybe"},
         ("'Pleural Efusion' is no finding of the label set; 'Covid' is no finding of the label set; "
         "edema: 'maybe' is no state.")),
        ({"Effusion": said("present"), "edema": said("absent")}, "'Effusion' is no finding of the label set."),
        ({"effusion ": said("present"), "edema": said("absent")}, "'effusion ' is no finding of the label set."),
        ({"effusion": said("Present"), "edema": said("absent")}, "effusion: 'Present' is no state."),
        ({"effusion": said("positive"), "edema": said("absent")}, "effusion: 'positive' is no state."),
        ({"effusion": {"state": None, "evidence": ""}, "edema": said("absent")}, "effusion: 'null' is no state."),
        ({"effusion": {"state": True, "evidence": ""}, "edema": said("absent")}, "effusion: 'true' is no state."),
        ({"effusion": {"state": ["absent"], "evidence": ""}, "edema": said("absent")}, None),
        ({"effusion": {"state": {"a": 1}, "evidence": ""}, "edema": said("absent")}, None),
    ],
)  # fmt: skip
def test_case_19_an_unknown_finding_or_state_is_named_and_never_matched_to_its_neighbour(
    reply: dict[str, object], detail: str | None
) -> None:
    extraction = read(json.dumps(reply))
    assert extraction.status is ExtractionStatus.WRONG_LABEL
    assert detail is None or extraction.detail == detail
    assert extraction.mentions == {}
    assert extraction.raw == json.dumps(reply)


def test_case_19_missing_keys_are_not_negative() -> None:
    extraction = read(json.dumps({"effusion": said("present", "Small effusion")}))
    assert extraction.status is ExtractionStatus.MALFORMED
    assert extraction.state("edema") is None


class Recorder:
    """Keeps what it is sent and gives one answer, which mentions nothing."""

    def __init__(self, answer: Completion) -> None:
        self.answer = answer
        self.sent: list[Sequence[Message]] = []

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
        self.sent.append(messages)
        return self.answer

    async def close(self) -> None:
        pass


NOTHING = Completion('{"findings": []}')


def send(
    text: str, answer: Completion = NOTHING, context_tokens: int | None = None
) -> tuple[Extraction, list[Sequence[Message]]]:
    model = Recorder(answer)
    prompt = Prompt(Guidance("demo", "en", "t", "", {}), "Label the report.")
    settings = LabelerSettings("m", "scripted", context_tokens=context_tokens)
    return asyncio.run(LanguageModelLabeler(settings, prompt, LABEL_SET, model).label(text)), model.sent


@pytest.mark.parametrize(
    ("answer", "calls"),
    [
        (Completion('{"effusion":1,"edema":', Finish.LENGTH), 1),  # case 16
        (Completion('{"effusion":1,"edema":'), 1),  # case 16 where the server says it stopped by itself
        (Completion("I can't help", Finish.REFUSAL), 1),  # case 17
        (Completion('{"Pleural Efusion":1,"Covid":1,"edema":"maybe"}'), 2),  # case 19: one repair
    ],
)
def test_cases_16_17_and_19_a_reply_that_cannot_be_used_is_not_asked_for_again_and_again(
    answer: Completion, calls: int
) -> None:
    extraction, sent = send(TEXT, answer)
    assert extraction.status is not ExtractionStatus.OK
    assert len(sent) == calls
    assert extraction.raw == answer.text
    assert len({str(messages) for messages in sent}) == calls  # nothing is sent twice as it was


def test_case_11_a_report_without_findings_section_sends_no_word_for_nothing() -> None:
    text = "IMPRESSION: No acute disease."
    report = Report("1", "1", text, (Section("impression", 12, len(text)),))
    _, sent = send(report.select())
    assert sent[0][-1].text == "<report>\nNo acute disease.\n</report>"


@pytest.mark.parametrize("text", ["", " ", "\n\t\n", "\u00a0"])
def test_case_11_a_report_with_neither_section_is_blank_and_not_sent(text: str) -> None:
    extraction, sent = send(text)
    assert extraction.status is ExtractionStatus.BLANK
    assert sent == []
    assert extraction.state("effusion") is None


def test_case_12_placeholders_are_sent_as_they_stand() -> None:
    _, sent = send("XXXX effusion compared to ___.")
    assert "XXXX effusion compared to ___." in sent[0][-1].text


def test_case_9_the_last_sentence_of_a_long_report_is_sent() -> None:
    text = "The heart is normal in size. " * 140 + "Small right apical pneumothorax."
    _, sent = send(text)
    assert text in sent[0][-1].text


def test_case_9_a_report_longer_than_the_model_reads_is_refused_with_its_tokens_and_not_cut() -> None:
    text = "The heart is normal in size. " * 140 + "Small right apical pneumothorax."
    extraction, sent = send(text, context_tokens=512)
    assert (extraction.status, sent) == (ExtractionStatus.TOO_LONG, [])
    assert extraction.state("effusion") is None
    tokens = sum(count_tokens(message.text) for message in send(text)[1][0])
    assert f"{tokens:,} tokens" in extraction.detail


def test_case_12_a_placeholder_that_is_filled_in_is_invented_evidence() -> None:
    quote = json.dumps("Left effusion compared to ___.")
    answer = f'{{"findings": [{{"finding": "effusion", "state": "present", "evidence": {quote}}}]}}'
    extraction, _ = send("XXXX effusion compared to ___.", Completion(answer))
    assert extraction.flags == {Flag.INVENTED_EVIDENCE: ("effusion",)}
