"""The leaderboard as a file, opened in Chromium as somebody would who was sent it."""

from pathlib import Path
from types import ModuleType

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By

from workbench.domain.actors import Role
from workbench.workflow.leaderboard import leaderboard
from workbench.workflow.leaderboard_files import write_leaderboard
from workbench.workflow.opening import NewStudy, init_study, open_study
from workbench.workflow.systems import System, add_data_set, add_systems

REFERENCE = ["Pleural effusion.", "Pneumothorax.", "The heart is enlarged.", "Clear.", "Left pleural effusion."] * 8


@pytest.fixture(scope="module")
def written(browsing: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A leaderboard of three systems: one says all, one the same but for two reports, one that all is clear."""
    assert browsing
    folder = tmp_path_factory.mktemp("board")
    init_study(folder / "study", NewStudy("Board", {"Lena": [Role.LEAD]}))
    study = open_study(folder / "study")
    said = {"all": REFERENCE, "nearly": ["Clear.", "Clear.", *REFERENCE[2:]], "nothing": ["Clear."] * 40}
    for name, texts in said.items():
        rows = zip(REFERENCE, texts, strict=True)
        lines = [f"s{i:02},{reference},{text}" for i, (reference, text) in enumerate(rows)]
        (folder / f"{name}.csv").write_text("\n".join(["study_id,reference,generated", *lines]))
    lena = study.actor("Lena")
    data_set = add_data_set(study, lena, folder / "all.csv", name="forty")
    add_systems(study, lena, data_set, [System(folder / f"{name}.csv") for name in said])
    write_leaderboard(leaderboard(study, lena, data_set), folder / "out")
    return folder / "out" / "leaderboard.html"


def test_it_opens_without_a_server_and_loads_nothing(driver: WebDriver, written: Path) -> None:
    driver.get(written.as_uri())
    assert driver.find_element(By.TAG_NAME, "h1").text == "forty: generated reports by Ran Score"
    loaded = driver.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert loaded == []
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_systems_stand_in_order_with_ties_drawn_and_each_square_tells_its_number(
    driver: WebDriver, written: Path
) -> None:
    driver.get(written.as_uri())
    rows = driver.find_elements(By.CSS_SELECTOR, ".board tbody tr")
    assert [row.find_element(By.CSS_SELECTOR, "th").text.split("\n")[0] for row in rows] == ["all", "nearly", "nothing"]
    assert [bool(row.find_elements(By.CSS_SELECTOR, "td.tie.on")) for row in rows] == [True, True, False]
    drawn = rows[1].find_element(By.CSS_SELECTOR, "svg .whisker").rect
    assert drawn["width"] > 0
    squares = driver.find_elements(By.CSS_SELECTOR, ".heat g title")
    told = [square.get_attribute("textContent") for square in squares]
    assert any(text.startswith("nothing, Pneumothorax (8 studies): F1 0.000") for text in told)
    # The rarest finding stands left.
    names = [name.text for name in driver.find_elements(By.CSS_SELECTOR, ".heat text.name")][:3]
    assert set(names[:2]) == {"Pneumothorax", "Cardiomegaly"}
    assert names[2] == "Pleural effusion"


@pytest.mark.parametrize("dark", [False, True])
def test_it_follows_what_the_reader_prefers(
    browsing: ModuleType, driver: WebDriver, written: Path, *, dark: bool
) -> None:
    browsing.view(driver, 1400, 900, dark=dark)
    driver.get(written.as_uri())
    ground = driver.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
    red = int(ground.split("(")[1].split(",")[0])
    assert (red < 60) is dark


def test_the_table_of_metrics_fits_a_common_screen(browsing: ModuleType, driver: WebDriver, written: Path) -> None:
    browsing.view(driver, 1400, 900, dark=False)
    driver.get(written.as_uri())
    names = [cell.text.split("\n")[0] for cell in driver.find_elements(By.CSS_SELECTOR, ".board thead th")]
    assert "BLEU-4" in names
    assert driver.execute_script("const e = document.querySelector('.wide'); return e.scrollWidth - e.clientWidth") == 0
    tables = [table.text for table in driver.find_elements(By.TAG_NAME, "table")[1:]]
    assert any("BLEU-1 BLEU-3" in text for text in tables)


def test_it_fits_where_each_system_is_scored_on_studies_of_its_own_and_the_reasons_are_long(
    browsing: ModuleType, driver: WebDriver, tmp_path: Path
) -> None:
    init_study(tmp_path / "study", NewStudy("Board", {"Lena": [Role.LEAD]}))
    study = open_study(tmp_path / "study")
    lena = study.actor("Lena")
    for name, own in (("references", range(6)), ("even", range(0, 6, 2)), ("odd", range(1, 6, 2))):
        column = "reference" if name == "references" else "generated"
        lines = [f"study_id,{column}", *(f"s{i},Small pleural effusion." for i in own)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    data_set = add_data_set(study, lena, tmp_path / "references.csv")
    add_systems(study, lena, data_set, [System(tmp_path / f"{name}.csv") for name in ("even", "odd")])
    write_leaderboard(leaderboard(study, lena, data_set), tmp_path / "out")
    browsing.view(driver, 1400, 900, dark=False)
    driver.get((tmp_path / "out" / "leaderboard.html").as_uri())
    assert "over its own studies: no study has a value in every system" in driver.page_source
    assert driver.execute_script("const e = document.querySelector('.wide'); return e.scrollWidth - e.clientWidth") == 0
