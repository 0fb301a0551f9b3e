"""RadCliQ-v1 from its four parts, and the reciprocal that ReXrank shows.

Each part is standardised and weighted, and a bias is added (Yu et al., Patterns 2023). Lower is better, and it may be
negative: identical reports, all parts 1, have -1.44. With all four parts 0 it is 2.45, which is what a blank generated
report has. Because it may be near 0 or negative, a reciprocal per report, or its mean, means nothing; what ReXrank
prints as 1/RadCliQ-v1 is the reciprocal of the mean.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from workbench.metrics.base import Numbers

# In the order radgraph, bertscore, semb, bleu2. Source: rajpurkarlab/CXR-Report-Metric, CXRMetric/radcliq-v1.pkl (MIT),
# as printed in jbdel/RadEval, RadCliQv1/radcliq.py. The weight of BLEU-2 is as good as 0.
_MEANS = np.array([0.53792312, 0.61757256, 0.76479421, 0.44738335])
_SCALES = np.array([0.30282584, 0.22430938, 0.25394391, 0.29892717])
_WEIGHTS = np.array([-0.377083683, -0.3703001, -0.252616218, 4.31504841e-12])
_BIAS = 2.46655256e-10


def radcliq_v1(radgraph: npt.ArrayLike, bertscore: npt.ArrayLike, semb: npt.ArrayLike, bleu2: npt.ArrayLike) -> Numbers:
    """Return RadCliQ-v1 of each report, lower is better; NaN where a part is NaN.

    Being linear, it gives of mean parts the mean of RadCliQ-v1.

    Args:
        radgraph: mean of RadGraph's entity and relation F1, in 0..1, or any shape that goes with the others.
        bertscore: BERTScore F1 of distilroberta-base, rescaled with its baseline.
        semb: cosine similarity of CheXbert embeddings.
        bleu2: ReXrank's BLEU-2.
    """
    parts = np.stack(np.broadcast_arrays(*(np.asarray(p, np.float64) for p in (radgraph, bertscore, semb, bleu2))))
    values: Numbers = np.tensordot(_WEIGHTS / _SCALES, parts, 1) - float(_WEIGHTS @ (_MEANS / _SCALES)) + _BIAS
    return values


def reciprocal_of_mean(values: Sequence[float] | Numbers) -> float | None:
    """Return 1 / mean of RadCliQ-v1 over the reports that have one, as ReXrank ranks by it.

    None, "not defined", where the mean is not positive (the reciprocal would jump from huge to negative just where the
    reports get better) and where no report has a value.
    """
    defined = [float(value) for value in values if not math.isnan(value)]
    mean = math.fsum(defined) / len(defined) if defined else 0.0
    return 1 / mean if mean > 0 else None
