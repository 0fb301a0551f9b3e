"""Labelers by kind, and the identity that says which one a run was made with."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from workbench.domain.findings import Finding, LabelSet, Policies, Policy, State
from workbench.domain.prompts import FindingGuidance, Guidance, Prompt
from workbench.domain.runs import ExtractionStatus, Flag, LabelerSettings, Mention, Price
from workbench.errors import ConflictError, InputError, RightsError
from workbench.labelers.registry import make_labeler, probe_server, settings_of
from workbench.models.anthropic import MAX_TOKENS
from workbench.models.base import Completion, Constraint, Message, Model
from workbench.models.egress import Egress

LABEL_SET = LabelSet(
    "demo",
    "1",
    "Demo",
    (Finding("effusion", "Effusion", "", "pleura", ""),),
    Policies(Policy.PRESENT),
    Policies(Policy.PRESENT),
)
PROMPT = Prompt(Guidance("demo", "en", "t", "", {"effusion": FindingGuidance("", ("effusion",))}), "Label it.")
SERVED = ("openai", "anthropic")
KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
REPLY = '{"default": true, "reply": {"findings": [{"finding": "effusion", "state": "uncertain", "evidence": "Fluid"}]}}'


def test_makes_a_rules_labeler() -> None:
    settings = settings_of("rules", kind="rules")
    labeler = make_labeler(settings, PROMPT, LABEL_SET)
    assert labeler.settings.hash == settings.hash
    assert asyncio.run(labeler.label("An effusion.")).state("effusion") is State.PRESENT


def test_makes_a_scripted_labeler(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text(REPLY, encoding="utf-8")
    settings = settings_of("script", kind="scripted", file=file)
    extraction = asyncio.run(make_labeler(settings, PROMPT, LABEL_SET).label("Fluid?"))
    assert extraction.status is ExtractionStatus.OK
    assert extraction.mentions == {"effusion": Mention(State.UNCERTAIN, "Fluid")}
    assert extraction.latency is not None


def test_pace_and_place_of_the_file_do_not_change_the_identity_and_its_content_does(tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{name}.jsonl" for name in "abc")
    first.write_text(REPLY, encoding="utf-8")
    second.write_text(REPLY, encoding="utf-8")
    third.write_text(REPLY.replace("uncertain", "absent"), encoding="utf-8")
    base = settings_of("s", kind="scripted", file=first)
    assert settings_of("other", kind="scripted", file=second, delay=1, concurrency=9, timeout=1).hash == base.hash
    assert settings_of("s", kind="scripted", file=third).hash != base.hash


@pytest.mark.parametrize("given", ["sk-proj-CANARY", "", "2CANARY", "CANARY KEY", "CANARY\n", "CANARY=1"])
def test_a_key_in_the_place_of_its_variables_name_is_refused_and_not_repeated(given: str) -> None:
    with pytest.raises(InputError, match="is no name of an environment variable") as refused:
        settings_of("m", kind="openai", model="m", api_key_env=given)
    assert "CANARY" not in str(refused.value)


def test_a_file_that_has_changed_since_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text(REPLY, encoding="utf-8")
    settings = settings_of("script", kind="scripted", file=file)
    file.write_text(REPLY.replace("uncertain", "absent"), encoding="utf-8")
    with pytest.raises(ConflictError, match=r"no labeler script any more .* start a new run\.$"):
        make_labeler(settings, PROMPT, LABEL_SET)
    with pytest.raises(ConflictError, match="no labeler script any more"):
        make_labeler(replace(settings, file=None), PROMPT, LABEL_SET)


def test_another_version_of_the_rules_engine_is_refused() -> None:
    old = replace(settings_of("rules", kind="rules"), options={"engine": "0"})
    with pytest.raises(ConflictError, match="engine changed"):
        make_labeler(old, PROMPT, LABEL_SET)


def test_an_unknown_kind_is_refused_and_the_known_ones_are_named() -> None:
    settings = replace(settings_of("rules", kind="rules"), kind="rulez")
    with pytest.raises(InputError, match=r"called 'rulez'; the kinds are .*rules.*scripted"):
        make_labeler(settings, PROMPT, LABEL_SET)
    with pytest.raises(InputError, match="rulez"):
        settings_of("x", kind="rulez")


def test_a_setting_without_effect_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a labeler of kind rules has no use for temperature"):
        settings_of("rules", kind="rules", temperature=0.0)
    with pytest.raises(InputError, match="needs its file of replies"):
        settings_of("script", kind="scripted")
    given: dict[str, object] = {"base_url": LOCAL, "model": "m", "seed": 0, "max_tokens": 9, "api_key_env": "KEY"}
    given |= {"file": Path("x"), "delay": 1.0, "context_tokens": 9, "price": Price(1, 1)}
    for name, value in given.items():
        with pytest.raises(InputError, match=f"a labeler of kind rules has no use for {name}; take that line out"):
            settings_of("rules", kind="rules", **{name: value})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="kind scripted has no use for temperature"):
        settings_of("script", kind="scripted", file=tmp_path, temperature=0.0)
    for kind in SERVED:
        for name, value in {"file": Path("x"), "delay": 1.0}.items():
            with pytest.raises(InputError, match=f"kind {kind} has no use for {name}"):
                settings_of("m", kind=kind, model="m", **{name: value})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="kind anthropic has no use for seed"):
        settings_of("m", kind="anthropic", model="m", seed=0)


LOCAL = "http://127.0.0.1:8000"
REPLIED = '{"findings": [{"finding": "effusion", "state": "present", "evidence": "An effusion"}]}'


@dataclass
class Served:
    """Stands where a provider's model would; keeps what it was made with and what it is sent."""

    settings: LabelerSettings
    key: str | None
    egress: Egress
    constraint: Constraint | None = None
    sent: list[Sequence[Message]] = field(default_factory=list)

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
        self.sent.append(messages)
        return Completion("Sorry." if len(messages) == 2 else REPLIED)

    async def close(self) -> None:
        pass


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Served]:
    """Every model that is made, instead of the providers' own."""
    made: list[Served] = []

    def make(
        settings: LabelerSettings, *, key: str | None, egress: Egress, constraint: Constraint | None = None
    ) -> Served:
        made.append(Served(settings, key, egress, constraint))
        return made[-1]

    monkeypatch.setattr("workbench.models.openai.OpenAIModel", make)
    monkeypatch.setattr("workbench.models.anthropic.AnthropicModel", make)
    for variable in KEYS.values():
        monkeypatch.delenv(variable, raising=False)
    return made


@pytest.mark.parametrize("kind", SERVED)
def test_a_labeler_of_a_server_needs_the_name_of_a_model(kind: str) -> None:
    for model in (None, "", " "):
        with pytest.raises(InputError, match='Labeler qwen needs the name of its model; give it as model = "..."'):
            settings_of("qwen", kind=kind, base_url=LOCAL, model=model)


def test_what_can_change_a_label_identifies_it_and_key_price_pace_and_a_slash_do_not() -> None:
    base = settings_of("a", kind="openai", base_url=f"{LOCAL}/v1", model="m")
    same = settings_of(
        "b", kind="openai", base_url=f"{LOCAL}/v1/", model="m", api_key_env="KEY", price=Price(1, 2), timeout=1,
        concurrency=9, context_tokens=100,
    )  # fmt: skip
    assert same.hash == base.hash
    assert dict(base.options) == {"asks": "2"}
    others = [
        settings_of("a", kind="openai", model="m"),
        settings_of("a", kind="openai", base_url=f"{LOCAL}/v1", model="n"),
        settings_of("a", kind="openai", base_url=f"{LOCAL}/v1", model="m", temperature=0.0),
        settings_of("a", kind="openai", base_url=f"{LOCAL}/v1", model="m", seed=1),
        settings_of("a", kind="openai", base_url=f"{LOCAL}/v1", model="m", max_tokens=100),
        settings_of("a", kind="anthropic", base_url=LOCAL, model="m"),
    ]
    assert len({base.hash, *(other.hash for other in others)}) == 7


def test_the_limit_that_anthropic_asks_for_is_part_of_the_identity() -> None:
    given = settings_of("a", kind="anthropic", model="m", max_tokens=MAX_TOKENS)
    assert settings_of("a", kind="anthropic", model="m") == given
    assert settings_of("a", kind="openai", model="m").max_tokens is None


@pytest.mark.parametrize("kind", SERVED)
def test_a_wrong_address_is_refused_when_the_labeler_is_configured(kind: str) -> None:
    with pytest.raises(InputError, match="its base_url is no address of a server"):
        settings_of("qwen", kind=kind, base_url="127.0.0.1:8000", model="m")


@pytest.mark.parametrize("kind", SERVED)
def test_each_call_goes_through_what_it_is_given_a_repair_included(kind: str, served: list[Served]) -> None:
    passed: list[int] = []

    class Counting:
        def __init__(self, model: Model) -> None:
            self.model = model

        async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
            passed.append(len(messages))
            return await self.model.complete(messages, schema=schema)

        async def close(self) -> None:
            await self.model.close()

    egress = Egress(restricted=False)
    labeler = make_labeler(
        settings_of("m", kind=kind, base_url=LOCAL, model="m"),
        PROMPT,
        LABEL_SET,
        through=Counting,
        egress=egress,
        constraint=Constraint.TEXT,
    )
    extraction = asyncio.run(labeler.label("An effusion."))
    assert passed == [2, 4]
    assert extraction.flags == {Flag.REPAIRED: ()}
    assert extraction.state("effusion") is State.PRESENT
    assert extraction.latency is not None
    assert (served[0].egress, served[0].constraint) == (egress, Constraint.TEXT)
    assert "JSON Schema" in served[0].sent[0][0].text


@pytest.mark.parametrize("kind", SERVED)
def test_without_a_word_reports_stay_on_this_computer(kind: str, served: list[Served]) -> None:
    make_labeler(settings_of("m", kind=kind, base_url=LOCAL, model="m"), PROMPT, LABEL_SET)
    assert served[0].egress == Egress(restricted=True, hosts=frozenset())


@pytest.mark.parametrize("kind", SERVED)
def test_a_key_comes_from_the_variable_that_is_named(
    kind: str, served: list[Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of("m", kind=kind, base_url=LOCAL, model="m", api_key_env="LOCAL_KEY")
    with pytest.raises(InputError, match="Labeler m needs the key .* variable LOCAL_KEY, which is not set"):
        make_labeler(settings, PROMPT, LABEL_SET)
    monkeypatch.setenv("LOCAL_KEY", " \n")
    with pytest.raises(InputError, match="LOCAL_KEY"):
        make_labeler(settings, PROMPT, LABEL_SET)
    monkeypatch.setenv("LOCAL_KEY", "sk-local\n")
    labeler = make_labeler(settings, PROMPT, LABEL_SET)
    assert served[0].key == "sk-local"
    assert "sk-local" not in repr(labeler.settings)


@pytest.mark.parametrize("kind", SERVED)
def test_a_key_for_the_provider_is_sent_to_nobody_else(
    kind: str, served: list[Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = settings_of("cloud", kind=kind, model="m")
    with pytest.raises(InputError, match=f"variable {KEYS[kind]}, which is not set"):
        make_labeler(own, PROMPT, LABEL_SET)
    monkeypatch.setenv(KEYS[kind], "sk-cloud")
    make_labeler(own, PROMPT, LABEL_SET)
    make_labeler(settings_of("here", kind=kind, base_url=LOCAL, model="m"), PROMPT, LABEL_SET)
    make_labeler(settings_of("there", kind=kind, base_url="https://other.example/x", model="m"), PROMPT, LABEL_SET)
    assert [model.key for model in served] == ["sk-cloud", None, None]


@pytest.mark.parametrize("kind", SERVED)
def test_restricted_reports_are_not_sent_to_the_provider(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEYS[kind], "sk-cloud")
    with pytest.raises(RightsError, match="restricted"):
        make_labeler(settings_of("cloud", kind=kind, model="m"), PROMPT, LABEL_SET)
    with pytest.raises(RightsError, match="restricted"):
        asyncio.run(probe_server(settings_of("cloud", kind=kind, model="m")))


@pytest.mark.parametrize("kind", SERVED)
def test_a_run_that_asked_in_other_words_is_not_gone_on_with(kind: str) -> None:
    old = replace(settings_of("m", kind=kind, base_url=LOCAL, model="m"), options={"asks": "1"})
    with pytest.raises(ConflictError, match=r"\(asks changed\); start a new run\.$"):
        make_labeler(old, PROMPT, LABEL_SET)


@pytest.mark.parametrize(
    ("kind", "tightest"), [("openai", Constraint.JSON_SCHEMA), ("anthropic", Constraint.JSON_SCHEMA)]
)
def test_a_server_is_probed_with_the_labelers_key_and_with_no_report(
    kind: str, tightest: Constraint, served: list[Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_KEY", "sk-local")
    settings = settings_of("m", kind=kind, base_url=LOCAL, model="m", api_key_env="LOCAL_KEY")
    passed: list[Model] = []

    def through(model: Model) -> Model:
        passed.append(model)
        return model

    assert asyncio.run(probe_server(settings, through=through)) is Constraint.TEXT  # "Sorry." is no JSON
    assert len(passed) == len(served)
    assert served[0].constraint is tightest
    assert {model.key for model in served} == {"sk-local"}


def test_a_labeler_without_a_server_has_nothing_to_probe() -> None:
    assert asyncio.run(probe_server(settings_of("rules", kind="rules"))) is None
