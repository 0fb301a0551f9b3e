"""Render one template in a process of its own: ``python -I template_process.py < job.json > result.json``.

Jinja's sandbox keeps a template away from the program but bounds neither memory nor time, and neither can be taken
back from a thread. A process can be given limits by the system and be ended. It is given the values it may show and
nothing else: no environment, no report. It imports nothing of the workbench, so that it starts quickly.
"""

import contextlib
import json
import sys
import traceback

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

TEMPLATE = "<template>"


def limit(cpu_seconds: int, memory_bytes: int) -> None:
    """Let the system end this process when it takes more than its share (where the system can)."""
    try:
        import resource  # noqa: PLC0415 - not there on Windows, where only the caller's time limit holds
    except ImportError:
        return
    for kind, most in (
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # macOS has no limit on memory
            resource.setrlimit(kind, (most, most))


def render(body: str, values: dict[str, object], max_characters: int) -> dict[str, object]:
    """Return ``{"text": ...}``, or ``{"error": kind or message, "line": line of the body or None}``."""
    environment = ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # a language model reads it, no browser
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    try:
        parts, length = [], 0
        for part in environment.from_string(body).generate(values):
            length += len(part)
            if length > max_characters:
                return {"error": "size", "line": None}
            parts.append(part)
        return {"text": "".join(parts)}
    except MemoryError:
        return {"error": "memory", "line": None}
    except Exception as error:  # noqa: BLE001 - whatever a template can raise is told to its author
        return {"error": describe(error), "line": line_of(error)}


def describe(error: Exception) -> str:
    """Return what went wrong, in the words of the library, on one line."""
    if isinstance(error, RecursionError):
        return "it calls itself too deeply"
    return " ".join((str(error) or type(error).__name__).split()).rstrip(".")


def line_of(error: Exception) -> int | None:
    """Return the line of the template an error comes from."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == TEMPLATE]
    return lines[-1] if lines else None


def main() -> None:
    """Read a job from standard input, write its result to standard output."""
    job = json.load(sys.stdin)
    limit(job["cpu_seconds"], job["memory_bytes"])
    json.dump(render(job["body"], job["values"], job["max_characters"]), sys.stdout)


if __name__ == "__main__":
    main()
