"""The server of ``fault_server.py`` as a judge of generated reports:

    python tests/models/judge_server.py

Everything is as there (faults by directive in a text, /log) but what is right. A right answer is what the generated
report says of itself, sentence by sentence; of two passes the second weighs as the report says, and is dealt the plan
from its second step:

    Matched effusion. Significant wrong_location. Harmless false_finding. {deal ok, truncated}
"""

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import fault_server as faults

_SAID = re.compile(r"\b(Matched|Significant|Harmless) ([a-z_]+)\.")
_text_of, _right_answer, _plan_of = faults.text_of, faults.right_answer, faults.plan_of


def judged(report: str, schema: dict[str, Any]) -> dict[str, object]:
    """Return what a report says of itself in the form that is asked for: one pass, the first of two, or the second."""
    asked = schema["properties"]
    found = [(how == "Significant", kind) for how, kind in _SAID.findall(report) if how != "Matched"]
    if "errors" not in asked:
        return {"significant": [number for number, (matters, _) in enumerate(found, start=1) if matters]}
    weighed = "significant" in asked["errors"]["items"]["properties"]
    errors = [
        {"kind": kind, **({"significant": matters} if weighed else {}), "what": f"a {kind}"} for matters, kind in found
    ]
    return {"errors": errors, "matched": [what for how, what in _SAID.findall(report) if how == "Matched"]}


def plan_of(text: str, options: faults.Options) -> tuple[str, ...]:
    """Return the steps that a pair is dealt."""
    plan = _plan_of(text, options)
    return plan[1:] or plan if "\n\nErrors:" in text else plan


def text_of(step: str, report: str, schema: dict[str, Any]) -> tuple[str, str]:
    """Return the text of an answer and how it ended."""
    to_judge = {"errors", "significant"} & set(schema.get("properties", {}))
    faults.right_answer = (lambda _said, form: judged(report, form)) if to_judge else _right_answer
    return _text_of(step, report, schema)


if __name__ == "__main__":
    faults.text_of, faults.plan_of = text_of, plan_of
    faults.main()
