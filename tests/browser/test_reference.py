"""From a dot, a cell and a row on the page Reference to the reports behind it, by clicking."""

from pathlib import Path
from types import ModuleType

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

pytestmark = pytest.mark.browser


def click_point(browsing: ModuleType, driver: WebDriver, *, chart: int, point: int) -> None:
    """Click a point of one of the charts that are seen."""
    shown = [c for c in driver.find_elements(By.CSS_SELECTOR, ".js-plotly-plot") if c.is_displayed()]
    mark = shown[chart].find_elements(By.CSS_SELECTOR, ".scatterlayer .point")[point]
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", mark)
    ActionChains(driver).pause(0.5).move_to_element(mark).pause(0.5).click().perform()
    browsing.settle(driver)


def test_a_dot_and_a_cell_open_the_reports_behind_them(
    browsing: ModuleType, driver: WebDriver, made_demo: Path
) -> None:
    with browsing.server(made_demo) as address:
        driver.get(f"{address}/reference")
        browsing.settle(driver)
        click_point(browsing, driver, chart=0, point=0)  # alpha of the commonest finding
        told = browsing.text_of(driver)
        assert "Lung opacity in report" in told
        assert "rater1:" in told
        browsing.tab(driver, "Agreement per finding")
        click_point(browsing, driver, chart=0, point=0)  # the same dot opens them again
        assert "Lung opacity in report" in browsing.text_of(driver)
        browsing.tab(driver, "Raters")
        click_point(browsing, driver, chart=0, point=1)  # rater 1 and rater 2
        assert "two raters" in driver.page_source
        assert "Report 1 of" in browsing.text_of(driver)
        assert browsing.exceptions(driver) == []
