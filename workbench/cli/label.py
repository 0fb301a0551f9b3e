"""The command that labels a file, folder or archive of reports."""

from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from workbench.cli.data import REPORTS_HELP, ColumnOption, FormatOption
from workbench.cli.options import EncodingOption, JsonOption, StudyOption, columns_of
from workbench.cli.output import Output
from workbench.domain.hashing import short
from workbench.domain.runs import LabelerSettings, Usage
from workbench.errors import InputError
from workbench.formats.parts_manifest import MANIFEST
from workbench.labelers.registry import settings_of
from workbench.running.spending import Cap
from workbench.workflow.label import PART_REPORTS, Labelled, Source, label_file, label_parts
from workbench.workflow.labelling import Labelling, Means, labelling

_REASONS_SHOWN, _REASONS_TOLD = 5, 100  # of a model's failures each may have its own


def register(app: typer.Typer) -> None:
    """Add this command to the program."""
    app.command("label")(label_command)


def label_command(
    file: Annotated[Path, typer.Argument(help=f"{REPORTS_HELP}.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the labels; with --parts a folder.")],
    *,
    form: FormatOption = None,
    column: ColumnOption = [],  # noqa: B006 - typer reads the default and never changes it
    encoding: EncodingOption = "utf-8",
    binary: Annotated[bool, typer.Option("--binary", help="1 and 0; uncertain by the label set's policies.")] = False,
    prompt: Annotated[Path | None, typer.Option(help="A prompt file; the highest accepted when left out.")] = None,
    parts: Annotated[
        str | None, typer.Option(help="csv or parquet: fill the folder OUT in parts, and go on where it was stopped.")
    ] = None,
    part_reports: Annotated[int, typer.Option(help="Reports in a part.", min=1)] = PART_REPORTS,
    workers: Annotated[int | None, typer.Option(help="Processes; all cores when left out.", min=1)] = None,
    labeler: Annotated[str | None, typer.Option(help="A labeler of data/study.toml; rules when left out.")] = None,
    kind: Annotated[
        str | None,
        typer.Option(help="openai or anthropic: ask a model that is not in study.toml."),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Address of its server.")] = None,
    model: Annotated[str | None, typer.Option(help="Its name.")] = None,
    api_key_env: Annotated[str | None, typer.Option(help="Environment variable with the key.")] = None,
    temperature: Annotated[float | None, typer.Option(help="Its temperature.")] = None,
    seed: Annotated[int | None, typer.Option(help="Its seed.")] = None,
    reply_tokens: Annotated[int | None, typer.Option(help="Its longest reply, in tokens.", min=1)] = None,
    concurrency: Annotated[int | None, typer.Option(help="Reports in flight at once.", min=1, max=512)] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="Stop before the model has cost more than this, at the labeler's price.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=0, help="Stop before the model has taken more tokens than this.")
    ] = None,
    ray: Annotated[
        str | None, typer.Option(help="Address of a Ray cluster to label on, or local; needs the extra ray.")
    ] = None,
    study: StudyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Label reports with the rules labeler, or with a language model: no database, any number.

    Report id first, then one column per finding: 1 present, 0 absent, -1 uncertain, blank not mentioned. Reports that
    cannot be labelled go to OUT.failures.csv with the reason, never into OUT. An OUT that ends in .parquet is Parquet.

    For an archive use --parts: the folder OUT gets parts, their manifest.json, and failures.csv. When it is stopped,
    the same command goes on after the last whole part; with another prompt, source or labeler it refuses to.

    A model's answers are kept as they come, so that the same command pays for none twice. Reports go to a server on
    this computer only, as long as the study does not list or open another.

    \b
    Examples:
      workbench label reports.csv -o labels.csv --column id=StudyID --column text=Report
      workbench label openi.csv --format openi --binary -o labels.csv
      workbench label mimic-cxr/files --parts parquet -o labels   # files/p10/p10000032/s50414267.txt
      workbench label reports.csv --labeler qwen --max-tokens 5000000 --parts csv -o labels
      workbench label reports.csv --kind openai --base-url http://127.0.0.1:8000/v1 --model qwen -o labels.csv
    """
    described = _described(
        labeler,
        kind,
        base_url=base_url,
        model=model,
        api_key_env=api_key_env,
        temperature=temperature,
        seed=seed,
        max_tokens=reply_tokens,
    )
    using = labelling(study, prompt=prompt, labeler=described)
    if concurrency is not None:
        using = replace(using, labeler=replace(using.labeler, concurrency=concurrency))
    means = Means(workers, Cap(max_tokens, max_cost), ray)
    source = Source(file, form, columns_of(column), encoding)
    with Console(stderr=True).status("Labelling") as status:

        def tell(count: int) -> None:
            status.update(f"Labelling: {count:,} reports")

        if parts is None:
            done = label_file(using, source, out, binary=binary, means=means, on_progress=tell)
        else:
            done = label_parts(
                using,
                source,
                out,
                form=parts,
                part_reports=part_reports,
                binary=binary,
                means=means,
                on_progress=tell,
            )
    Output(as_json).answer(_as_json(using, done, binary=binary), *_lines(using, done))


def _described(
    name: str | None,
    kind: str | None,
    *,
    base_url: str | None,
    model: str | None,
    api_key_env: str | None,
    temperature: float | None,
    seed: int | None,
    max_tokens: int | None,
) -> str | LabelerSettings | None:
    """Return which labeler is meant: one of the study by its name, or one that the options describe."""
    options = {
        "--base-url": base_url,
        "--model": model,
        "--api-key-env": api_key_env,
        "--temperature": temperature,
        "--seed": seed,
        "--reply-tokens": max_tokens,
    }
    given = [option for option, value in options.items() if value is not None]
    if kind is None:
        if given:
            raise InputError(f"{given[0]} describes a labeler of your own; say --kind openai or --kind anthropic too.")
        return name
    if name is not None:
        raise InputError("--labeler names a labeler of the study and --kind describes another; give one of the two.")
    return settings_of(
        model or kind,
        kind=kind,
        base_url=base_url,
        model=model,
        api_key_env=api_key_env,
        temperature=temperature,
        seed=seed,
        max_tokens=max_tokens,
    )


def _as_json(using: Labelling, done: Labelled, *, binary: bool) -> dict[str, object]:
    return {
        "out": str(done.out),
        "labelled": done.labelled,
        "failed": done.failed,
        "failures": str(done.failures) if done.failures else None,
        "reasons": dict(islice(done.reasons.items(), _REASONS_TOLD)),
        "parts": done.parts,
        "kept_parts": done.kept,
        "labeler": {"name": using.labeler.name, "kind": using.labeler.kind, "hash": using.labeler.hash},
        "tokens": asdict(done.usage),
        "prompt": {"file": using.prompt_file.name, "hash": using.prompt.hash},
        "label_set": {"id": using.label_set.id, "version": using.label_set.version, "hash": using.label_set.hash},
        "binary": binary,
        "prediction_policies": using.label_set.prediction_policies.as_json() if binary else None,
    }


def _lines(using: Labelling, done: Labelled) -> list[str]:
    lines = [
        f"{done.labelled} reports labelled by {using.prompt_file.name} ({short(using.prompt.hash)}) into {done.out}."
    ]
    if done.usage != Usage():
        lines.append(f"{using.labeler.name} took {done.usage.tokens:,} tokens for {done.usage.replies:,} replies.")
    if done.parts:
        before = f", {done.kept} of which stood there before" if done.kept else ""
        lines.append(f"{done.parts} parts{before}; {done.out / MANIFEST} says what is in each.")
    if done.failures:
        lines.append(f"{done.failed} could not be labelled; the reasons are in {done.failures}.")
        lines += [f"  {n:,} x {why}" for why, n in list(done.reasons.items())[:_REASONS_SHOWN]]
        if (more := len(done.reasons) - _REASONS_SHOWN) > 0:
            lines.append(f"  and {more:,} other reasons")
    return lines
