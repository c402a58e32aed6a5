#!/usr/bin/env python3
"""A training for tests: allocates on a fake GPU, prints like Hugging Face's Trainer, and runs out of
memory above a batch.

    train_stand_in.py --batch-size N --accumulation M [--fits N] [--steps N] [--step-seconds S]
                      [--rank-that-fails R] [--checkpoint FILE] [--resume]

Memory is what the fake libnvidia-ml.so.1 says: the file `used` in the folder FAKE_NVML; it is
freed at the end, so that the next process on that GPU does not find it in use. With
several ranks (SLURM_PROCID) only one runs out of memory; the others wait for it for ever, as
collectives do. With a checkpoint SIGTERM saves the step that was reached, and --resume goes on
from it.
"""
import argparse
import atexit
import os
import pathlib
import signal
import sys
import time

GIB = 1 << 30
IDLE_GIB = 0.4


def say(text):
    print(text, flush=True)


def allocate(gib):
    folder = os.environ.get("FAKE_NVML")
    if folder:
        pathlib.Path(folder, "used").write_text(str(int(gib * GIB)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--accumulation", type=int, required=True)
    parser.add_argument("--fits", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--step-seconds", type=float, default=0.05)
    parser.add_argument("--rank-that-fails", type=int, default=0)
    parser.add_argument("--checkpoint")
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    rank = int(os.environ.get("SLURM_PROCID", "0"))
    atexit.register(allocate, IDLE_GIB)

    if options.batch_size > options.fits:
        allocate(23.9)
        if rank == options.rank_that_fails:
            say("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
            sys.exit(1)
        while True:  # in an all-reduce that never comes
            time.sleep(1)

    allocate(2 + 1.2 * options.batch_size)
    step = 0
    if options.resume and options.checkpoint and os.path.exists(options.checkpoint):
        step = int(pathlib.Path(options.checkpoint).read_text())
        say(f"resumed at step {step}")

    def save_and_end(*_):
        if options.checkpoint and rank == 0:
            pathlib.Path(options.checkpoint).write_text(str(step))
        sys.exit(143)

    signal.signal(signal.SIGTERM, save_and_end)
    while step < options.steps:
        time.sleep(options.step_seconds)
        step += 1
        if rank == 0:
            say(f"step {step}/{options.steps} loss {1 / step:.4f}")


main()
