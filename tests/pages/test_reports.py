"""The reports page: what is hidden, found, imported, and shown as it stands."""

import io
import zipfile
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from workbench.workflow.cohorts import locked_report_ids, unlock
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.ingest import import_reports
from workbench.workflow.study import Study

Open = Callable[..., AppTest]
HOSTILE = "FINDINGS: <script>alert(1)</script> **bold** [link](http://x) 心影增大 =cmd() $x^2$"


def shown(app: AppTest) -> set[str]:
    return set(app.main.dataframe[0].value["Report"])


def html_of(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.main.get("html"))


def test_locked_validation_is_hidden_from_the_lead_and_counted(open_page: Open, study: Study) -> None:
    locked = locked_report_ids(study)
    app = open_page(study.folder, "reports", LEAD)
    assert locked
    assert not shown(app) & locked
    assert any(f"{len(locked)} reports are hidden" in caption.value for caption in app.caption)


def test_a_rater_who_edits_no_prompts_may_read_validation(open_page: Open, study: Study) -> None:
    assert locked_report_ids(study) <= shown(open_page(study.folder, "reports", RATER))


def test_unlocked_validation_is_shown(open_page: Open, study: Study) -> None:
    locked = locked_report_ids(study)
    details = {"revision": "4", "labeler": "rules", "policies": "as set", "endpoint": "macro-F1"}
    unlock(study, study.actor(LEAD), "validation", reason="the prompt is final", details=details)
    assert locked <= shown(open_page(study.folder, "reports", LEAD))


def test_a_search_finds_words_of_the_text(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "reports", LEAD)
    everything = len(shown(app))
    app.text_input(key="reports.search").set_value("granuloma").run()
    assert 0 < len(shown(app)) < everything
    assert "granuloma" in html_of(app).lower()
    app.text_input(key="reports.search").set_value("no such word anywhere").run()
    assert not shown(app)
    assert "No report fits" in app.info[0].value


def test_html_and_markdown_in_a_report_are_shown_as_text(open_page: Open, empty: Study) -> None:
    path = empty.folder / "hostile.csv"
    path.write_text(f'id,patient_id,text\n"*1*",p1,"{HOSTILE}"\n', encoding="utf-8")
    columns = {"id": "id", "patient": "patient_id", "text": "text"}
    import_reports(empty, empty.actor("Lea"), path, columns=columns)
    app = open_page(empty.folder, "reports", "Lea")
    html = html_of(app)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; **bold** [link](http://x) 心影增大 =cmd() $x^2$" in html
    assert "<script>" not in html
    assert any(r"\*1\*" in element.value for element in app.main.markdown)


def test_a_report_names_the_sections_that_are_not_read(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "reports", LEAD)
    app.selectbox(key="reports.section").select("indication").run()
    assert "not read by the labeler" in html_of(app)


def parquet_of(reports: dict[str, str]) -> bytes:
    held = io.BytesIO()
    pq.write_table(pa.table({"report_id": list(reports), "text": list(reports.values())}), held)
    return held.getvalue()


def mimic_of(reports: dict[str, str]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as tree:
        for name, text in reports.items():
            tree.writestr(f"files/p10/p10000032/{name}.txt", text)
    return held.getvalue()


@pytest.mark.parametrize(("name", "made"), [("new.parquet", parquet_of), ("tree.zip", mimic_of)])
def test_every_form_the_command_line_reads_can_be_uploaded(
    open_page: Open, study: Study, name: str, made: Callable[[dict[str, str]], bytes]
) -> None:
    app = open_page(study.folder, "reports", LEAD)
    app.file_uploader(key="reports.file").upload(name, made({"s50414267": HOSTILE})).run()
    next(button for button in app.button if button.label == "Import reports").click().run()
    assert not app.exception
    assert "s50414267" in shown(app)
