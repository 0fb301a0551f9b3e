"""A rater labels by keyboard alone, in a real Chromium on a real server."""

import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from workbench.domain.annotations import Annotation, Mark
from workbench.domain.findings import State
from workbench.storage import annotations
from workbench.ui.shortcuts import EARLY, keys_of
from workbench.workflow.annotate import Entry, open_report, queue
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.reference import freeze
from workbench.workflow.study import Study

MARKED = ".wb-board [role=radio][aria-checked=true]:not(:first-child)"


@pytest.fixture
def rating(browsing: ModuleType, driver: WebDriver, study: Study) -> Iterator[WebDriver]:
    """The annotate page of the demo rater."""
    with browsing.server(study.folder) as address:
        driver.get(f"{address}/annotate")
        browsing.settle(driver)
        browsing.choose(driver, "Acting person", RATER)
        yield driver


def press(driver: WebDriver, *keys: str) -> None:
    ActionChains(driver).send_keys(*keys).perform()


def alt(driver: WebDriver, key: str) -> None:
    ActionChains(driver).key_down(Keys.ALT).send_keys(key).key_up(Keys.ALT).perform()


def await_text(driver: WebDriver, text: str) -> None:
    WebDriverWait(driver, 12, poll_frequency=0.05).until(
        lambda d: text in d.find_element(By.CSS_SELECTOR, "[data-testid=stMain]").text
    )


def await_marked(driver: WebDriver, *shown: str) -> None:
    """Wait until exactly these states are set, from top to bottom."""
    WebDriverWait(driver, 12, poll_frequency=0.05).until(
        lambda d: (
            d.execute_script(f"return [...document.querySelectorAll('{MARKED}')].map(b => b.innerText.trim())")
            == list(shown)
        )
    )


def said(study: Study, entry: Entry) -> Annotation | None:
    return open_report(study, study.actor(RATER), "validation", entry).own


def last(study: Study, entry: Entry) -> Annotation:
    own = said(study, entry)
    assert own is not None
    return own


def test_three_reports_by_keyboard_alone(browsing: ModuleType, rating: WebDriver, study: Study) -> None:
    order = queue(study, study.actor(RATER), "validation").order
    ids = study.label_set.ids
    key = dict(zip(ids, keys_of([finding.name for finding in study.label_set.findings]), strict=True))

    # The first: two quick presses are uncertain, a third finding too many is taken back.
    press(rating, key[ids[0]], key[ids[1]], key[ids[1]], key[ids[2]])
    await_marked(rating, "present", "uncertain", "present")
    alt(rating, "z")
    await_marked(rating, "present", "uncertain")
    alt(rating, "s")
    await_text(rating, f"Report 2 of {len(order)}")
    first = last(study, order[0])
    assert (first.submitted, first.states) == (True, {ids[0]: State.PRESENT, ids[1]: State.UNCERTAIN})
    assert first.seconds is not None

    # The second mentions nothing.
    await_marked(rating)
    alt(rating, "n")
    await_text(rating, f"Report 3 of {len(order)}")
    second = last(study, order[1])
    assert (second.submitted, second.states) == (True, {})
    assert Mark.NONE_OF_THESE in second.marks

    # The third is loaded anew in the middle: the draft is there, and a key goes on from it.
    press(rating, key[ids[3]])
    await_marked(rating, "present")
    await_text(rating, "Draft saved at")
    rating.refresh()
    browsing.settle(rating)
    browsing.choose(rating, "Acting person", RATER)
    await_text(rating, f"Report 3 of {len(order)}")
    await_marked(rating, "present")
    press(rating, key[ids[3]])
    await_marked(rating, "uncertain")
    alt(rating, "s")
    await_text(rating, "3 of 132 reports submitted")
    assert last(study, order[2]).states == {ids[3]: State.UNCERTAIN}
    assert last(study, order[2]).submitted
    assert browsing.exceptions(rating) == []


def test_what_is_written_is_text_and_saved_when_a_shortcut_ends_it(rating: WebDriver, study: Study) -> None:
    order = queue(study, study.actor(RATER), "validation").order
    ids = study.label_set.ids
    key = dict(zip(ids, keys_of([finding.name for finding in study.label_set.findings]), strict=True))
    press(rating, key[ids[0]])
    await_marked(rating, "present")
    field = rating.find_element(By.CSS_SELECTOR, "[data-testid=stMain] input[aria-label=Comment]")
    field.send_keys(f"{key[ids[1]]} and more")
    alt(rating, "s")
    await_text(rating, f"Report 2 of {len(order)}")
    saved = last(study, order[0])
    assert (saved.submitted, saved.comment) == (True, f"{key[ids[1]]} and more")
    assert saved.states == {ids[0]: State.PRESENT}


@pytest.mark.parametrize("way", ["Next", "Practice", "the navigation"])
def test_what_is_written_is_kept_when_a_click_leaves_the_report(
    browsing: ModuleType, rating: WebDriver, study: Study, way: str
) -> None:
    first = queue(study, study.actor(RATER), "validation").order[0]
    if way == "Practice":  # offered until something is marked
        press(rating, keys_of([finding.name for finding in study.label_set.findings])[0])
        await_text(rating, "Draft saved at")
    rating.find_element(By.CSS_SELECTOR, "[data-testid=stMain] input[aria-label=Comment]").send_keys("never lost")
    if way == "the navigation":
        browsing.page(rating, "cohorts")
    else:
        browsing.click(rating, way)
        browsing.settle(rating)
        await_text(rating, "Report 2 of" if way == "Next" else "these labels count for nothing")
    WebDriverWait(rating, 30).until(lambda _: (own := said(study, first)) is not None and own.comment)
    assert last(study, first).comment == "never lost"


def test_a_clicked_sentence_is_evidence_and_the_list_of_keys_opens_by_question_mark(
    rating: WebDriver, study: Study
) -> None:
    order = queue(study, study.actor(RATER), "validation").order
    ids = study.label_set.ids
    press(rating, keys_of([finding.name for finding in study.label_set.findings])[0])
    await_marked(rating, "present")
    sentence = rating.find_elements(By.CSS_SELECTOR, ".wb-sentence")[-1]
    words = " ".join(sentence.text.split())
    sentence.click()
    WebDriverWait(rating, 30).until(lambda d: d.find_elements(By.CSS_SELECTOR, ".wb-sentence.evidence"))
    assert last(study, order[0]).evidence == {ids[0]: words}
    press(rating, "?")
    WebDriverWait(rating, 30).until(
        lambda d: any("undo the last change" in e.text for e in d.find_elements(By.CSS_SELECTOR, ".wb-keys"))
    )


def click(driver: WebDriver, finding: str, state: State) -> None:
    """Click an answer, also where Streamlit's note that the connection is lost lies over it."""
    radio = driver.find_element(By.CSS_SELECTOR, f".wb-board [data-finding={finding}] [data-state={state}]")
    driver.execute_script("arguments[0].click()", radio)


def drafts(study: Study, report: str) -> list[dict[str, State]]:
    with study.database.read() as conn:
        return [dict(a.states) for a in annotations.history(conn, report, RATER)]


def test_presses_are_shown_without_the_server_and_saved_once_in_their_order_when_it_is_back(
    browsing: ModuleType, driver: WebDriver, study: Study
) -> None:
    first = queue(study, study.actor(RATER), "validation").order[0]
    one, two, *_ = study.label_set.ids
    key = keys_of([finding.name for finding in study.label_set.findings])[0]
    with browsing.Server(study.folder, browsing.free_port()) as server:
        driver.get(f"{server.address}/annotate?as={RATER.replace(' ', '%20')}")
        browsing.settle(driver)
        server.kill()
        press(driver, key, key)
        await_marked(driver, "uncertain")
        click(driver, two, State.PRESENT)
        await_marked(driver, "uncertain", "present")
        click(driver, two, State.PRESENT)  # is chosen already, so that it says nothing new
        alt(driver, "z")
        await_marked(driver, "uncertain")
        click(driver, two, State.UNCERTAIN)
        await_marked(driver, "uncertain", "uncertain")
        assert driver.execute_script("return document.body.hasAttribute('data-wb-saving')")
        assert drafts(study, first.report_id) == []
        server.start()
        WebDriverWait(driver, 90, poll_frequency=0.1).until(
            lambda d: not d.execute_script("return document.body.hasAttribute('data-wb-saving')")
        )
        await_marked(driver, "uncertain", "uncertain")
        await_text(driver, "Draft saved at")
        assert drafts(study, first.report_id) == [
            {one: State.PRESENT},
            {one: State.UNCERTAIN},
            {one: State.UNCERTAIN, two: State.PRESENT},
            {one: State.UNCERTAIN},
            {one: State.UNCERTAIN, two: State.UNCERTAIN},
        ]


@pytest.fixture
def served(browsing: ModuleType, study: Study) -> Iterator[Any]:
    """A server on the study, which the test may stop for a while."""
    with browsing.Server(study.folder, browsing.free_port()) as server:
        yield server


@pytest.fixture
def desk(browsing: ModuleType, driver: WebDriver, served: Any) -> WebDriver:
    """The annotate page of the demo rater on that server."""
    driver.get(f"{served.address}/annotate?as={RATER.replace(' ', '%20')}")
    browsing.settle(driver)
    return driver


def await_answered(driver: WebDriver) -> None:
    """Wait until the server has answered every key."""
    WebDriverWait(driver, 30, poll_frequency=0.05).until(
        lambda d: not d.execute_script("return document.body.hasAttribute('data-wb-saving')")
    )
    assert driver.find_elements(By.ID, "wb-unsaved") == []


def await_note(driver: WebDriver, name: str) -> str:
    return str(WebDriverWait(driver, 30).until(lambda d: d.find_elements(By.ID, name))[0].text)


def leave(driver: WebDriver, page: str) -> None:
    driver.find_element(By.CSS_SELECTOR, f"[data-testid=stSidebarNav] a[href$='/{page}']").click()


CLOSED = "The round validation-round-1 is closed, so it takes no more labels."


def test_keys_after_the_round_was_closed_are_answered_and_their_person_told(
    browsing: ModuleType, desk: WebDriver, study: Study
) -> None:
    first = queue(study, study.actor(RATER), "validation").order[0]
    freeze(study, study.actor(LEAD), "validation", incomplete=True)
    press(desk, keys_of([finding.name for finding in study.label_set.findings])[0])
    assert f"Not saved: your last key or click. {CLOSED}" in await_note(desk, "wb-lost")
    await_answered(desk)
    assert CLOSED in browsing.text_of(desk)
    assert drafts(study, first.report_id) == []
    desk.find_element(By.CSS_SELECTOR, "#wb-lost button").click()
    assert desk.find_elements(By.ID, "wb-lost") == []
    browsing.page(desk, "cohorts")
    assert desk.find_elements(By.ID, "wb-lost") == []


@pytest.mark.parametrize("closed", [False, True])
def test_keys_that_wait_while_their_person_goes_to_another_page_are_saved_or_told(
    browsing: ModuleType, served: Any, desk: WebDriver, study: Study, *, closed: bool
) -> None:
    first = queue(study, study.actor(RATER), "validation").order[0]
    one, two = keys_of([finding.name for finding in study.label_set.findings])[:2]
    if closed:
        freeze(study, study.actor(LEAD), "validation", incomplete=True)
    with served.stopped():
        press(desk, one, two, two)
        leave(desk, "cohorts")
        assert "wait for the server" in await_note(desk, "wb-unsaved")
    WebDriverWait(desk, 30).until(lambda d: "/cohorts" in d.current_url)
    browsing.settle(desk)
    await_answered(desk)
    if closed:
        assert f"Not saved: your last 3 keys or clicks. {CLOSED}" in await_note(desk, "wb-lost")
        assert drafts(study, first.report_id) == []
    else:
        one, two = study.label_set.ids[:2]
        assert drafts(study, first.report_id)[-1] == {one: State.PRESENT, two: State.UNCERTAIN}
        assert desk.find_elements(By.ID, "wb-lost") == []


def test_what_still_waits_is_handed_in_on_whatever_page_comes_next(
    browsing: ModuleType, desk: WebDriver, study: Study
) -> None:
    rater = study.actor(RATER)
    first, held = queue(study, rater, "validation").order[0], queue(study, rater, "validation").round_name
    # As when the press itself got lost on the way.
    desk.execute_script(
        "const box = window.wbRating; box.last += 1; box.presses = [{ id: box.last, on: arguments[0], finding: "
        "arguments[1], state: arguments[2] }]",
        json.dumps([RATER, "validation", held, 1]),
        study.label_set.ids[0],
        State.PRESENT,
    )
    browsing.page(desk, "cohorts")
    WebDriverWait(desk, 30).until(lambda _: drafts(study, first.report_id))
    await_answered(desk)
    assert drafts(study, first.report_id) == [{study.label_set.ids[0]: State.PRESENT}]


def leave_twice(driver: WebDriver, *keys: str) -> None:
    """Leave the report by Alt and a key, and type more keys the moment that the next report is there.

    The browser itself types; the first of ``keys`` is the one with Alt, and an upper-case one is with Alt too.
    """
    driver.execute_script(
        """
        const type = (given) => {
          const key = given.toLowerCase();
          const how = { key, altKey: key !== given, code: `Key${key.toUpperCase()}`, bubbles: true };
          document.body.dispatchEvent(new KeyboardEvent("keydown", how));
        };
        const [first, ...rest] = arguments;
        const before = document.querySelector(".wb-on").dataset.on;
        type(first);
        const watch = setInterval(() => {
          const on = document.querySelector(".wb-on")?.dataset.on;
          if (!on || on === before || document.body.hasAttribute("data-wb-saving")) return;
          clearInterval(watch);
          // The answer may have taken longer on a busy machine: what counts as left just now begins here.
          window.wbRating.left = Date.now();
          rest.forEach(type);
          window.typed = true;
        }, 5);
        """,
        *keys,
    )
    WebDriverWait(driver, 30, poll_frequency=0.05).until(lambda d: d.execute_script("return window.typed"))
    await_answered(driver)


def test_a_report_that_is_marked_and_left_at_once_after_the_last_is_submitted_too(
    desk: WebDriver, study: Study
) -> None:
    order = queue(study, study.actor(RATER), "validation").order
    one, two = study.label_set.ids[:2]
    first, second = keys_of([finding.name for finding in study.label_set.findings])[:2]
    press(desk, first)
    leave_twice(desk, "S", second, "S")
    await_text(desk, f"Report 3 of {len(order)}")
    assert [(last(study, entry).submitted, last(study, entry).states) for entry in order[:2]] == [
        (True, {one: State.PRESENT}),
        (True, {two: State.PRESENT}),
    ]


def test_a_shortcut_pressed_twice_with_nothing_in_between_leaves_one_report_only(desk: WebDriver, study: Study) -> None:
    order = queue(study, study.actor(RATER), "validation").order
    leave_twice(desk, "N", "N")
    # The next key is heard on the second report, so nothing of the second press is under way any more.
    press(desk, keys_of([finding.name for finding in study.label_set.findings])[0])
    await_marked(desk, "present")
    await_answered(desk)
    assert queue(study, study.actor(RATER), "validation").submitted == {order[0]}
    assert drafts(study, order[1].report_id) == [{study.label_set.ids[0]: State.PRESENT}]

    ActionChains(desk, duration=0).key_down(Keys.ALT).send_keys("ss").key_up(Keys.ALT).perform()
    await_text(desk, f"Report 3 of {len(order)}")
    await_answered(desk)
    press(desk, keys_of([finding.name for finding in study.label_set.findings])[0])
    await_marked(desk, "present")
    await_answered(desk)
    assert queue(study, study.actor(RATER), "validation").submitted == set(order[:2])


def test_a_key_pressed_while_a_report_is_being_submitted_is_said_not_to_be_taken(
    served: Any, desk: WebDriver, study: Study
) -> None:
    order = queue(study, study.actor(RATER), "validation").order
    key = keys_of([finding.name for finding in study.label_set.findings])[0]
    press(desk, key)
    await_marked(desk, "present")
    await_answered(desk)
    with served.stopped():
        alt(desk, "s")
        press(desk, key)
        assert EARLY in await_note(desk, "wb-lost")
    await_text(desk, f"Report 2 of {len(order)}")
    await_answered(desk)
    assert EARLY in await_note(desk, "wb-lost")
    assert last(study, order[0]).submitted
    press(desk, key)  # a key that is taken ends it
    await_marked(desk, "present")
    assert desk.find_elements(By.ID, "wb-lost") == []


def test_a_control_is_reached_and_changed_by_tab_and_arrows(rating: WebDriver, study: Study) -> None:
    finding = study.label_set.ids[0]
    rating.execute_script("arguments[0].focus()", rating.find_element(By.CSS_SELECTOR, ".wb-board .help"))
    active = "const a = document.activeElement; return [a.parentElement.dataset.finding, a.dataset.state]"
    press(rating, Keys.TAB)
    assert rating.execute_script(active) == [finding, State.NOT_MENTIONED]
    press(rating, Keys.ARROW_RIGHT)
    await_marked(rating, "uncertain")
    press(rating, Keys.ARROW_RIGHT)
    await_marked(rating, "present")
    assert rating.execute_script(active) == [finding, State.PRESENT]
    await_text(rating, "Draft saved at")
    assert rating.execute_script(active) == [finding, State.PRESENT], "the focus is lost when the server answers"
    press(rating, Keys.ARROW_RIGHT)
    await_marked(rating)


def test_everything_is_seen_without_scrolling(rating: WebDriver) -> None:
    foot = rating.find_element(By.CSS_SELECTOR, ".st-key-rate_bar")
    assert foot.location["y"] + foot.size["height"] <= 900
