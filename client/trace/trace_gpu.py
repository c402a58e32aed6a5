"""A GPU that is not there: PyTorch's Python functions, told that one is.

What is moved to "cuda" or made there becomes a meta tensor that the ledger counts; what comes back to the
CPU gets invented values where it is small. The device functions of torch.cuda answer for one card, so
that scripts take the way they take on a GPU. Kernels that keep other tensors on a GPU than in PyTorch's
general form are given the GPU's: dropout keeps a mask of one byte, attention its inputs, its output and
a row of sums.
"""
import contextlib
import functools
import types

import torch
import torch.nn.functional as F

import trace_ledger

CARD_BYTES = 80 << 30  # what scripts are told that ask
FACTORIES = """empty zeros ones full rand randn randint randperm arange linspace logspace eye tensor as_tensor
empty_strided tril_indices triu_indices normal zeros_like ones_like empty_like full_like rand_like randn_like
randint_like asarray hann_window""".split()
METHODS = "new_empty new_zeros new_ones new_full new_tensor new_empty_strided".split()


def is_gpu(device):
    if isinstance(device, int) and not isinstance(device, bool):
        return True
    try:
        return device is not None and torch.device(device).type == "cuda"
    except (RuntimeError, TypeError):
        return False


class Gpu:
    def __init__(self, ledger):
        self.ledger = ledger
        self.original_to = torch.Tensor.to
        self.in_module = False  # of a module's move: no part of it gets values

    def install(self):
        self.install_properties()
        self.install_moves()
        self.install_factories()
        self.install_functions()
        self.install_kernels()

    # -- where a tensor is -----------------------------------------------------------------------------

    def on_gpu(self, tensor):
        return tensor.is_meta and not self.ledger.below and not self.ledger.is_host(tensor)

    def install_properties(self):
        real = torch._C._TensorBase.device
        cuda, cpu = torch.device("cuda", 0), torch.device("cpu")

        def device(tensor):
            if self.ledger.below or not tensor.is_meta:
                return real.__get__(tensor)
            return cuda if self.on_gpu(tensor) else cpu

        torch.Tensor.device = property(device)
        torch.Tensor.is_cuda = property(self.on_gpu)
        torch.Tensor.get_device = lambda tensor: 0 if self.on_gpu(tensor) else -1
        torch.Tensor.pin_memory = lambda tensor, *_: tensor
        torch.Tensor.is_pinned = lambda tensor, *_: False
        torch.Tensor.record_stream = lambda tensor, stream: None

        original_deepcopy = torch.Tensor.__deepcopy__

        def deepcopy(tensor, memo):
            if not tensor.is_meta or id(tensor) in memo or not tensor.is_leaf:
                return original_deepcopy(tensor, memo)
            copy = self.copied(tensor.detach(), self.ledger.is_host(tensor))
            copy.requires_grad_(tensor.requires_grad)
            memo[id(tensor)] = copy
            return copy

        torch.Tensor.__deepcopy__ = deepcopy
        original_format = torch.Tensor.__format__
        torch.Tensor.__format__ = lambda tensor, spec: (
            format(tensor.item(), spec) if tensor.is_meta and tensor.dim() == 0
            else original_format(tensor, spec))
        original_new = torch.nn.Parameter.__new__

        def new(cls, data=None, requires_grad=True, **more):
            if type(data) is torch.Tensor and not data.is_meta and data.is_floating_point():
                with self.ledger.placing("host"):
                    data = torch.empty_strided(data.shape, data.stride(), dtype=data.dtype, device="meta")
            return original_new(cls, data, requires_grad, **more)

        torch.nn.Parameter.__new__ = new
        original_apply = torch.nn.Module._apply

        def apply(module, function, *args, **kwargs):
            before, self.in_module = self.in_module, True
            try:
                return original_apply(module, function, *args, **kwargs)
            finally:
                self.in_module = before

        torch.nn.Module._apply = apply

    # -- moves -----------------------------------------------------------------------------------------

    def copied(self, tensor, to_host):
        with self.ledger.placing("host" if to_host else "gpu"):
            return tensor.clone()

    def moved(self, tensor, device, dtype=None, **more):
        if dtype is not None and dtype != tensor.dtype and not self.on_gpu(tensor):
            tensor = self.original_to(tensor, dtype)
        if device is None:
            pass
        elif is_gpu(device):
            if not tensor.is_meta:
                with self.ledger.placing("gpu"):
                    tensor = self.original_to(tensor, "meta")
            elif not self.on_gpu(tensor):
                tensor = self.copied(tensor, to_host=False)
        elif torch.device(device).type == "cpu" and self.on_gpu(tensor):
            small = tensor.numel() * tensor.element_size() <= trace_ledger.LARGE_HOST_BYTES
            with_values = small and not tensor.requires_grad and not self.in_module
            tensor = (self.ledger.real_copy(tensor) if with_values
                      else self.copied(tensor, to_host=True))
        return self.original_to(tensor, dtype, **more) if dtype is not None or more else tensor

    def install_moves(self):
        parse = torch._C._nn._parse_to

        def to(tensor, *args, copy=False, **kwargs):
            if not args and not kwargs:
                return tensor
            if args and isinstance(args[0], torch.Tensor):
                args = (args[0].device, args[0].dtype)
            other = kwargs.pop("other", None)
            if other is not None:
                kwargs.update(device=other.device, dtype=other.dtype)
            device, dtype, _, memory_format = parse(*args, **kwargs)
            more = {} if memory_format is None else {"memory_format": memory_format}
            out = self.moved(tensor, device, dtype, **more)
            return out.clone() if copy and out is tensor else out

        torch.Tensor.to = to
        torch.Tensor.cuda = lambda tensor, device=None, *_, **__: self.moved(tensor, "cuda")
        torch.Tensor.cpu = lambda tensor, *_, **__: self.moved(tensor, "cpu")
        for name in ("numpy", "tolist", "__array__"):
            original = getattr(torch.Tensor, name)

            def values(tensor, *args, _original=original, **kwargs):
                if tensor.is_meta:
                    tensor = self.ledger.real_copy(tensor)
                return _original(tensor, *args, **kwargs)

            setattr(torch.Tensor, name, functools.wraps(original)(values))
        original_reduce = torch.Tensor.__reduce_ex__
        torch.Tensor.__reduce_ex__ = lambda tensor, protocol: original_reduce(
            self.ledger.real_copy(tensor) if tensor.is_meta else tensor, protocol)

    def install_factories(self):
        def on_meta(function):
            @functools.wraps(function)
            def make(*args, **kwargs):
                if self.ledger.below:
                    return function(*args, **kwargs)
                device = kwargs.get("device")
                like = args[0] if args and isinstance(args[0], torch.Tensor) else None
                if is_gpu(device):
                    kwargs = {**kwargs, "device": "meta"}
                    kwargs.pop("pin_memory", None)
                    with self.ledger.placing("gpu"):
                        if like is not None and function.__name__ in ("as_tensor", "tensor", "asarray"):
                            return self.moved(like, "cuda", kwargs.get("dtype"))
                        return function(*args, **kwargs)
                if device is not None and like is not None and like.is_meta:
                    if torch.device(device).type == "cpu":
                        with self.ledger.placing("host"):
                            return function(*args, **{**kwargs, "device": "meta"})
                if kwargs.get("pin_memory"):
                    kwargs = {**kwargs, "pin_memory": False}
                return function(*args, **kwargs)
            return make

        for name in FACTORIES:
            if hasattr(torch, name):
                setattr(torch, name, on_meta(getattr(torch, name)))
        for name in METHODS:
            setattr(torch.Tensor, name, on_meta(getattr(torch.Tensor, name)))
        with contextlib.suppress(ImportError, AttributeError):
            from torch.utils import _device
            original = _device.DeviceContext.__init__
            _device.DeviceContext.__init__ = lambda context, device: original(
                context, torch.device("meta") if is_gpu(device) else device)

    # -- torch.cuda --------------------------------------------------------------------------------------

    def install_functions(self):
        nothing = lambda *_, **__: None
        card = types.SimpleNamespace(name="traced GPU", major=8, minor=0, total_memory=CARD_BYTES,
                                     multi_processor_count=108)
        class Stream:
            def __init__(self, *_, **__): pass
            def __getattr__(self, _): return lambda *_, **__: True
            def __enter__(self): return self
            def __exit__(self, *_): return False
            def elapsed_time(self, _): return 1.0
            def is_capturing(self): return False  # PyTorch 2: optimizers ask

        live = lambda *_, **__: self.ledger.live
        peak = lambda *_, **__: max(self.ledger.peaks.values())
        state = lambda *_, **__: torch.zeros(16, dtype=torch.uint8)
        answers = {
            "is_available": lambda: True, "is_initialized": lambda: True, "device_count": lambda: 1,
            "current_device": lambda: 0, "get_device_name": lambda *_: card.name,
            "get_device_capability": lambda *_: (8, 0), "get_device_properties": lambda *_: card,
            "is_bf16_supported": lambda *_, **__: True, "get_arch_list": lambda: ["sm_80"],
            "mem_get_info": lambda *_: (CARD_BYTES - self.ledger.live, CARD_BYTES),
            "memory_allocated": live, "memory_reserved": live, "max_memory_allocated": peak,
            "max_memory_reserved": peak, "memory_stats": lambda *_: {}, "memory_summary": lambda *_, **__: "",
            "get_rng_state": state, "get_rng_state_all": lambda: [state()],
            "device": lambda *_: contextlib.nullcontext(), "stream": lambda *_: contextlib.nullcontext(),
            "current_stream": Stream, "default_stream": Stream, "Stream": Stream, "Event": Stream,
            "utilization": lambda *_: 0, "is_current_stream_capturing": lambda: False}
        for name in """set_device synchronize empty_cache manual_seed manual_seed_all seed seed_all init
                set_rng_state set_rng_state_all reset_peak_memory_stats reset_max_memory_allocated
                ipc_collect set_per_process_memory_fraction set_stream _lazy_init""".split():
            answers[name] = nothing
        # torch._dynamo looks functions up by identity: one that stands under two names ends it.
        def alone(answer):
            if isinstance(answer, type):
                return type(answer.__name__, (answer,), {})
            return lambda *args, **kwargs: answer(*args, **kwargs)

        for name, answer in answers.items():
            setattr(torch.cuda, name, alone(answer))
        if hasattr(torch, "accelerator"):  # PyTorch 2.6
            answers.update(current_accelerator=lambda *_, **__: torch.device("cuda"), device_index=answers["device"],
                           current_device_index=lambda: 0, current_device_idx=lambda: 0, set_device_index=nothing,
                           set_device_idx=nothing, get_memory_info=answers["mem_get_info"],
                           reset_accumulated_memory_stats=nothing, empty_host_cache=nothing)
            del answers["get_device_capability"]  # there a table of formats
            for name in answers.keys() & set(torch.accelerator.__all__):
                setattr(torch.accelerator, name, alone(answers[name]))

    # -- kernels that keep something else on a GPU -------------------------------------------------------

    def install_kernels(self):
        original_dropout, gpu = torch.dropout, self

        class Dropout(torch.autograd.Function):
            @staticmethod
            def forward(ctx, tensor):
                mask = torch.empty_like(tensor, dtype=torch.bool)
                ctx.save_for_backward(mask)
                return torch.empty_like(tensor)

            @staticmethod
            def backward(ctx, grad):
                return grad * ctx.saved_tensors[0]

        class Attention(torch.autograd.Function):
            @staticmethod
            def forward(ctx, query, key, value):
                # In the order of the query, as the kernels write it: usually the next view needs no copy.
                out = torch.empty_like(query) if query.shape[-1] == value.shape[-1] else torch.empty(
                    (*query.shape[:-1], value.shape[-1]), dtype=query.dtype, device="meta")
                sums = torch.empty(query.shape[:-1], dtype=torch.float32, device="meta")
                ctx.save_for_backward(query, key, value, out, sums)
                return out

            @staticmethod
            def backward(ctx, grad):
                return tuple(torch.empty_like(t) if needed else None
                             for t, needed in zip(ctx.saved_tensors, ctx.needs_input_grad))

        def dropout(tensor, p=0.5, training=True, inplace=False):
            if not gpu.on_gpu(tensor) or inplace:
                return torch._VF.dropout_(tensor, p, training) if inplace else original_dropout(
                    tensor, p, training)
            return Dropout.apply(tensor) if training and 0 < p < 1 else tensor

        F.dropout = dropout
        torch.dropout = lambda tensor, p, train: dropout(tensor, p, train)
        original = getattr(F, "scaled_dot_product_attention", None)
        if original is None:
            return

        def attention(query, key, value, *args, **kwargs):
            fused = [enabled for kind in ("flash", "mem_efficient", "cudnn") if
                     (enabled := getattr(torch.backends.cuda, f"{kind}_sdp_enabled", None))]
            by_hand = fused and not any(enabled() for enabled in fused)  # sdpa_kernel(SDPBackend.MATH)
            if by_hand or not gpu.on_gpu(query):
                return original(query, key, value, *args, **kwargs)
            return Attention.apply(query, key, value)

        F.scaled_dot_product_attention = torch._C._nn.scaled_dot_product_attention = attention
