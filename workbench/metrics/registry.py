"""Every metric by its id."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from workbench.errors import InputError
from workbench.metrics.base import Metric, Numbers, Text
from workbench.metrics.bleu import ORDERS, bleu2_rexrank, bleu_all
from workbench.metrics.rouge import rouge_l_all

RAN_SCORE = "ran_score"
_LABELS = "a label set and a labeler"

_ALL = (
    Metric(
        RAN_SCORE,
        "Ran Score",
        True,
        "Macro-F1 of the findings that the accepted prompt reads in the generated report against those it reads in the "
        "reference, over the findings with support in the reference. Of one report: F1 of its findings.",
        needs=_LABELS,
    ),
    *(
        Metric(
            f"bleu{order}",
            f"BLEU-{order}",
            True,
            f"Mean over reports of BLEU with n-grams up to {order}: mteval-13a tokens in lower case, not smoothed.",
        )
        for order in ORDERS
    ),
    Metric(
        "bleu2_rexrank",
        "BLEU-2 (ReXrank)",
        True,
        "Mean over reports of BLEU-2 as ReXrank computes it: split at blanks and full stops in lower case, bigrams "
        "without a match counted as 0.1 of a match.",
    ),
    Metric(
        "rouge_l",
        "ROUGE-L",
        True,
        "Mean over reports of F of the longest common subsequence of words, with the tokens of Google's rouge-score.",
    ),
    Metric(
        "radcliq_v1",
        "RadCliQ-v1",
        False,
        "Weighted sum of RadGraph F1, BERTScore, SembScore and BLEU-2, each standardised. Lower is better, and it may "
        "be negative; ReXrank shows the reciprocal of the mean.",
        needs="scores of radgraph_f1, bertscore and semb_score",
    ),
    Metric(
        "bertscore",
        "BERTScore",
        True,
        "F1 of the similarity of word embeddings of distilroberta-base, rescaled with its baseline.",
        needs="the package bert-score and the weights of distilroberta-base, or scores computed elsewhere",
    ),
    Metric(
        "semb_score",
        "SembScore",
        True,
        "Cosine similarity of the embeddings that CheXbert makes of the two reports.",
        needs="scores computed elsewhere",
    ),
    Metric(
        "f1chexbert",
        "F1CheXbert",
        True,
        "Of one report: the share of five findings (cardiomegaly, edema, consolidation, atelectasis, pleural effusion) "
        "on which CheXbert says the same of both reports.",
        needs="the package f1chexbert and the weights of CheXbert, or scores computed elsewhere",
    ),
    Metric(
        "radgraph_f1",
        "RadGraph-F1",
        True,
        "F1 of the entities, with whether they have relations, that RadGraph reads in the two reports. RadCliQ-v1 was "
        "fitted on the mean of entity and relation F1: for it import those scores.",
        needs="the package radgraph and the weights of RadGraph, or scores computed elsewhere",
    ),
    Metric(
        "ratescore",
        "RaTEScore",
        True,
        "Similarity of the medical entities of the two reports, weighted by their kinds.",
        needs="scores computed elsewhere",
    ),
    Metric(
        "green",
        "GREEN",
        True,
        "Matched findings divided by matched findings and clinically significant errors, as a language model "
        "counts them.",
        needs="a language model of the study, or scores computed elsewhere",
    ),
    Metric(
        "fineradscore",
        "FineRadScore",
        False,
        "Severity of the corrections that a language model needs to turn the generated report into the reference.",
        needs="scores computed elsewhere",
    ),
    Metric(
        "crimson",
        "CRIMSON",
        True,
        "Errors of a generated report weighted by their clinical significance, as a language model finds them.",
        needs="scores computed elsewhere",
    ),
)

METRICS: Mapping[str, Metric] = MappingProxyType({metric.id: metric for metric in _ALL})


def get(metric_id: str) -> Metric:
    """Return a metric by its id.

    Raises:
        InputError: there is no such metric.
    """
    if metric_id not in METRICS:
        raise InputError(f"There is no metric {metric_id!r}; there are {', '.join(METRICS)}.")
    return METRICS[metric_id]


def core(ids: Sequence[str] | None = None) -> tuple[Metric, ...]:
    """Return the metrics that need nothing but the two texts, all of them or those among ``ids`` in their order.

    Raises:
        InputError: an id is unknown.
    """
    chosen = METRICS.values() if ids is None else [get(metric_id) for metric_id in ids]
    return tuple(metric for metric in chosen if not metric.needs)


def text_scores(
    references: Sequence[Text], generated: Sequence[Text], ids: Sequence[str] | None = None
) -> dict[str, Numbers]:
    """Return per core metric the value of each pair, [pair]; NaN where it has none, 0.0 for a blank generated report.

    Args:
        references: the reference reports; None where there is none.
        generated: the generated report of each; None where the system left the study out.
        ids: which of the core metrics; without them all. Metrics that need more are passed over.

    Raises:
        InputError: an id is unknown.
        ValueError: there is not one generated report per reference.
    """
    wanted = [metric.id for metric in core(ids)]
    scores: dict[str, Numbers] = {}
    orders = [order for order in ORDERS if f"bleu{order}" in wanted]
    if orders:
        table = bleu_all(references, generated, orders)
        scores.update({f"bleu{order}": table[:, column] for column, order in enumerate(orders)})
    if "bleu2_rexrank" in wanted:
        scores["bleu2_rexrank"] = bleu2_rexrank(references, generated)
    if "rouge_l" in wanted:
        scores["rouge_l"] = rouge_l_all(references, generated)
    return {metric_id: scores[metric_id] for metric_id in wanted}
