"""What an adapter says where something is missing, and how it runs a package. The package here is a stand-in."""

import hashlib
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.metrics import adapters
from workbench.metrics.adapters import ADAPTERS, PYTHON, SUMS, Adapter, check_adapter, prepare_command, run_adapter

STAND_IN = """
import os, socket
class Score(float): pass
class BERTScorer:
    def __init__(self, **settings):
        assert settings == {"model_type": "distilroberta-base", "batch_size": 64, "lang": "en",
                            "rescale_with_baseline": True}, settings
        assert os.path.isfile("distilroberta-base/config.json"), os.getcwd()
        assert os.environ["HF_HUB_OFFLINE"] == os.environ["TRANSFORMERS_OFFLINE"] == "1"
        assert os.environ["HTTPS_PROXY"].startswith("http://127.0.0.1")
    def score(self, generated, references):
        print("a package may print what it likes")
        return None, None, [Score(len(g) / len(r)) for g, r in zip(generated, references)]
"""


def files_of(adapter: Adapter) -> list[str]:
    return [file.split("|")[0] for file in adapter.files]


def write_sums(folder: Path) -> None:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != SUMS]
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  ./{path.relative_to(folder)}" for path in files]
    (folder / SUMS).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A folder in which every metric has files of the right names, and their checksums."""
    folder = tmp_path / "weights"
    for adapter in ADAPTERS.values():
        for file in files_of(adapter):
            path = folder / adapter.metric_id / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}", encoding="utf-8")
        write_sums(folder / adapter.metric_id)
    return folder


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Gives the adapters a Python in whose environment bert_score is this text."""

    def install(source: str) -> None:
        (tmp_path / "packages").mkdir()
        (tmp_path / "packages" / "bert_score.py").write_text(source, encoding="utf-8")
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}/packages" exec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        monkeypatch.setenv(PYTHON, str(python))

    return install


@pytest.fixture
def nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("nothing should be started")

    monkeypatch.setattr(subprocess, "run", refuse)


@pytest.mark.parametrize("metric_id", sorted(ADAPTERS))
@pytest.mark.usefixtures("nothing_is_started")
def test_missing_weights_are_named_before_anything_is_started(metric_id: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs weights") as caught:
        run_adapter(metric_id, ["a"], ["b"], weights=tmp_path)
    assert str(tmp_path / metric_id / ADAPTERS[metric_id].files[0]) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("nothing_is_started")
def test_the_model_that_radgraph_names_is_asked_for(weights: Path) -> None:
    config = '{"model": {"embedder": {"token_embedders": {"bert": {"model_name": "microsoft/PubMedBERT"}}}}}'
    (weights / "radgraph_f1" / "radgraph" / "config.json").write_text(config, encoding="utf-8")
    write_sums(weights / "radgraph_f1")
    with pytest.raises(InputError, match=r"microsoft/PubMedBERT/config\.json is missing"):
        check_adapter("radgraph_f1", weights=weights)


@pytest.mark.usefixtures("nothing_is_started")
def test_weights_without_checksums_or_with_others_are_refused(weights: Path) -> None:
    folder = weights / "f1chexbert"
    (folder / "chexbert.pth").write_text("other", encoding="utf-8")
    with pytest.raises(InputError, match=r"chexbert\.pth has another checksum than SHA256SUMS lists"):
        check_adapter("f1chexbert", weights=weights)
    (folder / SUMS).write_text("not a checksum\n", encoding="utf-8")
    with pytest.raises(InputError, match="no checksum and file name"):
        check_adapter("f1chexbert", weights=weights)
    (folder / SUMS).unlink()
    with pytest.raises(InputError, match=r"has no checksum of chexbert\.pth; .* write it: cd .*sha256sum"):
        check_adapter("f1chexbert", weights=weights)


@pytest.mark.usefixtures("nothing_is_started")
def test_a_listed_file_that_is_gone_is_named(weights: Path) -> None:
    extra = weights / "bertscore" / "distilroberta-base" / "merges.txt"
    extra.write_text("weights", encoding="utf-8")
    write_sums(weights / "bertscore")
    extra.unlink()
    with pytest.raises(InputError, match=r"merges\.txt is missing, and SHA256SUMS lists it"):
        check_adapter("bertscore", weights=weights)


@pytest.mark.usefixtures("nothing_is_started")
def test_either_form_of_the_weights_will_do(weights: Path) -> None:
    model = weights / "bertscore" / "distilroberta-base" / "model.safetensors"
    model.unlink()
    with pytest.raises(InputError, match=r"model\.safetensors is missing \(the folder distilroberta-base"):
        check_adapter("bertscore", weights=weights)
    model.with_name("pytorch_model.bin").write_text("other")
    with pytest.raises(InputError, match=r"has no checksum of distilroberta-base/pytorch_model\.bin"):
        check_adapter("bertscore", weights=weights)


@pytest.mark.parametrize("metric_id", sorted(ADAPTERS))
def test_a_package_that_is_not_here_is_named_with_what_to_run(
    metric_id: str, weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(PYTHON, raising=False)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty"))
    with pytest.raises(InputError, match="which is not here; with a network, run once: uv run --no-project") as caught:
        run_adapter(metric_id, ["a"], ["b"], weights=weights)
    assert prepare_command(metric_id) in str(caught.value)
    assert ADAPTERS[metric_id].packages[0] in str(caught.value)


def test_an_environment_without_the_package_or_without_python_says_so(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for python in (sys.executable, "/nowhere/python"):
        monkeypatch.setenv(PYTHON, python)
        with pytest.raises(InputError, match=f"install bert-score.* there, or unset {PYTHON}"):
            check_adapter("bertscore", weights=weights)


def test_without_uv_this_is_said(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PYTHON, raising=False)
    monkeypatch.setattr(adapters.shutil, "which", lambda _name: None)
    with pytest.raises(InputError, match="needs uv to run its package"):
        check_adapter("bertscore", weights=weights)


def test_the_package_is_asked_about_pairs_with_two_texts_only(weights: Path, stand_in: Callable[[str], None]) -> None:
    stand_in(STAND_IN)
    references = ["four", "four", None, " ", "four", "无气胸"]
    generated = ["12", " ", "x", "x", None, "无气胸"]
    scores = run_adapter("bertscore", references, generated, weights=weights)
    assert scores == pytest.approx([0.5, 0.0, math.nan, math.nan, math.nan, 1.0], nan_ok=True)


def test_with_nothing_to_ask_the_package_is_not_run(weights: Path, stand_in: Callable[[str], None]) -> None:
    stand_in("raise RuntimeError('should not be imported')")
    assert run_adapter("bertscore", ["a"], [""], weights=weights) == [0.0]
    assert run_adapter("bertscore", [], [], weights=weights) == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise RuntimeError('no kernel image')", "stopped: RuntimeError: no kernel image"),
        (STAND_IN.replace("[Score(", "[] and [Score("), "did not give one number per report"),
    ],
)
def test_a_package_that_stops_is_told_in_a_sentence(
    source: str, said: str, weights: Path, stand_in: Callable[[str], None]
) -> None:
    stand_in(source)
    with pytest.raises(InputError, match=said) as caught:
        run_adapter("bertscore", ["a"], ["b"], weights=weights)
    assert "\n" not in str(caught.value)


def test_a_value_that_is_no_number_is_undefined(weights: Path, stand_in: Callable[[str], None]) -> None:
    stand_in(STAND_IN.replace("len(g) / len(r)", "'nan'"))
    assert math.isnan(run_adapter("bertscore", ["a"], ["b"], weights=weights)[0])


def test_a_metric_without_an_adapter_is_to_be_imported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"GREEN is not run here .* import its scores"):
        run_adapter("green", ["a"], ["b"], weights=tmp_path)
    with pytest.raises(InputError, match="no metric 'meteor'"):
        run_adapter("meteor", ["a"], ["b"], weights=tmp_path)
