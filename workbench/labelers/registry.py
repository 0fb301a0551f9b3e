"""Labelers by kind. What a kind needs is imported when it is used: provider libraries take seconds to load."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from workbench.domain.findings import LabelSet
from workbench.domain.prompts import Prompt
from workbench.domain.runs import LabelerSettings, Price
from workbench.errors import ConflictError, InputError
from workbench.labelers.base import Labeler
from workbench.labelers.server_address import checked_address, is_providers_own

if TYPE_CHECKING:
    from workbench.labelers.language_model import LanguageModelLabeler
    from workbench.models.base import Constraint, Model
    from workbench.models.batches import BatchServer
    from workbench.models.egress import Egress

T = TypeVar("T")

# A key is looked up here when the settings name no variable, and then only for the provider's own address: a key for
# one server is nobody else's business.
_KEY_VARIABLES = MappingProxyType({"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SERVER_SETTINGS = ("base_url", "model", "temperature", "seed", "max_tokens", "api_key_env")
_COST_SETTINGS = ("context_tokens", "price")


class _ModelKind(Protocol):
    def __call__(
        self, settings: LabelerSettings, *, key: str | None, egress: "Egress", constraint: "Constraint | None" = None
    ) -> "Model": ...


@dataclass(frozen=True, slots=True)
class Batching:
    """A labeler whose texts are handed over in batches. It reads what comes; nothing is asked by call."""

    labeler: "LanguageModelLabeler"
    server: "BatchServer"


@dataclass(frozen=True, slots=True)
class _Way:
    """How a labeler gets at its model."""

    through: "Callable[[Model], Model]"
    egress: "Egress | None"
    constraint: "Constraint | None"


def _straight(model: "Model") -> "Model":
    return model


def make_labeler(
    settings: LabelerSettings,
    prompt: Prompt,
    label_set: LabelSet,
    *,
    through: "Callable[[Model], Model]" = _straight,
    egress: "Egress | None" = None,
    constraint: "Constraint | None" = None,
) -> Labeler:
    """Return the labeler that settings describe, made for a prompt.

    Args:
        settings: which labeler.
        prompt: what it labels by.
        label_set: the findings.
        through: what each call of a language model goes through on its way, such as a pool that holds calls back.
        egress: which servers may be asked; None is the strictest, for restricted reports.
        constraint: how the server holds a reply to its form, as probed; None where that is not known.

    Raises:
        InputError: the kind is unknown, or what the labeler needs is missing or wrong, such as its key.
        RightsError: its server may not be sent reports.
        ConflictError: the labeler is no longer the one that the settings identify.
    """
    return _of(settings.kind, _MAKERS)(settings, prompt, label_set, _Way(through, egress, constraint))


def make_batching(
    settings: LabelerSettings,
    prompt: Prompt,
    label_set: LabelSet,
    *,
    egress: "Egress | None" = None,
    constraint: "Constraint | None" = None,
) -> Batching:
    """Return a labeler that hands its texts over in batches, as ``make_labeler`` does one that asks.

    Raises:
        InputError: labelers of this kind take no batches; else as ``make_labeler``.
        RightsError: its server may not be sent reports.
        ConflictError: the labeler is no longer the one that the settings identify.
    """
    if settings.kind not in _BATCHES:
        raise InputError(
            f"Labeler {settings.name} is of kind {settings.kind}, which takes no batches; run it without --batch."
        )
    from workbench.labelers.language_model import LanguageModelLabeler  # noqa: PLC0415
    from workbench.models.batches import TRANSFER_LIMIT  # noqa: PLC0415
    from workbench.models.egress import Egress  # noqa: PLC0415

    _check_same(settings, _of(settings.kind, _OPTIONS)(settings))
    kind: Any = _SERVERS[settings.kind]()[0]
    model = kind(settings, key=_key(settings), egress=egress or Egress(), constraint=constraint, limit=TRANSFER_LIMIT)
    labeler = LanguageModelLabeler(settings, prompt, label_set, model, constraint=constraint)
    return Batching(labeler, _BATCHES[settings.kind]()(model))


def make_model(
    settings: LabelerSettings,
    *,
    through: "Callable[[Model], Model]" = _straight,
    egress: "Egress | None" = None,
    constraint: "Constraint | None" = None,
) -> "Model":
    """Return the language model of a labeler, to be asked something else than labels; arguments as ``make_labeler``.

    Raises:
        InputError: the labeler asks no model, or what it needs is missing or wrong, such as its key.
        RightsError: its server may not be sent reports.
        ConflictError: the labeler is no longer the one that the settings identify.
    """
    if settings.kind == "scripted":
        from workbench.models.scripted import ScriptedModel  # noqa: PLC0415

        _check_same(settings, _scripted_options(settings) if settings.file else {"replies": ""})
        return through(ScriptedModel(_file(settings), delay=settings.delay))
    if settings.kind not in _SERVERS:
        raise InputError(f"{settings.name} asks no language model; name a labeler that does.")
    _check_same(settings, _of(settings.kind, _OPTIONS)(settings))
    return _model(settings, _Way(through, egress, constraint), _SERVERS[settings.kind]()[0])


def settings_of(
    name: str,
    *,
    kind: str,
    file: Path | None = None,
    base_url: str | None = None,
    model: str | None = None,
    temperature: float | None = None,
    seed: int | None = None,
    max_tokens: int | None = None,
    concurrency: int = 1,
    timeout: float = 60.0,
    delay: float = 0.0,
    api_key_env: str | None = None,
    context_tokens: int | None = None,
    price: Price | None = None,
) -> LabelerSettings:
    """Return the settings of a configured labeler, completed by what identifies its kind.

    Raises:
        InputError: the kind is unknown, lacks something, or is given something it has no use for or that is wrong.
    """
    if api_key_env is not None and not _VARIABLE.fullmatch(api_key_env):
        raise InputError(
            f"Labeler {name}: its api_key_env is no name of an environment variable (letters, digits and underscores, "
            "the first no digit); write the key into such a variable and its name here."
        )
    given = LabelerSettings(
        name=name,
        kind=kind,
        base_url=base_url,
        model=model,
        temperature=temperature,
        seed=seed,
        max_tokens=max_tokens,
        concurrency=concurrency,
        timeout=timeout,
        delay=delay,
        file=str(file) if file else None,
        api_key_env=api_key_env,
        context_tokens=context_tokens,
        price=price,
    )
    return replace(
        given,
        options=_of(kind, _OPTIONS)(given),
        base_url=checked_address(given) if base_url is not None else None,
        max_tokens=_most_tokens(given),
    )


async def probe_server(
    settings: LabelerSettings, *, through: "Callable[[Model], Model]" = _straight, egress: "Egress | None" = None
) -> "Constraint | None":
    """Return the tightest way in which a labeler's server holds replies to their form, None for one without a server.

    The server is asked at most three times, with a question that holds nothing of any report.

    Args:
        settings: which labeler.
        through: what each call goes through on its way.
        egress: which servers may be asked; None is the strictest, for restricted reports.

    Raises:
        InputError: the labeler's key is missing or cannot be one.
        RightsError: its server may not be asked.
        CallError: it does not answer.
    """
    if settings.kind not in _SERVERS:
        return None
    from workbench.models.probe import probe  # noqa: PLC0415

    model, constraints = _SERVERS[settings.kind]()
    way = _Way(through, egress, None)
    return await probe(lambda constraint: _model(settings, replace(way, constraint=constraint), model), constraints)


def _of(kind: str, table: Mapping[str, T]) -> T:
    if kind not in table:
        raise InputError(f"There is no kind of labeler called {kind!r}; the kinds are {', '.join(sorted(table))}.")
    return table[kind]


def _rules_options(settings: LabelerSettings) -> dict[str, str]:
    from workbench.labelers.rules import ENGINE_VERSION  # noqa: PLC0415

    _refuse(settings, (*_SERVER_SETTINGS, *_COST_SETTINGS, "file", "delay"))
    return {"engine": ENGINE_VERSION}


def _scripted_options(settings: LabelerSettings) -> dict[str, str]:
    from workbench.models.scripted import file_hash  # noqa: PLC0415

    _refuse(settings, _SERVER_SETTINGS)
    return {"replies": file_hash(_file(settings))}


def _openai_options(settings: LabelerSettings) -> dict[str, str]:
    _refuse(settings, ("file", "delay"))
    return _asked(settings)


def _anthropic_options(settings: LabelerSettings) -> dict[str, str]:
    _refuse(settings, ("file", "delay", "seed"))
    return _asked(settings)


def _asked(settings: LabelerSettings) -> dict[str, str]:
    from workbench.prompting.reply_form import ASKS_VERSION  # noqa: PLC0415

    if not (settings.model or "").strip():
        raise InputError(f'Labeler {settings.name} needs the name of its model; give it as model = "...".')
    return {"asks": ASKS_VERSION}


def _most_tokens(settings: LabelerSettings) -> int | None:
    """Return the limit of a reply as it is sent, so that the identity holds it."""
    if settings.max_tokens is None and settings.kind == "anthropic":
        from workbench.models.anthropic import MAX_TOKENS  # noqa: PLC0415

        return MAX_TOKENS
    return settings.max_tokens


def _refuse(settings: LabelerSettings, names: tuple[str, ...]) -> None:
    unset = LabelerSettings(settings.name, settings.kind)
    for name in names:
        if getattr(settings, name) != getattr(unset, name):
            raise InputError(
                f"Labeler {settings.name}: a labeler of kind {settings.kind} has no use for {name}; take that line out."
            )


def _file(settings: LabelerSettings) -> Path:
    if settings.file is None:
        raise InputError(f'Labeler {settings.name} needs its file of replies; give it as file = "...".')
    return Path(settings.file)


def key_variable(settings: LabelerSettings) -> str | None:
    """Return the environment variable that a labeler's key is read from, None where it is asked without a key."""
    if settings.api_key_env is None and settings.kind in _KEY_VARIABLES and is_providers_own(settings):
        return _KEY_VARIABLES[settings.kind]
    return settings.api_key_env


def require_key(settings: LabelerSettings) -> None:
    """Refuse a labeler whose key is not there, before anything else is done for it.

    Raises:
        InputError: the variable that should hold it is not set.
    """
    _key(settings)


def _key(settings: LabelerSettings) -> str | None:
    """Return the key of a server, None for one that is asked without. It is never kept with the settings.

    Raises:
        InputError: the variable that should hold it is not set.
    """
    variable = key_variable(settings)
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise InputError(
            f"Labeler {settings.name} needs the key of its server in the environment variable {variable}, which is not "
            "set; set it and start again."
        )
    return key


def _make_rules(settings: LabelerSettings, prompt: Prompt, label_set: LabelSet, way: _Way) -> Labeler:  # noqa: ARG001
    from workbench.labelers.rules import RulesLabeler  # noqa: PLC0415

    _check_same(settings, _rules_options(settings))
    return RulesLabeler(prompt, label_set)


def _make_scripted(settings: LabelerSettings, prompt: Prompt, label_set: LabelSet, way: _Way) -> Labeler:
    from workbench.labelers.language_model import LanguageModelLabeler  # noqa: PLC0415

    return LanguageModelLabeler(settings, prompt, label_set, make_model(settings, through=way.through))


def _make_served(settings: LabelerSettings, prompt: Prompt, label_set: LabelSet, way: _Way) -> Labeler:
    from workbench.labelers.language_model import LanguageModelLabeler  # noqa: PLC0415

    model = make_model(settings, through=way.through, egress=way.egress, constraint=way.constraint)
    return LanguageModelLabeler(settings, prompt, label_set, model, constraint=way.constraint)


def _model(settings: LabelerSettings, way: _Way, kind: "_ModelKind") -> "Model":
    from workbench.models.egress import Egress  # noqa: PLC0415

    model = kind(settings, key=_key(settings), egress=way.egress or Egress(), constraint=way.constraint)
    return way.through(model)


def _openai() -> "tuple[_ModelKind, Sequence[Constraint]]":
    from workbench.models.openai import CONSTRAINTS, OpenAIModel  # noqa: PLC0415

    return OpenAIModel, CONSTRAINTS


def _anthropic() -> "tuple[_ModelKind, Sequence[Constraint]]":
    from workbench.models.anthropic import CONSTRAINTS, AnthropicModel  # noqa: PLC0415

    return AnthropicModel, CONSTRAINTS


def _openai_batches() -> "Callable[[Any], BatchServer]":
    from workbench.models.openai_batches import OpenAIBatches  # noqa: PLC0415

    return OpenAIBatches


def _anthropic_batches() -> "Callable[[Any], BatchServer]":
    from workbench.models.anthropic_batches import AnthropicBatches  # noqa: PLC0415

    return AnthropicBatches


def _check_same(settings: LabelerSettings, options: Mapping[str, str]) -> None:
    """Refuse to go on under an old identity with a labeler that would answer otherwise."""
    if dict(settings.options) != dict(options):
        raise ConflictError(
            f"The study has no labeler {settings.name} any more that is the one this run was recorded with "
            f"({', '.join(sorted(options))} changed); start a new run."
        )


_MAKERS: Mapping[str, Callable[[LabelerSettings, Prompt, LabelSet, _Way], Labeler]] = MappingProxyType(
    {"rules": _make_rules, "scripted": _make_scripted, "openai": _make_served, "anthropic": _make_served}
)
_SERVERS: "Mapping[str, Callable[[], tuple[_ModelKind, Sequence[Constraint]]]]" = MappingProxyType(
    {"openai": _openai, "anthropic": _anthropic}
)
_BATCHES: "Mapping[str, Callable[[], Callable[[Any], BatchServer]]]" = MappingProxyType(
    {"openai": _openai_batches, "anthropic": _anthropic_batches}
)
_OPTIONS: Mapping[str, Callable[[LabelerSettings], dict[str, str]]] = MappingProxyType(
    {
        "rules": _rules_options,
        "scripted": _scripted_options,
        "openai": _openai_options,
        "anthropic": _anthropic_options,
    }
)
