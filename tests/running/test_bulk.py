"""Labelling a long file: in order, not read ahead, the same with any number of workers, clean when it is stopped."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from workbench.domain.findings import LabelSet
from workbench.domain.prompts import Prompt
from workbench.errors import WorkbenchError
from workbench.running.bulk import BLANK, label_many

TEXTS = ["Effusion.", "No words of it.", "", "Edema and effusion.", " \n ", "Effusion. Edema."]
STATES = {
    "Effusion.": [1, -2],
    "No words of it.": [-2, -2],
    "": BLANK,
    "Edema and effusion.": [1, 1],
    " \n ": BLANK,
    "Effusion. Edema.": [1, 1],
}


def rows(count: int) -> Iterator[tuple[str, str]]:
    return ((f"r{i}", TEXTS[i % len(TEXTS)]) for i in range(count))


def without(text: str, *, word: str) -> str:
    if text == "Effusion. Edema.":
        raise ValueError(text)
    return text.replace(word, "")


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("count", [0, 1, 7, 20])
def test_labels_every_row_in_order(prompt: Prompt, label_set: LabelSet, workers: int, count: int) -> None:
    labelled = list(label_many(rows(count), prompt, label_set, workers=workers, chunk=3))
    assert labelled == [(row_id, STATES[text]) for row_id, text in rows(count)]


@pytest.mark.parametrize("workers", [1, 2])
def test_texts_are_prepared_and_a_text_that_cannot_be_is_told_without_quoting_it(
    prompt: Prompt, label_set: LabelSet, workers: int
) -> None:
    prepare = partial(without, word="Effusion.")
    labelled = dict(label_many(rows(6), prompt, label_set, workers=workers, chunk=2, prepare=prepare))
    assert labelled["r0"] == BLANK
    assert labelled["r3"] == [1, 1]
    assert labelled["r5"] == "The labeler failed with ValueError."


@pytest.mark.parametrize("workers", [1, 2])
def test_a_text_in_another_language_than_the_prompt_has_a_reason_in_place_of_states(
    prompt: Prompt, label_set: LabelSet, workers: int
) -> None:
    texts = [("a", "Effusion."), ("b", "右侧胸腔积液。"), ("c", "Edema."), ("d", "双肺水肿。Edema")]
    labelled = dict(label_many(texts, prompt, label_set, workers=workers, chunk=3))
    why = "The report is in Chinese; the prompt's phrases are in English, so the rules cannot read it."
    assert labelled == {"a": [1, -2], "b": why, "c": [-2, 1], "d": why}


@pytest.mark.parametrize("workers", [1, 2])
def test_no_more_is_read_than_is_worked_on(prompt: Prompt, label_set: LabelSet, workers: int) -> None:
    read = 0

    def endless() -> Iterator[tuple[str, str]]:
        nonlocal read
        while True:
            read += 1
            yield f"r{read}", "Effusion."

    labelled = label_many(endless(), prompt, label_set, workers=workers, chunk=10)
    for _ in range(100):
        next(labelled)
    assert read <= 100 + 10 * workers * 2
    labelled.close()


def test_an_error_of_the_reader_reaches_the_caller(prompt: Prompt, label_set: LabelSet) -> None:
    def broken() -> Iterator[tuple[str, str]]:
        yield "r0", "Effusion."
        raise WorkbenchError("row 2 is not UTF-8")

    with pytest.raises(WorkbenchError, match="row 2"):
        list(label_many(broken(), prompt, label_set, workers=2, chunk=1))


def test_a_worker_that_is_ended_from_outside_is_told(prompt: Prompt, label_set: LabelSet) -> None:
    with pytest.raises(WorkbenchError, match="ended from outside"):
        list(label_many([("r0", "x")] * 4, prompt, label_set, workers=2, chunk=1, prepare=end_this_process))


def end_this_process(text: str) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return text


ENDLESS = """
import itertools
from workbench.domain.findings import Finding, LabelSet, Policies, Policy
from workbench.domain.prompts import FindingGuidance, Guidance, Prompt
from workbench.running.bulk import label_many

if __name__ == "__main__":
    policies = Policies(Policy.PRESENT)
    label_set = LabelSet("l", "1", "", (Finding("effusion", "", "", "", ""),), policies, policies)
    prompt = Prompt(Guidance("l", "en", "", "", {"effusion": FindingGuidance("", ("effusion",))}), "x")
    rows = ((str(i), "Effusion.") for i in itertools.count())
    for number, _ in enumerate(label_many(rows, prompt, label_set, workers=2)):
        if number == 1000:
            print("running", flush=True)
"""


def members(group: int) -> list[int]:
    """Return the processes of a group that have not ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(folder.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds worker processes through /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_is_left_behind_and_ctrl_c_is_quiet(tmp_path: Path, how: signal.Signals) -> None:
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    child = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A test run in the background of a shell is told to ignore Ctrl-C, and would hand that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "running\n"
        assert len(members(child.pid)) > 2
        if how is signal.SIGINT:
            os.killpg(child.pid, how)  # as the terminal does
        else:
            child.send_signal(how)
        _, errors = child.communicate(timeout=60)
        deadline = time.monotonic() + 30
        while members(child.pid):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        for pid in members(child.pid):  # whatever failed above, nothing endless stays behind
            os.kill(pid, signal.SIGKILL)
    assert errors.count("Traceback") <= (1 if how is signal.SIGINT else 0)  # the script's own, none of a worker
