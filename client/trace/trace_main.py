"""Counts a training script's memory on a GPU by running it on the CPU without values.

    trace_main.py --out RESULT.json --seconds N --memory-gib N [--scale N] [--launched] -- [-m] PROGRAM ARGS…

Runs PROGRAM as Python would, on tensors that have shapes but no bytes, until its optimizer has made two
steps, and writes what lived on the GPU at the peak to RESULT.json. Standard output is the script's own.
The rooms: trace_ledger.py counts, trace_gpu.py is the GPU, trace_autocast.py its autocast,
trace_libraries.py the rest of PyTorch that a script meets before its first step.
"""
import argparse
import json
import os
import resource
import runpy
import signal
import sys
import time
import traceback

FORMAT = 1


class TooLate(BaseException):
    pass


def parse_arguments():
    words = sys.argv[1:]
    at = words.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--memory-gib", type=int, required=True)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--launched", action="store_true")  # as by torchrun, which sets RANK
    return parser.parse_args(words[:at]), words[at + 1:]


def write(path, result):
    with open(path + ".part", "w", encoding="utf-8") as out:
        json.dump({"format": FORMAT, **result}, out)
    os.replace(path + ".part", path)


def leave(path, result):
    """Writes the report and ends: the script's threads and atexit functions are not waited for."""
    write(path, result)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def failure(kind, sentence, place=""):
    return {"status": "failed", "kind": kind, "sentence": sentence, "place": place}


def limit(seconds, gib):
    bytes_ = gib << 30
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or hard > bytes_:
        resource.setrlimit(resource.RLIMIT_DATA, (bytes_, hard))

    def late(*_):
        raise TooLate

    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)


def set_environment(launched):
    if launched:
        for name, value in (("RANK", "0"), ("LOCAL_RANK", "0"), ("WORLD_SIZE", "1"),
                            ("LOCAL_WORLD_SIZE", "1"), ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "29500")):
            os.environ[name] = value
    os.environ.update({"CUDA_VISIBLE_DEVICES": "", "WANDB_MODE": "disabled", "GPUADVISE_TRACE": "1",
                       "TOKENIZERS_PARALLELISM": "false", "MPLBACKEND": "Agg"})


def place_in_script(error):
    """ "train.py:33" of the innermost line of the user's, by the error's own traceback."""
    from trace_ledger import LIBRARIES, OWN_FOLDER
    if isinstance(error, SyntaxError) and error.filename:
        return f"{os.path.basename(error.filename)}:{error.lineno}"
    place = ""
    for frame in traceback.extract_tb(error.__traceback__):
        name = frame.filename
        if not name.startswith(OWN_FOLDER) and not any(
                name.startswith(p) or (p[0] == os.sep and p in name) for p in LIBRARIES):
            place = f"{os.path.basename(name)}:{frame.lineno}"
    return place


def run(words):
    is_module = words[0] == "-m"
    program = words[1] if is_module else words[0]
    sys.argv = words[1:] if is_module else words
    sys.path[0] = os.getcwd() if is_module else os.path.dirname(os.path.abspath(program))
    if is_module:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(program, run_name="__main__")


def traced(script, ledger, seconds):
    from trace_autocast import State
    parameters, trained, tensors = script.parameters()
    dtype = State.used
    if dtype is None and tensors:
        sizes = {}
        for p in tensors:
            sizes[p.dtype] = sizes.get(p.dtype, 0) + p.numel()
        dtype = max(sizes, key=sizes.get)
    return {"status": "traced", "torch": str(sys.modules["torch"].__version__),
            "batch": script.input_batch or 0, "parameters": parameters, "trained_parameters": trained,
            "precision": {"torch.bfloat16": "bf16", "torch.float16": "fp16"}.get(str(dtype), "fp32"),
            "backward": ledger.parts_of("backward"), "step": ledger.parts_of("step"),
            "seconds": round(seconds, 1),
            "notes": [(place + ": " if place else "") + text for text, place in ledger.notes.items()][:20]}


def trace(options, words):
    try:
        import torch
    except ImportError as error:
        return failure("no_torch", f"{sys.executable} has no PyTorch ({error})")
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < (1, 13):
        return failure("no_torch", f"PyTorch {torch.__version__} is too old for a trace; 1.13 is the first")
    from trace_autocast import install as install_autocast
    from trace_gpu import Gpu
    from trace_ledger import Ledger, Untraceable, user_place
    from trace_libraries import Script
    torch.set_num_threads(1)
    start = time.monotonic()

    def outcome():
        ledger.finish()
        if not script.steps:
            return failure("no_step", "ended without a step of a torch.optim optimizer")
        if max(ledger.peaks.values()) == 0:
            return failure("no_gpu", 'puts nothing on a GPU (.to("cuda"), device="cuda")')
        return traced(script, ledger, time.monotonic() - start)

    ledger = Ledger()
    # Ends the process from inside the step: no handler of the script or of its framework runs after it.
    script = Script(ledger, options.scale, lambda: leave(options.out, outcome()))
    Gpu(ledger).install()
    install_autocast()
    script.install()
    why = None
    limit(options.seconds, options.memory_gib)
    try:
        with ledger:
            run(words)
    except TooLate as late:
        why = failure("too_late", f"made {max(script.steps.values(), default=0)} of 2 optimizer steps within "
                      f"{options.seconds} s", place_in_script(late))
    except Untraceable as error:
        why = failure("untraceable", str(error), place_in_script(error))
    except MemoryError as error:
        why = failure("memory", f"takes more than {options.memory_gib} GiB of this machine's memory",
                      place_in_script(error))
    except SystemExit as error:
        if error.code not in (None, 0) and not script.steps:
            text = str(error.code) if isinstance(error.code, str) else f"exit status {error.code}"
            why = failure("exit", f"ended by itself ({text})", place_in_script(error))
    except BaseException as error:  # noqa: B902 what the script raised, KeyboardInterrupt too
        last = traceback.format_exception_only(type(error), error)[-1].strip()
        inner = next((e for e in chain_of(error) if isinstance(e, Untraceable)), None)
        why = (failure("untraceable", str(inner), place_in_script(error)) if inner
               else failure("raised", last, place_in_script(error)))
    finally:
        signal.alarm(0)
    return why or outcome()


def chain_of(error):
    seen = []
    while error is not None and error not in seen:
        seen.append(error)
        error = error.__cause__ or error.__context__
    return seen


def main():
    options, words = parse_arguments()
    set_environment(options.launched)
    try:
        result = trace(options, words)
    except BaseException as error:  # noqa: B902 of our own: said, not hidden
        traceback.print_exc()
        result = failure("tool", f"the trace itself failed: {type(error).__name__}: {error}")
    leave(options.out, result)


main()
