"""What reviewers are shown of generated reports: nothing by which the system that wrote one could be known.

A report is shown as the data set's task reads it, under headings of our own, so that neither a heading nor a section
beside the task tells the systems apart. What two systems wrote alike is one text.
"""

from functools import lru_cache
from sqlite3 import Connection

from workbench.domain.hashing import content_hash
from workbench.domain.reviews import Review
from workbench.formats.systems import TASKS, select
from workbench.storage import leaderboard as system_store
from workbench.storage import reviews as store
from workbench.storage.reviews import Place
from workbench.text.sections import split_sections

Shown = tuple[tuple[str, str], ...]  # (heading, text) of each section; empty for a report that says nothing


def shown(text: str, task: str) -> Shown:
    """Return what a task reads of a report as a reviewer sees it: headings of our own, white space at the ends gone."""
    return _shown(text, task)


@lru_cache(maxsize=20_000)
def _shown(text: str, task: str) -> Shown:
    if not select(text, task):
        return ()
    names = TASKS[task]
    parts = [(s.name, text[s.start : s.end].strip()) for s in split_sections(text) if s.name in names]
    # A word for nothing in place of a section is no section, as ``select`` has it.
    kept = [(name, part) for name, part in parts if part and select(part, task)]
    return tuple(("" if name == "unlabelled" or "impression" not in names else name, part) for name, part in kept)


def text_hash(text: Shown) -> str:
    """Return the identity of what is shown of a report; spacing does not tell two apart."""
    return _text_hash(text)


@lru_cache(maxsize=20_000)
def _text_hash(text: Shown) -> str:
    return content_hash("review-text", [[heading, " ".join(part.split())] for heading, part in text])


def task_of(conn: Connection, review: Review) -> str:
    """Return the task of the data set that is reviewed."""
    return next(each.task for each in system_store.data_sets(conn) if each.hash == review.data_set_hash)


def reviewed_texts(conn: Connection, review: Review, task: str) -> dict[Place, Shown]:
    """Return each text that is reviewed once, by study and hash, in an order that tells nothing of the systems."""
    found = store.texts(conn, [number for _, number in review.submissions], review.study_ids)
    places = {}
    for (_, study_id), text in found.items():
        read = shown(text or "", task)
        places[study_id, text_hash(read)] = read
    return dict(sorted(places.items()))
