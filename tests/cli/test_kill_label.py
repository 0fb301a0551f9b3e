"""kill -9 half way through `workbench label --parts`: the same command ends as if it had never been killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

REPORTS, PART = 40_000, 2_000


def make_source(path: Path) -> None:
    said = ["No effusion.", "Small left effusion.", "Possible pneumonia, {}.", "Lines end at {} cm."]
    with path.open("w", encoding="utf-8") as file:
        file.write("id,text\n")
        for i in range(REPORTS):
            text = "INDICATION: Cough." if i % 997 == 0 else f"FINDINGS: {said[i % 4].format(i)} Unlike {i}."
            file.write(f'r{i},"{text}"\n')


@pytest.mark.skipif(os.name != "posix", reason="only POSIX systems kill so")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_labelling_killed_half_way_is_finished_by_the_same_command(
    made_demo: Path, tmp_path: Path, form: str
) -> None:
    make_source(tmp_path / "in.csv")

    def command(out: str) -> list[str]:
        asked = ["label", "in.csv", "-o", out, "--parts", form, "--part-reports", str(PART), "--workers", "2", "--json"]
        return [sys.executable, "-m", "workbench", *asked, "--study", str(made_demo)]

    child = subprocess.Popen(command("out"), cwd=tmp_path, stdout=subprocess.DEVNULL)
    while len(list((tmp_path / "out").glob("part-*"))) < 3:
        assert child.poll() is None, "the labelling ended before it could be killed"
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    child.wait()
    left = json.loads((tmp_path / "out" / "manifest.json").read_text())

    again, whole = (
        subprocess.run(command(out), cwd=tmp_path, capture_output=True, text=True, check=True)
        for out in ("out", "whole")
    )
    done = json.loads(again.stdout)
    assert 2 <= len(left["parts"]) < done["parts"] == REPORTS // PART
    assert (done["kept_parts"], done["labelled"]) == (len(left["parts"]), json.loads(whole.stdout)["labelled"])
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == {
        p.name: p.read_bytes() for p in (tmp_path / "whole").iterdir()
    }
