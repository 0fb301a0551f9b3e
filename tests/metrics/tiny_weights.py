"""Makes random weights of a few kilobytes in the form of the published ones, in the environment of the packages.

    python tests/metrics/tiny_weights.py FOLDER

writes FOLDER/bertscore, FOLDER/f1chexbert and FOLDER/radgraph_f1, each with its checksums. What they say is noise; that
the packages load them by their own code is the point.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

import torch
from f1chexbert import f1chexbert
from radgraph import radgraph
from tokenizers import ByteLevelBPETokenizer
from transformers import BertConfig, BertModel, BertTokenizerFast, RobertaConfig, RobertaModel, RobertaTokenizerFast

SAID = "no pleural effusion or pneumothorax . the heart is normal enlarged , a small left right lung lungs are clear"
SMALL = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16}


def bert(folder: Path) -> BertConfig:
    """Write a tokenizer and a configuration of BERT, and return the configuration."""
    folder.mkdir(parents=True)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(SAID.split())]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = BertConfig(vocab_size=len(words), num_hidden_layers=1, **SMALL)
    config.save_pretrained(folder)
    return config


def bertscore(folder: Path) -> None:
    """Six layers, as distilroberta-base has."""
    folder = folder / "distilroberta-base"
    folder.mkdir(parents=True)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator([SAID], vocab_size=300, special_tokens=special)
    trained.save_model(str(folder))
    tokenizer = RobertaTokenizerFast.from_pretrained(folder, model_max_length=512)
    tokenizer.save_pretrained(folder)
    config = RobertaConfig(
        vocab_size=len(tokenizer), num_hidden_layers=6, max_position_embeddings=514, type_vocab_size=1, **SMALL
    )
    RobertaModel(config).save_pretrained(folder)


def chexbert(folder: Path) -> None:
    """A checkpoint as the published one: the names of a model that was trained on several processors."""
    bert(folder / "bert-base-uncased")
    os.chdir(folder)
    state = f1chexbert.bert_labeler(inference=True).state_dict()
    torch.save({"model_state_dict": {f"module.{name}": 20 * value for name, value in state.items()}}, "chexbert.pth")


def radgraph_f1(folder: Path) -> None:
    """The unpacked archive and the model that it names."""
    BertModel(bert(folder / "tiny-bert")).save_pretrained(folder / "tiny-bert")
    words = folder / "radgraph" / "vocabulary"
    words.mkdir(parents=True)
    (words / "non_padded_namespaces.txt").write_text("*tags\n*labels\n")
    (words / "radgraph__ner_labels.txt").write_text("\nANAT-DP\nOBS-DP\nOBS-DA\nOBS-U\n")
    (words / "radgraph__relation_labels.txt").write_text("\nmodify\nlocated_at\nsuggestive_of\n")
    named = {"bert": {"model_name": "tiny-bert", "max_length": 128}}
    config = {
        "dataset_reader": {"max_span_width": 4, "token_indexers": named},
        "model": {
            "type": "dygie",
            "embedder": {"token_embedders": named},
            "initializer": {},
            "module_initializer": {},
            "feature_size": 4,
            "max_span_width": 4,
            "target_task": "relation",
            "feedforward_params": {"num_layers": 1, "hidden_dims": 8, "dropout": 0.0},
            "loss_weights": {"ner": 1.0, "relation": 1.0, "coref": 0.0, "events": 0.0},
            "modules": {
                "ner": {},
                "coref": {"spans_per_word": 0.3, "max_antecedents": 10, "coref_prop": 0},
                "relation": {"spans_per_word": 0.5},
                "events": {
                    "trigger_spans_per_word": 0.3,
                    "argument_spans_per_word": 0.8,
                    "loss_weights": {"trigger": 0.2, "arguments": 1.0},
                },
            },
        },
    }
    (folder / "radgraph" / "config.json").write_text(json.dumps(config))
    os.chdir(folder)

    # The package builds its model and would then load weights; here it saves what it has built.
    def save(model: torch.nn.Module, *_: object, **__: object) -> None:
        torch.save(model.state_dict(), "radgraph/weights.th")

    radgraph.dygie.DyGIE.load_state_dict = save
    radgraph.torch.load = lambda *_, **__: {}
    radgraph.RadGraph(model_type="radgraph", model_cache_dir=str(folder))


def main() -> None:
    """Write all three; RadGraph last, since its loading is replaced."""
    torch.manual_seed(3)
    root = Path(sys.argv[1]).resolve()
    for name, make in (("bertscore", bertscore), ("f1chexbert", chexbert), ("radgraph_f1", radgraph_f1)):
        torch_load = torch.load
        make(root / name)
        torch.load = torch_load
        files = sorted(path for path in (root / name).rglob("*") if path.is_file())
        sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  ./{path.relative_to(root / name)}" for path in files]
        (root / name / "SHA256SUMS").write_text("\n".join(sums) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
