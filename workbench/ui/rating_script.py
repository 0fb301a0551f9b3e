"""What the browser does with keys, clicks and comments on a report; ``shortcuts`` says why and hands it its data."""

SCRIPT = """
export default function ({ data, parentElement, setStateValue }) {
  const fresh = () => ({ tab: Date.now().toString(36) + Math.random().toString(36).slice(2), last: 0, presses: [] });
  const box = (window.wbRating ??= fresh());
  const heard = data.heard[box.tab] ?? 0;
  box.presses = box.presses.filter((p) => p.id > heard);
  const on = () => document.querySelector(".wb-on")?.dataset.on ?? data.on;
  // A new session of the server cannot tell yet which of the presses that wait are in what it has saved.
  const unsure = !(box.tab in data.heard) && box.presses.length && box.saved?.on === data.on;
  if (!unsure) box.saved = { on: data.on, ...data.saved };
  // What the server will have saved once it has worked off what waits; as ``rating_state`` does it.
  const shown = () => {
    const saved = box.saved.on === on() ? box.saved : { states: {}, undo: [], last: "" };
    const states = { ...saved.states };
    const undo = [...saved.undo];
    let last = saved.last;
    const was = (finding) => states[finding] ?? data.none;
    for (const press of box.presses.filter((p) => p.on === on())) {
      if (press.finding) {
        if (press.state !== was(press.finding)) undo.push([press.finding, was(press.finding)]);
        states[press.finding] = press.state;
        last = press.finding;
      } else if (press.sentence && was(last) !== data.none) {
        undo.push([last, was(last)]);
      } else if (press.act === "undo-button" && undo.length) {
        const [finding, before] = undo.pop();
        states[finding] = before;
        last = finding;
      }
    }
    return states;
  };
  // A key is sent with the answer that it shows: a stale tab means what stands in it, not what stands on the server.
  const after = (finding) => {
    const now = shown()[finding] ?? data.none;
    return data.cycle[(data.cycle.indexOf(now) + 1) % data.cycle.length];
  };
  box.redraw = () => document.querySelector(".wb-board")?.draw(shown());
  // From leaving a report until the server has answered, a key can be meant neither for it nor for the next one.
  if (box.leaving && heard >= box.leaving.id) box.leaving = null;
  const leaving = () => box.leaving?.on === on();
  const early = () => {
    box.early = true;
    lost();
  };
  const hand = () => setStateValue("presses", { tab: box.tab, list: box.presses });
  const send = (what) => {
    box.last += 1;
    box.left = 0;
    box.early = false;
    box.presses = [...box.presses, { id: box.last, on: on(), ...what }];
    hand();
    tell();
    box.redraw();
  };
  const field = (label) => document.querySelector(`[data-testid=stMain] input[aria-label="${label}"]`);
  // A comment is handed in as a key is, so that a lost connection or server keeps it waiting too.
  box.write = () => {
    clearTimeout(box.writing);
    const written = box.written;
    box.written = null;
    if (written) send(written);
  };
  const onInput = (e) => {
    if (e.isComposing || e.target !== field(data.comment)) return;
    if (leaving()) return early();
    box.written = { on: on(), comment: e.target.value };
    clearTimeout(box.writing);
    box.writing = setTimeout(() => box.write(), data.pause);
  };
  const act = (name) => {
    const leaves = name !== "undo-button";
    // The second half of a double press, with nothing in between; the page may already show the next report.
    if (leaves && Date.now() - (box.left ?? 0) < data.double) return;
    box.write();
    send({ act: name, reason: field(data.why)?.value ?? "" });
    if (!leaves) return;
    box.left = Date.now();
    box.leaving = { id: box.last, on: on() };
  };
  const note = (id, text) => {
    const there = document.getElementById(id);
    if (text && there?.title === text) return null;
    there?.remove();
    if (!text) return null;
    const made = Object.assign(document.createElement("div"), { id, textContent: text, title: text });
    made.setAttribute("role", "status");
    made.style.cssText = data.look;
    document.body.append(made);
    return made;
  };
  const lost = () => {
    const close = Object.assign(document.createElement("button"), { type: "button", textContent: data.close });
    close.style.cssText = data.button;
    close.onclick = () => {
      box.early = false;
      box.lost = "";
      lost();
    };
    const text = box.lost || (box.early ? data.early : "");
    note("wb-lost", document.getElementById("wb-unsaved") ? "" : text)?.append(close);
  };
  const tell = () => {
    clearTimeout(box.timer);
    document.body.toggleAttribute("data-wb-saving", box.presses.length > 0);
    if (box.presses.length) {
      box.timer = setTimeout(() => {
        note("wb-unsaved", data.unsaved);
        lost();
      }, 1500);
    } else note("wb-unsaved", "");
    lost();
  };
  const writes = (e) => e && (e.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName));
  const letter = (e) => (/^[a-z0-9]$/i.test(e.key) ? e.key : e.code.replace(/^(Key|Digit)/, "")).toLowerCase();
  const hold = (e) => {
    e.preventDefault();
    e.stopImmediatePropagation();
  };
  const onKey = (e) => {
    const focused = document.activeElement;
    const closed = focused?.getAttribute("role") === "combobox" && focused.getAttribute("aria-expanded") !== "true";
    const writing = writes(focused) && !closed;
    if (e.altKey && !e.ctrlKey && !e.metaKey && e.key !== "Alt") {
      // What is being written is handed in before a shortcut such as Alt+S acts on it.
      if (writing) focused.blur();
      const name = data.acts[letter(e)];
      if (!name || !on()) return;  // no report is on the screen: the shortcut is another button's
      hold(e);
      if (e.repeat || leaving()) return;
      // The field hands in what was written a moment after it lost the focus; the act must not overtake it.
      if (writing) setTimeout(act, data.moment, name);
      else act(name);
      return;
    }
    if (writing || e.ctrlKey || e.altKey || e.metaKey || e.repeat) return;
    if (e.key === "?") {
      document.querySelector(".st-key-rate_help button")?.click();
      return;
    }
    const finding = data.keys[letter(e)];
    if (!finding) return;
    if (closed) {
      // A select box keeps the focus after one has chosen; a letter is not meant for it then.
      hold(e);
      focused.blur();
    }
    if (leaving()) early();
    else send({ finding, state: after(finding) });
  };
  const onClick = (e) => {
    const button = e.target.closest?.("button");
    const name = button && Object.values(data.acts).find((n) => button.closest(`.st-key-rate-${n}`));
    if (name) {
      hold(e);
      if (!leaving()) act(name);
      return;
    }
    const radio = e.target.closest?.(".wb-board [role=radio]");
    if (radio) {
      const { finding } = radio.parentElement.dataset;
      const { state } = radio.dataset;
      if (leaving()) early();
      else if (state !== (shown()[finding] ?? data.none)) send({ finding, state });
      return;
    }
    const sentence = on() && e.target.closest?.(".wb-sentence");
    if (!sentence || String(window.getSelection())) return;
    if (leaving()) early();
    else send({ sentence: sentence.innerText.trim() });
  };
  // A click takes the focus from a field just before it is heard. What was written there is handed in a moment later
  // and must not come after the report, or the page, was left: so the click waits that long.
  const onBlur = (e) => {
    if (!writes(e.target)) return;
    box.write();
    box.blurred = Date.now();
  };
  const onPointer = (e) => {
    const written = Date.now() - (box.blurred ?? 0) < 2 * data.moment;
    const aim = e.target.closest?.("button, a");
    if (!aim || !written || !e.isTrusted || e.ctrlKey || e.metaKey || e.shiftKey) return onClick(e);
    hold(e);
    setTimeout(() => aim.click(), data.moment);
  };
  if (data.asked && box.asked !== on() + data.asked) {
    field(data.asked)?.focus();
  }
  box.asked = data.asked && on() + data.asked;
  const onLeave = (e) => {
    box.write();
    if (box.presses.length) e.preventDefault();
  };
  box.forget?.();
  const heeded = [["beforeunload", onLeave]];
  if (data.desk) {
    heeded.push(["keydown", onKey, true], ["focusout", onBlur, true], ["click", onPointer, true]);
    heeded.push(["input", onInput, true], ["compositionend", onInput, true]);
  }
  for (const each of heeded) window.addEventListener(...each);
  const forget = () => heeded.forEach((each) => window.removeEventListener(...each));
  box.forget = forget;
  if (data.told.name !== box.told) {
    box.told = data.told.name;
    box.lost = data.told.text;
  }
  tell();
  box.redraw();
  // Another page, or this one drawn anew: what still waits is handed in here.
  if (box.place !== parentElement && box.presses.length) setTimeout(() => box.presses.length && hand(), 0);
  box.place = parentElement;
  return forget;
}
"""
