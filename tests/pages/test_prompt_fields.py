"""What is written into a field of the page Revise stays, however early the drawing of the page is cut short."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from workbench.domain.prompts import Prompt
from workbench.workflow import drafts
from workbench.workflow.demo import LEAD
from workbench.workflow.study import Study

Open = Callable[..., AppTest]

FIELDS: dict[str, tuple[str, Callable[[Prompt], str]]] = {
    "Synonyms": ("This finding", lambda prompt: prompt.guidance.findings["lung_opacity"].synonyms[-1]),
    "Definition": ("This finding", lambda prompt: prompt.guidance.findings["lung_opacity"].definition),
    "Before the finding": ("Cues", lambda prompt: prompt.guidance.cues.negation.before[-1]),
    "Looks like a negation and is none": ("Cues", lambda prompt: prompt.guidance.cues.pseudo_negation[-1]),
    "Instructions": ("Instructions", lambda prompt: prompt.guidance.instructions),
    "Text of example 1": ("Worked examples", lambda prompt: prompt.guidance.examples[0].text),
}


@pytest.mark.parametrize("label", FIELDS)
def test_what_was_written_is_kept_before_the_page_is_drawn(
    open_page: Open, study: Study, monkeypatch: pytest.MonkeyPatch, label: str
) -> None:
    tab, read = FIELDS[label]
    app = open_page(study.folder, "revise", LEAD)
    app.session_state["revise.tabs"] = tab
    app.run()
    if tab == "Worked examples":
        next(button for button in app.main.button if button.label == "Add a worked example").click().run()
    field = next(field for field in app.main.text_area if field.label == label)
    assert field.proto.default == field.value, "a browser that missed the first drawing shows it all the same"

    def cut_short(*_: object) -> None:
        raise RuntimeError("the person went to another page")

    monkeypatch.setattr("workbench.ui.widgets.head", cut_short)
    field.set_value(f"{field.value}\nquite new words").run()
    (kept,) = drafts.unsaved(study, study.actor(LEAD))
    assert read(kept.prompt).endswith("quite new words")


def test_the_title_is_kept_too(open_page: Open, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page(study.folder, "revise", LEAD)
    app.session_state["revise.tabs"] = "Instructions"
    app.run()
    monkeypatch.setattr("workbench.ui.widgets.head", Path.cwd)  # anything that takes no words and fails
    next(field for field in app.main.text_input if field.label == "Title").set_value("Another title").run()
    (kept,) = drafts.unsaved(study, study.actor(LEAD))
    assert kept.prompt.guidance.title == "Another title"
