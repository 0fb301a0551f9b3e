"""Server time of a rerun of each page on the demo study, beside a bare page: ``python tests/benchmarks/page_rerun.py``.

Goal: under 300 ms a page. Measured through AppTest, so without the network and the browser's drawing. "first" is the
first look after the data changed, when nothing is remembered; "again" the median of reruns as a click causes them.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("reports", "cohorts", "annotate", "reference", "adjudicate", "run", "errors", "revise", "accept", "history")
BARE = "import streamlit as st\nst.header('Bare')\n"
GOAL = 300  # milliseconds


def milliseconds(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - start)


def measure(study: Path, times: int) -> dict[str, dict[str, float]]:
    """Return first and median rerun time of each page and of a bare one."""
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    from workbench.ui.state import ACTOR
    from workbench.workflow.demo import LEAD, RATER

    os.environ["WORKBENCH_STUDY"] = str(study)
    bare = AppTest.from_string(BARE, default_timeout=60).run()
    found = {"bare": {"first": 0.0, "again": statistics.median(milliseconds(bare.run) for _ in range(times))}}
    for page in PAGES:
        app = AppTest.from_file(str(ROOT / "workbench" / "ui" / "app.py"), default_timeout=60)
        app.session_state[ACTOR] = RATER if page == "annotate" else LEAD
        app.run()
        st.cache_resource.clear()
        app.switch_page(str(ROOT / "pages" / f"{page}.py"))
        first = milliseconds(app.run)
        again = statistics.median(milliseconds(app.run) for _ in range(times))
        assert not app.exception, page
        found[page] = {"first": first, "again": again}
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, help="a demo study; a fresh one is made without it")
    parser.add_argument("--times", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from workbench.workflow.demo import demo

    with tempfile.TemporaryDirectory() as folder:
        study = given.study or Path(folder) / "demo"
        demo(study)
        found = measure(study, given.times)
    if given.json:
        sys.stdout.write(json.dumps(found) + "\n")
        return
    floor = found["bare"]["again"]
    sys.stdout.write(f"{'page':<10} {'first ms':>9} {'again ms':>9} {'x bare':>7}\n")
    for page, row in found.items():
        late = "  over the goal" if row["again"] > GOAL else ""
        sys.stdout.write(f"{page:<10} {row['first']:>9.0f} {row['again']:>9.1f} {row['again'] / floor:>7.1f}{late}\n")


if __name__ == "__main__":
    main()
