"""A test of metrics as files: the table as CSV and JSON, a picture, and the pairs that it rests on."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from workbench.domain.judged import by_why
from workbench.domain.pairs import EditedPair
from workbench.domain.runs import ExtractionStatus
from workbench.evaluation.numbers import Figure
from workbench.formats.exports import Column, Kind, write_table
from workbench.formats.pairs import with_unedited, write_pairs
from workbench.formats.trust_svg import Dot, Row, trust_svg
from workbench.formats.writing import make_folder, replacing
from workbench.workflow.export import refuse_own_file
from workbench.workflow.judging import scripted_words, took_words, why_words
from workbench.workflow.trust import MetricTrust, TrustTable

TABLE_CSV, TABLE_JSON, PICTURE, PAIRS = "trust.csv", "trust.json", "trust.svg", "pairs.csv"
BELOW = "Probability that an error that matters costs more than a harmless edit; 0.5 is of no use. 95 % intervals."

_FIGURES = ("probability", "right_side", "mean_drop")
_COLUMNS = (
    *map(Column, ("metric", "kind", "sort")),
    Column("n", Kind.WHOLE),
    Column("without", Kind.WHOLE),
    *(Column(name, Kind.NUMBER) for figure in _FIGURES for name in (figure, f"{figure}_low", f"{figure}_high")),
    Column("not_noticed", Kind.WHOLE),
    Column("threshold", Kind.NUMBER),
    *map(Column, ("reason", "why_without", "pairs_hash", "task", "prompt_hash", "labeler_hash")),
    *map(Column, ("judge_hash", "judge_labeler_hash", "judge_labeler_kind")),
)


def write_trust(table: TrustTable, pairs: Sequence[EditedPair], folder: Path) -> list[Path]:
    """Write a test of metrics into a folder, which is made when it is missing, and return the files.

    ``pairs.csv`` holds the texts of the reports; the unedited pairs in it are there to be scored elsewhere too.

    Raises:
        InputError: it cannot be written there.
        ConflictError: a file would take the place of one of the study's own.
    """
    paths = [folder / name for name in (TABLE_CSV, TABLE_JSON, PICTURE, PAIRS)]
    for path in paths:
        refuse_own_file(table.reading.study, path)
    make_folder(folder)
    write_table(paths[0], _COLUMNS, _rows(table))
    with replacing(paths[1]) as file:
        file.write(json.dumps(trust_json(table), indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    with replacing(paths[2]) as file:
        file.write(picture(table))
    write_pairs(paths[3], with_unedited(pairs))
    return paths


def trust_json(table: TrustTable) -> dict[str, object]:
    """Return everything of a test as JSON."""
    return {
        "pairs_hash": table.pairs_hash,
        "reports": table.reports,
        "pairs": dict(table.by_kind),
        "task": table.task,
        "revision": table.revision,
        "prompt_hash": table.reading.prompt.hash,
        "labeler": table.reading.labeler.name,
        "labeler_hash": table.reading.labeler.hash,
        "metrics": [_metric_json(metric) for metric in table.metrics],
    }


def picture(table: TrustTable) -> str:
    """Return the picture: a panel per metric, a row per kind of edit."""
    edits = sum(table.by_kind.values())
    rows = [
        Row("Mean over kinds", tuple(_all(metric, metric.trust.probability) for metric in table.metrics)),
        Row("All pairs alike", tuple(_all(metric, metric.trust.pooled) for metric in table.metrics)),
    ]
    for significant, head in ((True, "Errors that matter"), (False, "Harmless edits")):
        kinds = [kind for kind in table.metrics[0].trust.kinds if kind.significant is significant]
        rows.append(Row(f"{head}:", header=True))
        for kind in kinds:
            n = table.by_kind[kind.kind]
            dots = tuple(_dot(metric.trust.of(kind.kind).probability, n) for metric in table.metrics)
            rows.append(Row(f"{words(kind.kind)} ({n})", dots))
    title = f"Which metric can be trusted: {table.reports} reports, {edits} edits"
    return trust_svg(
        [metric.name for metric in table.metrics], rows, title=title, below=BELOW, notes=judge_words(table)
    )


def words(kind: str) -> str:
    """Return a kind of edit as people say it."""
    return kind.replace("_", " ")


def judge_words(table: TrustTable) -> list[str]:
    """Return in sentences what each judge took, of which edits it gave no judgement and why, and who is no model."""
    told = []
    for metric in table.metrics:
        if metric.judge is None or metric.usage is None:
            continue
        took = took_words(metric.usage, metric.cost, metric.currency)
        told.append(f"{metric.name} took {took}.{scripted_words(metric.judge)}")
        if metric.without:
            told.append(f"{metric.name} gave no judgement on {_without_words(table, metric)}")
    return told


def _without_words(table: TrustTable, metric: MetricTrust) -> str:
    """Return of how many edits there is no judgement and why, by kind."""
    n = sum(sum(counts.values()) for counts in metric.without.values())
    kinds = "; ".join(
        f"{words(kind)} {sum(counts.values()):,} of {table.by_kind[kind]:,} ({why_words(counts)})"
        for kind, counts in metric.without.items()
    )
    again = any(ExtractionStatus.FAILED in counts for counts in metric.without.values())
    return (
        f"{n:,} of {sum(table.by_kind.values()):,} edits, or on the report with itself; they are in none of its "
        f"figures: {kinds}.{' What got no reply is asked for again by the same command.' if again else ''}"
    )


def _dot(figure: Figure, edits: int, n: int | None = None) -> Dot:
    """Return a figure as it is drawn, with its n where some of the edits have no value."""
    valued = figure.n if n is None else n
    return Dot(figure.value, figure.low, figure.high, f"n {valued:,}" if valued < edits else "")


def _all(metric: MetricTrust, figure: Figure) -> Dot:
    """Return a figure over all edits; its own n is that of the errors that matter alone."""
    valued = metric.trust.n_significant + metric.trust.n_harmless
    return _dot(figure, valued + metric.trust.left_out, valued)


def _metric_json(metric: MetricTrust) -> dict[str, object]:
    found = metric.trust
    return {
        "metric": metric.id,
        "name": metric.name,
        "higher_is_better": metric.higher_is_better,
        "probability": found.probability.as_json(),
        "probability_of_all_pairs": found.pooled.as_json(),
        "threshold": found.threshold,
        "discrimination": found.discrimination.as_json(),
        "robustness": found.robustness.as_json(),
        "significant": found.n_significant,
        "harmless": found.n_harmless,
        "left_out": found.left_out,
        "judge": asdict(metric.judge) if metric.judge else None,
        "without_judgement": by_why(metric.without.values()),
        "patients": found.n_patients,
        "resamples": found.resamples,
        "seed": found.seed,
        "blind_to": list(metric.blind_to),
        "tokens": asdict(metric.usage) if metric.usage else None,
        "cost": metric.cost,
        "currency": metric.currency or None,
        "kinds": [
            {
                "kind": kind.kind,
                "significant": kind.significant,
                "probability": kind.probability.as_json(),
                "right_side": kind.right.as_json(),
                "mean_drop": kind.mean_drop.as_json(),
                "not_noticed": kind.blind if kind.significant else None,
                "without_judgement": dict(metric.without.get(kind.kind, {})),
            }
            for kind in found.kinds
        ],
    }


def _rows(table: TrustTable) -> Iterator[tuple[object, ...]]:
    about = (table.pairs_hash, table.task, table.reading.prompt.hash, table.reading.labeler.hash)
    for metric in table.metrics:
        found, by = metric.trust, metric.judge
        judge = (by.judge_hash, by.labeler_hash, by.labeler_kind) if by else ("", "", "")
        for sort, right in (("significant", found.discrimination), ("harmless", found.robustness)):
            kinds = [kind.kind for kind in found.kinds if kind.significant is (sort == "significant")]
            without = sum(table.by_kind[kind] for kind in kinds) - right.n
            why = why_words(by_why(metric.without.get(kind, {}) for kind in kinds))
            numbers = (*_ends(found.probability), *_ends(right), *_ends(None))
            reason = found.probability.reason or right.reason
            rest = (found.threshold, reason, why, *about, *judge)
            yield (metric.id, "", sort, right.n, without, *numbers, None, *rest)
        for kind in found.kinds:
            sort = "significant" if kind.significant else "harmless"
            numbers = (*_ends(kind.probability), *_ends(kind.right), *_ends(kind.mean_drop))
            reason = kind.probability.reason or kind.right.reason
            unnoticed = kind.blind if kind.significant else None
            n, why = kind.right.n, why_words(metric.without.get(kind.kind, {}))
            rest = (found.threshold, reason, why, *about, *judge)
            yield (metric.id, kind.kind, sort, n, table.by_kind[kind.kind] - n, *numbers, unnoticed, *rest)


def _ends(figure: Figure | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if figure is None else (figure.value, figure.low, figure.high)
