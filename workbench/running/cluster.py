"""Label reports on a Ray cluster, in order and in constant memory: the same labels as on one computer.

Ray is an extra (``workbench[ray]``) and imported when it is used. The workbench must be installed on the cluster's
computers, and a model's key stand in their environment; only reports, the prompt and the settings travel.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from itertools import islice
from typing import Any

from workbench.domain.findings import FAILED, LabelSet
from workbench.domain.prompts import Prompt
from workbench.domain.runs import LabelerSettings, Usage
from workbench.errors import InputError, WorkbenchError
from workbench.labelers.registry import make_labeler, probe_server
from workbench.labelers.rules import RulesLabeler
from workbench.models.base import CallError
from workbench.models.egress import Egress
from workbench.models.probe import patiently
from workbench.running.asking import Said, said_of
from workbench.running.bulk import BLANK
from workbench.running.journal import Answer, Journal
from workbench.running.pool import Pool

AT_ONCE = 10_000
_BATCH = 500  # reports that a worker labels together
_BATCH_ASKED = 100

Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker needs to know to label."""

    prompt: Prompt
    label_set: LabelSet
    labeler: LabelerSettings
    egress: Egress


@contextmanager
def cluster(address: str, egress: Egress) -> Iterator[None]:
    """Join a Ray cluster for as long as the block lasts.

    Args:
        address: of the cluster ("10.0.0.5:6379"), or ``local`` for one of this computer alone that ends with the block.
        egress: where reports may be sent. Computers of the cluster count like servers.

    Raises:
        InputError: Ray is not installed, or there is no such cluster.
        RightsError: a computer of the cluster may not be sent reports.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing about the use of it leaves this computer
    try:
        import ray  # noqa: PLC0415
        import ray.data  # noqa: PLC0415
    except ImportError:
        raise InputError(
            "Ray is not installed: install it with `pip install -e '.[ray]'`, or begin the command with "
            "`uv run --extra ray`, or leave --ray out."
        ) from None
    _require_there(address)
    try:
        ray.init(address=address, include_dashboard=False if address == "local" else None, log_to_driver=False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise InputError(f"There is no Ray cluster at {address} that can be joined ({type(error).__name__}).") from None
    try:
        own = ray.util.get_node_ip_address()
        for node in ray.nodes():
            if node["Alive"] and node["NodeManagerAddress"] != own:
                egress.check_host(node["NodeManagerAddress"], int(node["NodeManagerPort"]))
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)  # it tells each part's plan and time
        yield
    finally:
        ray.shutdown()


def _require_there(address: str) -> None:
    """Raise InputError where nothing answers at "host:port": Ray itself tries for minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or "/" in host:
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"There is no Ray cluster at {address} that can be joined ({type(error).__name__}).") from None


class OnCluster:
    """Labels rows on the cluster that was joined. ``labels`` gives the rows in order, as those of ``Asking``.

    A batch of a model's answers comes back together and is written down then, so a kill loses the batches in work.

    Args:
        rows: (id, text).
        work: what workers need to know.
        journal: where a model's answers are written down, and known from; None for the rules labeler.
        first: the number of the first row in its source, as the journal counts.
        at_once: reports that are on the cluster together.
        still_allowed: raises RightsError where no more may be sent; asked each time before so many are, and after
            each batch of answers. What workers have in hand by then is let end, and what is not begun is not sent.
    """

    def __init__(
        self,
        rows: Iterator[Row],
        work: Work,
        journal: Journal | None,
        *,
        first: int = 0,
        at_once: int = AT_ONCE,
        still_allowed: Callable[[], None] = lambda: None,
    ) -> None:
        self._rows, self._work, self._journal = enumerate(rows, start=first), work, journal
        self._at_once, self._still_allowed = at_once, still_allowed
        self._yielded = Usage()

    def labels(self) -> Generator[tuple[str, Sequence[int] | str], None, None]:
        """Yield (id, codes in label-set order, or why there are none) of each row.

        Raises:
            WorkbenchError: the model's server answers no more.
            RightsError: it may not be sent reports any more.
        """
        while part := list(islice(self._rows, self._at_once)):
            self._still_allowed()
            known = {number: self._known(number, row) for number, row in part}
            fresh = self._fresh([(number, row) for number, row in part if known[number] is None])
            for number, (report, _) in part:
                answer = known[number] or next(fresh)
                self._yielded += answer.usage
                yield report, answer.said

    def yielded_usage(self) -> Usage:
        """Return what the rows took that were yielded since this was last asked."""
        usage, self._yielded = self._yielded, Usage()
        return usage

    def _known(self, number: int, row: Row) -> Answer | None:
        return self._journal.take(number, *row) if self._journal else None

    def _fresh(self, part: Sequence[tuple[int, Row]]) -> Iterator[Answer]:
        """Yield what workers say of rows, in order."""
        if not part:
            return
        import ray.data  # noqa: PLC0415

        size = _BATCH if self._work.labeler.kind == "rules" else _BATCH_ASKED
        texts = [{"text": text} for _, (_, text) in part]
        data = ray.data.from_items(texts, override_num_blocks=-(-len(part) // size))
        said = iter(data.map_batches(_said, batch_size=size, fn_kwargs={"work": self._work}).iter_rows())
        for count, (number, row) in enumerate(part):
            if count and count % size == 0:
                self._still_allowed()
            found = next(said)
            if found["stop"]:
                raise WorkbenchError(str(found["stop"]))
            codes, usage = ([int(value) for value in found[key]] for key in ("codes", "usage"))
            answer = Answer(str(found["why"]) or codes, Usage(*usage))
            if self._journal and found["is_reply"]:
                self._journal.add(number, *row, answer)
            yield answer


def _said(batch: dict[str, Any], work: Work) -> dict[str, list[Any]]:
    """Label a batch in a worker: a list of each column, so that what failed has its row too."""
    texts = [str(text) for text in batch["text"]]
    said = (
        [_by_rules(work, text) for text in texts] if work.labeler.kind == "rules" else asyncio.run(_asked(work, texts))
    )
    blank = [0] * len(work.label_set.ids)
    answers = [each.answer if isinstance(each, Said) else Answer("stopped") for each in said]
    return {
        "codes": [blank if isinstance(answer.said, str) else list(answer.said) for answer in answers],
        "why": [answer.said if isinstance(answer.said, str) else "" for answer in answers],
        "usage": [list(astuple(answer.usage)) for answer in answers],
        "is_reply": [isinstance(each, Said) and each.is_reply for each in said],
        "stop": ["" if isinstance(each, Said) else each for each in said],
    }


def _by_rules(work: Work, text: str) -> Said:
    if not text.strip():
        return Said(Answer(BLANK), is_reply=False)
    try:
        labeler = _rules_labeler(work)
        codes = labeler.codes(text)
    except Exception as error:  # noqa: BLE001 - one report must not end the labelling; its text is not repeated
        return Said(Answer(f"The labeler failed with {type(error).__name__}."), is_reply=False)
    return Said(Answer(labeler.languages.why_not(text) if codes[0] == FAILED else codes), is_reply=False)


_made: dict[tuple[str, str], RulesLabeler] = {}  # a worker makes it once, though the work comes anew with each batch


def _rules_labeler(work: Work) -> RulesLabeler:
    key = work.prompt.hash, work.label_set.hash
    if key not in _made:
        _made[key] = RulesLabeler(work.prompt, work.label_set)
    return _made[key]


async def _asked(work: Work, texts: Sequence[str]) -> list[Said | str]:
    """Return what the model's server says of texts, or for all of them why it answers no more."""
    pool = Pool(work.labeler.concurrency)
    try:
        labeler = make_labeler(
            work.labeler,
            work.prompt,
            work.label_set,
            through=pool.through,
            egress=work.egress,
            constraint=await patiently(probe_server, work.labeler, egress=work.egress),
        )
    except WorkbenchError as error:
        return [str(error)] * len(texts)

    async def one(text: str) -> Said | str:
        try:
            return await said_of(labeler, text, work.label_set.ids)
        except CallError as error:
            return pool.stopped or str(error)

    try:
        return await asyncio.gather(*map(one, texts))
    finally:
        await labeler.close()
