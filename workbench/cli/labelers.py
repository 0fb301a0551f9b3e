"""Commands on labelers and on where reports may be sent: labeler list, labeler hello, data-use open, list, close."""

from datetime import date
from typing import Annotated

import typer

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, table
from workbench.domain.data_use import Basis, Opening
from workbench.domain.runs import Hello
from workbench.errors import InputError
from workbench.workflow import data_use, labelers
from workbench.workflow.labelers import LabelerCard
from workbench.workflow.opening import open_study

labeler_app = typer.Typer(help="What labels reports, and whether it answers.", no_args_is_help=True)
data_use_app = typer.Typer(help="Where reports may be sent.", no_args_is_help=True)
HostArgument = Annotated[str, typer.Argument(help="Name or address, with a port or for all ports.", metavar="HOST")]


@labeler_app.command("list")
def list_labelers(*, study: StudyOption = None, as_json: JsonOption = False) -> None:
    """List the labelers of data/study.toml: where each runs, what it costs, whether it can be used.

    \b
    Example:
      workbench labeler list
    """
    found = labelers.cards(open_study(study))
    rows = [(c.name, _what(c), c.place, _price(c), _said(c.hello), c.problem) for c in found]
    Output(as_json).answer(
        {"labelers": [_card_json(card) for card in found]},
        table("Labelers", ["name", "what", "runs", "price per million tokens", "last hello", "cannot be used"], rows),
    )


@labeler_app.command("hello")
def say_hello(
    name: Annotated[str, typer.Argument(help="A labeler of data/study.toml.")],
    *,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a labeler's server something short, to see that it answers and how it holds replies to their form.

    Nothing of any report is sent. Later runs remember the answer.

    \b
    Example:
      workbench labeler hello qwen
    """
    opened = open_study(study)
    answer = labelers.say_hello(opened, opened.actor(as_name), name)
    told = (
        f"{name} answered: {_said(answer)}." if answer else f"{name} asks no server; there is nobody to say hello to."
    )
    Output(as_json).answer({"labeler": name, "hello": _hello_json(answer)}, told)


@data_use_app.command("open")
def open_host(
    host: HostArgument,
    *,
    agreement: Annotated[str, typer.Option(help="The agreement under which reports may be sent there.")],
    zero_retention: Annotated[
        bool, typer.Option("--zero-retention/--no-zero-retention", help="Whether nothing of a report is kept there.")
    ],
    until: Annotated[str | None, typer.Option(help="Last day of the agreement, as 2026-12-31.")] = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open a host for this study's reports, on record. A lead does this, with the basis.

    \b
    Example:
      workbench data-use open api.openai.com --agreement "Contract 2026-14, signed by the hospital" --zero-retention
    """
    opened = open_study(study)
    basis = Basis(agreement, zero_retention, _day(until))
    opening = data_use.open_host(opened, opened.actor(as_name), host, basis)
    Output(as_json).answer(_opening_json(opening), f"{opening.host} may be sent reports. {basis_text(opening)}")


@data_use_app.command("close")
def close_host(
    host: HostArgument, *, study: StudyOption = None, as_name: AsOption = None, as_json: JsonOption = False
) -> None:
    """Close a host that was opened: no report is sent there any more, not by a run that is under way either.

    Batches that it has already can still be collected or cancelled, which sends no report.

    \b
    Example:
      workbench data-use close api.openai.com
    """
    opened = open_study(study)
    opening = data_use.close_host(opened, opened.actor(as_name), host)
    Output(as_json).answer(_opening_json(opening), f"{opening.host} is closed. {data_use.STILL}")


@data_use_app.command("list")
def list_hosts(*, study: StudyOption = None, as_json: JsonOption = False) -> None:
    """List where reports may be sent: by data/study.toml, and opened on record.

    \b
    Example:
      workbench data-use list
    """
    opened = open_study(study)
    settings, known = opened.settings.data_use, data_use.openings(opened)
    listed = ", ".join(settings.hosts) or "none"
    rule = (
        f"Restricted: this computer, hosts listed in data/study.toml ({listed}), and those opened here."
        if settings.restricted
        else "Not restricted: data/study.toml lets reports go to any host."
    )
    rows = [(o.host, "open" if o.holds(date.today()) else "closed", basis_text(o)) for o in known]  # noqa: DTZ011
    Output(as_json).answer(
        {
            "restricted": settings.restricted,
            "hosts": list(settings.hosts),
            "openings": [_opening_json(opening) for opening in known],
        },
        rule,
        table("Opened on record", ["host", "now", "basis"], rows) if rows else "No host was opened on record.",
    )


def basis_text(opening: Opening) -> str:
    """Return on what basis a host was opened, in a line."""
    basis = opening.basis
    kept = "zero retention" if basis.zero_retention else "no zero retention"
    until = f", until {basis.until}" if basis.until else ""
    closed = f"; closed by {opening.closed_by} on {opening.closed_at:%Y-%m-%d}" if opening.closed_at else ""
    return f"{basis.agreement} ({kept}{until}), opened by {opening.actor} on {opening.at:%Y-%m-%d}{closed}."


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise InputError(f"--until {text} is no day; write it as 2026-12-31.") from None


def _what(card: LabelerCard) -> str:
    if card.settings is None:
        return ""
    return f"{card.settings.kind} {card.settings.model or ''}".rstrip()


def _price(card: LabelerCard) -> str:
    price = card.settings.price if card.settings else None
    return f"{price.input:g} in, {price.output:g} out {price.currency}" if price else "-"


def _said(hello: Hello | None) -> str:
    if hello is None:
        return "-"
    served = f"{hello.served_model}, " if hello.served_model else ""
    return f"{served}{hello.constraint}, {hello.latency:.1f} s, {hello.at:%Y-%m-%d %H:%M} UTC"


def _card_json(card: LabelerCard) -> dict[str, object]:
    settings = card.settings
    return {
        "name": card.name,
        "kind": settings.kind if settings else None,
        "model": settings.model if settings else None,
        "runs": card.place,
        "concurrency": settings.concurrency if settings else None,
        "key_variable": card.key_variable,
        "problem": card.problem,
        "opening": _opening_json(card.permission.opening) if card.permission.opening else None,
        "hello": _hello_json(card.hello),
    }


def _hello_json(hello: Hello | None) -> dict[str, object] | None:
    if hello is None:
        return None
    return {
        "constraint": hello.constraint,
        "served_model": hello.served_model,
        "latency": hello.latency,
        "at": hello.at.isoformat(),
    }


def _opening_json(opening: Opening) -> dict[str, object]:
    return {
        "host": opening.host,
        "agreement": opening.basis.agreement,
        "zero_retention": opening.basis.zero_retention,
        "until": opening.basis.until.isoformat() if opening.basis.until else None,
        "opened_by": opening.actor,
        "opened_at": opening.at.isoformat(),
        "closed_by": opening.closed_by or None,
        "closed_at": opening.closed_at.isoformat() if opening.closed_at else None,
    }
