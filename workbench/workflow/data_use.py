"""Where a study's reports may be sent: what its settings list and what a lead has opened on record.

A restricted study allows this computer, the hosts that its ``study.toml`` lists, and the hosts that a lead has opened
and nobody has closed. The reports that a prompt quotes are sent with it, so they are under the same lock.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from urllib.parse import urlsplit

from workbench.domain.actors import Actor, Role
from workbench.domain.data_use import Basis, Opening
from workbench.domain.runs import LabelerSettings
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.labelers.server_address import server_address
from workbench.models.egress import Egress, is_loopback
from workbench.storage import data_use as store
from workbench.storage.database import Database
from workbench.workflow.settings import StudySettings
from workbench.workflow.study import Study

STILL = "Batches that it has already can still be collected or cancelled: neither sends a report."
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether a labeler's server may be sent reports. ``why_not`` is empty where it may.

    ``opening`` is the record on which it may (or no longer may), None where it needs none.
    """

    why_not: str = ""
    opening: Opening | None = None


def openings(study: Study) -> list[Opening]:
    """Return the last opening of each host, closed and ended ones included, by host."""
    with study.database.read() as conn:
        return store.latest(conn)


def open_host(study: Study, actor: Actor, host: str, basis: Basis) -> Opening:
    """Open a host for the study's reports, on record.

    Args:
        study: the study.
        actor: a lead.
        host: a name or address, with a port or, for all ports, without.
        basis: why it may be sent reports.

    Raises:
        RightsError: the person is no lead.
        InputError: the host is not written as one, is this computer, or the basis is blank or has ended already.
    """
    actor.require(Role.LEAD, to="open a host for reports")
    host = host.strip().lower().removesuffix(".")
    Egress(hosts=frozenset({host}))
    bare = host.rsplit(":", 1)[0] if host.count(":") == 1 or "]:" in host else host
    if bare == "localhost" or is_loopback(bare.strip("[]")):
        raise InputError(f"{host} is this computer, which needs no opening.")
    agreement = basis.agreement.strip()
    if not agreement:
        raise InputError(f"Say on which agreement {host} may be sent reports; without one it stays closed.")
    if basis.until is not None and basis.until < _today():
        raise InputError(f"The agreement on {host} ended on {basis.until}, so it cannot be opened.")
    opening = Opening(host, Basis(agreement, basis.zero_retention, basis.until), actor.name, datetime.now(UTC))
    with study.writing(actor) as conn:
        store.open_host(conn, opening)
    return opening


def close_host(study: Study, actor: Actor, host: str) -> Opening:
    """Close a host that was opened; what is on its way to it is not called back, and no report is sent any more.

    Batches that were handed over can still be collected and cancelled, since neither sends a report.

    Raises:
        RightsError: the person is no lead or admin.
        NotFoundError: nobody has opened it.
        ConflictError: it is closed already.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="close a host for reports")
    host = host.strip().lower().removesuffix(".")
    with study.writing(actor) as conn:
        known = {opening.host: opening for opening in store.latest(conn)}
        if host not in known:
            raise NotFoundError(f"Nobody has opened {host}; `workbench data-use list` shows what is open.")
        if known[host].closed_at is not None:
            raise ConflictError(f"{host} is closed already, by {known[host].closed_by}.")
        store.close_host(conn, host, actor.name, datetime.now(UTC))
        return next(opening for opening in store.latest(conn) if opening.host == host)


def egress(study: Study) -> Egress:
    """Return where the study's reports may be sent today."""
    return _egress(study.settings, openings(study))


def egress_of(folder: Path, settings: StudySettings) -> Egress:
    """Return the same for a study's folder, which need not have a database yet."""
    return _egress(settings, _openings_of(folder))


def egress_to_fetch(study: Study, labeler: LabelerSettings) -> Egress:
    """Return what reaches a labeler's server although it may be sent reports no more, and no other host then.

    For looking after what was handed over while it might be sent: asking how that stands, fetching its answers,
    cancelling it. Nothing that goes out with this may hold a report.
    """
    address = server_address(labeler)
    if address is None or not permission(study, labeler).why_not:
        return egress(study)
    host, port = _named(address)
    return Egress(restricted=True, hosts=frozenset({f"{host}:{port}"}))


def permission(study: Study, labeler: LabelerSettings) -> Permission:
    """Return whether a labeler's server may be sent reports, and on what basis."""
    address = server_address(labeler)
    if address is None:
        return Permission()
    return _permission(address, study.settings, openings(study))


def require_allowed(study: Study, labeler: LabelerSettings) -> None:
    """Raise RightsError where a labeler's server may not be sent this study's reports; one sentence, everywhere."""
    found = permission(study, labeler)
    if found.why_not:
        raise RightsError(found.why_not)


def require_allowed_by(folder: Path, settings: StudySettings, labeler: LabelerSettings) -> None:
    """Raise RightsError as ``require_allowed`` does, for a study's folder, which need not have a database yet."""
    address = server_address(labeler)
    if address is None:
        return
    found = _permission(address, settings, _openings_of(folder))
    if found.why_not:
        raise RightsError(found.why_not)


def _permission(address: str, settings: StudySettings, known: list[Opening]) -> Permission:
    of = _opening_of(address, known) if settings.data_use.restricted else None
    try:
        _egress(settings, known).check(address)
    except RightsError as error:
        return Permission(f"{error}{_ended(of)}", of)
    return Permission(opening=of)


def _openings_of(folder: Path) -> list[Opening]:
    path = folder / "data" / "workbench.db"
    if not path.exists():
        return []
    with Database(path).read() as conn:
        return store.latest(conn)


def _egress(settings: StudySettings, known: list[Opening]) -> Egress:
    opened = {opening.host for opening in known if opening.holds(_today())}
    return Egress(settings.data_use.restricted, frozenset(settings.data_use.hosts) | opened)


def _opening_of(address: str, known: list[Opening]) -> Opening | None:
    """Return the opening that is about a server: the one that holds, if there are two."""
    shown, port = _named(address)
    about = [opening for opening in known if opening.host in {shown.strip("[]"), f"{shown}:{port}", shown}]
    return next((opening for opening in about if opening.holds(_today())), about[0] if about else None)


def _named(address: str) -> tuple[str, int]:
    """Return the host of an address as it is written in lists, and its port."""
    parts = urlsplit(address)
    host = (parts.hostname or "").removesuffix(".")
    return f"[{host}]" if ":" in host else host, parts.port or _PORTS.get(parts.scheme, 0)


def _ended(opening: Opening | None) -> str:
    if opening is None:
        return ""
    if opening.closed_at is not None:
        return f" It was closed by {opening.closed_by} on {opening.closed_at:%Y-%m-%d}."
    return f" Its agreement ended on {opening.basis.until}."


def _today() -> date:
    return datetime.now(UTC).date()
