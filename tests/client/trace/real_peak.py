"""What scripts' tensors really take at their peak: real_peak.py < LINES, each "PROGRAM ARGS…".

Runs each PROGRAM on the CPU with real values, until its optimizer has made two steps, under PyTorch's
profiler, which hears of each allocation and each end from the allocator itself. Prints one line each, in
bytes: the largest sum, and the largest sum without what a convolution takes and gives back inside itself
(oneDNN's reordered copies; another library on a GPU). Knows nothing of the trace, which it judges.
"""
import gc
import runpy
import shlex
import sys
import types

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

        def counted(_, *inner, **more):
            out = step(*inner, **more)
            done.append(1)
            if len(done) == STEPS:
                raise Enough
            return out

        optimizer.step = types.MethodType(counted, optimizer)  # schedulers want a method

    torch.optim.Optimizer.__init__ = init


def take_all_tensors_at_once():
    """PyTorch 2: the default of optimizers on a GPU (foreach), which they otherwise do not take on the CPU."""
    for name in ("torch.optim.optimizer", "torch.utils._foreach_utils"):
        module = sys.modules.get(name)
        original = getattr(module, "_get_foreach_kernels_supported_devices", None)
        if original is not None:
            module._get_foreach_kernels_supported_devices = lambda original=original: original() + ["cpu"]


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


def start_of(event):
    return event.start_ns() if hasattr(event, "start_ns") else event.start_us()  # PyTorch 2.4: ns


def duration_of(event):
    return event.duration_ns() if hasattr(event, "duration_ns") else event.duration_us()


def measure(words, done):
    done.clear()
    gc.collect()  # what the program before leaves would be subtracted
    sys.argv = words
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        try:
            runpy.run_path(words[0], run_name="__main__")
        except Enough:
            pass
    events = seen.profiler.kineto_results.events()
    memory = sorted(((start_of(e), e.nbytes()) for e in events if e.name() == "[memory]"),
                    key=lambda pair: pair[0])
    convolutions = [(start_of(e), start_of(e) + duration_of(e)) for e in events
                    if e.name() in ("aten::convolution", "aten::convolution_backward")]
    return largest_sum(c for _, c in memory), largest_sum(without_workspaces(memory, convolutions))


def main():
    torch.set_num_threads(2)
    done = []
    stop_after_steps(done)
    take_all_tensors_at_once()
    for line in sys.stdin:
        print("PEAK", *measure(shlex.split(line), done), flush=True)


main()
