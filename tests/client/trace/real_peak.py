"""What scripts' tensors really take at their peak: real_peak.py < LINES, each "PROGRAM ARGS…".

Runs each PROGRAM on the CPU with real values, until its optimizer has made two steps, under PyTorch's
profiler, which hears of each allocation and each end from the allocator itself. Prints one line each, in
bytes: the largest sum, and the largest sum without what a convolution takes and gives back inside itself
(oneDNN's reordered copies; another library on a GPU). Knows nothing of the trace, which it judges.
"""
import runpy
import shlex
import sys

import torch
from torch.profiler import ProfilerActivity, profile

STEPS = 2


class Enough(BaseException):
    pass


def stop_after_steps(done):
    original = torch.optim.Optimizer.__init__

    def init(optimizer, *args, **kwargs):
        original(optimizer, *args, **kwargs)
        step = optimizer.step

        def counted(*inner, **more):
            out = step(*inner, **more)
            done.append(1)
            if len(done) == STEPS:
                raise Enough
            return out

        optimizer.step = counted

    torch.optim.Optimizer.__init__ = init


def largest_sum(changes):
    live = peak = 0
    for change in changes:
        live += change
        peak = max(peak, live)
    return peak


def without_workspaces(memory, convolutions):
    """The changes of `memory` (start, bytes), less those that one convolution makes and takes back."""
    changes, at = [], 0
    for start, end in sorted(convolutions):
        if at and start < memory[at - 1][0]:
            continue  # inside another
        while at < len(memory) and memory[at][0] < start:
            changes.append(memory[at][1])
            at += 1
        inside = []
        while at < len(memory) and memory[at][0] <= end:
            change = memory[at][1]
            if change < 0 and -change in inside:
                inside.remove(-change)
            else:
                inside.append(change)
            at += 1
        changes += inside
    return changes + [change for _, change in memory[at:]]


def measure(words, done):
    done.clear()
    sys.argv = words
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        try:
            runpy.run_path(words[0], run_name="__main__")
        except Enough:
            pass
    events = seen.profiler.kineto_results.events()
    memory = sorted(((e.start_us(), e.nbytes()) for e in events if e.name() == "[memory]"),
                    key=lambda pair: pair[0])
    convolutions = [(e.start_us(), e.start_us() + e.duration_us()) for e in events
                    if e.name() in ("aten::convolution", "aten::convolution_backward")]
    return largest_sum(c for _, c in memory), largest_sum(without_workspaces(memory, convolutions))


def main():
    torch.set_num_threads(2)
    done = []
    stop_after_steps(done)
    for line in sys.stdin:
        print("PEAK", *measure(shlex.split(line), done), flush=True)


main()
