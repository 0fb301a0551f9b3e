"""Commands that put a study away and bring it back: backup, restore."""

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output
from workbench.workflow import backup
from workbench.workflow.backup import Backup
from workbench.workflow.opening import open_study


def register(app: typer.Typer) -> None:
    """Add these commands to the program."""
    app.command("backup")(backup_command)
    app.command("restore")(restore_command)


def backup_command(
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The archive to write.", metavar="FILE")],
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy the whole study into one archive while people go on working.

    It holds every text and label, those of open rounds too, so only its owner may read it: keep it where no rater
    can.

    \b
    Example:
      workbench backup -o study-2026-03-01.zip
    """
    opened = open_study(study)
    made = backup.back_up(opened, opened.actor(as_name), out)
    Output(as_json).answer(_json(made), f"{len(made.files)} files, {made.bytes:,} bytes, checked and put into {out}.")


def restore_command(
    file: Annotated[Path, typer.Argument(help="An archive that `workbench backup` wrote.")],
    directory: Annotated[Path, typer.Argument(help="Folder for the study, new or empty.", metavar="DIR")],
    *,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a backup, every file and the database, and make a study of it in a new folder.

    A damaged or incomplete one is refused, and nothing is ever overwritten.

    \b
    Example:
      workbench restore study-2026-03-01.zip restored-study
    """
    study, made = backup.restore(file, directory, as_name)
    Output(as_json).answer(
        {"study": str(study.folder), **_json(made)},
        f"{made.about.get('study', 'The study')} as of {made.about.get('made_at', 'an unknown time')} is in "
        f"{study.folder}; {len(made.files)} files checked.",
    )


def _json(made: Backup) -> dict[str, object]:
    return {"archive": str(made.path), "files": list(made.files), "bytes": made.bytes, "step": made.step, **made.about}
