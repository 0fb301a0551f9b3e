"""The findings on a rater's desk: a key, a name, what it means, and one control per finding, drawn by the browser.

Twenty-one controls of Streamlit's own cost the server and the browser a tenth of a second at each press, so this is one
element whose content stays the same from press to press. What is chosen comes from ``shortcuts``, which shows a press
before the server has answered. All text is set as text, never as HTML.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

import streamlit as st

from workbench.domain.findings import Finding, State
from workbench.ui.widgets import STATE_NAMES

ORDER = (State.NOT_MENTIONED, State.ABSENT, State.UNCERTAIN, State.PRESENT)
SHOWN = {State.NOT_MENTIONED: "–", State.ABSENT: "absent", State.UNCERTAIN: "uncertain", State.PRESENT: "present"}
BOARD = "rate.board"

_STYLE = """
.wb-board {display: grid; grid-template-columns: 1fr 1fr; column-gap: 1rem; align-items: start;
  font-family: var(--st-font); color: var(--st-text-color); --wb-line: var(--st-border-color);
  --wb-name: 45%; --wb-row: 2.06rem; --wb-between: .16rem; --wb-pad: .3rem;
  --wb-answer: .8rem; --wb-words: .82rem}
.wb-board.four {--wb-name: 39%; --wb-pad: .1rem; --wb-answer: .74rem; --wb-words: .78rem}
@media (min-height: 860px) {.wb-board {--wb-between: .4rem}}
@media (min-width: 1700px) and (min-height: 1000px) {
  .wb-board {--wb-between: .75rem; --wb-answer: .88rem; --wb-words: .89rem}
  .wb-board.four {--wb-answer: .8rem; --wb-words: .84rem}
}
.wb-board .group {font-size: .74rem; letter-spacing: .05em; text-transform: uppercase; opacity: .75; font-weight: 600;
  line-height: 1.5; margin: .3rem 0 .12rem}
.wb-board .group:first-child {margin-top: 0}
.wb-board .finding {display: flex; align-items: center; gap: .3rem; min-height: var(--wb-row);
  margin-bottom: var(--wb-between)}
.wb-board .told {flex: 0 0 var(--wb-name); display: flex; align-items: center; min-width: 0}
.wb-board .name {flex: 0 1 auto; min-width: 0; font-size: var(--wb-words); line-height: 1.15; overflow-wrap: anywhere}
.wb-board .critical {color: var(--st-red-color); font-size: .95em; line-height: 1}
.wb-board kbd {flex: none}
.wb-board .help {flex: none; width: 1.05rem; height: 1.05rem; margin-left: auto; padding: 0; border: 1px solid;
  border-radius: 50%; background: none; color: inherit; opacity: .55; font: 600 .7rem/1 var(--st-font); cursor: help}
.wb-board .help:is(:hover, :focus-visible) {opacity: 1; color: var(--st-link-color)}
.wb-board [role=radiogroup] {flex: 1; display: flex; min-width: 0; min-height: 1.95rem}
.wb-board [role=radio] {flex: 1 1 auto; min-width: 1.7rem; padding: 0 var(--wb-pad); margin: 0 0 0 -1px;
  border: 1px solid var(--wb-line); background: var(--st-background-color); color: inherit; cursor: pointer;
  font: 400 var(--wb-answer)/1.1 var(--st-font); white-space: nowrap; position: relative}
.wb-board.four [role=radio] {min-width: 1.35rem; letter-spacing: -.01em}
.wb-board.four .told {gap: .12rem}
.wb-board [role=radio]:first-child {margin-left: 0; border-radius: var(--st-button-radius) 0 0 var(--st-button-radius)}
.wb-board [role=radio]:last-child {border-radius: 0 var(--st-button-radius) var(--st-button-radius) 0}
.wb-board [role=radio]:hover {border-color: var(--st-primary-color); z-index: 1}
.wb-board [role=radio][aria-checked=true] {border-color: var(--st-primary-color); font-weight: 600; z-index: 2;
  background: color-mix(in srgb, var(--st-primary-color) 12%, var(--st-background-color))}
.wb-board [role=radio][aria-checked=true]:not(:first-child) {
  background: color-mix(in srgb, #2f8f97 42%, var(--st-background-color))}
.wb-board [role=radio][data-state=absent][aria-checked=true] {border-color: currentColor;
  background: color-mix(in srgb, currentColor 14%, var(--st-background-color))}
.wb-board :is([role=radio], .help):focus-visible {outline: 2px solid var(--st-primary-color); outline-offset: 1px;
  z-index: 3}
.wb-board [popover] {position: fixed; inset: auto; margin: 0; max-width: 24rem; padding: .6rem .8rem;
  border: 1px solid var(--wb-line); border-radius: var(--st-base-radius); background: var(--st-background-color);
  color: var(--st-text-color); font-size: .86rem; line-height: 1.45; box-shadow: 0 4px 16px rgba(0,0,0,.18);
  pointer-events: none; overflow-wrap: anywhere}
.wb-board [popover] p {margin: 0 0 .4rem; padding: 0; font-size: inherit}
.wb-board [popover] p:last-child {margin-bottom: 0}
"""

_SCRIPT = """
export default function ({ data, parentElement }) {
  const make = (tag, within, given = {}, text = "") => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
    made.textContent = text;
    within.append(made);
    return made;
  };
  const content = JSON.stringify(data);
  const there = parentElement.querySelector(".wb-board");
  if (there?.content === content) return void window.wbRating?.redraw?.();  // what has the focus keeps it
  there?.remove();
  const board = make("div", parentElement, { class: `wb-board${data.options.length > 3 ? " four" : ""}` });
  board.content = content;
  const tip = make("div", board, { popover: "manual", role: "tooltip", id: "wb-tip" });
  const explain = (mark, finding) => {
    tip.replaceChildren();
    for (const [head, words] of finding.help) {
      const line = make("p", tip);
      if (head) make("b", line, {}, words ? `${head} ` : head);
      line.append(words);
    }
    tip.showPopover?.();
    const at = mark.getBoundingClientRect();
    const over = at.bottom + tip.offsetHeight + 8 > window.innerHeight;
    tip.style.left = `${Math.max(8, Math.min(at.left - 24, window.innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${over ? Math.max(8, at.top - tip.offsetHeight - 6) : at.bottom + 6}px`;
    mark.setAttribute("aria-describedby", "wb-tip");
  };
  const hide = (mark) => {
    tip.hidePopover?.();
    mark.removeAttribute("aria-describedby");
  };
  const radios = [];
  const control = (within, finding) => {
    const row = make("div", within, { class: "finding" });
    const told = make("div", row, { class: "told" });
    if (finding.key) make("kbd", told, { class: "wb-key", "aria-hidden": "true" }, finding.key);
    const name = make("span", told, { class: "name" }, finding.name);
    if (finding.critical) {
      name.append("\\u00a0");  // keeps the dot on the line of the name's last word
      make("span", name, { class: "critical", role: "img", "aria-label": "dangerous to miss" }, "●");
    }
    const means = { type: "button", class: "help", "aria-label": `What ${finding.name} means` };
    const mark = make("button", told, means, "?");
    for (const event of ["mouseenter", "focus"]) mark.addEventListener(event, () => explain(mark, finding));
    for (const event of ["mouseleave", "blur"]) mark.addEventListener(event, () => hide(mark));
    mark.addEventListener("keydown", (e) => e.key === "Escape" && hide(mark));
    const given = { role: "radiogroup", "aria-label": finding.name, "data-finding": finding.id };
    if (finding.key) given["aria-keyshortcuts"] = finding.key;
    const group = make("div", row, given);
    for (const [state, shown, spoken] of data.options) {
      const answer = { type: "button", role: "radio", "data-state": state, "aria-label": spoken };
      radios.push(make("button", group, answer, shown));
    }
    group.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      if (!step || e.altKey || e.ctrlKey || e.metaKey) return;
      e.preventDefault();
      const all = [...group.children];
      const next = all[(all.indexOf(e.target) + step + all.length) % all.length];
      next.focus();
      next.click();
    });
  };
  for (const groups of data.columns) {
    const column = make("div", board);
    for (const group of groups) {
      make("div", column, { class: "group" }, group.name);
      for (const finding of group.findings) control(column, finding);
    }
  }
  board.draw = (states) => {
    for (const radio of radios) {
      const chosen = radio.dataset.state === (states[radio.parentElement.dataset.finding] ?? data.none);
      radio.setAttribute("aria-checked", chosen);
      radio.tabIndex = chosen ? 0 : -1;
    }
  };
  window.wbRating?.redraw?.();
}
"""


def finding_help(finding: Finding) -> list[tuple[str, str]]:
    """Return what a rater reads on hovering over a finding: paragraphs, each with its heading, which may be empty."""
    parts = [(f"{finding.name} ({finding.name_zh})", ""), ("", finding.definition)]
    parts += [(head, words) for head, words in (("Include:", finding.include), ("Exclude:", finding.exclude)) if words]
    return parts


def draw(findings: Sequence[Finding], keys: Mapping[str, str], states: Sequence[State]) -> None:
    """Draw the findings in two columns, grouped as the label set groups them, with the answers that are asked for.

    Args:
        findings: in label-set order.
        keys: the key of each finding by its id, empty where it has none.
        states: those of the round.
    """
    columns: list[list[dict[str, object]]] = [[], []]
    placed = 0
    for name, group in groupby(findings, key=lambda f: f.group):
        rows = [_row(finding, keys[finding.id]) for finding in group]
        columns[0 if placed < len(findings) / 2 else 1].append({"name": name, "findings": rows})
        placed += len(rows)
    _component()(
        data={
            "columns": columns,
            "options": [[s.value, SHOWN[s], STATE_NAMES[s]] for s in ORDER if s in states],
            "none": State.NOT_MENTIONED.value,
        },
        key=BOARD,
    )


def _row(finding: Finding, key: str) -> dict[str, object]:
    return {
        "id": finding.id,
        "key": key,
        "name": finding.name,
        "critical": finding.critical,
        "help": [list(part) for part in finding_help(finding)],
    }


def _component() -> Callable[..., object]:
    return st.components.v2.component("rating_board", js=_SCRIPT, css=_STYLE, isolate_styles=False)
