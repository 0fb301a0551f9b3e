"""A reviewer's desk, drawn by the browser: reference and generated report, the rating, and what is wrong by finding.

It is one element, so that what is pressed belongs to the very texts that are on the screen. The browser keeps a
numbered list of what was pressed until the server says that it has it, and shows what is saved as changed by that list:
a press is seen at once, and two quick ones are both saved, in their order. A press says what is to hold and not what to
change, so that one sent twice does no harm. All text is set as text, never as HTML.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import streamlit as st

from workbench.domain.findings import Finding
from workbench.domain.reviews import OTHER, RATINGS, Fault, Judgement, marks_as_json
from workbench.ui.rating_board import finding_help
from workbench.workflow.reviewing import LONGEST_COMMENT, Task

DESK = "review.desk"
_HEARD = "review.heard"
# Heading of the column, and what it means.
FAULTS: Mapping[Fault, tuple[str, str]] = {
    Fault.MISSED: ("missed", "Missed: the reference has it, the generated report does not"),
    Fault.INVENTED: ("invented", "Invented: the generated report has it, the reference does not"),
    Fault.PLACE: ("wrong place", "Wrong side or place: both have it, but not at the same place"),
    Fault.DEGREE: ("wrong degree", "Wrong degree: both have it, but not as severe or as certain"),
}
_WORDS = {
    "reference": "Reference report",
    "generated": "Generated report",
    "empty": "This report says nothing.",
    "rating": "How good is the generated report?",
    "marks": "What is wrong in it?",
    "comment": "Comment (optional)",
    "next": "Next report",
    "saving": "Saving …",
    "unsaved": "Not saved yet: your last clicks wait for the server. Keep this page open.",
}

_STYLE = """
.wb-review {display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) minmax(21rem, 25rem);
  grid-template-rows: minmax(8rem, 1fr) auto; gap: .7rem 1rem;
  height: max(37rem, calc(100vh - var(--wb-above, 10.2rem)));
  font-family: var(--st-font); color: var(--st-text-color); --wb-line: var(--st-border-color); --wb-row: 1.62rem;
  --wb-chosen: color-mix(in srgb, #2f8f97 42%, var(--st-background-color))}
.wb-review .head {font-size: .78rem; letter-spacing: .05em; text-transform: uppercase; opacity: .75; font-weight: 600;
  margin: 0 0 .3rem}
.wb-review .side {display: flex; flex-direction: column; min-height: 0; min-width: 0}
.wb-review .text {flex: 1; min-height: 0; overflow: auto; padding: .6rem .85rem;
  border-left: 3px solid rgba(47,143,151,.75); background: rgba(47,143,151,.06); border-radius: 0 .4rem .4rem 0;
  font-size: 1rem; line-height: 1.6; overflow-wrap: anywhere}
.wb-review .side.generated .text {border-left-color: rgba(224,164,60,.9); background: rgba(224,164,60,.08)}
.wb-review .text h4 {font: 600 .74rem/1.5 var(--st-font); letter-spacing: .05em; text-transform: uppercase; opacity: .7;
  margin: 0 0 .1rem; padding: 0}
.wb-review .text p {white-space: pre-wrap; margin: 0 0 .8rem; font-size: inherit}
.wb-review .text .nothing {opacity: .7; font-style: italic}
.wb-review .say {grid-column: 1 / 3}
.wb-review .scale {display: grid; grid-template-columns: repeat(5, minmax(0, 1fr)); gap: .4rem}
.wb-review .scale button {display: flex; gap: .5rem; align-items: center; min-height: 3.5rem; padding: .3rem .5rem;
  border: 1px solid var(--wb-line); border-radius: var(--st-button-radius); background: var(--st-background-color);
  color: inherit; text-align: left; font: 400 .8rem/1.22 var(--st-font); cursor: pointer}
.wb-review .scale b {font-size: 1.15rem; flex: none}
.wb-review button:hover {border-color: var(--st-primary-color)}
.wb-review .scale [aria-checked=true] {border-color: var(--st-primary-color); background: var(--wb-chosen);
  font-weight: 600}
.wb-review .foot {display: flex; gap: .7rem; align-items: center; margin-top: .55rem}
.wb-review textarea {flex: 1; min-width: 0; height: 2.5rem; min-height: 2.5rem; max-height: 9rem; resize: vertical;
  padding: .5rem .7rem; border: 1px solid var(--wb-line); border-radius: var(--st-base-radius); color: inherit;
  background: var(--st-secondary-background-color); font: 400 .9rem/1.4 var(--st-font)}
.wb-review .told {flex: none; font-size: .82rem; opacity: .75; min-width: 9.5rem}
.wb-review .next {flex: none; min-height: 2.5rem; padding: 0 1rem; border: 1px solid var(--st-primary-color);
  border-radius: var(--st-button-radius); background: var(--st-primary-color); color: #fff; cursor: pointer;
  font: 600 .92rem/1 var(--st-font)}
.wb-review .next kbd {margin-left: .5rem; font: 500 .74rem ui-monospace, monospace; opacity: .85; color: inherit;
  background: none; border: 0; padding: 0}
.wb-review .marks {grid-column: 3; grid-row: 1 / 3; min-height: 0; overflow: auto; scrollbar-gutter: stable}
.wb-review table {width: 100%; border-collapse: collapse; table-layout: fixed; margin: 0; font-size: .84rem}
.wb-review :is(th, td) {border: 0; padding: 0; font-weight: 400; color: inherit; background: none}
.wb-review tbody th {vertical-align: middle}
.wb-review thead th {position: sticky; top: 0; background: var(--st-background-color); font-size: .74rem; opacity: 1;
  text-align: center; vertical-align: bottom; line-height: 1.1; padding: 0 .1rem .25rem; z-index: 1; cursor: help}
.wb-review th:first-child {text-align: left; width: 43%; line-height: 1.1; padding-right: .3rem}
.wb-review tbody tr {height: var(--wb-row)}
.wb-review tbody tr:hover th {color: var(--st-primary-color)}
.wb-review tr.first :is(th, td) {border-top: 1px solid var(--wb-line)}
.wb-review td {padding: .08rem .14rem}
.wb-review td button {display: block; width: 100%; height: 1.38rem; padding: 0; border: 1px solid var(--wb-line);
  border-radius: .3rem; background: var(--st-background-color); color: inherit; font: 600 .8rem/1 var(--st-font);
  cursor: pointer}
.wb-review td [aria-pressed=true] {border-color: #c5524a; background: color-mix(in srgb, #c5524a 38%,
  var(--st-background-color))}
.wb-review :is(button, textarea):focus-visible {outline: 2px solid var(--st-primary-color); outline-offset: 1px}
@media (min-height: 980px) {.wb-review {--wb-row: 1.95rem} .wb-review td button {height: 1.6rem}}
@media (min-width: 1700px) and (min-height: 980px) {
  .wb-review {grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) 29rem}
  .wb-review .text {font-size: 1.1rem}
  .wb-review .scale button {font-size: .9rem}
  .wb-review table {font-size: .95rem}
  .wb-review thead th {font-size: .84rem}
}
"""

_SCRIPT = """
export default function ({ data, parentElement, setStateValue }) {
  const fresh = () => ({ tab: Date.now().toString(36) + Math.random().toString(36).slice(2), last: 0, presses: [] });
  const box = (window.wbReview ??= fresh());
  const heard = data.heard[box.tab] ?? 0;
  box.presses = box.presses.filter((p) => p.id > heard);
  if (box.leaving && (heard >= box.leaving.id || box.leaving.on !== data.on)) box.leaving = null;
  const make = (tag, within, given = {}, text = "") => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
    made.textContent = text;
    within.append(made);
    return made;
  };
  // What the server will have saved once it has worked off what waits.
  const shown = () => {
    const now = { rating: data.saved.rating, marks: structuredClone(data.saved.marks), comment: data.saved.comment };
    for (const press of box.presses.filter((p) => p.on === data.on)) {
      if (press.what === "rating") now.rating = press.value;
      if (press.what === "comment") now.comment = press.value;
      if (press.what === "mark") {
        const kinds = new Set(now.marks[press.finding] ?? []);
        kinds[press.value ? "add" : "delete"](press.fault);
        now.marks[press.finding] = [...kinds];
      }
    }
    return now;
  };
  const hand = () => setStateValue("presses", { tab: box.tab, list: box.presses });
  const send = (what) => {
    if (box.leaving) return;
    box.last += 1;
    box.presses = [...box.presses, { id: box.last, on: data.on, ...what }];
    hand();
    draw();
  };
  const write = () => {
    clearTimeout(box.writing);
    const said = desk().querySelector("textarea").value.trim();
    if (said !== shown().comment.trim()) send({ what: "comment", value: said });
  };
  const next = () => {
    if (box.leaving) return;
    write();
    send({ what: "next" });
    box.leaving = { id: box.last, on: data.on };
  };
  const desk = () => parentElement.querySelector(".wb-review");
  const draw = () => {
    const now = shown();
    const at = desk();
    for (const radio of at.querySelectorAll("[role=radio]")) {
      const chosen = Number(radio.dataset.value) === now.rating;
      radio.setAttribute("aria-checked", chosen);
      radio.tabIndex = chosen || (!now.rating && radio.dataset.value === "1") ? 0 : -1;
    }
    for (const mark of at.querySelectorAll("[data-fault]")) {
      const on = (now.marks[mark.dataset.finding] ?? []).includes(mark.dataset.fault);
      mark.setAttribute("aria-pressed", on);
      mark.textContent = on ? "×" : "";
    }
    clearTimeout(box.timer);
    const told = at.querySelector(".told");
    told.textContent = box.presses.length ? data.words.saving : data.told;
    if (box.presses.length) box.timer = setTimeout(() => (told.textContent = data.words.unsaved), 2500);
  };
  const side = (within, name, parts) => {
    const made = make("section", within, { class: `side ${name}`, "aria-label": data.words[name] });
    make("div", made, { class: "head" }, data.words[name]);
    const text = make("div", made, { class: "text", dir: "auto", tabindex: "0" });
    if (!parts.length) make("p", text, { class: "nothing" }, data.words.empty);
    for (const [heading, words] of parts) {
      if (heading) make("h4", text, {}, heading);
      make("p", text, { dir: "auto" }, words);
    }
  };
  const build = () => {
    desk()?.remove();
    const at = make("div", parentElement, { class: "wb-review" });
    side(at, "reference", data.reference);
    side(at, "generated", data.generated);
    const say = make("div", at, { class: "say" });
    make("div", say, { class: "head" }, data.words.rating);
    const scale = make("div", say, { class: "scale", role: "radiogroup", "aria-label": data.words.rating });
    for (const [value, words] of data.scale) {
      const given = { type: "button", role: "radio", "data-value": value, "aria-keyshortcuts": value };
      const radio = make("button", scale, given);
      make("b", radio, {}, String(value));
      make("span", radio, {}, words);
      radio.onclick = () => send({ what: "rating", value });
    }
    scale.onkeydown = (e) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      if (!step || e.altKey || e.ctrlKey || e.metaKey) return;
      e.preventDefault();
      const all = [...scale.children];
      const to = all[(all.indexOf(e.target.closest("button")) + step + all.length) % all.length];
      to.focus();
      to.click();
    };
    const foot = make("div", say, { class: "foot" });
    const given = { "aria-label": data.words.comment, placeholder: data.words.comment, maxlength: data.longest };
    const comment = make("textarea", foot, given);
    comment.value = shown().comment;
    comment.oninput = () => {
      clearTimeout(box.writing);
      box.writing = setTimeout(write, 700);
    };
    comment.onblur = write;
    make("span", foot, { class: "told", role: "status" });
    const go = make("button", foot, { type: "button", class: "next" }, data.words.next);
    make("kbd", go, {}, "Alt+S");
    go.onclick = next;
    const marks = make("div", at, { class: "marks" });
    make("div", marks, { class: "head" }, data.words.marks);
    const table = make("table", marks);
    const head = make("tr", make("thead", table));
    make("th", head, { scope: "col", "aria-label": "finding" });
    for (const [, short, long] of data.faults) make("th", head, { scope: "col", title: long }, short);
    const body = make("tbody", table);
    for (const finding of data.findings) {
      const row = make("tr", body, finding.first ? { class: "first" } : {});
      make("th", row, { scope: "row", title: finding.help }, finding.name);
      for (const [fault, short, long] of data.faults) {
        const place = { type: "button", "data-finding": finding.id, "data-fault": fault };
        const told = { "aria-label": `${finding.name}: ${short}`, title: `${finding.name}. ${long}` };
        const mark = make("button", make("td", row), { ...place, ...told });
        mark.onclick = () =>
          send({ what: "mark", finding: finding.id, fault, value: mark.getAttribute("aria-pressed") !== "true" });
      }
    }
    at.on = data.on;
  };
  if (desk()?.on !== data.on) build();
  draw();
  const writes = (e) => e && (e.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName));
  const onKey = (e) => {
    const key = (/^[a-z0-9]$/i.test(e.key) ? e.key : e.code.replace(/^(Key|Digit|Numpad)/, "")).toLowerCase();
    const alone = !e.altKey && !e.ctrlKey && !e.metaKey;
    const goes = e.altKey && !e.ctrlKey && !e.metaKey && key === "s";
    const rates = alone && !writes(document.activeElement) && data.scale.some(([value]) => String(value) === key);
    if (!goes && !rates) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    if (e.repeat) return;
    if (goes) next();
    else send({ what: "rating", value: Number(key) });
  };
  const onLeave = (e) => box.presses.length && e.preventDefault();
  box.forget?.();
  const heeded = [["keydown", onKey, true], ["beforeunload", onLeave]];
  for (const each of heeded) window.addEventListener(...each);
  box.forget = () => heeded.forEach((each) => window.removeEventListener(...each));
  // This desk drawn anew: what still waits is handed in here.
  if (box.place !== parentElement && box.presses.length) setTimeout(() => box.presses.length && hand(), 0);
  box.place = parentElement;
  return () => {
    if (box.place === parentElement) box.forget();
  };
}
"""


@dataclass(frozen=True, slots=True)
class Press:
    """One thing that a reviewer said on the report ``on``, by number within a browser's tab.

    ``what`` is rating, mark, comment or next; ``value`` what is to hold from then on.
    """

    tab: str
    number: int
    on: str
    what: str
    value: object = None
    finding: str = ""
    fault: str = ""

    def said(self, before: Judgement) -> Judgement:
        """Return what the reviewer says of the report after this press; unchanged by one that says nothing of it.

        Raises:
            ValueError: it is none that the desk sends.
        """
        if self.what == "rating" and isinstance(self.value, int):
            return Judgement(self.value, before.marks, before.comment)
        if self.what == "comment" and isinstance(self.value, str):
            return Judgement(before.rating, before.marks, self.value[:LONGEST_COMMENT])
        if self.what == "mark":
            faults = before.marks.get(self.finding, frozenset())
            fault = {Fault(self.fault)}
            now = faults | fault if self.value else faults - fault
            marks = {**before.marks, self.finding: now}
            return Judgement(before.rating, {f: kinds for f, kinds in marks.items() if kinds}, before.comment)
        if self.what == "next":
            return before
        raise ValueError(f"the desk sends no {self.what} {self.value!r}")


def draw(on: str, task: Task, findings: Sequence[Finding], told: str, heard: Callable[[], None]) -> None:
    """Draw a report for review; ``heard`` is called when something was pressed.

    Args:
        on: names the report and the reviewer; it comes back with each press and tells nothing of the system.
        task: what is read, and what was said of it last.
        findings: in label-set order.
        told: when it was saved.
        heard: works off ``presses``.
    """
    own = task.own
    st.components.v2.component("review_desk", js=_SCRIPT, css=_STYLE, isolate_styles=False)(
        data={
            "on": on,
            "reference": [list(part) for part in task.reference],
            "generated": [list(part) for part in task.generated],
            "scale": [list(step) for step in RATINGS.items()],
            "faults": [[fault.value, *FAULTS[fault]] for fault in Fault],
            "findings": list(_rows(findings)),
            "saved": {"rating": own.rating, "marks": marks_as_json(own.marks), "comment": own.comment},
            "told": told,
            "heard": dict(st.session_state.get(_HEARD, {})),
            "words": _WORDS,
            "longest": LONGEST_COMMENT,
        },
        key=DESK,
        default={"presses": {}},
        on_presses_change=heard,
    )


def _rows(findings: Sequence[Finding]) -> Iterator[dict[str, object]]:
    for _, group in groupby(findings, key=lambda f: f.group):
        for i, finding in enumerate(group):
            told = "\n".join(" ".join(part).strip() for part in finding_help(finding))
            yield {"id": finding.id, "name": finding.name, "help": told, "first": i == 0}
    yield {"id": OTHER, "name": "Anything else", "help": "What is no finding of the list above", "first": True}


def presses() -> list[Press]:
    """Return what was pressed and not taken yet, in its order; ``done`` takes it."""
    sent: dict[str, Any] = (st.session_state.get(DESK) or {}).get("presses") or {}
    tab = str(sent.get("tab", ""))
    taken = st.session_state.get(_HEARD, {}).get(tab, 0)
    return [
        Press(tab, p["id"], p["on"], p["what"], p.get("value"), p.get("finding", ""), p.get("fault", ""))
        for p in sent.get("list", [])
        if p["id"] > taken
    ]


def done(press: Press) -> None:
    """Take a press and all before it: the browser is told and forgets them."""
    st.session_state.setdefault(_HEARD, {})[press.tab] = press.number
