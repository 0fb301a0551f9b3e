"""The form that takes in what report generators wrote."""

from contextlib import ExitStack

import streamlit as st

from workbench.formats.metric_scores import read_metric_scores
from workbench.formats.systems import TASKS
from workbench.metrics.registry import METRICS
from workbench.storage.leaderboard import DataSetRecord
from workbench.ui import state, uploads, widgets
from workbench.ui.state import Here
from workbench.workflow import metrics, systems
from workbench.workflow.systems import DEFAULT_TASK, System, TakenIn

ENDINGS = ["json", "csv", "jsonl", "ndjson"]
_NEW = "a new data set"
_TASK_NAMES = {"findings": "findings only", "findings+impression": "findings and impression"}


def draw(here: Here, known: list[DataSetRecord]) -> None:
    """Draw it: reference reports once, then one file per system."""
    st.markdown(
        "**One file with the reference reports, one file per system.** ReXrank's JSON (`report`, `model_prediction`), "
        "CSV or JSON Lines with the columns `study_id`, `reference`, `generated`, and `patient_id` where there is one."
    )
    by_name = {f"{d.name} · {_TASK_NAMES[d.task]}": d for d in known}
    chosen = st.selectbox("Compared on", [*by_name, _NEW], key="leaderboard.into") if known else _NEW
    reference = None
    task, name = DEFAULT_TASK, ""
    if chosen == _NEW:
        one, two, three = st.columns([3, 2, 2])
        reference = one.file_uploader("Reference reports", type=ENDINGS, key="leaderboard.reference")
        name = two.text_input("Name of the data set", placeholder="the file's name", key="leaderboard.name")
        task = three.selectbox("What is scored", list(TASKS)[::-1], format_func=_TASK_NAMES.__getitem__)
    generated = st.file_uploader(
        "Generated reports, a file per system; the file's name becomes the system's",
        type=ENDINGS,
        accept_multiple_files=True,
        key="leaderboard.generated",
    )
    ready = bool(generated) and (chosen != _NEW or reference is not None)
    if st.button("Score them", type="primary", icon=":material/leaderboard:", disabled=not ready):
        with widgets.explained(), ExitStack() as files, st.spinner("Taking the reports in"):
            paths = [System(files.enter_context(uploads.on_disk(upload))) for upload in generated]
            if reference is None:
                data_set = by_name[chosen]
                taken = systems.add_systems(here.study, here.actor, data_set, paths)
            else:
                side = System(files.enter_context(uploads.on_disk(reference)), name.strip() or None)
                data_set, taken = systems.add_scored(here.study, here.actor, side, paths, task=task)
            st.session_state["leaderboard.data_set"] = data_set.hash
            state.say(" ".join(map(_told, taken)))
            st.rerun()


def draw_scores(here: Here, data_set: DataSetRecord) -> None:
    """Draw the form that takes in scores of metrics that were computed elsewhere."""
    st.markdown(
        f"**Scores computed elsewhere**, of {widgets.plain(data_set.name)}: a CSV with the columns `study_id`, "
        "`system`, `metric`, `value`. Radiologists' ratings come in the same way."
    )
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    upload = left.file_uploader("Scores", type=["csv"], key="leaderboard.scores")
    better = right.radio(
        "In metrics that the workbench does not know",
        ("higher is better", "lower is better"),
        index=None,
        horizontal=True,
        key="leaderboard.better",
    )
    if st.button("Take the scores in", icon=":material/upload_file:", disabled=upload is None) and upload is not None:
        with widgets.explained(), uploads.on_disk(upload) as path:
            unknown = [metric for metric in read_metric_scores(path) if metric not in METRICS] if better else []
            told = dict.fromkeys(unknown, better == "higher is better")
            done = metrics.import_scores(here.study, here.actor, data_set, path, higher_is_better=told)
            state.say(" ".join(f"{one.metric}: {sum(one.values.values())} scores." for one in done))
            st.rerun()


def _told(each: TakenIn) -> str:
    rest = [
        (each.empty, "empty"),
        (each.missing, "left out"),
        (each.unknown, "not in the data set"),
        (each.other_references, "references given otherwise, where those of the data set count"),
    ]
    told = "".join(f", {n} {what}" for n, what in rest if n)
    return f"{each.system}: {each.written} reports{told}."
