"""A radiologist reviews generated reports by keyboard, in a real Chromium on a real server."""

import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from workbench.domain.actors import Role
from workbench.domain.reviews import Fault, Judgement
from workbench.workflow import review
from workbench.workflow.opening import NewStudy, init_study
from workbench.workflow.reviewing import open_item
from workbench.workflow.settings import SignIn
from workbench.workflow.study import Study
from workbench.workflow.systems import System, add_data_set, add_systems

ADA = "Dr. Ada"
HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'> & \"quoted\""
NORMAL = (
    "Findings: The cardiac silhouette is within normal limits. The lungs are clear without focal consolidation, "
    "pleural effusion or pneumothorax. There are degenerative changes of the thoracic spine. No acute bony abnormality "
    "is seen. Impression: No acute cardiopulmonary disease."
)


@pytest.fixture
def study(browsing: ModuleType, tmp_path: Path) -> Study:
    """Three studies under review, two systems: one writes hostile text, one an ordinary report."""
    people = {"Lena": [Role.LEAD], ADA: [Role.RATER]}
    new = NewStudy("Review", people, simulated="For tests.", sign_in=SignIn.PICK)
    made = init_study(tmp_path / "study", new)
    lena = made.actor("Lena")
    (tmp_path / "ref.csv").write_text(
        "study_id,reference\n" + "".join(f'{i},"{NORMAL} {i}"\n' for i in range(3)), encoding="utf-8"
    )
    data_set = add_data_set(made, lena, tmp_path / "ref.csv", name="secret-set")
    hostile = HOSTILE.replace('"', '""')
    for name, text in (("secret-one", hostile), ("secret-two", f"心影增大。{NORMAL}")):
        path = tmp_path / f"{name}.csv"
        path.write_text("study_id,generated\n" + "".join(f'{i},"{text} {i}"\n' for i in range(3)), encoding="utf-8")
        add_systems(made, lena, data_set, [System(path)])
    review.open_review(made, lena, data_set, reviewers=[ADA])
    return made


@pytest.fixture
def reviewing(browsing: ModuleType, driver: WebDriver, study: Study) -> Iterator[WebDriver]:
    """The review page of a reviewer."""
    with browsing.server(study.folder) as address:
        open_page(browsing, driver, address)
        yield driver


def open_page(browsing: ModuleType, driver: WebDriver, address: str) -> None:
    driver.get(f"{address}/review?as={ADA.replace(' ', '+')}")
    browsing.settle(driver)
    await_desk(driver)


def await_desk(driver: WebDriver) -> None:
    WebDriverWait(driver, 30).until(lambda d: d.find_elements(By.CSS_SELECTOR, ".wb-review"))


def press(driver: WebDriver, *keys: str) -> None:
    ActionChains(driver).send_keys(*keys).perform()


def alt_s(driver: WebDriver) -> None:
    ActionChains(driver).key_down(Keys.ALT).send_keys("s").key_up(Keys.ALT).perform()


def await_text(driver: WebDriver, text: str) -> None:
    WebDriverWait(driver, 20, poll_frequency=0.05).until(
        lambda d: text in d.find_element(By.CSS_SELECTOR, "[data-testid=stMain]").text
    )


def await_own(study: Study, at: int, rating: int | None) -> Judgement:
    deadline = time.monotonic() + 20
    while (own := open_item(study, study.actor(ADA), "review-1", at).own).rating != rating:
        assert time.monotonic() < deadline, own
        time.sleep(0.05)
    return own


def generated(driver: WebDriver) -> str:
    found = driver.execute_script("return document.querySelector('.wb-review .generated .text')?.innerText ?? ''")
    return str(found)


def chosen(driver: WebDriver) -> list[str]:
    found = driver.find_elements(By.CSS_SELECTOR, ".wb-review [aria-checked=true], .wb-review [aria-pressed=true]")
    return [one.get_attribute("aria-label") or one.text for one in found]


def test_all_of_it_is_in_sight_without_scrolling(browsing: ModuleType, reviewing: WebDriver) -> None:
    for width, height in ((1400, 900), (1920, 1080)):
        browsing.view(reviewing, width, height, dark=False)
        browsing.settle(reviewing)
        seen = reviewing.execute_script("""
            const main = document.querySelector("[data-testid=stMain]");
            const parts = [main, ...document.querySelectorAll(".wb-review .text, .wb-review .marks")];
            const bottom = document.querySelector(".wb-review").getBoundingClientRect().bottom;
            return [bottom, parts.map((part) => part.scrollHeight - part.clientHeight)];
        """)
        assert seen[0] <= height
        assert max(seen[1]) <= 0, seen


def test_the_page_says_nothing_of_the_system_and_runs_no_text(reviewing: WebDriver) -> None:
    seen: set[str] = set()
    for _ in range(6):
        source = reviewing.page_source
        for secret in ("secret-one", "secret-two", "secret-set"):
            assert secret not in source
        seen.add(generated(reviewing))
        alt_s(reviewing)
        WebDriverWait(reviewing, 20).until(lambda d: generated(d) not in {"", *seen} or len(seen) == 6)
    hostile = any(HOSTILE in text for text in seen)
    assert hostile
    assert reviewing.execute_script("return window.hacked") is None


def test_a_rating_and_the_next_report_pressed_at_once_are_both_done(reviewing: WebDriver, study: Study) -> None:
    press(reviewing, "3")
    alt_s(reviewing)
    await_text(reviewing, "Report 2 of 6")
    assert await_own(study, 0, 3).rating == 3
    assert chosen(reviewing) == []
    assert open_item(study, study.actor(ADA), "review-1", 1).own == Judgement()


def test_marks_and_comment_are_saved_and_come_back_after_a_reload(
    browsing: ModuleType, reviewing: WebDriver, study: Study
) -> None:
    press(reviewing, "2")
    for finding, fault in (("cardiomegaly", "missed"), ("cardiomegaly", "degree"), ("other", "invented")):
        reviewing.find_element(By.CSS_SELECTOR, f"[data-finding={finding}][data-fault={fault}]").click()
    reviewing.find_element(By.CSS_SELECTOR, "[data-finding=cardiomegaly][data-fault=missed]").click()  # taken back
    comment = reviewing.find_element(By.CSS_SELECTOR, ".wb-review textarea")
    comment.send_keys("effusion of 5 cm 漏诊")  # digits in a comment are no rating
    alt_s(reviewing)
    await_text(reviewing, "Report 2 of 6")
    own = await_own(study, 0, 2)
    assert own.marks == {"cardiomegaly": frozenset({Fault.DEGREE}), "other": frozenset({Fault.INVENTED})}
    assert own.comment == "effusion of 5 cm 漏诊"
    assert own.seconds is not None
    reviewing.refresh()
    browsing.settle(reviewing)
    await_text(reviewing, "1 of 6 rated")
    browsing.click(reviewing, "Previous")
    await_text(reviewing, "Report 1 of 6")
    WebDriverWait(reviewing, 20).until(lambda d: len(chosen(d)) == 3)
    assert chosen(reviewing)[1:] == ["Cardiomegaly: wrong degree", "Anything else: invented"]
    assert reviewing.find_element(By.CSS_SELECTOR, ".wb-review textarea").get_attribute("value") == own.comment


def test_what_is_pressed_while_the_server_is_down_is_saved_when_it_is_back(
    browsing: ModuleType, driver: WebDriver, study: Study
) -> None:
    with browsing.Server(study.folder, browsing.free_port()) as server:
        open_page(browsing, driver, server.address)
        server.kill()
        press(driver, "4")
        driver.find_element(By.CSS_SELECTOR, "[data-finding=fracture][data-fault=missed]").click()
        assert len(chosen(driver)) == 2  # shown at once
        assert open_item(study, study.actor(ADA), "review-1", 0).own == Judgement()
        server.start()
        own = await_own(study, 0, 4)
        deadline = time.monotonic() + 20
        while not own.marks and time.monotonic() < deadline:
            own = open_item(study, study.actor(ADA), "review-1", 0).own
        assert own.marks == {"fracture": frozenset({Fault.MISSED})}
