"""Labelers by kind. What a kind needs is imported when it is used: provider libraries take seconds to load."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from workbench.domain.findings import LabelSet
from workbench.domain.prompts import Prompt
from workbench.domain.runs import LabelerSettings
from workbench.errors import ConflictError, InputError
from workbench.labelers.base import Labeler

T = TypeVar("T")

_MODEL_SETTINGS = ("base_url", "model", "temperature", "seed", "max_tokens")


def make_labeler(settings: LabelerSettings, prompt: Prompt, label_set: LabelSet) -> Labeler:
    """Return the labeler that settings describe, made for a prompt.

    Raises:
        InputError: the kind is unknown, or what the labeler needs is missing or wrong.
        ConflictError: the labeler is no longer the one that the settings identify.
    """
    return _of(settings.kind, _MAKERS)(settings, prompt, label_set)


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
) -> LabelerSettings:
    """Return the settings of a configured labeler, completed by what identifies its kind.

    Raises:
        InputError: the kind is unknown, lacks something, or is given something it has no use for.
    """
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
    )
    return replace(given, options=_of(kind, _OPTIONS)(given))


def _of(kind: str, table: Mapping[str, T]) -> T:
    if kind not in table:
        raise InputError(f"There is no kind of labeler called {kind!r}; the kinds are {', '.join(sorted(table))}.")
    return table[kind]


def _rules_options(settings: LabelerSettings) -> dict[str, str]:
    from workbench.labelers.rules import ENGINE_VERSION  # noqa: PLC0415

    _refuse(settings, (*_MODEL_SETTINGS, "file"))
    return {"engine": ENGINE_VERSION}


def _scripted_options(settings: LabelerSettings) -> dict[str, str]:
    from workbench.models.scripted import file_hash  # noqa: PLC0415

    _refuse(settings, _MODEL_SETTINGS)
    return {"replies": file_hash(_file(settings))}


def _refuse(settings: LabelerSettings, names: tuple[str, ...]) -> None:
    for name in names:
        if getattr(settings, name) is not None:
            raise InputError(
                f"Labeler {settings.name}: a {settings.kind} labeler has no use for {name}; take that line out."
            )


def _file(settings: LabelerSettings) -> Path:
    if settings.file is None:
        raise InputError(f'Labeler {settings.name} needs its file of replies; give it as file = "...".')
    return Path(settings.file)


def _make_rules(settings: LabelerSettings, prompt: Prompt, label_set: LabelSet) -> Labeler:
    from workbench.labelers.rules import RulesLabeler  # noqa: PLC0415

    _check_same(settings, _rules_options(settings))
    return RulesLabeler(prompt, label_set)


def _make_scripted(settings: LabelerSettings, prompt: Prompt, label_set: LabelSet) -> Labeler:
    from workbench.labelers.language_model import LanguageModelLabeler  # noqa: PLC0415
    from workbench.models.scripted import ScriptedModel  # noqa: PLC0415

    _check_same(settings, _scripted_options(settings) if settings.file else {"replies": ""})
    model = ScriptedModel(_file(settings), delay=settings.delay)
    return LanguageModelLabeler(settings, prompt, label_set, model)


def _check_same(settings: LabelerSettings, options: Mapping[str, str]) -> None:
    """Refuse to go on under an old identity with a labeler that would answer otherwise."""
    if dict(settings.options) != dict(options):
        raise ConflictError(
            f"The study has no labeler {settings.name} any more that is the one this run was recorded with "
            f"({', '.join(sorted(options))} changed); start a new run."
        )


_MAKERS: Mapping[str, Callable[[LabelerSettings, Prompt, LabelSet], Labeler]] = MappingProxyType(
    {"rules": _make_rules, "scripted": _make_scripted}
)
_OPTIONS: Mapping[str, Callable[[LabelerSettings], dict[str, str]]] = MappingProxyType(
    {"rules": _rules_options, "scripted": _scripted_options}
)
