"""The labelers of a study: what each is, where it runs, whether it may be used, and whether its server answers."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import monotonic, perf_counter
from urllib.parse import urlsplit

from workbench.domain.actors import Actor, Role
from workbench.domain.prompts import Prompt
from workbench.domain.runs import Hello, LabelerSettings
from workbench.errors import RightsError, WorkbenchError
from workbench.labelers.base import Labeler
from workbench.labelers.registry import key_variable, make_labeler, probe_server, require_key
from workbench.labelers.server_address import runs_here, server_address
from workbench.models.base import CallError, Completion, Constraint, Message, Model, Trouble
from workbench.models.probe import patiently
from workbench.running import spending
from workbench.running.pool import Pool
from workbench.running.spending import Most
from workbench.storage import hellos as store
from workbench.workflow import data_use
from workbench.workflow.data_use import Permission
from workbench.workflow.study import Study

HELLO_SECONDS = 30.0  # a server that takes longer to say something short would not label a cohort
_LOOK_SECONDS = 2.0
_FREE = Permission()
HERE = "on this computer"


@dataclass(frozen=True, slots=True)
class LabelerCard:
    """One labeler of a study. ``problem`` says in a sentence why it cannot be used; ``settings`` is None where it is
    set up wrongly.
    """

    name: str
    settings: LabelerSettings | None
    problem: str = ""
    place: str = HERE  # or the host that its reports go to
    key_variable: str | None = None
    permission: Permission = _FREE
    hello: Hello | None = None

    @property
    def asks_server(self) -> bool:
        """Return whether there is a server to say hello to."""
        return self.settings is not None and server_address(self.settings) is not None


def card(study: Study, name: str) -> LabelerCard:
    """Return one labeler of the study. Nothing is asked of its server."""
    try:
        settings = study.labeler(name)
    except WorkbenchError as error:
        return LabelerCard(name, None, str(error))
    address = server_address(settings)
    if address is None:
        return LabelerCard(name, settings)
    permission = data_use.permission(study, settings)
    with study.database.read() as conn:
        hello = store.get(conn, settings.hash)
    place = HERE if runs_here(address) else urlsplit(address).netloc
    problem = permission.why_not or _refusal(lambda: require_key(settings))
    return LabelerCard(name, settings, problem, place, key_variable(settings), permission, hello)


def cards(study: Study) -> list[LabelerCard]:
    """Return all labelers of the study, in the order of its settings."""
    return [card(study, name) for name in study.settings.labelers]


def require_ready(study: Study, settings: LabelerSettings) -> None:
    """Refuse a labeler that could not ask its server, before anything is recorded or sent.

    Raises:
        RightsError: the study does not allow its server.
        InputError: its key is missing.
    """
    data_use.require_allowed(study, settings)
    if server_address(settings) is not None:
        require_key(settings)


def say_hello(study: Study, actor: Actor, name: str) -> Hello | None:
    """Ask a labeler's server something that holds nothing of any report, and keep what it can do.

    Returns:
        What it answered; None for a labeler that asks no server.

    Raises:
        RightsError: the person is no lead or admin, or the study does not allow the server.
        InputError: the labeler is set up wrongly, or its key is missing.
        CallError: the server does not answer within half a minute, or not as one does.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="say hello to a labeler")
    settings = study.labeler(name)
    require_ready(study, settings)
    return asyncio.run(hello(study, settings))


async def hello(study: Study, settings: LabelerSettings) -> Hello | None:
    """Ask a labeler's server as ``say_hello`` does, keep its answer and return it."""
    heard = _Heard()
    asked = replace(settings, timeout=min(settings.timeout, HELLO_SECONDS))
    constraint = await probe_server(
        asked, through=lambda model: _Listening(model, heard), egress=data_use.egress(study)
    )
    if constraint is None:
        return None
    answer = Hello(constraint.value, heard.model, heard.seconds, datetime.now(UTC))
    with study.database.write() as conn:
        store.keep(conn, settings.hash, answer)
    return answer


async def capability(study: Study, settings: LabelerSettings) -> Constraint | None:
    """Return how a labeler's server holds replies to their form: as remembered, else as it answers now.

    None for a labeler that asks no server. A server that is busy is asked again a few times; not so one that fails at
    a form, since that is an answer. Raises CallError where it does not answer.
    """
    known = remembered(study, settings)
    if known is None and (found := await patiently(hello, study, settings)):
        known = Constraint(found.constraint)
    return known


async def labeler_of(study: Study, settings: LabelerSettings, prompt: Prompt, *, pool: Pool | None = None) -> Labeler:
    """Return a labeler made for what its server can do, which is asked no more once that is not allowed any more.

    Its calls go through ``pool`` where there is one. Raises CallError where a server that was never asked does not
    answer.
    """

    def through(model: Model) -> Model:
        allowed = StillAllowed(study, settings, model)
        return allowed if pool is None else pool.through(allowed)

    return make_labeler(
        settings,
        prompt,
        study.label_set,
        through=through,
        egress=data_use.egress(study),
        constraint=await capability(study, settings),
    )


def asks_first(study: Study, settings: LabelerSettings) -> bool:
    """Return whether a labeler's server is asked what it can do before it is sent anything else."""
    return server_address(settings) is not None and remembered(study, settings) is None


def most_of(study: Study, settings: LabelerSettings, prompt: Prompt) -> Callable[[str], Most]:
    """Return what tells how much labelling a text may take at most. Its server is asked nothing for it.

    Raises:
        RightsError, InputError: as ``require_ready`` does.
    """
    constraint = remembered(study, settings) or Constraint.JSON_SCHEMA
    labeler = make_labeler(settings, prompt, study.label_set, egress=data_use.egress(study), constraint=constraint)
    return lambda text: spending.most_of(labeler, text)


def remembered(study: Study, settings: LabelerSettings) -> Constraint | None:
    """Return how a labeler's server holds replies to their form, None where it was never asked."""
    with study.database.read() as conn:
        known = store.get(conn, settings.hash)
    return Constraint(known.constraint) if known else None


class AllowedWhile:
    """A model that is asked no more once ``check`` raises RightsError, which is looked at every other second."""

    def __init__(self, check: Callable[[], None], model: Model) -> None:
        self._check, self._model = check, model
        self._looked = monotonic()

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
        """Return the model's answer. Raises CallError for good where its server may not be asked any more."""
        if monotonic() - self._looked > _LOOK_SECONDS:
            self._looked = monotonic()
            try:
                self._check()
            except RightsError as error:
                raise CallError(str(error), Trouble.CLOSED) from None
        return await self._model.complete(messages, schema=schema)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


class StillAllowed(AllowedWhile):
    """A model that is asked no more once its host was closed: a run that goes on for hours must notice."""

    def __init__(self, study: Study, settings: LabelerSettings, model: Model) -> None:
        super().__init__(lambda: data_use.require_allowed(study, settings), model)


@dataclass(slots=True)
class _Heard:
    """What the last answer told of the server."""

    model: str = ""
    seconds: float = field(default=0.0)


class _Listening:
    def __init__(self, model: Model, heard: _Heard) -> None:
        self._model, self._heard = model, heard

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
        started = perf_counter()
        completion = await self._model.complete(messages, schema=schema)
        seconds = perf_counter() - started if completion.latency is None else completion.latency
        self._heard.model, self._heard.seconds = completion.model, seconds
        return completion

    async def close(self) -> None:
        await self._model.close()


def _refusal(check: Callable[[], None]) -> str:
    try:
        check()
    except WorkbenchError as error:
        return str(error)
    return ""
