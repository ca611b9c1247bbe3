"""``readgate index export-qwen3``: Hugging Face weights to an ONNX folder that was found right."""

from dataclasses import asdict
from pathlib import Path

import click
import orjson

from evaluator.cli.main import printable
from evaluator.cli.progress import stages
from index_builder.embedding.export.qwen3 import Exported, export_qwen3

FOLDER = click.Path(path_type=Path)


@click.command("export-qwen3", short_help="Make an ONNX model of Hugging Face weights.")
@click.argument("model_dir", type=FOLDER)
@click.option("--out", type=FOLDER, required=True, help="The folder to write; must not exist.")
@click.option("--int8", is_flag=True, help="Round the products to int8: faster, smaller, a little off.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(model_dir: Path, out: Path, *, int8: bool, as_json: bool) -> None:
    """Make an ONNX model of the Qwen3-Embedding weights in MODEL_DIR, for `--embedder qwen3:DIR`.

    Needs the packages of `pip install -e '.[export]'`. The vectors are compared with those of
    transformers on texts of varied lengths; a model that differs by more than 1e-5 in fp32 is not written,
    nor one in int8 of which any vector has a cosine below 0.97 with its own.
    """
    with stages(out.name) as show:
        exported = export_qwen3(model_dir, out, int8=int8, progress=show)
    if as_json:
        click.echo(orjson.dumps(asdict(exported), option=orjson.OPT_INDENT_2).decode())
        return
    for line in described(out, exported):
        click.echo(line)


def described(out: Path, exported: Exported) -> list[str]:
    """What was exported, for a person."""
    compared = f"beside transformers, over {exported.texts} texts of up to {exported.longest} tokens"
    near = f"largest difference {exported.difference:.1e} in fp32"
    if exported.precision != "fp32":
        near += f", least cosine {exported.cosine:.5f} in {exported.precision}"
    whole = ", ".join(exported.whole)
    return [
        f"{out}: {exported.graph} graph in {exported.precision}; {compared}: {near}",
        *([f"  left in fp32, being too far off in int8: {whole}"] if whole else []),
        *(f"  not the {graph} graph: {printable(why)}" for graph, why in exported.passed_over.items()),
    ]
