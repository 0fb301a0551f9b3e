"""Each kind of edit on sentences whose right answer is plain, then what must hold on real reports."""

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.formats.alterations import read_alterations
from workbench.text.alteration_words import AlterationWords
from workbench.text.alterations import KINDS, Alteration, alterations
from workbench.text.altered_report import ReadReport


@pytest.fixture(scope="module")
def words(root: Path) -> AlterationWords:
    return read_alterations(root / "data" / "alterations.yaml")


def edited(text: str, kind: str, words: AlterationWords) -> str | None:
    """Return the text after an edit of one kind; None where the kind does not apply."""
    made = alterations(text, words, seed=1, kinds=[kind])
    assert all(edit.kind == kind and edit.significant is KINDS[kind] and edit.done for edit in made)
    return made[0].text if made else None


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        # A finding is left out with all that states it, and only where it stands nowhere else.
        ("removed", "The heart is normal. Atelectasis at the left base.", "The heart is normal."),
        (
            "removed",
            "FINDINGS: The lungs are low. There is a large hernia.\n\nIMPRESSION: Large hernia. Stable chest.",
            "FINDINGS: The lungs are low. \n\nIMPRESSION: Stable chest.",
        ),
        ("removed", "There is atelectasis at the left base.", None),  # nothing would be left
        ("removed", "The heart is normal. No atelectasis is seen.", None),
        ("removed", "The heart is normal. There may be atelectasis in the left base.", None),
        # Guesses at it go with it, and so does what hangs on it; a section of which nothing is left loses its header.
        ("removed", "The spine is big. There is atelectasis. The atelectasis may be scarring.", "The spine is big."),
        (
            "removed",
            "The heart is small. There is atelectasis and scarring of the lung.",
            "The heart is small.",
        ),
        (
            "removed",
            "The heart is small. There is atelectasis of the lung. The lung has a calcified granuloma.",
            "The heart is small. The lung has a calcified granuloma.",
        ),
        ("removed", "The heart is small. There is an opacity in the lung. This is likely an artifact.", None),
        # Only its part goes of a sentence that says more.
        (
            "removed",
            "The spine is bent. Stable cardiomegaly without acute disease.",
            "The spine is bent. No acute disease.",
        ),
        (
            "removed",
            "1. Mild cardiomegaly, no effusion of the lung. 2. Scoliosis.",
            "1. No effusion of the lung. 2. Scoliosis.",
        ),
        ("removed", "There is mild cardiomegaly with a hiatal hernia.", "There is mild cardiomegaly."),
        ("removed", "Cardiomegaly with midlung and lower lobe atelectasis.", None),
        ("removed", "The lungs are dark, compatible with emphysema in the chest.", None),  # "compatible" would dangle
        ("removed", "Cardiomegaly with a rightward shift of the lung. The spine is bent.", None),
        ("removed", "The heart is normal. There is a left pneumothorax.", None),  # critical: another kind
        # Under no other name, either, and with nothing left that hangs on it.
        ("removed", "There is atelectasis at the base. The basal density is in the lung.", None),
        (
            "removed",
            "There is mild cardiomegaly. The lungs are clear. The heart is slightly enlarged.",
            "The lungs are clear.",
        ),
        ("removed", "There is mild cardiomegaly. The lungs are clear. The heart is prominent.", None),
        ("removed", "Emphysema. The lungs are clear. Changes of emphysematous lung disease.", None),
        ("removed", "There is a hernia. This is seen in the chest. The lungs are clear.", "The lungs are clear."),
        ("removed", "There is a hernia. However, the lungs are clear.", None),
        (
            "removed",
            "FINDINGS: The lungs are clear.\n\nIMPRESSION: Hernia in the chest.",
            "FINDINGS: The lungs are clear.",
        ),
        ("removed", "There is a hernia. No opacity in the lung.", "No opacity in the lung."),
        ("removed", "There is atelectasis. No opacity in the lung.", "No opacity in the lung."),
        ("removed", "There is atelectasis. No change in the opacity of the lung.", None),  # denies nothing
        ("removed", "There is atelectasis. No effusion, but the opacity of the lung is seen.", None),
        (
            "removed",
            "Low lung volumes with basal atelectasis. The heart is small.",
            "Low lung volumes. The heart is small.",
        ),
        ("critical_missed", "Improving edema of the lung. The heart is small.", None),
        ("removed", "The heart is small. Subcutaneous emphysema of the left chest.", None),  # not of the lungs
        # What hardly matters is no error.
        ("removed", "The heart is normal. There is mild scoliosis of the spine.", None),
        ("removed", "The heart is normal. A granuloma is seen in the left lung.", None),
        ("negated", "There is mild scoliosis of the spine.", None),
        ("severity_raised", "There is mild scoliosis of the spine.", None),
        ("side_swapped", "There is a granuloma in the left lung.", None),
        ("critical_missed", "The heart is normal. There is a left pneumothorax.", "The heart is normal."),
        ("critical_missed", "The heart is normal. There is an old rib fracture on the left.", None),
        ("critical_missed", "The heart is normal. There is a humeral fracture on the right.", None),
        ("critical_missed", "The heart is normal. There is a fracture of the clavicle.", None),
        ("side_swapped", "The left tube is in the thoracic cavity.", None),
        ("critical_missed", "The heart is normal. There is a fracture of a sternotomy wire.", None),
        (
            "critical_missed",
            "There is consolidation of the lung. The heart is small.\n\nIMPRESSION: Pneumonia.",
            "The heart is small.",
        ),
        ("critical_missed", "The heart is small. There is a stable nodule in the lung.", None),  # nobody is harmed
        ("critical_missed", "The heart is small. There is minimal consolidation of the lung.", None),
        ("critical_missed", "The heart is small. Consolidation in the lung. Concerning for infection.", None),
        ("critical_missed", "Left pneumothorax. The heart is normal. A pleural air collection is seen.", None),
        ("critical_missed", "There is a nodule in the lung. The heart is small. Consider follow-up.", None),
        # Denied: degrees go, places stay.
        ("negated", "There is a small left pleural effusion.", "There is no left pleural effusion."),
        ("negated", "1. Mild cardiomegaly in this patient.", "1. No cardiomegaly in this patient."),
        ("negated", "Cardiomegaly is noted in the chest.", "No cardiomegaly is noted in the chest."),
        ("negated", "Cardiomegaly is noted and stable.", "No cardiomegaly is noted."),
        ("negated", "The heart is mildly enlarged in this patient.", "The heart is not enlarged in this patient."),
        ("negated", "The lungs remain hyperexpanded.", "The lungs are not hyperexpanded."),
        ("negated", "There is atelectasis. The opacity is in the left lung.", None),
        ("negated", "Stable cardiomegaly without acute disease.", "No cardiomegaly or acute disease."),
        ("negated", "Low lung volumes with mild basal atelectasis.", "Low lung volumes without basal atelectasis."),
        (
            "negated",
            "There is opacity in the left base, which is likely atelectasis.",
            "There is no opacity in the left base.",
        ),
        ("negated", "There is cardiomegaly with 3 cm of the lung.", None),
        ("negated", "Hernia of the lung as before.", None),
        ("negated", "Opacity in the lung and elevation of the diaphragm.", None),
        ("negated", "There has been growth of the effusion.", None),
        ("negated", "There is no small left pleural effusion.", None),
        # The other side, wherever the finding is stated; a chamber of the heart has no other side.
        ("side_swapped", "Left-sided effusion. It is on the left.", None),
        ("side_swapped", "Left effusion. The left lung is small.", None),
        (
            "side_swapped",
            "Left effusion in the chest. Right-sided nodule.",
            "Right effusion in the chest. Right-sided nodule.",
        ),
        (
            "side_swapped",
            "There is left lower airspace disease. Left lower pneumonia is possible.",
            "There is right lower airspace disease. Right lower pneumonia is possible.",
        ),
        ("side_swapped", "Left lower airspace disease. There is right atelectasis.", None),
        ("side_swapped", "Left lower airspace disease. There is pneumonia of the LLL.", None),
        ("side_swapped", "There is airspace disease in the right middle lobe.", None),  # the left lung has none
        ("side_swapped", "There is an effusion in the right base.", "There is an effusion in the left base."),
        ("side_swapped", "There are effusions, left greater than right.", None),
        ("side_swapped", "There is calcification of the left ventricle.", None),
        ("side_swapped", "There is no effusion on the left.", None),
        (
            "side_swapped",
            "Left opacity of the lung, likely atelectasis.",
            "Right opacity of the lung, likely atelectasis.",
        ),
        (
            "side_swapped",
            "Left effusion in the chest. The right jugular catheter is in the heart.",
            "Right effusion in the chest. The right jugular catheter is in the heart.",
        ),
        ("side_swapped", "Left basal opacity of the lung. The left hemidiaphragm is obscured.", None),
        ("side_swapped", "Left effusion in the chest. There are bilateral effusions.", None),
        ("side_swapped", "Hyperinflation of the lungs with calcifications on the left.", None),  # not the lungs' side
        ("side_swapped", "Left costophrenic opacity of the lung may represent fat.", None),
        # Severity, with its article.
        ("severity_raised", "There is a mild emphysema of the lungs.", "There is a severe emphysema of the lungs."),
        ("severity_raised", "Mild to moderate emphysema of the lungs.", "Severe emphysema of the lungs."),
        ("severity_raised", "The heart is mildly enlarged.", "The heart is severely enlarged."),
        (
            "severity_raised",
            "Mild cardiomegaly without edema of the lungs.",
            "Severe cardiomegaly without edema of the lungs.",
        ),
        ("severity_raised", "There is a small effusion of 2 cm.", None),  # measured
        ("severity_raised", "There is a small effusion on the left. No large effusion on the right.", None),
        ("severity_raised", "Mild cardiomegaly. The heart is of normal size.", None),
        ("severity_raised", "Mild opacity of the lung, which may represent mild edema.", None),
        ("severity_raised", "Small effusions of the lungs, tiny on the left.", None),
        ("severity_raised", "Mild opacities of the lungs, slightly improved.", None),
        ("severity_raised", "The opacities of the lungs are slightly smaller.", None),  # no degree of the opacities
        ("severity_raised", "Mild opacity of the lung. Minimal atelectasis or scarring in the lung.", None),
        ("severity_raised", "There is a minimal effusion.", "There is an extensive effusion."),
        ("severity_raised", "Minimal left effusion is seen.", "Extensive left effusion is seen."),
        ("severity_raised", "There is no mild effusion.", None),
        # Other words.
        (
            "synonym",
            "Cardiomegaly is seen. The lungs are clear.",
            "Cardiac enlargement is identified. The lungs are clear.",
        ),
        ("synonym", "The heart is large.", None),
        ("synonym", "There is an unchanged heart in the midline of the chest, grossly clear.", None),
        ("synonym", "The heart is unchanged.", "The heart is without change."),
        ("sentence_order", "The heart is large. The lungs are clear.", "The lungs are clear. The heart is large."),
        ("sentence_order", "There is a nodule. This is in the left lung.", None),  # the second belongs to the first
        ("sentence_order", "1. The heart is large. 2. The lungs are clear.", None),
        ("style", "There is no effusion. A nodule is seen.", "No effusion. A nodule."),
        ("style", "There is a nodule in the lung.", "Nodule in the lung."),
        ("style", "No effusion in the chest.", "There is no effusion in the chest."),
        ("style", "The heart is large.", None),
        ("abbreviation", "A nodule in the right upper lobe without effusion.", "A nodule in the RUL w/o effusion."),
        ("abbreviation", "The heart is large.", None),
        ("normal_shortened", "The heart is normal in size and contour.", "Heart normal."),
        ("normal_shortened", "There is no evidence of focal consolidation.", "There is no consolidation."),
        ("normal_shortened", "The lungs are clear except for a scar.", None),
        ("normal_shortened", "There is a focal consolidation.", None),
    ],
)
def test_edits(kind: str, before: str, after: str | None, words: AlterationWords) -> None:
    assert edited(before, kind, words) == after


def test_what_is_invented_was_not_said_before(words: AlterationWords) -> None:
    before = "FINDINGS: The heart is in the chest\n\nIMPRESSION: The spine is straight."
    after = edited(before, "invented", words)
    assert after is not None
    start, rest = after.split("\n\n")
    assert start.startswith("FINDINGS: The heart is in the chest. ")
    assert rest == "IMPRESSION: The spine is straight."
    everything = " ".join(f"There is {finding.words[0]} in the chest." for finding in words.findings)
    assert edited(everything, "invented", words) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The heart is big. The lungs are clear.", "The heart is big. {}"),
        ("The heart is big. The lungs are clear without edema.", "The heart is big. {} No edema."),
        ("The heart is big. 1. No acute abnormality.", "The heart is big. 1. {}"),
        ("Scoliosis of the spine without acute disease.", "Scoliosis of the spine. {}"),
        ("The heart and the lungs are normal.", None),  # the heart would be lost
        ("The lungs are clear except for a scar in the left.", None),
        ("The bones of the chest are without acute disease.", "The bones of the chest are without acute disease. {}"),
        ("The lung is open. No acute bony abnormality.", "The lung is open. No acute bony abnormality. {}"),
    ],
)
def test_what_says_that_all_is_well_gives_way_to_what_is_invented(
    before: str, after: str | None, words: AlterationWords
) -> None:
    only = replace(
        words, findings=tuple(replace(f, critical=False, minor=f.name != "pneumothorax") for f in words.findings)
    )
    said = only.findings[0].invented
    assert edited(before, "invented", only) == (after and after.format(said))


def test_what_the_report_has_under_another_name_is_not_invented(words: AlterationWords) -> None:
    text = "There is an opacity in the left lung. The heart is enlarged and the mediastinum is wide."
    for seed in range(30):
        (edit,) = alterations(text, words, seed=seed, kinds=["invented"])
        named = ReadReport(edit.text[len(text) :], words).sentences[0].findings
        assert not {words.findings[at].name for at in named} & {"pneumonia", "atelectasis", "cardiomegaly"}
        assert not any(words.findings[at].minor for at in named)


def test_what_was_done_is_told_with_the_sentence_before_and_after(words: AlterationWords) -> None:
    made = alterations("There is a small left effusion. The heart is big.", words, seed=1, kinds=["side_swapped"])
    assert made == (
        Alteration(
            "side_swapped",
            True,
            "There is a small right effusion. The heart is big.",
            "put on the other side, pleural effusion: “There is a small left effusion.” became "
            "“There is a small right effusion.”",
        ),
    )


def test_lower_case_texts_with_free_standing_full_stops_stay_so(words: AlterationWords) -> None:
    text = "the heart is normal . there is a small left effusion ."
    for edit in alterations(text, words, seed=1):
        assert edit.text == edit.text.lower()
        assert edit.text.endswith(" .")


def test_texts_in_capitals_stay_so(words: AlterationWords) -> None:
    for edit in alterations("THE HEART IS NORMAL. THERE IS A SMALL LEFT EFFUSION.", words, seed=1):
        assert edit.text == edit.text.upper()


def test_only_what_was_found_is_edited(words: AlterationWords) -> None:
    text = "INDICATION: There is a small left effusion.\n\nFINDINGS: There is a small left effusion. The heart is big."
    for edit in alterations(text, words, seed=1):
        assert edit.text.startswith("INDICATION: There is a small left effusion.\n\nFINDINGS: ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "normal",
        "心影增大，左侧少量胸腔积液。未见气胸。",
        "Pequeño derrame pleural izquierdo. No se observa neumotórax. Edema pulmonar leve.",
        "INDICATION: Is there a small left effusion in this patient?",
    ],
)
def test_what_cannot_be_edited_gives_nothing(text: str, words: AlterationWords) -> None:
    assert alterations(text, words, seed=1) == ()


def test_chinese_reports_give_none(shared: Path, words: AlterationWords) -> None:
    with (shared / "languages" / "openi_zh.csv").open(encoding="utf-8") as file:
        texts = [" ".join(row.values()) for row in csv.DictReader(file)][:300]
    assert texts
    assert not any(alterations(text, words, seed=1) for text in texts)


def test_an_unknown_kind_is_refused(words: AlterationWords) -> None:
    with pytest.raises(KeyError):
        alterations("There is an effusion in the lung.", words, seed=1, kinds=["translated"])


@pytest.fixture(scope="module")
def reports(shared: Path) -> list[str]:
    with (shared / "openi" / "reports.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:400]
    parts = [
        [f"{name.upper()}: {row[name]}" for name in ("findings", "impression") if row[name].strip()] for row in rows
    ]
    return ["\n\n".join(part) for part in parts if part]


@pytest.fixture(scope="module")
def made(reports: list[str], words: AlterationWords) -> list[tuple[str, Alteration]]:
    return [(text, edit) for text in reports for edit in alterations(text, words, seed=5)]


def of_kind(made: list[tuple[str, Alteration]], *kinds: str) -> list[tuple[str, str]]:
    found = [(text, edit.text) for text, edit in made if edit.kind in kinds]
    assert len(found) >= 5, kinds
    return found


def test_every_kind_applies_to_real_reports_and_changes_each(made: list[tuple[str, Alteration]]) -> None:
    assert {edit.kind for _, edit in made} == set(KINDS)
    assert all(edit.text != text and edit.text.strip() for text, edit in made)


def test_the_same_seed_gives_the_same_edits(reports: list[str], words: AlterationWords) -> None:
    text = max(reports, key=len)
    assert alterations(text, words, seed=5) == alterations(text, words, seed=5)
    orders = {alterations(text, words, seed=seed, kinds=["sentence_order"])[0].text for seed in range(5)}
    assert len(orders) > 1


def counted(text: str) -> Counter[str]:
    return Counter(text.lower().replace(".", " ").split())


def test_swapping_sides_changes_nothing_but_sides(made: list[tuple[str, Alteration]]) -> None:
    for before, after in of_kind(made, "side_swapped"):
        changed = set(counted(before) - counted(after)) | set(counted(after) - counted(before))
        assert all("left" in word or "right" in word for word in changed), changed


def test_another_order_keeps_every_word(made: list[tuple[str, Alteration]]) -> None:
    for before, after in of_kind(made, "sentence_order"):
        assert counted(after) == counted(before)


def test_leaving_out_adds_no_word(made: list[tuple[str, Alteration]]) -> None:
    for before, after in of_kind(made, "removed", "critical_missed", "normal_shortened"):
        assert sum((counted(before) - counted(after)).values()) > 0
    for before, after in of_kind(made, "removed", "critical_missed"):
        assert set(counted(after) - counted(before)) <= {"no"}  # for "without", where that began what is left


def test_nothing_is_left_that_says_all_is_well_where_something_was_invented(
    made: list[tuple[str, Alteration]], words: AlterationWords
) -> None:
    invented = {finding.invented: finding for finding in words.findings}
    seen = 0
    for before, after in of_kind(made, "invented"):
        (finding,) = [at for said, at in invented.items() if after.count(said) > before.count(said)]
        seen += "lungs" in finding.regions
        assert "lungs" not in finding.regions or "lungs are clear." not in after.lower()
        assert not any(well in after.lower() for well in ("no acute cardiopulmonary abnormality", "no acute disease"))
    assert seen > 20


def test_harmless_edits_of_order_style_and_length_name_the_same_findings(
    made: list[tuple[str, Alteration]], words: AlterationWords
) -> None:
    def findings(text: str) -> Counter[tuple[frozenset[int], bool]]:
        return Counter((s.findings, s.stated) for s in ReadReport(text, words).sentences if s.findings)

    for before, after in of_kind(made, "sentence_order", "style", "normal_shortened"):
        assert findings(after) == findings(before), after
