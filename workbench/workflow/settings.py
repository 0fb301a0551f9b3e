"""The study's settings: what ``data/study.toml`` may hold, checked on reading."""

import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from workbench.domain.actors import Role
from workbench.domain.findings import Policy, State
from workbench.domain.references import Outcome
from workbench.domain.reports import NEVER_READ, READ_BY_DEFAULT
from workbench.domain.runs import Price
from workbench.errors import InputError, NotFoundError
from workbench.evaluation.gate import ACCURACY_FLOOR, RECALL_FLOOR, Floors
from workbench.models.egress import Egress


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class VoteSettings(_Strict):
    """The vote: ``k`` of ``n``, and what an even split becomes, fixed before the round starts."""

    k: int = 4
    n: int = 6
    tie: Outcome = Outcome.NOT_PRESENT

    @model_validator(mode="after")
    def _majority(self) -> "VoteSettings":
        if not 0 < self.k <= self.n or 2 * self.k <= self.n:
            raise ValueError(f"{self.k} of {self.n} is no majority: k must be above n/2 and at most n")
        return self


class PolicySettings(_Strict):
    """A policy for "uncertain" that replaces the label set's: a default and overrides per finding."""

    default: Policy
    overrides: dict[str, Policy] = Field(default_factory=dict)


class PoliciesSettings(_Strict):
    """Vote policy and prediction policy are two settings (method 5)."""

    vote: PolicySettings | None = None
    prediction: PolicySettings | None = None


class PriceSettings(_Strict):
    """What a model costs per million tokens. Without a price of cached input that is the full one.

    ``cache_write`` is what input costs that is written to the provider's cache, 1.25 times ``input`` when left out;
    ``batch_factor`` the share of all this that an answer in a batch costs.
    """

    input: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    cached_input: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    cache_write: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    batch_factor: Annotated[float, Field(ge=0, le=1)] = 0.5

    @property
    def price(self) -> Price:
        """Return it as what runs reckon with."""
        return Price(self.input, self.output, self.cached_input, self.currency, self.cache_write, self.batch_factor)


class LabelerConfig(_Strict):
    """One labeler of the study. Keys come from the environment only: ``api_key_env`` names the variable.

    How the reply is to look is the prompt's to say, not the labeler's.
    """

    kind: str
    base_url: str | None = None
    model: str | None = None
    temperature: Annotated[float | None, Field(ge=0, le=2)] = None
    seed: int | None = None
    max_tokens: Annotated[int | None, Field(ge=1)] = None
    api_key_env: str | None = None
    concurrency: Annotated[int | None, Field(ge=1, le=512)] = None  # by where it runs when left out
    timeout: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None  # seconds; likewise
    context_tokens: Annotated[int | None, Field(ge=1)] = None
    price: PriceSettings | None = None
    delay: Annotated[float, Field(ge=0)] = 0.0
    file: str | None = None  # the scripted labeler's replies, relative to the study folder


class DataUseSettings(_Strict):
    """Where reports may be sent: this computer, ``hosts``, and what a lead has opened on record (``data_use``)."""

    restricted: bool = True
    hosts: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _hosts_are_hosts(self) -> "DataUseSettings":
        try:
            Egress(self.restricted, frozenset(self.hosts))
        except InputError as error:
            raise ValueError(str(error).removesuffix(".")) from None
        return self


class SignIn(StrEnum):
    """How one gets to the pages: with an account, or, in a simulated study on one's own computer, by picking a name."""

    ACCOUNTS = "accounts"
    PICK = "pick"


class GateSettings(_Strict):
    """What a revision must reach before it is accepted (method 16), and whether a second person has to sign."""

    accuracy: Annotated[float, Field(gt=0, le=1)] = ACCURACY_FLOOR
    recall: Annotated[float, Field(gt=0, le=1)] = RECALL_FLOOR
    second_person: bool = False

    @property
    def floors(self) -> Floors:
        """Return the two floors as what the gate checks against."""
        return Floors(self.accuracy, self.recall)


class StudySettings(_Strict):
    """All settings of a study."""

    title: str
    label_set: str = "cxr21.yaml"
    simulated: str = ""  # what is simulated in this study; shown on every page when not empty
    sign_in: SignIn = SignIn.ACCOUNTS
    vote: VoteSettings = VoteSettings()
    sections: tuple[str, ...] = READ_BY_DEFAULT
    policies: PoliciesSettings = PoliciesSettings()
    rater_states: tuple[State, ...] = (State.PRESENT, State.UNCERTAIN, State.NOT_MENTIONED)
    people: dict[str, list[Role]] = Field(default_factory=dict)
    labelers: dict[str, LabelerConfig] = Field(default_factory=lambda: {"rules": LabelerConfig(kind="rules")})
    data_use: DataUseSettings = DataUseSettings()
    gate: GateSettings = GateSettings()

    @model_validator(mode="after")
    def _people_have_names(self) -> "StudySettings":
        if any(not name.strip() for name in self.people):
            raise ValueError("people: somebody has a blank name; write it out or take the line away")
        return self

    @model_validator(mode="after")
    def _picked_where_simulated(self) -> "StudySettings":
        if self.sign_in is SignIn.PICK and not self.simulated:
            raise ValueError('sign_in: "pick" is for simulated studies; in a real one people sign in with "accounts"')
        return self

    @model_validator(mode="after")
    def _raters_can_say_what_is_there(self) -> "StudySettings":
        missing = {State.PRESENT, State.NOT_MENTIONED} - set(self.rater_states)
        if missing:
            raise ValueError(f"rater_states: {min(missing)} cannot be left out")
        return self

    @model_validator(mode="after")
    def _sections_may_be_read(self) -> "StudySettings":
        if not self.sections:
            raise ValueError("sections: none is named, so no report would have anything to read; name at least one")
        for name in self.sections:
            if name in NEVER_READ:
                raise ValueError(f"sections: {name} is never read as findings; take it out")
        return self


def read_settings(path: Path) -> StudySettings:
    """Return the settings in a ``study.toml``.

    Raises:
        NotFoundError: there is no such file.
        InputError: it is no TOML, or holds a key or value that is not known; names the key.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(
            f"{path.parent.parent} is no study: it has no data/study.toml; make one with `workbench init DIR`, "
            "or name a study with --study DIR."
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8.") from None
    try:
        return StudySettings.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not valid TOML: {error}.") from None
    except ValidationError as error:
        # An unknown key first, since a misspelt one is missing too.
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        said = {
            "extra_forbidden": "is no key that is known here; correct its spelling or take it out",
            "missing": "is missing",
        }.get(first["type"], first["msg"].removeprefix("Value error, "))
        raise InputError(f"{path}, {where}: {said}.") from None
