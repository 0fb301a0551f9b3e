"""A key per finding: mnemonic where a letter is free, stable, never one of Streamlit's."""

from pathlib import Path

from workbench.formats.label_sets import read_label_set
from workbench.ui.shortcuts import RESERVED, SPARE, keys_of


def test_a_name_gets_its_first_letter_where_that_is_free() -> None:
    assert keys_of(["Fracture", "Edema", "Pneumonia"]) == ("f", "e", "p")


def test_a_taken_letter_gives_way_to_the_next_word_and_then_to_any_letter() -> None:
    # "Pleural effusion" wants p, then e; both are taken, so the first letter within its words that is free: l.
    assert keys_of(["Pneumonia", "Edema", "Pleural effusion"]) == ("p", "e", "l")


def test_an_earlier_name_moves_where_a_later_one_would_have_no_letter_of_its_own() -> None:
    # "Ab" takes a first; "Aa" has no other letter, so "Ab" moves to b.
    assert keys_of(["Ab", "Aa"]) == ("b", "a")


def test_what_is_streamlits_is_nobodys() -> None:
    assert not set(keys_of(["Cardiomegaly", "Rib", "Cr"])).intersection(RESERVED)


def test_a_name_without_a_free_letter_gets_a_spare_key_and_past_those_none() -> None:
    assert keys_of(["B", "B"]) == ("b", "a")
    assert keys_of(["心"]) == ("a",)
    many = keys_of(["x"] * 40)
    assert many.count("") == 40 - len(SPARE)
    assert len(set(many)) == len(SPARE) + 1


def test_every_finding_of_the_shipped_label_set_has_a_key_of_its_own(root: Path) -> None:
    names = [finding.name for finding in read_label_set(root / "data" / "cxr21.yaml").findings]
    keys = keys_of(names)
    assert len(set(keys)) == len(names)
    assert "" not in keys
    mnemonic = [key in name.lower() for key, name in zip(keys, names, strict=True)]
    assert mnemonic.count(False) == 1
    assert keys_of(names) == keys
