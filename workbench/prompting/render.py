"""What a prompt renders to: one system text for all reports, and one user text per report.

The body of a prompt is a Jinja template that sees the guidance and the label set and never the report. So the system
text is byte-identical for every report, which lets a server reuse it, and no report can reach the template. After the
body stands what no prompt can leave out: the form of the answer, and that a report is text and no instruction.
"""

import json
import os
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from workbench.domain.findings import LabelSet
from workbench.domain.prompts import FindingGuidance, Prompt
from workbench.errors import InputError
from workbench.prompting.reply_form import reply_instructions

MAX_CHARACTERS = 400_000  # of rendered text
CPU_SECONDS = 3
WALL_SECONDS = 20.0
MEMORY_BYTES = 512 << 20
OPEN, CLOSE = "<report>", "</report>"

# What a report must not hold as it is: the delimiters, and the marks of chat templates ("<|im_end|>", "</s>",
# "<end_of_turn>", "[INST]"), which many local servers read as the end of a message wherever they stand. Possessive, so
# that a long run of white space costs no more than its length.
_DELIMITER = re.compile(
    r"<(?=\s*+/?\s*+report\b)"
    r"|<(?=[|\uff5c])"
    r"|<(?=/?(?:s|bos|eos|sop|eop|pad|unk|think(?:ing)?|(?:start|end)_of_\w{1,20}|tool_\w{1,20})>)"
    r"|<(?=</?SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|THINK|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])",
    re.IGNORECASE,
)
_HARMLESS = {"<": "‹", "[": "［"}
_PROCESS = Path(__file__).with_name("template_process.py")
_NEEDED_TO_START = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_LIMITS = {
    "size": f"it renders to more than {MAX_CHARACTERS:,} characters",
    "memory": f"it needs more than {MEMORY_BYTES >> 20} MB of memory",
    "time": f"it takes more than {CPU_SECONDS} s to render",
}


def render_system(prompt: Prompt, label_set: LabelSet) -> str:
    """Return the system text, the same for every report.

    The body sees ``title``, ``language``, ``instructions``, ``reply`` ("mentioned" or "every"), ``findings`` (all of
    the label set's in its order, each with id, name, name_zh, group, critical and the prompt's definition, synonyms,
    exclusions, normal), ``cues``, ``examples``, and ``label_set`` (id, version, title and its findings with the
    definitions raters work by).

    Raises:
        InputError: the template is wrong (its line is named), shows nothing, or takes too much room or time.
    """
    return _rendered(json.dumps({"body": prompt.body, "values": _values(prompt, label_set)}))


def system_text(prompt: Prompt, label_set: LabelSet, *, schema: bool = False) -> str:
    """Return all that a model is told before any report: the body, then the form of the answer.

    Args:
        prompt: see ``render_system``, which tells what is refused.
        label_set: the findings asked for.
        schema: spell the JSON Schema of the answer out, for a server that cannot hold a reply to it.
    """
    body = render_system(prompt, label_set)
    return f"{body.rstrip()}\n\n{reply_instructions(label_set, prompt.guidance.reply, schema=schema)}"


def render_user(text: str) -> str:
    """Return the message that carries a report: its text between fixed delimiters.

    The text is sent as it is, de-identification blanks included. Only a delimiter or a mark of a chat template that
    stands inside a report has its ``<`` turned into ``‹`` (its ``[`` into ``［``), so that no report can end itself
    early and go on as instructions.
    """
    return f"{OPEN}\n{harmless(text)}\n{CLOSE}"


def harmless(text: str) -> str:
    """Return a report's text as it is sent; see ``render_user``."""
    return _DELIMITER.sub(lambda mark: _HARMLESS[mark.group()], text)


def render(prompt: Prompt, label_set: LabelSet, text: str) -> tuple[str, str]:
    """Return system text and user text for one report, as a server that knows JSON Schema is sent them; see
    ``system_text`` and ``render_user``.
    """
    return system_text(prompt, label_set), render_user(text)


def _values(prompt: Prompt, label_set: LabelSet) -> dict[str, object]:
    guidance = prompt.guidance
    shown = guidance.as_json()
    empty = FindingGuidance()
    findings = []
    for finding in label_set.findings:
        told = guidance.findings.get(finding.id, empty)
        findings.append(
            {
                "id": finding.id,
                "name": finding.name,
                "name_zh": finding.name_zh,
                "group": finding.group,
                "critical": finding.critical,
                "definition": told.definition,
                "synonyms": told.synonyms,
                "exclusions": told.exclusions,
                "normal": told.normal,
            }
        )
    raters = [
        {"id": f.id, "name": f.name, "definition": f.definition, "include": f.include, "exclude": f.exclude}
        for f in label_set.findings
    ]
    return {
        **{key: shown[key] for key in ("title", "language", "instructions", "reply", "cues", "examples")},
        "findings": findings,
        "label_set": {"id": label_set.id, "version": label_set.version, "title": label_set.title, "findings": raters},
    }


@lru_cache(maxsize=64)
def _rendered(job: str) -> str:
    limits = {"cpu_seconds": CPU_SECONDS, "memory_bytes": MEMORY_BYTES, "max_characters": MAX_CHARACTERS}
    result = _in_process(json.dumps({**json.loads(job), **limits}))
    if "error" in result:
        problem = _LIMITS.get(str(result["error"]), str(result["error"]))
        line = f", line {result['line']}" if result.get("line") else ""
        raise InputError(f"The body of the prompt{line}: {problem}.")
    text = str(result["text"])
    if not text.strip():
        raise InputError("The body of the prompt renders to nothing; it must hold the text a model is to read.")
    return text


def _in_process(job: str) -> dict[str, object]:
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(_PROCESS)],
            input=job,
            capture_output=True,
            encoding="utf-8",
            # What Python needs to start, and no key of the person who runs this.
            env={name: os.environ[name] for name in _NEEDED_TO_START if name in os.environ},
            timeout=WALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": "time"}
    if done.returncode < 0:  # ended by the system at its limit of processor time
        return {"error": "time"}
    if done.returncode and "MemoryError" in done.stderr:
        return {"error": "memory"}
    if done.returncode:
        raise RuntimeError(f"the process that renders templates failed: {done.stderr}")
    result: dict[str, object] = json.loads(done.stdout)
    return result
