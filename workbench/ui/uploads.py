"""Forms that take files in: an upload is written aside, handed to the workflow, and thrown away."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from workbench.errors import WorkbenchError
from workbench.ui import data, state, widgets
from workbench.workflow import ingest

FORMS = {
    "By the file's ending": None,
    "CSV": "csv",
    "JSON Lines": "jsonl",
    "Parquet": "parquet",
    "Open-i, as published": "openi",
    "MIMIC-CXR's folders in a zip": "mimic",
}
ENDINGS = ["csv", "jsonl", "ndjson", "json", "txt", "parquet", "zip"]


@contextmanager
def on_disk(upload: UploadedFile) -> Iterator[Path]:
    """Give an upload as a file of the same name in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="workbench-upload-") as folder:
        path = Path(folder) / (PurePath(upload.name).name or "upload")
        path.write_bytes(upload.getvalue())
        try:
            yield path
        except WorkbenchError as error:  # people know the name of their file, not where the server put it
            raise type(error)(str(error).replace(f"{folder}/", "")) from None


def reports_form(here: state.Here) -> None:
    """Draw the form that imports reports."""
    upload = st.file_uploader("File with reports", type=ENDINGS, key="reports.file")
    left, right = st.columns(2)
    form = left.selectbox(
        "Form", list(FORMS), help="Open-i is the CSV of Indiana University as published.", key="reports.form"
    )
    encoding = right.selectbox("Encoding", ["utf-8", "utf-8-sig", "latin-1", "gb18030"])
    st.caption("Which column holds what? Leave a field empty where the file already uses the name on its label.")
    names = st.columns(4)
    given = {
        key: names[i].text_input(key, placeholder=key, key=f"reports.column.{key}")
        for i, key in enumerate(("id", "patient", "text", "language"))
    }
    sections = st.text_input(
        "Section columns, where each section has a column of its own",
        placeholder="findings=FindingsText, impression=ImpressionText",
    )
    if st.button("Import reports", type="primary", disabled=upload is None) and upload is not None:
        with widgets.explained(), on_disk(upload) as path, st.spinner("Taking the reports in"):
            columns = {key: name.strip() for key, name in given.items() if name.strip()} | section_columns(sections)
            done = ingest.import_reports(
                here.study, here.actor, path, form=FORMS[form], columns=columns or None, encoding=encoding
            )
            unread = f" {len(done.unreadable)} have nothing in the sections that are read." if done.unreadable else ""
            state.say(f"{done.file}: {done.added} reports added, {done.known} were known already.{unread}")
            st.rerun()


def section_columns(text: str) -> dict[str, str]:
    """Return ``findings=A, impression=B`` as column keys ``section:findings`` and so on."""
    pairs = (part.partition("=") for part in text.split(",") if part.strip())
    return {f"section:{name.strip().lower()}": column.strip() for name, _, column in pairs}


def labels_form(here: state.Here) -> None:
    """Draw the form that imports raters' labels."""
    st.caption(
        "A wide CSV: one row per report, one column per finding; 1 present, 0 absent, -1 uncertain, blank not said."
    )
    upload = st.file_uploader("File with labels", type=["csv"], key="labels.file")
    left, middle, right = st.columns(3)
    rater = left.text_input("Rater", help="Whose labels these are; the file's name when empty.")
    rater_column = middle.text_input("or the column that names the rater")
    report_column = right.text_input("Column with the report id", value="report_id")
    simulated = st.checkbox("These labels are simulated, not made by people")
    if st.button("Import labels", type="primary", disabled=upload is None) and upload is not None:
        with widgets.explained(), on_disk(upload) as path, st.spinner("Taking the labels in"):
            done = ingest.import_labels(
                here.study,
                here.actor,
                path,
                rater=rater.strip() or None,
                rater_column=rater_column.strip() or None,
                report_column=report_column.strip(),
                simulated=simulated,
            )
            raters = ", ".join(f"{name} {n}" for name, n in done.submitted.items()) or "none"
            state.say(f"{done.file}: submitted reports by rater: {raters}; {done.not_reviewed} rows were not reviewed.")
            st.rerun()


def import_panel(here: state.Here, *, expanded: bool) -> None:
    """Draw both imports, folded away unless the study is empty."""
    with st.expander("Import reports or raters' labels", expanded=expanded, icon=":material/upload_file:"):
        reports, labels = st.tabs(["Reports", "Raters' labels"])
        with reports:
            reports_form(here)
        with labels:
            if data.cohort_views(here) or not expanded:
                labels_form(here)
            else:
                st.info("Import the reports first; labels name them by their id.")
