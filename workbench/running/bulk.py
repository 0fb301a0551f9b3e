"""Label a file of any length with the rules labeler on every core, in order and in constant memory.

One process reads and writes, worker processes label. Texts go to them in chunks; states come back as one byte per
finding, since taking apart and putting together Python objects would cost more than the labelling.
"""

import multiprocessing
import os
import signal
import threading
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice

from workbench.domain.findings import FAILED, LabelSet
from workbench.domain.prompts import Prompt
from workbench.errors import WorkbenchError
from workbench.labelers.rules import RulesLabeler

CHUNK = 500
_CHUNKS_AHEAD = 2  # per worker: one in work and one waiting, so that none of them idles and none piles up

Row = tuple[str, str]
Codes = Sequence[int]
Prepare = Callable[[str], str]
_Packed = tuple[bytes, dict[int, str]]  # states of all rows of a chunk, and why the row of a number has none

BLANK = "There is no text in the sections that are read."


def label_many(
    rows: Iterable[Row],
    prompt: Prompt,
    label_set: LabelSet,
    *,
    workers: int | None = None,
    chunk: int = CHUNK,
    prepare: Prepare | None = None,
) -> Iterator[tuple[str, Codes | str]]:
    """Yield (id, states) of each row in the order of ``rows``, reading no more of them than is being worked on.

    To be called from a command, not from a page: worker processes import the main module of the program.

    States are codes in label-set order: 1, 0, -1, or -2 for not mentioned. A row that cannot be labelled (a blank
    text, or one in another language than the prompt's) has a sentence that says why in their place.

    Args:
        rows: (id, text).
        prompt: its guidance is carried out.
        label_set: the findings.
        workers: processes that label; the number of cores when left out, and with 1 this process labels itself.
        chunk: rows that travel together.
        prepare: makes of a row's text what is labelled (its selected sections) in the worker; a function that can be
            sent to another process: at the top level of a module, or a partial of one.

    Raises:
        WorkbenchError: a worker was ended from outside, as systems do when memory runs out.
    """
    chunks = _chunks(iter(rows), chunk)
    if (workers or os.cpu_count() or 1) == 1:
        labeler = RulesLabeler(prompt, label_set)
        for part in chunks:
            yield from _unpacked(part, _pack(labeler, prepare, [text for _, text in part]), len(label_set.ids))
        return
    for part, packed in _in_workers(chunks, prompt, label_set, workers or os.cpu_count() or 1, prepare):
        yield from _unpacked(part, packed, len(label_set.ids))


def _in_workers(
    chunks: Iterator[list[Row]], prompt: Prompt, label_set: LabelSet, workers: int, prepare: Prepare | None
) -> Iterator[tuple[list[Row], _Packed]]:
    pool = ProcessPoolExecutor(workers, _context(), _begin, (prompt, label_set, prepare))
    ahead: deque[tuple[list[Row], Future[_Packed]]] = deque()
    try:
        for part in chunks:
            ahead.append((part, pool.submit(_work, [text for _, text in part])))
            if len(ahead) >= workers * _CHUNKS_AHEAD:
                yield _finished(ahead)
        while ahead:
            yield _finished(ahead)
    except (KeyboardInterrupt, SystemExit):
        # A worker that Ctrl-C reached before it could ignore it may be gone with a lock of the queue in its hands.
        for worker in multiprocessing.active_children():
            worker.kill()
        raise
    except BrokenProcessPool:
        raise WorkbenchError(
            "A process that labels was ended from outside, perhaps because memory ran out; try --workers 1."
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _finished(ahead: deque[tuple[list[Row], Future[_Packed]]]) -> tuple[list[Row], _Packed]:
    part, future = ahead.popleft()
    return part, future.result()


def _context() -> multiprocessing.context.BaseContext:
    """Return how workers are started: never by forking this process, whose threads and locks they would copy."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


_worker: tuple[RulesLabeler, Prepare | None]


def _begin(prompt: Prompt, label_set: LabelSet, prepare: Prepare | None) -> None:
    global _worker  # noqa: PLW0603 - a worker process has one labeler, made once
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the one that writes ends the others
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = RulesLabeler(prompt, label_set), prepare


def _end_with_parent() -> None:
    """Not outlive a parent that was killed: the queue of work would never say so, since each worker holds its end."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(texts: list[str]) -> _Packed:
    labeler, prepare = _worker
    return _pack(labeler, prepare, texts)


def _pack(labeler: RulesLabeler, prepare: Prepare | None, texts: list[str]) -> _Packed:
    states, failures = array("b"), dict[int, str]()
    for number, text in enumerate(texts):
        try:
            read = prepare(text) if prepare else text
            if not read.strip():
                failures[number] = BLANK
                continue
            codes = labeler.codes(read)
            if codes[0] == FAILED:
                failures[number] = labeler.languages.why_not(read)
            else:
                states.extend(codes)
        except Exception as error:  # noqa: BLE001 - one report must not end the file; its text is not repeated
            failures[number] = f"The labeler failed with {type(error).__name__}."
    return states.tobytes(), failures


def _unpacked(part: list[Row], packed: _Packed, findings: int) -> Iterator[tuple[str, Codes | str]]:
    codes, failures = array("b", packed[0]).tolist(), packed[1]
    start = 0
    for number, (row_id, _) in enumerate(part):
        if number in failures:
            yield row_id, failures[number]
        else:
            yield row_id, codes[start : start + findings]
            start += findings


def _chunks(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    while part := list(islice(rows, size)):
        yield part
