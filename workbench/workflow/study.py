"""A study: a folder with settings, a label set, a database and accepted prompts."""

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from sqlite3 import Connection

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import LabelSet, Policies
from workbench.domain.references import VoteRule
from workbench.domain.runs import LabelerSettings
from workbench.errors import InputError, NotFoundError, RightsError
from workbench.formats.label_sets import read_label_set
from workbench.labelers.registry import settings_of
from workbench.labelers.server_address import runs_here, server_address
from workbench.storage import label_sets as label_set_store
from workbench.storage.database import Database
from workbench.workflow.roster import Roster, read_roster, require_standing
from workbench.workflow.settings import StudySettings, read_settings

HOME = Path(__file__).resolve().parents[2]  # the project: its label set and shipped prompts start new studies
STUDY_VARIABLE = "WORKBENCH_STUDY"
ACTOR_VARIABLE = "WORKBENCH_AS"


def labeler_of(settings: StudySettings, folder: Path, name: str) -> LabelerSettings:
    """Return the settings of a labeler of the study in ``folder``. Raises NotFoundError, naming those it has."""
    config = settings.labelers.get(name)
    if config is None:
        known = ", ".join(sorted(settings.labelers))
        raise NotFoundError(f"This study has no labeler called {name}; it has: {known}.")
    made = settings_of(
        name,
        file=folder / config.file if config.file else None,
        price=config.price.price if config.price else None,
        **config.model_dump(exclude={"file", "price", "concurrency", "timeout"}),
    )
    in_flight, seconds = _paces(made)
    return replace(made, concurrency=config.concurrency or in_flight, timeout=config.timeout or seconds)


def _paces(labeler: LabelerSettings) -> tuple[int, float]:
    """Return how many calls are in flight and how many seconds one may take where the study does not say.

    On this computer more in flight gains nothing as long as no graphics card answers, and an answer can take minutes.
    """
    address = server_address(labeler)
    if address is None:
        return 1, 60.0
    return (1, 300.0) if runs_here(address) else (8, 60.0)


@dataclass(frozen=True, slots=True)
class Study:
    """An open study. ``label_set`` already carries the study's own policies where it has some."""

    folder: Path
    settings: StudySettings
    label_set: LabelSet
    database: Database

    @property
    def prompts_folder(self) -> Path:
        """Return where copies of accepted revisions are kept."""
        return self.folder / "prompts" / self.label_set.id

    @property
    def vote_rule(self) -> VoteRule:
        """Return the rule that makes the reference."""
        vote = self.settings.vote
        return VoteRule(k=vote.k, n=vote.n, tie=vote.tie)

    @property
    def roster(self) -> Roster:
        """Return the study's people as they stand now: those with an account, and those its settings list."""
        return read_roster(self.database, self.settings.people)

    @contextmanager
    def writing(self, actor: Actor) -> Iterator[Connection]:
        """Give a connection inside one immediate transaction to somebody who may still act, as ``Database.write`` does.

        An Actor can be held for long, in a notebook or a service, so who they are is looked up as it is stored now.

        Raises:
            RightsError: they were deactivated or lost a role since.
        """
        with self.database.write() as conn:
            require_standing(conn, actor, self.settings.people)
            yield conn

    def labeler(self, name: str) -> LabelerSettings:
        """Return the settings of a labeler of the study. Raises NotFoundError, naming those it has."""
        return labeler_of(self.settings, self.folder, name)

    def actor(self, name: str | None = None) -> Actor:
        """Return the acting person: as named, else by WORKBENCH_AS, else the user of this computer, else the only lead.

        Raises:
            RightsError: nobody of that name may act, or it is not clear who acts.
        """
        roster = self.roster
        asked = name or os.environ.get(ACTOR_VARIABLE)
        if asked:
            return roster.actor(asked)
        people = roster.people
        leads = [person for person, roles in people.items() if Role.LEAD in roles]
        user = current_user()
        if user in people:
            return roster.actor(user)
        if len(leads) == 1:
            return roster.actor(leads[0])
        raise RightsError(
            f"Say who you are with --as NAME; the study's people are: {', '.join(people) or 'nobody yet'}."
        )


def current_user() -> str:
    """Return the account name on this computer, empty where there is none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no account for this user id, as in some containers
        return ""


def find_study(folder: Path | None = None) -> Path:
    """Return the study folder: as given, else by WORKBENCH_STUDY, else the current folder."""
    if folder is not None:
        return folder.resolve()
    named = os.environ.get(STUDY_VARIABLE)
    return Path(named).resolve() if named else Path.cwd()


def read_study(folder: Path) -> Study:
    """Open a study as it stands, bringing its database up to date.

    Raises:
        NotFoundError: the folder is no study.
        InputError: its settings, label set or database cannot be read.
    """
    settings = read_settings(folder / "data" / "study.toml")
    label_set = with_policies(read_label_set(folder / "data" / settings.label_set), settings)
    study = Study(folder, settings, label_set, Database(folder / "data" / "workbench.db"))
    with study.database.read() as conn:
        known = label_set_store.get(conn, label_set.hash) is not None
    if not known:
        with study.database.write() as conn:
            label_set_store.add(conn, label_set)
    return study


def with_policies(label_set: LabelSet, settings: StudySettings) -> LabelSet:
    """Return the label set with the study's own policies where its settings give some.

    Raises:
        InputError: an override names an unknown finding.
    """
    changes: dict[str, Policies] = {}
    for side in ("vote", "prediction"):
        policy = getattr(settings.policies, side)
        if policy is None:
            continue
        unknown = sorted(set(policy.overrides) - set(label_set.ids))
        if unknown:
            raise InputError(
                f"data/study.toml, policies.{side}.overrides: {unknown[0]} is no finding of {label_set.id}."
            )
        changes[f"{side}_policies"] = Policies(policy.default, policy.overrides)
    if not changes:
        return label_set
    return replace(
        label_set,
        vote_policies=changes.get("vote_policies", label_set.vote_policies),
        prediction_policies=changes.get("prediction_policies", label_set.prediction_policies),
    )
