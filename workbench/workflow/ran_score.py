"""Systems scored on a data set: both sides of each pair read by one frozen revision and one labeler (method 20)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import FAILED, MISSING, Policy, State
from workbench.domain.prompts import Prompt
from workbench.domain.runs import ExtractionStatus
from workbench.errors import InputError
from workbench.evaluation.consensus import collapse, per_finding
from workbench.evaluation.ran_score import RanScore, ran_score, truth_of
from workbench.formats.systems import select
from workbench.running.spending import Cap
from workbench.storage import leaderboard as store
from workbench.storage.leaderboard import DataSetRecord, SubmissionRecord
from workbench.workflow.blindness import require_no_review, require_sighted
from workbench.workflow.extracting import Progress, Reading, ask, codes_of, unread
from workbench.workflow.prompts import find_revision
from workbench.workflow.study import Study

Codes = NDArray[np.int8]
OTHER_LANGUAGE = ExtractionStatus.OTHER_LANGUAGE.value


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many studies of a data set a system is scored on, and what became of the rest.

    ``scored`` pairs enter its own score; among them are ``empty`` reports, which mention nothing, and ``failed``
    extractions, which are wrong (method 12). ``missing`` studies have a reference and no report of the system.
    """

    scored: int
    empty: int
    failed: int
    missing: int
    other_language: int = 0  # of the failed, those in a language that the rules labeler cannot read by this prompt


@dataclass(frozen=True, slots=True)
class SystemScore:
    """One system: what it submitted, on how much of it a score rests, and its Ran Score.

    ``own`` is over all its pairs, ``common`` over the studies that every system of the board has; None without a pair.
    ``texts`` [study] is what its reports say for the task, None where it is missing; ``codes`` [study, finding] what
    is read in them, MISSING where it is missing.
    """

    submission: SubmissionRecord
    coverage: Coverage
    own: RanScore | None
    common: RanScore | None
    texts: tuple[str | None, ...]
    codes: Codes

    @property
    def name(self) -> str:
        """Return the system's name."""
        return self.submission.system

    @property
    def there(self) -> NDArray[np.bool_]:
        """Return which studies it has a report of, [study]."""
        return _there(self.codes)


@dataclass(frozen=True, slots=True)
class Scoring:
    """All systems of a data set under one revision, labeler and policy. Rows are the studies with a reference.

    ``no_reference`` counts the other studies by why: missing, empty, failed, other_language, quoted in the prompt (14).
    ``common`` flags the studies that every system has that has any.
    """

    data_set: DataSetRecord
    reading: Reading
    revision: int
    study_ids: tuple[str, ...]
    patients: tuple[str, ...]
    patients_known: bool
    references: tuple[str, ...]
    reference_codes: Codes
    policies: tuple[Policy, ...]
    no_reference: Mapping[str, int]
    common: NDArray[np.bool_]
    systems: tuple[SystemScore, ...]

    @property
    def finding_ids(self) -> tuple[str, ...]:
        """Return the findings, in label-set order."""
        return self.reading.study.label_set.ids

    @property
    def truth(self) -> Codes:
        """Return what the references say, [study, finding]: 1, 0, or MISSING where the policy leaves it out."""
        return truth_of(self.reference_codes, self.policies)

    @property
    def given(self) -> Codes:
        """Return what each system says, [system, study, finding]: 1, 0, FAILED, or MISSING where it is left out.

        A system leaves out whole studies, the policy single findings.
        """
        return np.stack([collapse(system.codes, self.policies) for system in self.systems])

    def of(self, name: str) -> SystemScore:
        """Return one system. Raises KeyError."""
        found = next((system for system in self.systems if system.name == name), None)
        if found is None:
            raise KeyError(name)
        return found


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a data set as its task reads them; None is missing, "" has nothing in it."""

    ids: tuple[str, ...]
    patients: tuple[str, ...]
    references: tuple[str | None, ...]
    submissions: tuple[SubmissionRecord, ...]
    generated: tuple[tuple[str | None, ...], ...]  # [system][study]

    @property
    def to_read(self) -> list[str]:
        """Return every text that there is something to read in, once."""
        every = [*self.references, *(text for of_system in self.generated for text in of_system)]
        return list(dict.fromkeys(text for text in every if text))


def reading_of(study: Study, *, revision: str | int | None = None, labeler: str = "rules") -> tuple[Reading, int]:
    """Return what reads both sides, and the number of the revision: the highest accepted one by default.

    Raises:
        NotFoundError: there is no such revision or labeler.
    """
    found = find_revision(study, revision)
    return Reading(study, found.prompt, study.labeler(labeler)), found.revision.number


def label_systems(
    study: Study,
    actor: Actor,
    data_set: DataSetRecord,
    *,
    revision: str | int | None = None,
    labeler: str = "rules",
    cap: Cap | None = None,
    on_progress: Progress = lambda *_: None,
) -> str:
    """Ask a language model about every text of a data set that it was not asked about yet, both sides alike.

    Returns:
        Why it stopped before the end, "" where it did not. Nothing is asked of the rules labeler.

    Raises:
        RightsError: the person is no lead or admin or rates in an open round, or the texts may not be sent there.
        WorkbenchError: as ``extracting.ask``.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="label generated reports")
    require_sighted(study, actor, "label generated reports")
    reading, _ = reading_of(study, revision=revision, labeler=labeler)
    if reading.by_rules:
        return ""
    return ask(reading, texts_of(study, data_set).to_read, cap=cap, on_progress=on_progress)


def score_systems(
    study: Study,
    actor: Actor,
    data_set: DataSetRecord,
    *,
    revision: str | int | None = None,
    labeler: str = "rules",
    systems: Sequence[str] | None = None,
    on_progress: Progress = lambda *_: None,
) -> Scoring:
    """Score every system of a data set, or the named ones, against its reference reports.

    ``on_progress`` is told how many systems are scored, of how many; nothing while the texts are read.

    Raises:
        InputError: a model has not labelled every text yet, no study of the data set has a reference that can be
            read, or there is no such system.
        NotFoundError: there is no such revision or labeler.
        RightsError: the person has no role, rates in an open round, or reviews these reports.
    """
    require_sighted(study, actor, "see how generated reports score")
    require_no_review(study, actor, "see how generated reports score")
    reading, number = reading_of(study, revision=revision, labeler=labeler)
    texts = texts_of(study, data_set, systems)
    known = codes_of(reading, texts.to_read)
    if waiting := sum(text not in known for text in texts.to_read):
        raise InputError(
            f"{labeler} has not labelled {waiting:,} of {len(texts.to_read):,} texts of {data_set.name} yet; begin "
            f"with `workbench score --data-set {data_set.name} --task {data_set.task} --labeler {labeler}`."
        )
    findings = study.label_set.ids
    other = unread(reading, texts.to_read)
    usable, no_reference = _usable(reading.prompt, texts, known, other)
    if not usable:
        raise InputError(f"No study of {data_set.name} has a reference report that can be read for {data_set.task}.")
    reference = np.array([known[texts.references[i] or ""] for i in usable], dtype=np.int8)
    policies = per_finding(study.label_set.prediction_policies, findings)
    patients = tuple(texts.patients[i] for i in usable)
    chosen = [tuple(of_system[i] for i in usable) for of_system in texts.generated]
    codes = [_codes(of_system, known, len(findings)) for of_system in chosen]
    common = np.ones(len(usable), dtype=np.bool_)
    for of_system in codes:
        if (there := _there(of_system)).any():  # one that has no study here takes none from the others
            common &= there
    scored = []
    for made, said, code in zip(texts.submissions, chosen, codes, strict=True):
        scored.append(
            _system(
                made, said, code, common, other, reference=reference, policies=policies, patients=patients, ids=findings
            )
        )
        on_progress(len(scored), len(codes))
    return Scoring(
        data_set,
        reading,
        number,
        tuple(texts.ids[i] for i in usable),
        patients,
        patients != tuple(texts.ids[i] for i in usable),
        tuple(texts.references[i] or "" for i in usable),
        reference,
        policies,
        no_reference,
        common,
        tuple(scored),
    )


def texts_of(study: Study, data_set: DataSetRecord, systems: Sequence[str] | None = None) -> Texts:
    """Return the texts of a data set as its task reads them, of all its systems or the named ones.

    Raises:
        InputError: there is no such system.
    """
    with study.database.snapshot() as conn:
        studies = store.studies(conn, data_set.hash)
        every = store.submissions(conn, data_set.hash)
        chosen = every if systems is None else [s for s in every if s.system in systems]
        if systems is not None and len(chosen) < len(set(systems)):
            unknown = next(name for name in systems if name not in [s.system for s in every])
            raise InputError(
                f"{data_set.name} has no system called {unknown}; it has {', '.join(s.system for s in every)}."
            )
        written = [store.texts(conn, submission.id) for submission in chosen]
    task = data_set.task
    selected: dict[str, str] = {}

    def read(text: str | None) -> str | None:
        if text is None:
            return None
        if text not in selected:
            selected[text] = select(text, task)
        return selected[text]

    return Texts(
        tuple(s.id for s in studies),
        tuple(s.patient_id for s in studies),
        tuple(read(s.reference) for s in studies),
        tuple(chosen),
        tuple(tuple(read(of_system.get(s.id)) for s in studies) for of_system in written),
    )


def _usable(
    prompt: Prompt, texts: Texts, known: Mapping[str, Sequence[int]], other: frozenset[str]
) -> tuple[list[int], dict[str, int]]:
    """Return the studies whose reference can be read, and how many cannot, by why."""
    quoted = {example.text.strip() for example in prompt.guidance.examples}
    out = dict.fromkeys(("missing", "empty", "failed", "quoted"), 0)
    usable = []
    for i, text in enumerate(texts.references):
        if text is None:
            out["missing"] += 1
        elif not text:
            out["empty"] += 1
        elif text.strip() in quoted:
            out["quoted"] += 1
        elif FAILED in known[text]:
            why = OTHER_LANGUAGE if text in other else "failed"
            out[why] = out.get(why, 0) + 1
        else:
            usable.append(i)
    return usable, out


def _codes(texts: Sequence[str | None], known: Mapping[str, Sequence[int]], findings: int) -> Codes:
    codes = np.full((len(texts), findings), MISSING, dtype=np.int8)
    for i, text in enumerate(texts):
        if text:
            codes[i] = known[text]
        elif text is not None:
            codes[i] = State.NOT_MENTIONED.code  # an empty report mentions nothing (method 20)
    return codes


def _there(codes: Codes) -> NDArray[np.bool_]:
    there: NDArray[np.bool_] = (codes != MISSING).all(axis=1)
    return there


def _system(
    submission: SubmissionRecord,
    texts: tuple[str | None, ...],
    codes: Codes,
    common: NDArray[np.bool_],
    other: frozenset[str],
    *,
    reference: Codes,
    policies: Sequence[Policy],
    patients: Sequence[str],
    ids: Sequence[str],
) -> SystemScore:
    there = _there(codes)

    def on(rows: NDArray[np.bool_]) -> RanScore | None:
        if not rows.any():
            return None
        of_rows = [patient for patient, kept in zip(patients, rows, strict=True) if kept]
        return ran_score(ids, reference[rows], codes[rows], policies, of_rows)

    own = on(there)
    coverage = Coverage(
        scored=int(there.sum()),
        empty=sum(text == "" for text in texts),
        failed=int((codes == FAILED).any(axis=1).sum()),
        missing=int((~there).sum()),
        other_language=sum(text in other for text in texts),
    )
    shared = own if own is None or (there == common).all() else on(common)
    return SystemScore(submission, coverage, own, shared, texts, codes)
