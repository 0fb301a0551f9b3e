"""In which languages the reports are that a prompt is to read, and which of them the rules labeler cannot read.

It is told before a run, so that nobody waits for a number to see it: a report in another language than the prompt's
phrases fails (``ExtractionStatus.OTHER_LANGUAGE``), and one of another language in the same letters, which nothing in
the text can prove, is at least named.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from workbench.domain.actors import Actor, Role
from workbench.domain.prompts import Prompt
from workbench.domain.reports import Report
from workbench.labelers.reading_languages import ReadingLanguages
from workbench.storage import reports as report_store
from workbench.text.languages import in_words, language_of, languages_in, letters_of, letters_of_language, same_language
from workbench.workflow.cohorts import get_cohort, require_unlocked
from workbench.workflow.prompts import find_revision
from workbench.workflow.run import PreparedRun
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class Languages:
    """What is to be said of the languages of reports before a prompt reads them; each mapping counts by language.

    ``unread`` are reports that the rules labeler cannot read at all, ``in_part`` those of which it cannot read a
    quarter or more, ``marked`` those it reads though they are marked as in another language than the prompt.
    """

    reports: int
    phrases: str  # what the prompt's phrases are in, in words
    by_rules: bool
    unread: Mapping[str, int] = field(default_factory=dict)
    in_part: Mapping[str, int] = field(default_factory=dict)
    marked: Mapping[str, int] = field(default_factory=dict)

    @property
    def failing(self) -> str:
        """Return how many reports fail and what to do, in words; "" where none does, as with a language model."""
        if not (self.unread and self.by_rules):
            return ""
        return (
            f"{self._counted(self.unread)}; this prompt's phrases are in {self.phrases}: the rules labeler will not "
            "read them, and each counts as a failed reply. Give the prompt phrases in that language and name it under "
            '"language" in its file ("en, zh"), or let a language model read them.'
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what else there is to say, a sentence or two each."""
        if not self.by_rules:
            beside = "A language model may read them all the same; the rules labeler's score beside it cannot."
            told = f"{self._counted(self.unread)} and this prompt is in {self.phrases}. {beside}"
            return (told,) if self.unread else ()
        notes = []
        if self.in_part:
            notes.append(f"{self._counted(self.in_part, 'partly in')}: the rules labeler will not read that part.")
        if self.marked:
            notes.append(
                f"{self._counted(self.marked, 'marked as in')} and this prompt is in {self.phrases}: what its phrases "
                'do not name comes out as "not mentioned".'
            )
        return tuple(notes)

    def _counted(self, by_language: Mapping[str, int], are: str = "in") -> str:
        total = sum(by_language.values())
        listed = " or ".join(by_language)
        return f"{total:,} of {self.reports:,} reports {'is' if total == 1 else 'are'} {are} {listed}"


def before_run(
    study: Study, actor: Actor, *, cohort: str, revision: str | int | None = None, labeler: str = "rules"
) -> Languages:
    """Return what is to be said of the languages of a cohort before a revision is run on it; nothing is recorded.

    Raises:
        RightsError: the cohort is locked, or the person has no role.
        NotFoundError: there is no such cohort, revision or labeler.
    """
    actor.require(*Role, to="see in which languages reports are")
    prompt, members = find_revision(study, revision).prompt, get_cohort(study, cohort)
    require_unlocked(study, members, "see in which languages its reports are")
    with study.database.read() as conn:
        reports = report_store.by_ids(conn, sorted(members.members))
    read = ((report, report.select(study.settings.sections)) for report in reports)
    return _told(prompt, read, by_rules=study.labeler(labeler).kind == "rules")


def of_run(prepared: PreparedRun) -> Languages:
    """Return what is to be said of the languages of a run's reports."""
    run = prepared.run
    read = ((report, report.select(run.sections)) for report in prepared.reports)
    return _told(prepared.prompt, read, by_rules=run.labeler.kind == "rules")


def _told(prompt: Prompt, reports: Iterable[tuple[Report, str]], *, by_rules: bool) -> Languages:
    languages, named = ReadingLanguages(prompt.guidance), languages_in(prompt.guidance.language)
    unread, in_part, marked = Counter[str](), Counter[str](), Counter[str]()
    total = 0
    for report, text in reports:
        total += 1
        if letters := languages.unread(text):
            code = language_of(text, report.language)
            unread[in_words(code) if code != "und" else letters] += 1
            continue
        in_part.update(languages.unread_in_part(text)[:1])
        own = letters_of_language(report.language) == letters_of(text)
        if own and not any(same_language(report.language, language) for language in named):
            marked[in_words(report.language)] += 1
    return Languages(total, languages.in_words, by_rules, unread, in_part, marked)
