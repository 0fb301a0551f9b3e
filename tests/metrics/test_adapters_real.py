"""The field's own packages load weights by their own code, without a network, and score pairs.

The weights are random and tiny, made by this test; the packages are installed for it alone, out of the project. It
needs a torch for the processor alone among the wheels that this computer has, since that of the package index brings
gigabytes for graphics cards.
"""

import math
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.metrics.adapters import ADAPTERS, PYTHON, check_adapter, run_adapter

pytestmark = pytest.mark.model

LINE = "no pleural effusion or pneumothorax . the heart is normal . "
# More words than these models take at once; RadGraph, which reads on in pieces, would take minutes for as many.
LONG = {"bertscore": 64 * LINE, "f1chexbert": 64 * LINE, "radgraph_f1": 12 * LINE}
REFERENCES = ["No pleural effusion.", "The heart is normal.", "", "effusion", None, "", "The heart is enlarged."]
GENERATED = ["No pleural effusion.", "Small left pneumothorax.", "Clear lungs.", "", "x", "x", None]


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The Python of an environment with all three packages; it is removed afterwards, being a gigabyte."""
    folder = tmp_path_factory.mktemp("packages")
    python = folder / "bin" / "python"
    packages = sorted({package for adapter in ADAPTERS.values() for package in adapter.packages})
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = (
        [sys.executable, "-m", "venv", str(folder)],
        [*install, "--no-index", "--no-deps", "torch"],
        ["uv", "pip", "install", "--python", str(python), *packages] if shutil.which("uv") else [*install, *packages],
    )
    for step in steps:
        try:
            done = subprocess.run(step, capture_output=True, text=True, timeout=600, check=False)
        except subprocess.TimeoutExpired:
            pytest.skip("the packages took over ten minutes to install; the test with the real packages is left out")
        if done.returncode:
            pytest.skip(f"cannot be installed here: {step[-1]}; the test with the real packages is left out")
    yield python
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def weights(ready: Path, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("weights")
    script = root / "tests" / "metrics" / "tiny_weights.py"
    done = subprocess.run([str(ready), str(script), str(folder)], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr[-2000:]
    return folder


@pytest.mark.parametrize("metric_id", sorted(ADAPTERS))
def test_each_package_loads_its_weights_and_scores(
    metric_id: str, ready: Path, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PYTHON, str(ready))
    check_adapter(metric_id, weights=weights)
    references = [*REFERENCES[:2], LONG[metric_id], *REFERENCES[3:]]
    scores = run_adapter(metric_id, references, GENERATED, weights=weights)
    assert scores[0] == pytest.approx(1.0, abs=1e-4)  # identical
    assert all(math.isfinite(score) for score in scores[:4])
    assert scores[3] == 0.0  # a blank generated report
    assert all(math.isnan(score) for score in scores[4:])
