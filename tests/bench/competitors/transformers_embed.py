"""transformers under torch in fp32: texts in batches of near lengths, last token, unit rows.

Options: ``threads``. The folder holds the model's ``config.json`` (its weights
are random, which costs what trained ones do) and ``ids.json``, the token ids of each text. The batch size
is the fastest of a few, tried before the rounds. A unit is a real token: padding is not counted.
"""

import json
from functools import partial
from pathlib import Path

import torch
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoConfig, AutoModel

from tests.bench.apart import Options, Work, take_turns
from tests.bench.timing import interleaved, timed

BATCHES = (1, 8, 32)
TRIED = 4  # one text of so many is used to choose among the batch sizes


def prepare(folder: Path, options: Options) -> Work:
    """Make the model and choose the batch size; facts: threads, batch size, attention, tokens."""
    torch.set_num_threads(int(options["threads"]))
    torch.manual_seed(0)
    model = AutoModel.from_config(AutoConfig.from_pretrained(folder), dtype=torch.float32).eval()
    texts: list[list[int]] = json.loads((folder / "ids.json").read_text(encoding="utf-8"))
    texts.sort(key=len, reverse=True)
    tries = {str(batch): partial(_embed, model, texts[::TRIED], batch) for batch in BATCHES}
    costs = interleaved({batch: partial(timed, work) for batch, work in tries.items()}, rounds=2)
    batch = int(min(costs, key=lambda name: costs[name].cpu))
    facts = {"threads": options["threads"], "batch": batch, "attention": model.config._attn_implementation}
    return Work(lambda: _embed(model, texts, batch), sum(map(len, texts)), facts)


def _embed(model: torch.nn.Module, texts: list[list[int]], batch: int) -> torch.Tensor:
    rows = []
    with torch.inference_mode():
        for start in range(0, len(texts), batch):
            ids = [torch.tensor(text) for text in texts[start : start + batch]]
            mask = pad_sequence([torch.ones_like(text) for text in ids], batch_first=True)
            hidden = model(pad_sequence(ids, batch_first=True), attention_mask=mask).last_hidden_state
            rows.append(hidden[torch.arange(len(ids)), mask.sum(1) - 1])
        return normalize(torch.cat(rows))


if __name__ == "__main__":
    take_turns(prepare)
