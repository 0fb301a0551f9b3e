"""The leaderboard by its page alone: files in, systems in order, and from a square to the study behind it."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from workbench.workflow.demo import demo

REFERENCE = ["Pleural effusion.", "Pneumothorax.", "The heart is enlarged.", "Clear.", "Left pleural effusion."] * 8


@pytest.fixture
def address(browsing: ModuleType, tmp_path: Path) -> Iterator[str]:
    """A served demo study without any system."""
    demo(tmp_path / "demo")
    with browsing.server(tmp_path / "demo") as served:
        yield served


def uploads(driver: WebDriver) -> list[object]:
    return driver.find_elements(By.CSS_SELECTOR, "[data-testid=stFileUploader] input[type=file]")


def test_files_are_taken_in_and_a_square_leads_to_its_studies(
    browsing: ModuleType, driver: WebDriver, address: str, tmp_path: Path
) -> None:
    blind = ["Clear." if text == "Pneumothorax." else text for text in REFERENCE]
    for name, texts in {"right": REFERENCE, "blind": blind}.items():
        rows = [f"s{i:02},{REFERENCE[i]},{text}" for i, text in enumerate(texts)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["study_id,reference,generated", *rows]))
    driver.get(f"{address}/leaderboard")
    browsing.settle(driver)
    assert "No generated report is here yet" in browsing.text_of(driver)
    reference, generated = uploads(driver)
    reference.send_keys(str(tmp_path / "right.csv"))  # type: ignore[attr-defined]
    browsing.settle(driver)
    generated = uploads(driver)[-1]
    generated.send_keys("\n".join(str(tmp_path / f"{n}.csv") for n in ("right", "blind")))  # type: ignore[attr-defined]
    browsing.settle(driver)
    browsing.click(driver, "Score them")
    WebDriverWait(driver, 60).until(lambda _: "40 reports" in browsing.text_of(driver))
    browsing.settle(driver)
    assert browsing.exceptions(driver) == []
    assert "right: 40 reports. blind: 40 reports." in browsing.text_of(driver)
    browsing.tab(driver, "Where each fails")
    names = driver.find_elements(By.CSS_SELECTOR, ".js-plotly-plot .xtick text")
    assert {name.text for name in names} == {"Pneumothorax (8)", "Cardiomegaly (8)", "Pleural effusion (16)"}
    # The square of "blind", which stands second, in the column of the pneumothorax.
    at = [name.text for name in names].index("Pneumothorax (8)")
    texts = driver.find_elements(By.CSS_SELECTOR, ".js-plotly-plot .scatterlayer .textpoint text")
    square = texts[len(names) + at]
    assert square.text == "0.00"
    box = square.rect
    plot = driver.find_element(By.CSS_SELECTOR, ".js-plotly-plot .nsewdrag")
    middle = plot.rect
    x = box["x"] + box["width"] / 2 - middle["x"] - middle["width"] / 2
    y = box["y"] + box["height"] / 2 - middle["y"] - middle["height"] / 2
    ActionChains(driver).move_to_element_with_offset(plot, round(x), round(y)).pause(0.3).click().perform()
    WebDriverWait(driver, 30).until(lambda _: "s01 · missed" in driver.page_source)
    browsing.settle(driver)
    told = browsing.text_of(driver)
    assert "missed: Pneumothorax" in told
    assert "Study, of 8" in told
