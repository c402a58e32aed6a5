"""What a GPU would hold: every tensor of the script that lies on it, from its allocation to its end.

Tensors "on the GPU" are PyTorch's meta tensors: shape, number format and a storage, but no bytes. This
dispatch mode sees each operator below autograd. It notes the storage of every new tensor, keeps a weak
reference to it, and asks for those that are gone before it believes in a new peak. So what autograd
saves, what a checkpoint frees, gradients, states and temporaries are counted by PyTorch's own lifetimes.

Large float tensors that a script makes on the CPU (a model before .cuda()) are meta tensors too, marked
as the host's: they take no memory, and are not counted. What has real values stays real: batches as a
DataLoader makes them, indices, small tensors.
"""
import contextlib
import os
import sys
import sysconfig

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

BLOCK = 512  # PyTorch's caching allocator rounds up to it
LARGE_HOST_BYTES = 1 << 20  # float tensors of the CPU from here on have no values
LARGE_REAL_BYTES = 1 << 28  # others, from here on
FALLBACK_BYTES = 1 << 26  # of one operator that only the CPU knows
STEP_OF_POLL = 1.001  # a peak is known this well
SAME_PEAK = 1.005
OWN_FOLDER = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = tuple({sysconfig.get_paths()[k] for k in ("stdlib", "purelib", "platlib")} | {"<"}) + (
    os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


class Untraceable(Exception):
    """The script needs what a trace does not have; the text is a sentence with the remedy."""


def user_place():
    """ "train.py:33" of the innermost line that is neither ours nor a library's; "" none."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(OWN_FOLDER) and not any(
                name.startswith(part) or (part[0] == os.sep and part in name) for part in LIBRARIES):
            return f"{os.path.basename(name)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def storage_of(tensor):
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor._storage()


def key_of(tensor):
    return storage_of(tensor)._cdata


class Block:
    __slots__ = ("ref", "bytes", "host", "kind")

    def __init__(self, storage, host):
        self.ref = StorageWeakRef(storage)
        self.bytes = 0 if host else -(-storage.nbytes() // BLOCK) * BLOCK
        self.host = host
        self.kind = ""


class Ledger(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.blocks = {}  # by storage
        self.live = 0  # bytes of `blocks`; an upper bound until the next poll
        self.phase = "backward"  # or "step"
        self.peaks = {"backward": 0, "step": 0}
        self.at_peak = {"backward": [], "step": []}  # the blocks that were alive then
        self.earlier = None  # (peaks, at_peak) of what came before the last `start_anew`
        self.notes = {}  # sentence -> place
        self.place = None  # "gpu" or "host": where new tensors are put; None: by what they are made of
        self.real = False  # new tensors of the CPU have values, whatever their size
        self.below = False  # an operator runs: tensors say where they truly are

    # -- accounts ----------------------------------------------------------------------------------

    def note(self, sentence):
        self.notes.setdefault(sentence, user_place())

    def is_host(self, tensor):
        block = self.blocks.get(key_of(tensor))
        return block is not None and block.host

    def enter(self, tensor, host):
        storage = storage_of(tensor)
        if storage._cdata in self.blocks:
            return
        block = Block(storage, host)
        self.blocks[storage._cdata] = block
        self.live += block.bytes
        if self.live > self.peaks[self.phase] * STEP_OF_POLL:
            self.poll()

    def poll(self):
        gone = [key for key, block in self.blocks.items() if block.ref.expired()]
        for key in gone:
            self.live -= self.blocks.pop(key).bytes
        if self.live <= self.peaks[self.phase]:
            return
        self.peaks[self.phase] = self.live
        self.at_peak[self.phase] = list(self.blocks.values())

    def start_anew(self):
        """A new step: its peak is looked for from nothing."""
        self.earlier = self.peaks, self.at_peak
        self.peaks, self.at_peak = {"backward": 0, "step": 0}, {"backward": [], "step": []}
        self.poll()

    def finish(self):
        """The peaks of everything. Of steps that are alike the last one says what lived at the peak."""
        if self.earlier is None:
            return
        for phase, peak in self.earlier[0].items():
            if peak > SAME_PEAK * self.peaks[phase]:
                self.at_peak[phase] = self.earlier[1][phase]
            self.peaks[phase] = max(self.peaks[phase], peak)

    def mark(self, tensors, kind):
        for tensor in tensors:
            if isinstance(tensor, torch.Tensor) and tensor.is_meta:
                block = self.blocks.get(key_of(tensor))
                if block is not None and not block.host:
                    block.kind = kind

    def parts_of(self, phase):
        """Bytes of the peak in `phase`, by what they are for."""
        parts = {"weights": 0, "gradients": 0, "optimizer": 0, "": 0}
        for block in self.at_peak[phase]:
            parts[block.kind] += block.bytes
        parts["activations"] = parts.pop("")
        return {"total": self.peaks[phase], **parts}

    @contextlib.contextmanager
    def placing(self, place, real=False):
        before = self.place, self.real
        self.place, self.real = place, real
        try:
            yield
        finally:
            self.place, self.real = before

    # -- values that nobody knows --------------------------------------------------------------------

    def guess_of(self, tensor):
        return getattr(tensor, "_trace_guess", True if tensor.dtype == torch.bool else 1)

    def real_copy(self, tensor):
        """A tensor of the CPU of the same shape, whose values are invented."""
        bytes_ = tensor.numel() * tensor.element_size()
        if bytes_ > LARGE_REAL_BYTES:
            raise Untraceable(
                f"{user_place()} needs the values of a tensor of the GPU of {bytes_ >> 20} MiB; a trace has "
                "none: leave this part out of the traced run")
        self.note("values of a GPU tensor are read here; the trace takes 1 for each")
        with self.placing(None, real=True):
            return torch.full(tuple(tensor.shape), self.guess_of(tensor), dtype=tensor.dtype)

    def scalar(self, tensor):
        self.note("a value of a GPU tensor is read here; the trace takes 1 (a test for NaN: no)")
        guess = self.guess_of(tensor)
        if tensor.dtype == torch.bool:
            return bool(guess)
        return float(guess) if tensor.is_floating_point() else int(guess)

    # -- operators -----------------------------------------------------------------------------------

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        # PyTorch 2: meta kernels are Python, and make what they give on the device that their inputs tell.
        before, self.below = self.below, True
        try:
            return self.dispatched(func, args, kwargs or {})
        finally:
            self.below = before

    def dispatched(self, func, args, kwargs):
        tensors = [a for a in tree_flatten((args, kwargs))[0] if isinstance(a, torch.Tensor)]
        metas = [t for t in tensors if t.is_meta]
        name = func._schema.name.split("::")[1]
        if not metas:
            return self.without_metas(func, name, tensors, args, kwargs)
        if name == "_local_scalar_dense":
            return self.scalar(args[0])
        host = self.place == "host" or (self.place is None and all(self.is_host(t) for t in metas))
        for tensor in metas:  # of a meta tensor that the script made before anything was noted
            self.enter(tensor, host)
        if isinstance(args[0] if args else None, torch.Tensor) and not args[0].is_meta and writes(func):
            return args[0]  # into a tensor of the CPU: its values stay as they are
        if name in ("index", "index_put", "index_put_", "_index_put_impl_"):
            args = (args[0], self.positions(args[1])) + tuple(args[2:])
        out = self.call(func, name, metas, *self.all_meta(args, kwargs))
        self.guess(func, name, args, out)
        for each in tree_flatten(out)[0]:
            if isinstance(each, torch.Tensor) and each.is_meta:
                self.enter(each, host)
        return out

    def without_metas(self, func, name, tensors, args, kwargs):
        device = kwargs.get("device")
        if device is not None and torch.device(device).type == "meta":
            out = func(*args, **kwargs)
            self.enter(out, self.place == "host")
            return out
        if tensors or self.real or "device" not in kwargs or name in ("randperm", "arange"):
            return func(*args, **kwargs)
        on_meta = {k: v for k, v in kwargs.items() if k != "pin_memory"}
        out = func(*args, **{**on_meta, "device": torch.device("meta")})
        bytes_ = out.numel() * out.element_size()
        if bytes_ < (LARGE_HOST_BYTES if out.is_floating_point() else LARGE_REAL_BYTES):
            return func(*args, **kwargs)
        self.enter(out, True)
        return out

    def all_meta(self, args, kwargs):
        def meta(value):
            if isinstance(value, torch.Tensor) and not value.is_meta and value.dim() > 0:
                return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
            return value

        if kwargs.get("device") is not None:
            kwargs = {**kwargs, "device": torch.device("meta")}
        return tree_map(meta, args), tree_map(meta, kwargs)

    def positions(self, indices):
        """Masks as indices: of a real one those that it has, else as many as it could have."""
        found = []
        for index in indices:
            if index is None or index.dtype not in (torch.bool, torch.uint8):
                found.append(index)
            elif not index.is_meta:
                found.extend(index.nonzero().unbind(1))
            else:
                self.note("a mask of the GPU selects elements here; the trace takes all of them")
                long = lambda: torch.empty((index.numel(),), dtype=torch.long, device="meta")
                found.extend(long() for _ in range(max(index.dim(), 1)))
        return found

    def call(self, func, name, metas, args, kwargs):
        if name.startswith("_foreach_"):
            return each_of_foreach(func, name, args)
        if name == "convolution_backward":
            return like_convolution_inputs(args)
        if name in ("nonzero", "masked_select", "unique", "_unique2", "unique_consecutive"):
            return self.most_it_could_be(name, args)
        try:
            return func(*args, **kwargs)
        except (NotImplementedError, RuntimeError) as error:
            if not isinstance(error, NotImplementedError) and "meta" not in str(error).lower():
                raise
            return self.without_meta_kernel(func, name, args, kwargs)

    def most_it_could_be(self, name, args):
        tensor = args[0]
        self.note("how many elements come out here depends on values; the trace takes all of them")
        if name == "nonzero":
            return torch.empty((tensor.numel(), tensor.dim()), dtype=torch.long, device="meta")
        if name == "masked_select":
            shape = torch.broadcast_shapes(tensor.shape, args[1].shape)
            return torch.empty((int(torch.Size(shape).numel()),), dtype=tensor.dtype, device="meta")
        indices = [torch.empty((tensor.numel(),), dtype=torch.long, device="meta") for _ in range(2)]
        return (torch.empty((tensor.numel(),), dtype=tensor.dtype, device="meta"), *indices)

    def without_meta_kernel(self, func, name, args, kwargs):
        """What an operator gives that knows no meta tensors: by its form, else by a run on zeros."""
        returns = func._schema.returns
        if writes(func):
            return args[0] if returns else None  # _fused_sgd_ of PyTorch 2 gives nothing back
        inputs = {a.name: v for a, v in zip(func._schema.arguments, args)}
        like = inputs.get("self", inputs.get("input"))
        if name.endswith("_backward") and len(returns) == 1 and isinstance(like, torch.Tensor):
            return torch.empty_like(like)
        size = sum(a.numel() * a.element_size() for a in tree_flatten((args, kwargs))[0]
                   if isinstance(a, torch.Tensor))
        if size > FALLBACK_BYTES:
            raise Untraceable(f"{user_place()}: PyTorch {torch.__version__} cannot tell the shape that "
                              f"{name} gives without computing it; leave this part out of the traced run")
        with self.placing(None, real=True):
            zeros = lambda a: (torch.zeros(a.shape, dtype=a.dtype)
                               if isinstance(a, torch.Tensor) and a.is_meta else a)
            device = {"device": torch.device("cpu")} if "device" in kwargs else {}
            out = func(*tree_map(zeros, args), **{**tree_map(zeros, kwargs), **device})
        return tree_map(lambda a: torch.empty_strided(a.shape, a.stride(), dtype=a.dtype, device="meta")
                        if isinstance(a, torch.Tensor) else a, out)

    def guess(self, func, name, args, out):
        """Keeps a test for NaN or infinity false through any(), sum() and copies."""
        if not isinstance(out, torch.Tensor) or not args or not isinstance(args[0], torch.Tensor):
            return
        before = getattr(args[0], "_trace_guess", None)
        if name in ("isnan", "isinf") or (name == "ne" and len(args) > 1 and args[1] is args[0]) or (
                name == "eq" and len(args) > 1 and args[1] in INFINITIES):
            out._trace_guess = 0
        elif before == 0 and name in ("logical_not", "bitwise_not"):
            out._trace_guess = 1
        elif name in ("logical_not", "bitwise_not") and out.dtype == torch.bool:
            out._trace_guess = 0
        elif before is not None and name in ("any", "all", "sum", "clone", "detach", "_to_copy", "view",
                                             "max", "alias", "unsqueeze", "squeeze", "reshape"):
            out._trace_guess = before


class _Infinities:
    def __contains__(self, value):
        return isinstance(value, float) and value in (float("inf"), float("-inf"))


INFINITIES = _Infinities()


def writes(func):
    """Whether the operator changes its first argument and gives it back."""
    arguments = func._schema.arguments
    return bool(arguments) and arguments[0].alias_info is not None and arguments[0].alias_info.is_write


def each_of_foreach(func, name, args):
    """_foreach_add(tensors, …) and its kind: the same shapes, or nothing where it is in place."""
    if writes(func):
        return None if not func._schema.returns else args[0]
    tensors = next(a for a in args if isinstance(a, (list, tuple)))  # not the first of _foreach_pow(2, tensors)
    return [torch.empty((), dtype=t.dtype, device="meta") if name in ("_foreach_norm", "_foreach_max")
            else torch.empty_like(t) for t in tensors]


def like_convolution_inputs(args):
    grad, input_, weight, bias_sizes, mask = args[0], args[1], args[2], args[3], args[-1]
    bias = torch.empty(tuple(bias_sizes), dtype=grad.dtype, device="meta") if mask[2] else None
    return (torch.empty_like(input_) if mask[0] else None,
            torch.empty_like(weight) if mask[1] else None, bias)
