#!/usr/bin/env python3
"""Prints models.yaml, made from table.txt and by_hand.yaml: what the build compiles in and installs.

The words of the table are explained at its top. Everything that is written is checked by the programs that read it:
a key that they do not know, or a shape whose count is not the published one, fails their tests.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent

HEAD = """\
# Model presets: `model: {preset: NAME}` in a train.yaml. Made by config/models/make_models.py; change its inputs, not this.
# hub: its ids on the Hugging Face Hub; other organisations' copies and -Instruct, -it, -chat forms are found by them.
# params: as published; the count of the shape is made to agree with it.
# memory: training memory of one GPU as a line in the micro-batch (GB = 10^9 bytes).
# measured: timings that calibrate the run time where the train.yaml has none of its own.
# hidden_size and so on: the shape, in Transformers' names, from which memory is counted where there is no line.
# gated_mlp: three matrices (default) or two; rotary: positions turned into queries and keys (default true);
# alibi: positions added to the scores; dropout: keeps masks; gelu_new: an activation of several operations; lm_head: false for models that score no vocabulary; encoder, vision: further stacks.
# patches_per_token: of a vision tower that merges patches.
# fp16: false for models that overflow in fp16; they run in bf16 or not at all.
"""

# What a word of the table gives: a pattern, and the keys that its groups are.
WORDS = [
    (r"(\d+)x(\d+)", ["hidden_size", "num_hidden_layers"]),
    (r"a(\d+)", ["num_attention_heads"]),
    (r"kv(\d+)", ["num_key_value_heads"]),
    (r"d(\d+)", ["head_dim"]),
    (r"i(\d+)", ["intermediate_size"]),
    (r"v(\d+)", ["vocab_size"]),
    (r"e(\d+)/(\d+)x(\d+)", ["num_experts", "num_experts_per_tok", "moe_intermediate_size"]),
    (r"shared(\d+)", ["shared_intermediate_size"]),
    (r"dense(\d+)", ["num_dense_layers"]),
    (r"mla(\d+)/(\d+)/(\d+)/(\d+)", ["q_lora_rank", "kv_lora_rank", "qk_rope_head_dim", "v_head_dim"]),
    (r"other(-?[\d.]+e\d+)", ["other_params"]),
    (r"extra([\d.]+e\d+)", ["extra_params"]),
    (r"params([\d.]+e\d+)", ["params"]),
    (r"t(\d+)", ["tokens_per_image"]),
    (r"p(\d+)", ["patches_per_token"]),
]
FLAGS = {
    "tied": ("tie_word_embeddings", "true"),
    "nohead": ("lm_head", "false"),
    "plain": ("gated_mlp", "false"),
    "norope": ("rotary", "false"),
    "alibi": ("alibi", "true"),
    "dropout": ("dropout", "true"),
    "gelunew": ("gelu_new", "true"),
    "nofp16": ("fp16", "false"),
    "trains": ("frozen", "false"),
}
# Of an encoder-decoder both stacks have these.
STACK = ["hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
         "intermediate_size", "gated_mlp", "rotary", "dropout", "gelu_new"]
ORDER = [key for _, keys in WORDS for key in keys] + [key for key, _ in FLAGS.values()]


class TableError(Exception):
    pass


def keys_of(words, towers):
    """The keys that `words` give, in the order of ORDER; nested maps last."""
    found, nested = {}, {}
    for word in words:
        if word in FLAGS:
            key, value = FLAGS[word]
            found[key] = value
            continue
        if word == "encoder":
            nested["encoder"] = None
            continue
        if word.startswith("vision:"):
            name = word.split(":", 1)[1]
            if name not in towers:
                raise TableError(f"no tower is called {name}")
            nested["vision"] = towers[name]
            continue
        for pattern, keys in WORDS:
            match = re.fullmatch(pattern, word)
            if match:
                found.update((key, value) for key, value in zip(keys, match.groups()) if value != "0")
                break
        else:
            raise TableError(f"'{word}' is no word of the table")
    ordered = {key: found[key] for key in ORDER if key in found}
    if "encoder" in nested:
        nested["encoder"] = {key: ordered[key] for key in STACK if key in ordered}
    return ordered | nested


def text_of(value):
    """A value as YAML: a map in one line, a text in quotes where YAML needs them."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {text_of(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return value[0] if len(value) == 1 else "[" + ", ".join(value) + "]"
    return f'"{value}"' if re.search(r"[:#,\"]", value) else value


def entry_of(row, defaults, towers):
    columns = [column.strip() for column in row.split("|")]
    if len(columns) not in (5, 6):
        raise TableError("a row has five columns, or six with a source")
    name, title, hub, params, shape = columns[:5]
    ids = hub.split()
    if len(columns) == 5 and not ids:
        raise TableError("a row without an id needs a source")
    source = columns[5] if len(columns) == 6 else f"config.json of {ids[0]} on the Hugging Face Hub"
    entry = {"title": title}
    if ids:
        entry["hub"] = ids
    if params != "–":
        entry["params"] = params
    entry |= keys_of(shape.split() + defaults, towers)
    if "fp16" in entry:  # not of the shape: at the end
        entry["fp16"] = entry.pop("fp16")
    entry["source"] = source
    return name, f"{name}:\n" + "".join(f"  {key}: {text_of(value)}\n" for key, value in entry.items())


def document():
    parts, names, towers, defaults = [HEAD], set(), {}, []
    parts.append((HERE / "by_hand.yaml").read_text(encoding="utf-8"))
    heading = ""
    for number, line in enumerate((HERE / "table.txt").read_text(encoding="utf-8").splitlines(), 1):
        try:
            if line.startswith("tower "):
                name, *words = line.split()[1:]
                towers[name] = keys_of(words, {})
            elif line.startswith("#"):
                heading, defaults = line, []
            elif line.startswith("@ "):
                defaults = line.split()[1:]
            elif line.strip():
                name, text = entry_of(line, defaults, towers)
                if name in names:
                    raise TableError(f"a second {name}")
                names.add(name)
                parts.append(f"{heading}\n{text}" if heading else text)
                heading = ""
        except TableError as error:
            sys.exit(f"table.txt:{number}: {error}")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(document())
