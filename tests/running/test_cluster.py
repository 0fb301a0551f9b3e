"""Labelling on a Ray cluster of two workers: the same labels, in order. Skips where the extra is not installed.

uv run --extra ray pytest tests/running/test_cluster.py
"""

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from workbench.domain.findings import LabelSet
from workbench.domain.prompts import Prompt
from workbench.domain.runs import LabelerSettings, Usage
from workbench.errors import InputError, RightsError
from workbench.labelers.registry import settings_of
from workbench.models.egress import Egress
from workbench.running.bulk import label_many
from workbench.running.cluster import OnCluster, Work, cluster
from workbench.running.journal import open_journal

RULES = settings_of("rules", kind="rules")
SERVER = Path(__file__).parents[1] / "models" / "fault_server.py"
needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra ray is not installed")


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="the extra ray is installed")
def test_without_the_extra_one_sentence_says_how_to_get_it() -> None:
    with (
        pytest.raises(InputError, match=r"Ray is not installed: install it with .*--extra ray"),
        cluster("local", Egress()),
    ):
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A head without cores and two workers of one core each."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    small = {"object_store_memory": 100 << 20}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **small})
    for _ in range(2):
        made.add_node(num_cpus=1, **small)
    yield made.address
    made.shutdown()


def rows(count: int) -> Iterator[tuple[str, str]]:
    said = ["Effusion {}.", "No words {}.", "", "Edema and effusion {}."]
    return ((f"r{i}", said[i % 4].format(i)) for i in range(count))


@needs_ray
def test_rules_give_what_one_computer_gives_in_order(address: str, prompt: Prompt, label_set: LabelSet) -> None:
    with cluster(address, Egress()):
        made = OnCluster(rows(2_600), Work(prompt, label_set, RULES, Egress()), None, at_once=1_200)
        assert list(made.labels()) == list(label_many(rows(2_600), prompt, label_set, workers=1))


@needs_ray
def test_a_model_is_asked_by_the_workers_and_not_again_for_what_is_written_down(
    address: str, prompt: Prompt, label_set: LabelSet, tmp_path: Path
) -> None:
    child = subprocess.Popen([sys.executable, str(SERVER), "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        url = f"http://127.0.0.1:{int(child.stdout.readline().split()[-1])}/v1"
        labeler = settings_of("m", kind="openai", base_url=url, model="m", concurrency=4)
        some = [(f"r{i}", f"effusion {['present', 'absent'][i % 2]}. Number {i}.") for i in range(150)]
        expected = [(f"r{i}", [1 - i % 2, -2]) for i in range(150)]
        for asked in (True, False):
            with cluster(address, Egress()), open_journal(tmp_path / "j", "me") as journal:
                made = OnCluster(iter(some), Work(prompt, label_set, labeler, Egress()), journal)
                assert list(made.labels()) == expected
                assert made.yielded_usage().replies == 150
            if asked:
                child.kill()  # what comes the second time comes from the journal
    finally:
        child.kill()
        child.wait()
    with cluster(address, Egress()), open_journal(tmp_path / "other", "me") as journal:
        made = OnCluster(iter(some), Work(prompt, label_set, labeler, Egress()), journal)
        with pytest.raises(Exception, match="no connection|connection"):
            list(made.labels())


def test_a_host_that_was_closed_meanwhile_is_noticed_before_the_next_batch(
    prompt: Prompt, label_set: LabelSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    class Data:
        """Ray's data, as far as it is used, one batch after the other."""

        def __init__(self, items: list[dict[str, str]], **_: int) -> None:
            self.items = items

        def map_batches(self, said: Callable[..., Any], *, batch_size: int, fn_kwargs: dict[str, Any]) -> "Data":
            self.said, self.size, self.given = said, batch_size, fn_kwargs
            return self

        def iter_rows(self) -> Iterator[dict[str, Any]]:
            for first in range(0, len(self.items), self.size):
                begun.append(first)
                texts = [item["text"] for item in self.items[first : first + self.size]]
                found = self.said({"text": texts}, **self.given)
                yield from (dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True))

    fake = ModuleType("ray")
    fake.data = ModuleType("ray.data")  # type: ignore[attr-defined]
    fake.data.from_items = Data
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setitem(sys.modules, "ray.data", fake.data)
    asked: list[int] = []

    def still_allowed() -> None:
        asked.append(len(begun))
        if len(begun) == 2:
            raise RightsError("This host was closed.")

    made = OnCluster(rows(1_800), Work(prompt, label_set, RULES, Egress()), None, still_allowed=still_allowed)
    with pytest.raises(RightsError, match="closed"):
        list(made.labels())
    assert (asked, begun) == ([0, 1, 2], [0, 500])


@needs_ray
def test_a_restricted_host_is_refused_by_the_workers_too(
    address: str, prompt: Prompt, label_set: LabelSet, tmp_path: Path
) -> None:
    far = LabelerSettings("m", "openai", base_url="http://10.0.0.1:8000/v1", model="m", options={"asks": "2"})
    with cluster(address, Egress()), open_journal(tmp_path / "j", "me") as journal:
        made = OnCluster(iter([("r0", "Clear.")]), Work(prompt, label_set, far, Egress()), journal)
        with pytest.raises(Exception, match="restricted to this computer"):
            list(made.labels())
        assert made.yielded_usage() == Usage()


@needs_ray
def test_a_computer_of_the_cluster_that_may_not_be_sent_reports_is_refused(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    monkeypatch.setattr(ray, "nodes", lambda: [{"Alive": True, "NodeManagerAddress": "10.9.9.9", "NodeManagerPort": 1}])
    with pytest.raises(RightsError, match=r"10\.9\.9\.9"), cluster(address, Egress()):
        pass
    assert not ray.is_initialized()


@needs_ray
def test_a_cluster_that_is_not_there_is_told() -> None:
    with pytest.raises(InputError, match="There is no Ray cluster at"), cluster("127.0.0.1:1", Egress()):
        pass
