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


def test_a_note_stands_beside_its_panel_and_the_next_one_further_on() -> None:
    rows = [Row("All", (Dot(0.5, note="n 14"), Dot(0.5)))]
    told = ET.fromstring(trust_svg(["A", "B"], rows, title="T", below="b"))
    (note,) = (text for text in told.iter(f"{SVG}text") if text.text == "n 14")
    first, second = (float(dot.attrib["cx"]) for dot in told.iter(f"{SVG}circle"))
    assert first + 100 < float(note.attrib["x"]) < second - 100 - 30


def test_long_words_below_are_broken_and_the_picture_is_as_high_as_they_need() -> None:
    def height(*notes: str) -> int:
        picture = ET.fromstring(trust_svg(["A"], [Row("All", (Dot(0.5),))], title="T", below="b", notes=notes))
        below = max(float(text.attrib["y"]) for text in picture.iter(f"{SVG}text"))
        high = int(picture.attrib["viewBox"].split()[-1])
        assert below < high
        return high

    assert height() < height("short") < height("many words " * 20)


def test_what_is_undefined_is_a_dash() -> None:
    assert "–" in [text.text for text in drawn().iter(f"{SVG}text")]


def test_names_stand_as_they_are() -> None:
    texts = {text.text for text in drawn().iter(f"{SVG}text")}
    assert {"A & B", "C", "<Errors>", "T", "b"} <= texts
