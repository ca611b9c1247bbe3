"""Qwen3-Embedding: parity of every graph with transformers, and speed beside torch and the bare products.

Parity is of tiny random models that are exported here and now (``--quick``: to the first graph alone).
Speed is of a random model of the full size (``--quick``: two of its 28 layers and a small vocabulary),
which costs what the trained one does; ``made_once`` keeps its export. Tokens a processor-second, so that
threads do not flatter anybody.
"""

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnxruntime

from index_builder.embedding.export.graphs import importing
from index_builder.embedding.export.parity import LARGEST_DIFFERENCE, LEAST_COSINE, NATURAL
from index_builder.embedding.export.qwen3 import MAKERS, Exported, Makers, export_qwen3
from index_builder.embedding.qwen3 import MAX_TOKENS, qwen3
from index_builder.errors import InputError
from tests.bench.apart import apart
from tests.bench.places import made_once
from tests.bench.rows import NotMeasuredError, Row, at_least, at_most, report
from tests.bench.timing import interleaved, timed
from tests.index_builder.embedding.make_tiny_graphs import SIZES, random_model, tokenizer

SEED = 7
TEXTS = 16
SHORTEST, LONGEST = 32, 256
FULL = {
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 32768,
    "rope_theta": 1_000_000,
}
VOCABULARY = 151_669
QUICK = FULL | {"num_hidden_layers": 2, "max_position_embeddings": MAX_TOKENS}
QUICK_VOCABULARY = 1024


def rows(*, quick: bool) -> Iterator[Row]:
    """Parity by each graph, then speed in int8."""
    try:
        importing("torch")
    except InputError as error:
        raise NotMeasuredError(str(error)) from error
    yield from parity(quick=quick)
    yield from speed(quick=quick)


def parity(*, quick: bool) -> list[Row]:
    """Differences of each graph in float32 from transformers, and in int8 from transformers and itself."""
    graphs = list(MAKERS.graphs)[:1] if quick else list(MAKERS.graphs)
    models = [SIZES] if quick else [SIZES, SIZES | {"num_attention_heads": 4, "num_hidden_layers": 5}]
    differences: dict[str, float] = {}
    cosine, apart_from_itself = 1.0, 0.0
    with TemporaryDirectory() as scratch:
        for number, sizes in enumerate(models):
            for graph in graphs:
                place = Path(scratch, f"{number}-{graph}")
                exported = exporting(place, sizes, tokenizer().get_vocab_size(), only(graph), spread=0.1)
                differences[graph] = max(differences.get(graph, 0.0), exported.difference)
                cosine = min(cosine, exported.cosine)
                model = qwen3(place / "int8")
                alone = np.concatenate([model.embed_documents([text]) for text in NATURAL])
                beside = np.abs(model.embed_documents(NATURAL) - alone).max()
                apart_from_itself = max(apart_from_itself, float(beside))
    kind = "the order of sums; theirs: transformers in float32, unit vectors of texts of 1 to 256 tokens"
    return [
        *(
            at_most(f"qwen3 tiny, {graph} graph, largest difference", found, "", LARGEST_DIFFERENCE, kind)
            for graph, found in differences.items()
        ),
        at_least(
            "qwen3 tiny in int8, least cosine", cosine, "", LEAST_COSINE, "rounding to 8 bits; as above"
        ),
        at_most(
            "qwen3 tiny in int8, difference made by the texts beside one",
            apart_from_itself,
            "",
            0,
            "one text at a time; theirs: the same texts each in a call of its own",
        ),
    ]


def speed(*, quick: bool) -> list[Row]:
    """Tokens a processor-second in int8 beside torch in float32, and beside the bare int8 products."""
    sizes, vocabulary = (QUICK, QUICK_VOCABULARY) if quick else (FULL, VOCABULARY)
    name, export = f"qwen3-{sizes['num_hidden_layers']}-layers", ("index_builder/embedding/export",)
    folder = made_once(name, partial(make, sizes, vocabulary), made_by=export)
    texts: list[str] = json.loads((folder / "texts.json").read_bytes())
    model = qwen3(folder / "int8")
    counts = model.token_counts(texts)
    tokens = sum(counts)
    with apart("transformers_embed", folder, threads=1) as theirs:
        taken = interleaved(
            {
                "ours": lambda: timed(lambda: model.embed_documents(texts), tokens),
                "theirs": theirs.round,
                "products": partial(timed, products(sizes, counts), tokens),
            },
            rounds=3,
        )
        facts = theirs.facts
    ours, torch, bare = (1 / taken[name].cpu for name in ("ours", "theirs", "products"))
    layers = f"{sizes['num_hidden_layers']} layers"
    lengths = f"{len(texts)} texts of {min(counts)} to {max(counts)} tokens"
    return [
        at_least(
            f"qwen3 {layers} in int8 beside torch in fp32",
            ours,
            "tokens/CPU s",
            3,
            f"int8 products and attention in fp32; {lengths}; theirs: transformers, batch {facts['batch']}, "
            f"{facts['threads']} thread, {facts['attention']}",
            theirs=torch,
            ratio=ours / torch,
        ),
        at_least(
            f"qwen3 {layers} in int8, share of the int8 GEMM ceiling",
            ours,
            "tokens/CPU s",
            0.4,
            "attention and norms in fp32; theirs: the bare MatMulInteger of every layer on the same texts",
            theirs=bare,
            ratio=ours / bare,
        ),
        *export_rows(folder / "int8", layers),
    ]


def export_rows(folder: Path, layers: str) -> list[Row]:
    """What the export of the model found when it compared it with transformers."""
    said = json.loads((folder / "export.json").read_bytes())
    theirs = f"theirs: transformers in float32, {said['texts']} texts of up to {said['longest']} tokens"
    return [
        at_most(
            f"qwen3 {layers}, {said['graph']} graph, largest difference",
            said["difference"],
            "",
            LARGEST_DIFFERENCE,
            f"the order of sums; {theirs}",
        ),
        at_least(
            f"qwen3 {layers} in int8, least cosine",
            said["cosine"],
            "",
            LEAST_COSINE,
            f"rounding to 8 bits; {theirs}",
        ),
    ]


def make(sizes: Mapping[str, int], vocabulary: int, folder: Path) -> None:
    """Fill a folder: a random model exported to int8, its settings, and texts with their token ids."""
    exporting(folder, sizes, vocabulary, MAKERS, spread=0.0)
    draw = np.random.default_rng(SEED)
    lengths = draw.integers(SHORTEST, LONGEST, TEXTS)
    texts = ["".join(map(chr, draw.integers(ord("a"), ord("z") + 1, length))) for length in lengths]
    words, end = tokenizer(), tokenizer().token_to_id("<|endoftext|>")
    ids = [[*words.encode(text).ids, end] for text in texts]
    (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    (folder / "ids.json").write_text(json.dumps(ids), encoding="utf-8")


def exporting(
    folder: Path, sizes: Mapping[str, int], vocabulary: int, makers: Makers, *, spread: float
) -> Exported:
    """Export a random model to ``int8`` in the folder and keep its ``config.json``, not its weights."""
    weights = folder / "weights"
    random_model(weights, vocabulary, sizes, spread)
    tokenizer().save(str(weights / "tokenizer.json"))
    exported = export_qwen3(weights, folder / "int8", int8=True, progress=told, makers=makers)
    shutil.copyfile(weights / "config.json", folder / "config.json")
    shutil.rmtree(weights)
    return exported


def only(graph: str) -> Makers:
    """The makers with one of the graphs."""
    return Makers(MAKERS.reference, {graph: MAKERS.graphs[graph]}, MAKERS.quantise)


def products(sizes: Mapping[str, int], counts: list[int]) -> Callable[[], object]:
    """The int8 products of every layer, each with weights of its own, on texts of so many tokens."""
    draw = np.random.default_rng(SEED)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(products_graph(sizes, draw), options)
    widths = {node.name: node.shape[1] for node in session.get_inputs()}
    fed = [
        {name: draw.integers(0, 256, (count, width), dtype=np.uint8) for name, width in widths.items()}
        for count in counts
    ]
    return lambda: [session.run(None, values) for values in fed]


def products_graph(sizes: Mapping[str, int], draw: np.random.Generator) -> bytes:
    """A graph of them; only the first row of each product is given out, so that none is kept."""
    onnx = importing("onnx")
    kinds, helper, tensor = onnx.TensorProto, onnx.helper, onnx.numpy_helper.from_array
    hidden, wide, head = sizes["hidden_size"], sizes["intermediate_size"], sizes["head_dim"]
    mixed, asked = (
        head * heads
        for heads in (
            sizes["num_attention_heads"],
            sizes["num_attention_heads"] + 2 * sizes["num_key_value_heads"],
        )
    )
    layer = [(hidden, asked), (mixed, hidden), (hidden, wide), (hidden, wide), (wide, hidden)]
    inputs = [
        helper.make_tensor_value_info(f"x{k}", kinds.UINT8, ["n", k]) for k in sorted({hidden, mixed, wide})
    ]
    nodes, outputs, weights = [], [], [tensor(np.zeros(1, np.int64), "first")]
    for at, (k, n) in enumerate(layer * sizes["num_hidden_layers"]):
        weights.append(tensor(draw.integers(-127, 128, (k, n), dtype=np.int8), f"w{at}"))
        nodes.append(helper.make_node("MatMulInteger", [f"x{k}", f"w{at}"], [f"y{at}"]))
        nodes.append(helper.make_node("Gather", [f"y{at}", "first"], [f"z{at}"]))
        outputs.append(helper.make_tensor_value_info(f"z{at}", kinds.INT32, [1, n]))
    graph = helper.make_graph(nodes, "products", inputs, outputs, weights)
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    made: bytes = whole.SerializeToString()
    return made


def told(stage: str, done: int, total: int, detail: str) -> None:
    """Progress of an export, for whoever watches the bench."""
    sys.stderr.write(f"export: {stage} {done}/{total} {detail}\n")


if __name__ == "__main__":
    report(rows)
