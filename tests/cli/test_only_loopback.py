"""In a network that is this computer and nothing else, a restricted study's commands reach their model and no other.

Each command is a process of its own, and one of them starts another as the page Run does.
"""

import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

ELSEWHERE = "203.0.113.9"  # an address that documents may use and nobody has
LEADS_ASTRAY = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")
ENVIRONMENT = {
    **dict.fromkeys((*LEADS_ASTRAY, *map(str.lower, LEADS_ASTRAY)), f"http://{ELSEWHERE}:8080"),
    "ANTHROPIC_OPEN_TELEMETRY": "true",
    "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{ELSEWHERE}:8080",
    "OPENAI_API_KEY": "sk-environment",
    "ANTHROPIC_API_KEY": "sk-environment",
}
TRIED = """
    import json, subprocess, sys, time, urllib.request
    from pathlib import Path

    from workbench.workflow import run
    from workbench.workflow.demo import LEAD
    from workbench.workflow.opening import open_study

    script, study, reports = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    server = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    url = "http://127.0.0.1:" + server.stdout.readline().strip()
    kinds = {"local": ("openai", url + "/v1"), "local-claude": ("anthropic", url), "gpt": ("openai", ""),
             "claude": ("anthropic", ""), "numbered": ("openai", "http://%s/v1" % "203.0.113.9")}
    with (study / "data" / "study.toml").open("a", encoding="utf-8") as settings:
        for name, (kind, address) in kinds.items():
            line = f'base_url = "{address}"\\n' if address else ""
            settings.write(f'\\n[labelers.{name}]\\nkind = "{kind}"\\nmodel = "m"\\nconcurrency = 8\\n{line}')

    def told(*arguments):
        command = [sys.executable, "-m", "workbench", *arguments, "--study", str(study), "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return done.stderr
        answer = json.loads(done.stdout)
        return {name: answer[name] for name in ("done", "total", "labelled", "failed") if name in answer}

    said = {}
    for name in kinds:
        out = Path(reports).with_name(name + ".csv")
        said[name] = [
            told("run", "--cohort", "development", "--prompt", "1", "--labeler", name),
            told("label", reports, "-o", str(out), "--labeler", name),
            out.exists(),
        ]
    opened = open_study(study)
    lead = opened.actor(LEAD)
    prepared = run.prepare(opened, lead, cohort="development", revision=2, labeler="local")
    child = run.start(opened, lead, prepared)
    while not run.ended(child):
        time.sleep(0.1)
    said["page"] = run.progress(opened, prepared).done
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url + "/log") as answer:
        said["reports"] = len(json.load(answer)["reports"])
    server.kill()
    print(json.dumps(said))
"""


def test_commands_on_a_restricted_study_reach_a_model_on_this_computer_and_no_other(
    root: Path, study: str, tmp_path: Path, run_with_only_loopback: Callable[..., dict[str, Any]]
) -> None:
    reports = tmp_path / "reports.csv"
    reports.write_text("id,text\nr1,pneumothorax present.\nr2,cardiomegaly absent.\n", encoding="utf-8")
    server = str(root / "tests/models/fault_server.py")
    command = [sys.executable, "-c", textwrap.dedent(TRIED), server, study, str(reports)]
    result = run_with_only_loopback(*command, env=ENVIRONMENT)
    assert result["code"] == 0, result["output"]
    said = json.loads(result["output"].splitlines()[-1])
    for name in ("local", "local-claude"):
        ran, labelled, written = said[name]
        assert ran["done"] == ran["total"] == said["page"] > 0
        assert (labelled, written) == ({"labelled": 2, "failed": 0}, True)
    for name, host in (("gpt", "api.openai.com"), ("claude", "api.anthropic.com"), ("numbered", ELSEWHERE)):
        ran, labelled, written = said[name]
        assert ran == labelled
        assert ran.startswith("workbench: This study's reports are restricted to this computer and listed hosts")
        assert host in ran
        assert (ran.count("\n"), ran.count(". "), written) == (1, 0, False)
    assert said["reports"] > said["page"] / 2  # they did arrive
    assert result["left"] == []
