#!/usr/bin/env python3
"""Memory and step time of models with random weights on this machine's GPU, beside what is counted.

    gpu_rows.py OUT.csv [--seconds 450] [--gpu h100-80gb-sxm] [--first 0]

Trains with Transformers' Trainer (and PEFT) on random tokens: eight optimizer steps a row, of which
the last five are timed. Memory is that of the whole GPU at the end (context and all that PyTorch
reserved), as nvidia-smi shows it. Rows have the columns of bench/data/memory_measurements.csv and
time_measurements.csv, so `accuracy` scores them: bench/data/h100_rows.csv was made so. Needs torch, transformers and
peft, and no network.
A row that does not fit says out_of_memory.
"""
import argparse
import csv
import gc
import time

import torch
from peft import LoraConfig, get_peft_model
from torch.utils.data import Dataset
from transformers import (AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM, BertConfig, GPT2Config,
                          LlamaConfig, MistralConfig, Qwen2Config, T5Config, Trainer, TrainerCallback,
                          TrainingArguments)

STEPS, WARM = 8, 3
LLAMA = {"max_position_embeddings": 8192, "rms_norm_eps": 1e-5}
MODELS = {  # preset -> how its configuration is made
    "llama-3.2-1b": lambda: LlamaConfig(hidden_size=2048, num_hidden_layers=16, num_attention_heads=32,
                                        num_key_value_heads=8, intermediate_size=8192, vocab_size=128256,
                                        tie_word_embeddings=True, **LLAMA),
    "llama-3.1-8b": lambda: LlamaConfig(hidden_size=4096, num_hidden_layers=32, num_attention_heads=32,
                                        num_key_value_heads=8, intermediate_size=14336, vocab_size=128256, **LLAMA),
    "qwen2.5-0.5b": lambda: Qwen2Config(hidden_size=896, num_hidden_layers=24, num_attention_heads=14,
                                        num_key_value_heads=2, intermediate_size=4864, vocab_size=151936,
                                        tie_word_embeddings=True),
    "qwen2.5-1.5b": lambda: Qwen2Config(hidden_size=1536, num_hidden_layers=28, num_attention_heads=12,
                                        num_key_value_heads=2, intermediate_size=8960, vocab_size=151936,
                                        tie_word_embeddings=True),
    "qwen2.5-3b": lambda: Qwen2Config(hidden_size=2048, num_hidden_layers=36, num_attention_heads=16,
                                      num_key_value_heads=2, intermediate_size=11008, vocab_size=151936,
                                      tie_word_embeddings=True),
    "mistral-7b": lambda: MistralConfig(hidden_size=4096, num_hidden_layers=32, num_attention_heads=32,
                                        num_key_value_heads=8, intermediate_size=14336, vocab_size=32000),
    "gpt2-large": lambda: GPT2Config(n_embd=1280, n_layer=36, n_head=20, n_positions=1024),
    "bert-large": lambda: BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
                                     intermediate_size=4096),
    "t5-base": lambda: T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12, d_kv=64,
                                decoder_start_token_id=0),
}
# preset, method, tokens, batch, accumulation, checkpointing
ROWS = [(name, method, tokens, batch, accumulation, checkpointing)
        for name, method, sizes in (
            ("llama-3.2-1b", "full", ((1024, 4, 1), (2048, 4, 2), (4096, 1, 1))),
            ("llama-3.1-8b", "lora", ((512, 4, 1), (2048, 1, 1), (2048, 4, 2))),
            ("qwen2.5-1.5b", "full", ((512, 8, 1), (2048, 2, 1))),
            ("gpt2-large", "full", ((1024, 4, 1), (512, 16, 1))),
            ("mistral-7b", "lora", ((1024, 4, 1), (4096, 1, 1))),
            ("bert-large", "full", ((512, 16, 1), (128, 64, 1))),
            ("qwen2.5-3b", "lora", ((1024, 8, 1), (512, 2, 4))),
            ("t5-base", "full", ((512, 16, 1),)),
            ("qwen2.5-0.5b", "full", ((512, 32, 1), (4096, 2, 1))),
            ("llama-3.1-8b", "lora", ((1024, 8, 1), (4096, 2, 1), (8192, 1, 1))),
            ("llama-3.2-1b", "full", ((512, 16, 1), (256, 2, 1))),
            ("gpt2-large", "full", ((256, 2, 1),)),
            ("bert-large", "full", ((512, 1, 1),)))
        for tokens, batch, accumulation in sizes for checkpointing in ("full", "none")]
COLUMNS = ["source", "grade", "preset", "method", "lora_rank", "target_modules", "precision", "seq_length",
           "micro_batch", "accumulation", "checkpointing", "flash_attention", "optim", "gpu", "gpus", "gpus_per_node",
           "nodes", "software_year", "statistic", "outcome", "measured_gib", "seconds_per_step"]


class Tokens(Dataset):
    def __init__(self, vocabulary, tokens, count, seq2seq):
        self.ids = torch.randint(10, vocabulary - 10, (count, tokens))
        self.seq2seq = seq2seq

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, at):
        return {"input_ids": self.ids[at], "attention_mask": torch.ones_like(self.ids[at]), "labels": self.ids[at]}


class Clock(TrainerCallback):
    def __init__(self):
        self.ends = []

    def on_step_end(self, *_args, **_kwargs):
        torch.cuda.synchronize()
        self.ends.append(time.monotonic())


def model_of(preset, method):
    config = MODELS[preset]()
    kind = {"bert-large": AutoModelForMaskedLM, "t5-base": AutoModelForSeq2SeqLM}.get(preset, AutoModelForCausalLM)
    half = torch.bfloat16 if method == "lora" else torch.float32
    before = torch.get_default_dtype()
    torch.set_default_dtype(half)
    with torch.device("cuda"):
        model = kind.from_config(config)
    torch.set_default_dtype(before)
    if method == "lora":
        model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, lora_dropout=0.0,
                                                 target_modules=["q_proj", "v_proj"]))
    return model, config


def measure(row):
    preset, method, tokens, batch, accumulation, checkpointing = row
    model, config = model_of(preset, method)
    clock = Clock()
    on = checkpointing == "full"
    if on and method == "lora":
        model.enable_input_require_grads()
    arguments = TrainingArguments(
        output_dir="/tmp/gpu_rows", max_steps=STEPS, per_device_train_batch_size=batch,
        gradient_accumulation_steps=accumulation, bf16=True, gradient_checkpointing=on, optim="adamw_torch",
        logging_steps=100, save_strategy="no", report_to=[], dataloader_pin_memory=False, disable_tqdm=True,
        gradient_checkpointing_kwargs={"use_reentrant": False} if on else None)
    data = Tokens(config.vocab_size, tokens, STEPS * batch * accumulation, preset == "t5-base")
    Trainer(model=model, args=arguments, train_dataset=data, callbacks=[clock]).train()
    free, total = torch.cuda.mem_get_info()
    return (total - free) / 2**30, (clock.ends[-1] - clock.ends[WARM - 1]) / (STEPS - WARM)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=450)
    parser.add_argument("--gpu", default="h100-80gb-sxm")
    parser.add_argument("--first", type=int, default=0, help="index of the first row")
    options = parser.parse_args()
    began = time.monotonic()
    print(torch.cuda.get_device_name(), torch.__version__, flush=True)
    with open(options.out, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in ROWS[options.first:]:
            if time.monotonic() - began > options.seconds:
                print("no time for", row, flush=True)
                continue
            preset, method, tokens, batch, accumulation, checkpointing = row
            outcome, gib, seconds = "measured", "", ""
            try:
                gib, seconds = measure(row)
            except torch.OutOfMemoryError:
                outcome = "out_of_memory"
            gc.collect()
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            print(row, outcome, gib, seconds, flush=True)
            writer.writerow({
                "source": "gpuadvise/bench/gpu_rows.py", "grade": "A", "preset": preset, "method": method,
                "lora_rank": 16, "target_modules": "q_proj v_proj" if method == "lora" else "", "precision": "bf16",
                "seq_length": tokens, "micro_batch": batch, "accumulation": accumulation,
                "checkpointing": checkpointing, "flash_attention": int(preset != "t5-base"), "optim": "adamw_torch", "gpu": options.gpu,
                "gpus": 1, "gpus_per_node": 1, "nodes": 1, "software_year": 2026.5, "statistic": "nvidia-smi",
                "outcome": outcome, "measured_gib": f"{gib:.2f}" if gib else "",
                "seconds_per_step": f"{seconds:.4f}" if seconds else ""})
            file.flush()


if __name__ == "__main__":
    main()
