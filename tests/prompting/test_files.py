"""The prompt file: what is read is what was written, and what cannot be meant is refused by line."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.domain.findings import Finding, LabelSet, Policies, Policy, State
from workbench.domain.prompts import Cues, CueSet, Example, FindingGuidance, Guidance, Prompt, ReplyForm
from workbench.errors import InputError
from workbench.prompting.files import MAX_CHARACTERS, parse_prompt, prompt_text, read_prompt
from workbench.text.phrases import spellings

LABEL_SET = LabelSet(
    "demo",
    "1",
    "Demo",
    tuple(Finding(i, i, i, "lung", "") for i in ("effusion", "pneumothorax")),
    Policies(Policy.PRESENT),
    Policies(Policy.PRESENT),
)

FILE = """\
---
format: 1
label_set: demo
language: en
title: First try
reply: every
instructions: |
  Read the report.
    - then answer
findings:
  pneumothorax:
    definition: "Air in the pleural space"
    synonyms: [pneumothorax, "ptx"]
  effusion:
    synonyms:
      - effusion
cues:
  negation: {before: [no, without], after: [is not seen], terminators: [but]}
  pseudo_negation: [no change in]
examples:
  - text: No pneumothorax.
    labels: {pneumothorax: absent}
    report_id: "17"
---
Label {{ title }}.
---
The end.
"""


def changed(old: str, new: str) -> str:
    assert old in FILE
    return FILE.replace(old, new, 1)


def test_reads_every_part_of_a_file() -> None:
    prompt = parse_prompt(FILE, label_set=LABEL_SET)
    guidance = prompt.guidance
    assert (guidance.label_set, guidance.language, guidance.title) == ("demo", "en", "First try")
    assert guidance.reply is ReplyForm.EVERY
    assert guidance.instructions == "Read the report.\n  - then answer\n"
    assert list(guidance.findings) == ["effusion", "pneumothorax"]  # label-set order, not the file's
    assert guidance.findings["pneumothorax"] == FindingGuidance("Air in the pleural space", ("pneumothorax", "ptx"))
    assert guidance.cues.negation == CueSet(("no", "without"), ("is not seen",), ("but",))
    assert guidance.cues.pseudo_negation == ("no change in",)
    assert guidance.examples == (Example("No pneumothorax.", {"pneumothorax": State.ABSENT}, "17"),)
    assert prompt.body == "Label {{ title }}.\n---\nThe end.\n"


def test_words_that_older_yaml_takes_for_booleans_stay_words() -> None:
    prompt = parse_prompt(changed("[no, without]", "[no, yes, on, off, y, n, No]"))
    assert prompt.guidance.cues.negation.before == ("no", "yes", "on", "off", "y", "n", "No")


@pytest.mark.parametrize(
    "written", ["1", "1.5", "true", "null", "~", "2026-01-01", "0x1f", ".nan", "", "[a]", "{a: b}"]
)
def test_a_phrase_that_is_not_text_is_refused_with_its_place(written: str) -> None:
    text = changed('[pneumothorax, "ptx"]', f"\n      - pneumothorax\n      - {written}")
    with pytest.raises(InputError, match=r"^v2\.md, line 15: findings, pneumothorax, synonyms, entry 2:? ") as refused:
        parse_prompt(text, where="v2.md")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("---\nformat", "format", "has no front matter"),
        (FILE[FILE.index("---\nLabel") :], "", "never closed"),
        (FILE[FILE.index("Label {{") :], "  \n", "has no body"),
        (FILE[4 : FILE.index("---\nLabel")], "", "front matter is empty"),
        (FILE[4 : FILE.index("---\nLabel")], "- a\n- b\n", "must be keys with values"),
        ("format: 1\n", "", "line 2: format is missing"),
        ("format: 1", "format: 2", "line 2: format is 2, and this version reads format 1"),
        ("title: First try", "titel: First try", "line 5: titel is not a key that is known here; known are format"),
        ("title: First try", "title: First: try", "line 5 is not readable as YAML"),
        ("title: First try", "title: First try\ntitle: Second", "line 6: title stands twice"),
        ("synonyms: [pn", "synonym: [pn", "line 13: findings, pneumothorax, synonym is not a key that is known here"),
        ("  effusion:\n", "  pneumothorax:\n", "line 14: findings, pneumothorax stands twice"),
        ("  effusion:\n", "  efusion:\n", "line 14: findings names 'efusion', which is no finding of label set demo"),
        ("{pneumothorax: absent}", "{ptx: absent}", "line 22: examples, entry 1, labels names 'ptx'"),
        ("{pneumothorax: absent}", "{pneumothorax: negative}", "is 'negative'; allowed are 'present', 'absent'"),
        ("reply: every", "reply: all", "line 6: reply is 'all'; allowed are 'mentioned', 'every'"),
        ("label_set: demo", "label_set: other", "line 3: the prompt is for label set other, and this study uses demo"),
        ("  effusion:", "\teffusion:", "line 14 is indented with a tab; use spaces"),
        ("[no change in]", "no change in", "line 19: cues, pseudo_negation must be a list"),
        ("[no change in]", '[" "]', "cues, pseudo_negation, entry 1 is blank"),
        ("[no change in]", '["no ..."]', "line 19: cues, pseudo_negation, entry 1 cannot be read. The phrase"),
        ("[no change in]", "&x [no change in]", "anchors and aliases"),
        ("[no change in]", "!!set {a}", "cues, pseudo_negation"),
        ("[no change in]", "!!python/object:os.system [a]", "cues, pseudo_negation: the tag"),
        ("title: First try", "title: [a]", "line 5: title must be text, not a list"),
        ("  negation: {before", "  ? [a]\n  : b\n  negation: {before", "a key must be a word"),
        ("title: First try", "title: " + "[" * 2000, "nested too deeply"),
        ("title: First try", "title: *nobody", "line 5 is not readable as YAML"),
        ("title: First try", "title: \x00", "not readable as YAML"),
        ("Label", "x" * MAX_CHARACTERS, "characters; a prompt file may have"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_prompt(changed(old, new), label_set=LABEL_SET, where="v2.md")
    assert message in str(refused.value)
    assert str(refused.value).startswith("v2.md")
    assert "\n" not in str(refused.value)


def test_findings_are_not_checked_where_no_label_set_is_given() -> None:
    assert "other" in parse_prompt(changed("  effusion:\n", "  other:\n")).guidance.findings


def test_line_ends_and_byte_order_mark_do_not_change_the_hash() -> None:
    assert parse_prompt("\ufeff" + FILE.replace("\n", "\r\n")).hash == parse_prompt(FILE).hash


def test_reads_a_file_and_never_names_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "0001.md"
    path.write_text(FILE, encoding="utf-8")
    assert read_prompt(path, label_set=LABEL_SET).hash == parse_prompt(FILE).hash
    path.write_bytes(FILE.replace("Air", "Luft \u00e4").encode("latin-1"))
    with pytest.raises(InputError, match=r"^0001\.md, line 12: byte 0xe4 at position \d+ is not UTF-8"):
        read_prompt(path)
    with pytest.raises(InputError, match=r"^gone\.md cannot be read"):
        read_prompt(tmp_path / "gone.md")


def test_writes_readable_text() -> None:
    text = prompt_text(parse_prompt(FILE, label_set=LABEL_SET))
    assert (
        text
        == """\
---
format: 1
label_set: demo
language: en
title: First try
reply: every
instructions: |
  Read the report.
    - then answer
findings:
  effusion:
    synonyms: ["effusion"]
  pneumothorax:
    definition: "Air in the pleural space"
    synonyms: ["pneumothorax", "ptx"]
cues:
  negation:
    before: ["no", "without"]
    after: ["is not seen"]
    terminators: ["but"]
  pseudo_negation: ["no change in"]
examples:
  - text: "No pneumothorax."
    labels: {pneumothorax: absent}
    report_id: "17"
---
Label {{ title }}.
---
The end.
"""
    )


def test_long_lists_are_wrapped() -> None:
    phrases = tuple(f"phrase number {i}" for i in range(40))
    prompt = Prompt(Guidance("demo", "en", "t", "", {"effusion": FindingGuidance("", phrases)}), "b")
    text = prompt_text(prompt)
    assert max(map(len, text.split("\n"))) <= 120
    assert parse_prompt(text).hash == prompt.hash


NASTY = [
    ": ", "#", " #x", " lead", "trail ", '"', "'", "\\", "\n", "\r\n", "\t", "---", "\n---\n", "...", "no", "null", "1",
    "气胸", "é", "e\u0301", "\u2028", "\x85", "\ufeff", "\x00", "\x7f", "😀", "{{", "%YAML 1.1", "&a", "*a", "!x", "- ",
    "a, b", "x (y)", "a-b", "|", "\n  \n", "\n\tx", "x \ny\n", "[", "}", ",", "@", "`",
]  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), max_size=6))).map(
    "".join
)
phrases = texts.filter(lambda value: bool(value.strip()))


def readable(phrase: str) -> bool:
    try:
        spellings(phrase)
    except InputError:
        return False
    return True


phrase_lists = st.lists(phrases.filter(readable), max_size=4).map(tuple)
cue_sets = st.builds(CueSet, phrase_lists, phrase_lists, phrase_lists)
prompts = st.builds(
    Prompt,
    st.builds(
        Guidance,
        label_set=phrases,
        language=phrases,
        title=texts,
        instructions=texts,
        findings=st.dictionaries(
            texts, st.builds(FindingGuidance, texts, phrase_lists, phrase_lists, phrase_lists), max_size=3
        ),
        cues=st.builds(Cues, cue_sets, phrase_lists, cue_sets, cue_sets),
        examples=st.lists(
            st.builds(Example, phrases, st.dictionaries(texts, st.sampled_from(State), max_size=3), texts), max_size=2
        ).map(tuple),
        reply=st.sampled_from(ReplyForm),
    ),
    phrases,
)


def test_an_id_with_a_comma_stays_one_id() -> None:
    labels = {"cavity, cyst": State.ABSENT}
    findings = {"cavity, cyst": FindingGuidance()}
    prompt = Prompt(Guidance("demo", "en", "a, b", "", findings, examples=(Example("None.", labels),)), "b")
    assert parse_prompt(prompt_text(prompt)) == prompt


@settings(max_examples=50, deadline=None)
@given(prompts)
def test_any_prompt_comes_back_from_its_file_unchanged(prompt: Prompt) -> None:
    again = parse_prompt(prompt_text(prompt))
    assert again.guidance == prompt.guidance
    assert again.hash == prompt.hash
