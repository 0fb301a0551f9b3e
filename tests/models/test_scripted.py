"""The scripted model: replies from a file, failures included."""

import asyncio
import json
from pathlib import Path

import pytest

from workbench.domain.hashing import text_hash
from workbench.errors import InputError, WorkbenchError
from workbench.models.base import Completion, Finish, Message, Role
from workbench.models.scripted import ScriptedModel, file_hash


def write(path: Path, *entries: dict[str, object]) -> Path:
    path.write_text("\n".join(json.dumps(entry) for entry in entries) + "\n\n", encoding="utf-8")
    return path


def ask(model: ScriptedModel, report: str) -> Completion:
    messages = [Message(Role.SYSTEM, "small effusion"), Message(Role.USER, f"<report>\n{report}\n</report>")]
    return asyncio.run(model.complete(messages, schema={}))


def test_answers_by_hash_then_words_then_default(tmp_path: Path) -> None:
    model = ScriptedModel(
        write(
            tmp_path / "replies.jsonl",
            {"contains": "effusion", "reply": "by words"},
            {"contains": "small effusion", "reply": "later line"},
            {"text_hash": text_hash("A small effusion.\nNo more."), "reply": {"by": "hash"}},
            {"default": True, "reply": "default"},
        )
    )
    assert ask(model, "A small effusion.\nNo more.").text == '{"by": "hash"}'
    assert ask(model, "A small effusion.").text == "by words"
    assert ask(model, "Clear.") == Completion("default", Finish.STOP, 5, 1, model="scripted")


def test_deals_each_kind_of_failure(tmp_path: Path) -> None:
    reply = '{"findings": []}'
    model = ScriptedModel(
        write(
            tmp_path / "replies.jsonl",
            *({"contains": kind, "reply": reply, "failure": kind} for kind in ("truncated", "refused", "malformed")),
            {"contains": "error", "failure": "error"},
        )
    )
    assert (ask(model, "truncated").text, ask(model, "truncated").finish) == ('{"findin', Finish.LENGTH)
    assert (ask(model, "refused").text, ask(model, "refused").finish) == ("", Finish.REFUSAL)
    assert reply in ask(model, "malformed").text
    assert ask(model, "malformed").text != reply
    for report in ("error", "for which there is no entry"):
        with pytest.raises(WorkbenchError, match=r"^replies\.jsonl"):
            ask(model, report)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"reply": "x"}', "line 2: say exactly one of text_hash, contains and default"),
        ('{"contains": "a", "default": true}', "line 2: say exactly one of"),
        ('{"contains": "a", "answer": "x"}', "line 2: answer: "),
        ('{"default": true, "failure": "slow"}', "line 2: failure: "),
        ("{", "line 2: Invalid JSON"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"default": true}\n' + line, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        ScriptedModel(path)
    assert message in str(refused.value)
    assert str(tmp_path) not in str(refused.value)


def test_identity_is_what_the_file_holds(tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", {"default": True})
    assert file_hash(first) == file_hash(write(tmp_path / "b.jsonl", {"default": True}))
    assert file_hash(first) != file_hash(write(tmp_path / "b.jsonl", {"default": True, "reply": "x"}))
    with pytest.raises(InputError, match=r"^The file of replies gone\.jsonl cannot be read"):
        file_hash(tmp_path / "gone.jsonl")


def test_a_reply_that_is_sent_back_is_answered_by_its_repaired_one_or_the_same_again(tmp_path: Path) -> None:
    model = ScriptedModel(
        write(
            tmp_path / "replies.jsonl",
            {"contains": "heals", "reply": "x", "failure": "malformed", "repaired": {"findings": []}},
            {"contains": "stays", "reply": "x"},
        )
    )

    def sent_back(report: str) -> str:
        turns = ((Role.USER, f"<report>\n{report}\n</report>"), (Role.ASSISTANT, "x"), (Role.USER, "That\nis\nwrong."))
        return asyncio.run(model.complete([Message(role, text) for role, text in turns], schema={})).text

    assert sent_back("It heals.") == '{"findings": []}'
    assert ask(model, "It heals.").text.startswith("Here is the answer")
    assert sent_back("It stays.") == "x"
