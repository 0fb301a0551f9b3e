"""Pairs of reports and edited copies: out and in again, and scores of them from elsewhere."""

from pathlib import Path

import pytest

from workbench.domain.pairs import UNEDITED, EditedPair
from workbench.errors import InputError
from workbench.formats.pairs import read_pair_scores, read_pairs, unedited_id, with_unedited, write_pairs

SWAPPED = EditedPair("r1:side", "r1", "p1", "side", True, "=left became right", "Left,\n“effusion”.", "Right effusion.")
ORDER = EditedPair("r1:order", "r1", "p1", "order", False, "", "Left,\n“effusion”.", "右 effusion.")
HEAD = "pair_id,significant,reference,generated\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "pairs.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_pairs_come_back_as_they_went_out(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    assert write_pairs(path, with_unedited([SWAPPED, ORDER])) == 3
    assert read_pairs(path) == [SWAPPED, ORDER]


def test_each_report_is_paired_with_itself_once_before_its_edits() -> None:
    first, *rest = with_unedited([SWAPPED, ORDER])
    assert (first.id, first.kind, first.reference) == (unedited_id("r1"), UNEDITED, first.generated)
    assert rest == [SWAPPED, ORDER]


def test_pairs_made_by_people_need_four_columns(tmp_path: Path) -> None:
    harmless, matters = read_pairs(written(tmp_path, f"{HEAD}1,0,a,b\n2,yes,c,d\n"))
    assert (harmless.report_id, harmless.patient_id, harmless.significant) == ("1", "1", False)
    assert (harmless.kind, matters.kind) == ("made by people, harmless", "made by people, matters")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}1,2,a,b\n", "row 2: significant should be 1 or 0, not '2'"),
        (f"{HEAD}1,1,a,\n", "row 2: generated is blank"),
        (f"{HEAD},1,a,b\n", "row 2: pair_id is blank"),
        (f"{HEAD}1,1,a,b\n1,0,a,c\n", "row 3: the pair 1 is there already"),
        (HEAD, "holds no pair"),
        ("pair_id,significant,reference\n1,1,a\n", "generated"),
        (f"report_id,{HEAD}r,1,1,a,b\nr,2,1,x,b\n", "row 3: report r has another reference"),
        (f"kind,{HEAD}k,1,1,a,b\nk,2,0,x,b\n", "row 3: the kind k is significant in one row"),
    ],
)
def test_a_fault_is_one_sentence_with_its_row(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_pairs(written(tmp_path, text))


def test_scores_from_elsewhere_may_be_missing_and_never_two(tmp_path: Path) -> None:
    head = "pair_id,metric,value\n"
    assert read_pair_scores(written(tmp_path, f"{head}1,green,0.5\n2,green,nan\n1,green,0.5\n")) == {
        "green": {"1": 0.5}
    }
    for wrong, said in (("1,green,x\n", "row 2: value is x"), ("1,green,1\n1,green,2\n", "row 3: green of pair 1")):
        with pytest.raises(InputError, match=said):
            read_pair_scores(written(tmp_path, head + wrong))
