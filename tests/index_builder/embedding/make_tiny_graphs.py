"""Makes the graphs, the tokenizer and the vectors in ``tiny/`` that the tests of Qwen3 read.

``python -m tests.index_builder.embedding.make_tiny_graphs``, where ``requirements-bench.txt`` is installed.
A small Qwen3 model with seeded random weights goes through every maker of graphs; transformers says what
its vectors are. The graphs of the builder share one file of weights.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from index_builder.embedding.export.graphs import built, dynamo, fused, importing, quantise

PLACE = Path(__file__).with_name("tiny")
SEED = 7
SIZES = {
    "hidden_size": 40,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "max_position_embeddings": 256,
}
TEXTS = (
    "",
    "a",
    "Who designed the Analytical Engine?",
    "Charles Babbage\nCharles Babbage designed the Analytical Engine in London.",
    "東京 naïve Ωmega 😀",
    "one more word " * 10,
)
INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"


def tokenizer() -> Tokenizer:
    """Bytes, three merges, and the special tokens of Qwen3 that close a text or a turn of a chat."""
    merges = [("t", "h"), ("th", "e"), ("e", "r")]
    words = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *(first + second for first, second in merges)]
    made = Tokenizer(models.BPE({word: place for place, word in enumerate(words)}, merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
    made.add_special_tokens([AddedToken(token, special=True) for token in special])
    return made


def random_model(folder: Path, vocabulary: int, sizes: Mapping[str, int], spread: float = 0.1) -> None:
    """Write a Qwen3 model with random weights as Hugging Face does, ``spread`` wider than it begins them."""
    torch, transformers = importing("torch"), importing("transformers")
    torch.manual_seed(SEED)
    config = transformers.Qwen3Config(vocab_size=vocabulary, tie_word_embeddings=True, **sizes)
    network = transformers.Qwen3Model(config)
    with torch.no_grad():
        for weights in network.parameters():
            weights.add_(torch.randn_like(weights) * spread)
    network.save_pretrained(folder)


def vectors(folder: Path, texts: Sequence[str]) -> list[list[float]]:
    """The unit vectors by transformers, texts tokenized by transformers and closed by hand."""
    torch, transformers = importing("torch"), importing("transformers")
    network = transformers.AutoModel.from_pretrained(folder).eval()
    words = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    rows = []
    for text in texts:
        ids = words(text + "<|endoftext|>", return_tensors="pt")["input_ids"]
        with torch.no_grad():
            state = network(input_ids=ids).last_hidden_state[0, -1]
        rows.append((state / state.norm()).tolist())
    return rows


def keep(made: Path, name: str, weights: str) -> None:
    """Save a graph as ``name.onnx`` and its weights in one file of that name, small ones inside the graph."""
    onnx = importing("onnx")
    graph = onnx.load(made / "model.onnx")
    for value in graph.graph.input:
        if value.name.startswith("past_key_values."):
            value.type.tensor_type.shape.dim[3].dim_value = SIZES["head_dim"]  # published graphs state it
    (PLACE / weights).unlink(missing_ok=True)  # onnx would append to it
    onnx.save(graph, PLACE / f"{name}.onnx", save_as_external_data=True, location=weights, size_threshold=64)
    (PLACE / weights).chmod(0o644)


def main() -> None:
    """Fill the folder."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    words = tokenizer()
    words.save(str(PLACE / "tokenizer.json"))
    with TemporaryDirectory() as scratch:
        model, with_caches, one_operator, traced, rounded = (
            Path(scratch, name) for name in ("model", "with_caches", "fused", "dynamo", "int8")
        )
        random_model(model, words.get_vocab_size(), SIZES)
        shutil.copyfile(PLACE / "tokenizer.json", model / "tokenizer.json")
        for make, source, folder, weights in (
            (built, model, with_caches, "genai.data"),
            (fused, model, one_operator, "genai.data"),
            (dynamo, model, traced, "dynamo.data"),
            (partial(quantise, whole=()), one_operator, rounded, "int8.data"),
        ):
            folder.mkdir()
            make(source, folder)
            keep(folder, folder.name, weights)
        queries = [f"Instruct: {INSTRUCTION}\nQuery:{text}" for text in TEXTS]
        expected = {"texts": TEXTS, "documents": vectors(model, TEXTS), "queries": vectors(model, queries)}
    (PLACE / "expected.json").write_text(json.dumps(expected), encoding="utf-8")


if __name__ == "__main__":
    main()
