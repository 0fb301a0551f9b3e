"""What labels reports outside of a run: an accepted prompt carried out by the rules labeler or a language model."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from workbench.domain.findings import LabelSet, Policy, State
from workbench.domain.prompts import Prompt, RevisionStatus
from workbench.domain.runs import LabelerSettings, Usage
from workbench.errors import InputError, NotFoundError
from workbench.evaluation.consensus import per_finding
from workbench.formats.label_sets import read_label_set
from workbench.formats.parts import LabelledRow, Row
from workbench.labelers.base import Labeler
from workbench.labelers.registry import make_labeler, probe_server, settings_of
from workbench.models.base import Constraint
from workbench.models.egress import Egress
from workbench.models.probe import patiently
from workbench.prompting.files import parse_prompt, read_prompt
from workbench.running.asking import Asking
from workbench.running.bulk import label_many
from workbench.running.cluster import OnCluster, Work, cluster
from workbench.running.journal import Journal, open_journal
from workbench.running.pool import Pool
from workbench.running.spending import Cap, Most, most_of, require_price
from workbench.storage import prompts as prompt_store
from workbench.storage.database import Database
from workbench.workflow import data_use
from workbench.workflow.labelers import AllowedWhile
from workbench.workflow.settings import StudySettings, read_settings
from workbench.workflow.study import find_study, labeler_of, with_policies

RULES = settings_of("rules", kind="rules")


@dataclass(frozen=True, slots=True)
class Labelling:
    """What labels: the accepted prompt of a study with its label set and settings, and a labeler."""

    prompt: Prompt
    prompt_file: Path
    label_set: LabelSet
    settings: StudySettings
    folder: Path  # of the study
    labeler: LabelerSettings = RULES

    @property
    def egress(self) -> Egress:
        """Return which servers may be sent reports now."""
        return data_use.egress_of(self.folder, self.settings)

    def require_allowed(self) -> None:
        """Raise RightsError where the labeler's server may not be sent reports now."""
        data_use.require_allowed_by(self.folder, self.settings, self.labeler)


@dataclass(frozen=True, slots=True)
class Means:
    """What labelling may take. The rules labeler has processes; a language model has the rest.

    ``workers`` is all cores when None; ``cap`` is what may be spent; ``ray`` is the address of a cluster to do it on,
    or ``local``.
    """

    workers: int | None = None
    cap: Cap | None = None
    ray: str | None = None


DEFAULT_MEANS = Means()


def labelling(
    folder: Path | None = None, *, prompt: Path | None = None, labeler: str | LabelerSettings | None = None
) -> Labelling:
    """Return what labels in a study: ``prompt``, or its highest accepted revision, carried out by a labeler.

    A study without a database has what stands in its prompts folder. The labeler is one of the study by its name, or
    any other by its settings; the rules labeler when None.

    Raises:
        NotFoundError: the folder is no study, has no accepted revision, or no labeler of that name.
        InputError: a file of it cannot be read.
    """
    root = find_study(folder)
    settings = read_settings(root / "data" / "study.toml")
    label_set = with_policies(read_label_set(root / "data" / settings.label_set), settings)
    by = labeler_of(settings, root, labeler) if isinstance(labeler, str) else labeler or RULES
    if prompt is not None:
        return Labelling(read_prompt(prompt, label_set=label_set), prompt, label_set, settings, root, by)
    folder = root / "prompts" / label_set.id
    accepted = _accepted(root / "data" / "workbench.db")
    if accepted is not None:
        file = folder / f"{accepted[0]:04d}.md"
        known = parse_prompt(accepted[1], label_set=label_set, where=file.name)
        return Labelling(known, file, label_set, settings, root, by)
    files = sorted(folder.glob("[0-9][0-9][0-9][0-9].md"))
    if not files:
        raise NotFoundError(f"{root} has no accepted prompt in prompts/{label_set.id}; name one with --prompt FILE.")
    return Labelling(read_prompt(files[-1], label_set=label_set), files[-1], label_set, settings, root, by)


def _accepted(database: Path) -> tuple[int, str] | None:
    """Return number and file text of the highest accepted revision of a database; None without either.

    A file in the prompts folder is a copy of an accepted revision only when the database says so: one that somebody
    put there later is a candidate.
    """
    if not database.exists():
        return None
    with Database(database).read() as conn:
        accepted = [r for r in prompt_store.revisions(conn) if r.status is RevisionStatus.ACCEPTED]
        return (accepted[-1].number, prompt_store.prompt_text(conn, accepted[-1].prompt_hash)) if accepted else None


@dataclass(frozen=True, slots=True)
class LabelStream:
    """Labels in order, and what a model took for those that came since it was last asked."""

    labels: Iterator[LabelledRow]
    usage: Callable[[], Usage] = Usage


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the answers of a model are kept: a file, whose they are, and from which report on they are of use.

    ``spent`` is what was spent before those.
    """

    path: Path
    owner: str
    first: int = 0
    spent: Usage = field(default_factory=Usage)


@contextmanager
def labelled(using: Labelling, rows: Iterator[Row], means: Means, kept: Kept, *, binary: bool) -> Iterator[LabelStream]:
    """Give the labels of rows, in their order, whichever labeler makes them.

    With ``binary`` uncertain is collapsed by the label set's prediction policies, and not mentioned is 0.

    Raises:
        InputError: a cost is to be capped that nobody can tell; or anything on a cluster.
    """
    if means.ray is not None and means.cap is not None and means.cap.set:
        raise InputError("On a cluster no cap can be kept; leave --max-tokens and --max-cost out, or --ray.")
    require_price(means.cap, using.labeler)
    cells = _binary_cells(using.label_set) if binary else _four_state_cells
    with ExitStack() as opened:
        journal = None
        if using.labeler.kind != "rules":
            journal = opened.enter_context(open_journal(kept.path, kept.owner, first=kept.first))
        states, usage = _states(using, rows, means, journal, kept, opened)
        yield LabelStream(((report, said if isinstance(said, str) else cells(said)) for report, said in states), usage)


def _states(  # noqa: PLR0917 - the parts of one call
    using: Labelling, rows: Iterator[Row], means: Means, journal: Journal | None, kept: Kept, opened: ExitStack
) -> tuple[Iterator[tuple[str, Sequence[int] | str]], Callable[[], Usage]]:
    """Return the codes of rows and what they took so far; ``opened`` closes what makes them."""
    made: Asking | OnCluster
    if means.ray is not None:
        egress = using.egress
        opened.enter_context(cluster(means.ray, egress))
        work = Work(using.prompt, using.label_set, using.labeler, egress)
        made = OnCluster(rows, work, journal, first=kept.first, still_allowed=using.require_allowed)
    elif journal is None:
        return label_many(rows, using.prompt, using.label_set, workers=means.workers), Usage
    else:
        made = Asking(
            rows,
            lambda pool: _made(using, pool),
            using.label_set,
            using.labeler,
            journal,
            first=kept.first,
            cap=means.cap,
            spent=kept.spent,
            most=_most(using),
        )
    return opened.enter_context(closing(made.labels())), made.yielded_usage


def _most(using: Labelling) -> Callable[[str], Most]:
    """Return what tells how much a text may take at most; a labeler for it is made when it is first asked."""
    made: list[Labeler] = []

    def most(text: str) -> Most:
        if not made:
            how = Constraint.JSON_SCHEMA
            labeler = make_labeler(using.labeler, using.prompt, using.label_set, egress=using.egress, constraint=how)
            made.append(labeler)
        return most_of(made[0], text)

    return most


async def _made(using: Labelling, pool: Pool) -> Labeler:
    """Return the labeler, made for what its server was found able to do, which is asked as long as that is allowed."""
    settings = using.labeler
    using.require_allowed()
    constraint = await patiently(probe_server, settings, egress=using.egress)
    return make_labeler(
        settings,
        using.prompt,
        using.label_set,
        through=lambda model: pool.through(AllowedWhile(using.require_allowed, model)),
        egress=using.egress,
        constraint=constraint,
    )


def _four_state_cells(codes: Sequence[int]) -> Sequence[int | None]:
    return codes


def _binary_cells(label_set: LabelSet) -> Callable[[Sequence[int]], Sequence[int | None]]:
    """Return a function that collapses a row of codes to 1, 0 and None (excluded)."""
    uncertain = {Policy.PRESENT: 1, Policy.ABSENT: 0, Policy.EXCLUDE: None}
    tables: list[dict[int, int | None]] = [
        {
            State.PRESENT.code: 1,
            State.ABSENT.code: 0,
            State.NOT_MENTIONED.code: 0,
            State.UNCERTAIN.code: uncertain[policy],
        }
        for policy in per_finding(label_set.prediction_policies, label_set.ids)
    ]
    return lambda codes: [table[code] for table, code in zip(tables, codes, strict=True)]
