"""The page Errors in a real Chromium: from a number of the heat map to the errors that it counts."""

from pathlib import Path
from types import ModuleType

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.browser


def test_a_click_on_a_number_of_the_heat_map_opens_the_errors_that_it_counts(
    browsing: ModuleType, driver: WebDriver, made_demo: Path
) -> None:
    with browsing.server(made_demo) as address:
        driver.get(f"{address}/errors")
        browsing.settle(driver)
        browsing.tab(driver, "By kind and finding")
        find = "[data-testid=stPlotlyChart] .scatterlayer .textpoint text"
        WebDriverWait(driver, 60).until(lambda d: d.find_elements(By.CSS_SELECTOR, find))
        numbers = driver.find_elements(By.CSS_SELECTOR, find)
        # The largest count is written once, so the click says which cell it was.
        largest = max((number for number in numbers if number.text.isdecimal()), key=lambda n: int(n.text))
        count = largest.text
        ActionChains(driver).move_to_element(largest).click().perform()
        WebDriverWait(driver, 60).until(lambda d: f"Error 1 of {count}" in browsing.text_of(d))
        browsing.settle(driver)
        chosen = driver.find_element(By.CSS_SELECTOR, "[data-testid=stButtonGroup] button[aria-checked=true]")
        assert chosen.text.endswith(f" {count}")
        assert not chosen.text.startswith("all ")
        assert browsing.exceptions(driver) == []
