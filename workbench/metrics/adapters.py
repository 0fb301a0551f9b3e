"""Metrics that need a model: the field's own packages, each run in an environment of its own.

Nothing is ever fetched here. The package has to be in uv's cache (``prepare_command`` puts it there, once, with a
network), and the weights in a folder, one subfolder per metric, with a file ``SHA256SUMS`` as ``sha256sum`` writes it,
so that it is known which weights a score is of. What is missing is said in one sentence before anything slow is
started; the child process sees no network, so that no package waits for one.

``WORKBENCH_METRICS_PYTHON`` names the Python of an environment that has the packages already; then uv is not asked.
"""

import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from workbench.errors import InputError
from workbench.metrics.base import Text, fixed_values
from workbench.metrics.registry import get

PYTHON = "WORKBENCH_METRICS_PYTHON"
SUMS = "SHA256SUMS"
LOOK = 20  # seconds after which looking for a package is given up; it takes one or two

_WORKERS = Path(__file__).parent / "workers"
_SUM = re.compile(r"([0-9a-fA-F]{64})\s+\*?(.+)")
# No network: hubs say at once that they are not asked, and whatever else tries finds a closed door on this computer.
_CLOSED = "http://127.0.0.1:9"
_OFFLINE = {
    **dict.fromkeys(("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "UV_OFFLINE"), "1"),
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"), _CLOSED),
    "NO_PROXY": "",
    "no_proxy": "",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONWARNINGS": "ignore",
}


@dataclass(frozen=True, slots=True)
class Adapter:
    """How a metric's package is run.

    ``packages`` are what uv installs, ``module`` is what has to be importable then, ``files`` are what has to be in the
    folder of the weights ("this|that": either), ``source`` says where these come from.
    """

    metric_id: str
    packages: tuple[str, ...]
    module: str
    worker: str
    files: tuple[str, ...]
    source: str
    named_within: Callable[[Path], str | None] = lambda _folder: None  # a further file that the weights themselves name


def _base_of_radgraph(folder: Path) -> str | None:
    """Return the configuration of the model that RadGraph was built on; its own configuration says which that is."""
    try:
        config = json.loads((folder / "radgraph" / "config.json").read_text(encoding="utf-8"))
        return f"{config['model']['embedder']['token_embedders']['bert']['model_name']}/config.json"
    except (ValueError, LookupError, TypeError):
        return None  # the package will say what is wrong with it


# Newer major versions of transformers no longer load what these packages were written for.
ADAPTERS: Mapping[str, Adapter] = MappingProxyType(
    {
        adapter.metric_id: adapter
        for adapter in (
            Adapter(
                "bertscore",
                ("bert-score==0.3.13", "transformers<5"),
                "bert_score",
                "bertscore_worker.py",
                (
                    "distilroberta-base/config.json",
                    "distilroberta-base/model.safetensors|distilroberta-base/pytorch_model.bin",
                    "distilroberta-base/tokenizer.json|distilroberta-base/vocab.json",
                ),
                "the folder distilroberta-base is that model as its publisher offers it",
            ),
            Adapter(
                "f1chexbert",
                ("f1chexbert==0.0.2", "transformers<5"),
                "f1chexbert",
                "chexbert_worker.py",
                ("chexbert.pth", "bert-base-uncased/config.json", "bert-base-uncased/vocab.txt"),
                "chexbert.pth is the checkpoint of stanfordmlgroup/CheXbert, bert-base-uncased that model's own folder",
            ),
            Adapter(
                "radgraph_f1",
                ("radgraph==0.1.18", "transformers<5"),
                "radgraph",
                "radgraph_worker.py",
                ("radgraph/config.json", "radgraph/weights.th", "radgraph/vocabulary/non_padded_namespaces.txt"),
                "radgraph is the unpacked archive of the model, beside it the folder of the model that its config.json "
                "names",
                _base_of_radgraph,
            ),
        )
    }
)


def run_adapter(metric_id: str, references: Sequence[Text], generated: Sequence[Text], *, weights: Path) -> list[float]:
    """Return a metric's value of each pair, computed by the field's own package; [pair].

    NaN where a pair has none (``base.fixed_values``), and 0.0 for a blank generated report, which no package is asked
    about: they differ in what they say of one, and some stop.

    Args:
        metric_id: one of ``ADAPTERS``.
        references: the reference reports.
        generated: the generated report of each.
        weights: the folder with a subfolder for each metric.

    Raises:
        InputError: the metric has no adapter; weights, checksums or the package are missing or are not those; or the
            package stopped, with the last line of what it said.
        ValueError: there is not one generated report per reference.
    """
    adapter = _adapter(metric_id)
    values = fixed_values(references, generated)
    folder = _checked_weights(adapter, weights)
    command = _command(adapter)
    asked = np.flatnonzero(np.isinf(values)).tolist()
    if asked:
        pairs = {"references": [references[i] for i in asked], "generated": [generated[i] for i in asked]}
        values[asked] = _ask(adapter, command, folder, pairs)
    return [float(value) for value in values]


def check_adapter(metric_id: str, *, weights: Path) -> None:
    """Return where everything is there that a metric needs; it takes seconds.

    Raises:
        InputError: as ``run_adapter``.
    """
    adapter = _adapter(metric_id)
    _checked_weights(adapter, weights)
    _command(adapter)


def prepare_command(metric_id: str) -> str:
    """Return the command that puts a metric's package into uv's cache; it needs a network, once.

    Raises:
        InputError: the metric has no adapter.
    """
    adapter = _adapter(metric_id)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    named = " ".join(f"--with '{package}'" for package in adapter.packages)
    return f"uv run --no-project --isolated --python {version} {named} python -c 'import {adapter.module}'"


def _adapter(metric_id: str) -> Adapter:
    metric = get(metric_id)
    if metric_id not in ADAPTERS:
        raise InputError(
            f"{metric.name} is not run here ({', '.join(ADAPTERS)} are); compute it elsewhere and import its scores."
        )
    return ADAPTERS[metric_id]


def _checked_weights(adapter: Adapter, weights: Path) -> Path:
    """Return the folder of a metric's weights, every file in it as its checksum says."""
    folder, name = weights / adapter.metric_id, get(adapter.metric_id).name
    needed = [_either(folder, file) for file in adapter.files]
    missing = next((file for file in needed if not (folder / file).is_file()), None)
    if missing is None and (further := adapter.named_within(folder)) is not None:
        needed.append(further)
        missing = None if (folder / further).is_file() else further
    if missing is not None:
        raise InputError(f"{name} needs weights: {folder / missing} is missing ({adapter.source}).")
    sums = _sums(folder)
    unlisted = next((file for file in needed if file not in sums), None)
    if unlisted is not None:
        raise InputError(
            f"{folder / SUMS} has no checksum of {unlisted}; once you know that the files are right, write it: "
            f"cd {folder} && find . -type f ! -name {SUMS} | xargs sha256sum > {SUMS}"
        )
    for file, expected in sums.items():
        if not (folder / file).is_file():
            raise InputError(f"{name} needs weights: {folder / file} is missing, and {SUMS} lists it.")
        with (folder / file).open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
        if found != expected:
            raise InputError(f"{folder / file} has another checksum than {SUMS} lists; fetch it again.")
    return folder


def _either(folder: Path, files: str) -> str:
    """Return the file of several that is there, or the first."""
    names = files.split("|")
    return next((name for name in names if (folder / name).is_file()), names[0])


def _sums(folder: Path) -> dict[str, str]:
    path = folder / SUMS
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    matches = [_SUM.fullmatch(line.strip()) for line in lines if line.strip()]
    if None in matches:
        raise InputError(f"{path}: a line is no checksum and file name as sha256sum writes them.")
    return {match[2].removeprefix("./"): match[1].lower() for match in matches if match is not None}


def _command(adapter: Adapter) -> list[str]:
    """Return how Python is started where the package is; the package has been found there."""
    name, ready = get(adapter.metric_id).name, os.environ.get(PYTHON)
    if ready:
        command, cure = [ready], f"install {' and '.join(adapter.packages)} there, or unset {PYTHON}"
    elif shutil.which("uv"):
        named = [part for package in adapter.packages for part in ("--with", package)]
        command = ["uv", "run", "--offline", "--no-project", "--isolated", "--python", sys.executable, *named, "python"]
        cure = f"with a network, run once: {prepare_command(adapter.metric_id)}"
    else:
        raise InputError(f"{name} needs uv to run its package apart from this one: pip install uv, or set {PYTHON}.")
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({adapter.module!r}) is None)"
    try:
        done = subprocess.run(
            [*command, "-c", look], capture_output=True, timeout=LOOK, check=False, env=_environment()
        )
        found = done.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        found = False
    if not found:
        raise InputError(f"{name} needs the package {adapter.packages[0]}, which is not here; {cure}.")
    return command


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    return kept | _OFFLINE


def _ask(adapter: Adapter, command: list[str], folder: Path, pairs: dict[str, list[Text]]) -> list[float]:
    """Run the worker in the folder of the weights and return what it computed."""
    name = get(adapter.metric_id).name
    with tempfile.TemporaryDirectory(prefix="workbench-metric-") as kept:
        given, made = Path(kept) / "in.json", Path(kept) / "out.json"
        given.write_text(json.dumps(pairs), encoding="utf-8")
        worker = [*command, str(_WORKERS / adapter.worker), str(given), str(made)]
        environment = _environment() | {"HF_HOME": str(Path(kept) / "hub")}
        done = subprocess.run(worker, cwd=folder, capture_output=True, text=True, check=False, env=environment)
        if done.returncode or not made.is_file():
            said = [line.strip() for line in done.stderr.splitlines() if line.strip()] or ["it said nothing"]
            raise InputError(f"{name}: the package {adapter.packages[0]} stopped: {said[-1][:300]}")
        values = json.loads(made.read_text(encoding="utf-8"))
    if not isinstance(values, list) or len(values) != len(pairs["references"]):
        raise InputError(f"{name}: the package {adapter.packages[0]} did not give one number per report.")
    return [float(value) if math.isfinite(value) else math.nan for value in values]
