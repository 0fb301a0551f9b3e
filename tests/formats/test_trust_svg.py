"""The picture of how far metrics can be trusted."""

from xml.etree import ElementTree as ET

from workbench.formats.trust_svg import Dot, Row, trust_svg

SVG = "{http://www.w3.org/2000/svg}"


def drawn() -> ET.Element:
    rows = [
        Row("All", (Dot(0.5, 0.25, 0.75), Dot(1.0))),
        Row("<Errors>", header=True),
        Row("swapped", (Dot(None), Dot(0.0))),
    ]
    return ET.fromstring(trust_svg(["A & B", "C"], rows, title="T", below="b"))


def test_a_dot_stands_where_its_value_is_in_the_panel_of_its_metric() -> None:
    middle, right, left = (float(dot.attrib["cx"]) for dot in drawn().iter(f"{SVG}circle"))
    panel = 2 * (middle - 190)
    assert (right - left, left - 190) == (panel, panel + 24)


def test_what_is_undefined_is_a_dash() -> None:
    assert "–" in [text.text for text in drawn().iter(f"{SVG}text")]


def test_names_stand_as_they_are() -> None:
    texts = {text.text for text in drawn().iter(f"{SVG}text")}
    assert {"A & B", "C", "<Errors>", "T", "b"} <= texts
