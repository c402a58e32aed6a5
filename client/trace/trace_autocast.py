"""torch.autocast("cuda") for tensors that only seem to lie on a GPU.

Autocast hangs on a dispatch key that meta tensors lack. So the functions that it changes on CUDA are
wrapped: those of matrices run in half precision (weights cast once and kept until the outermost context
ends), those that lose accuracy in float32, those that mix formats in the widest of their inputs. The
lists are PyTorch's own for CUDA (documentation of torch.amp, "CUDA Ops that can autocast …").
"""
import functools

import torch
import torch.nn.functional as F

HALF = """conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d prelu addmm addmv addr
matmul mm mv linear bmm baddbmm addbmm chain_matmul einsum scaled_dot_product_attention
_scaled_dot_product_attention __matmul__ __rmatmul__""".split()
FULL = """acos asin cosh erfinv exp expm1 log log10 log1p log2 reciprocal rsqrt sinh tan pow __pow__ __rpow__
softplus layer_norm group_norm norm nuclear_norm cosine_similarity poisson_nll_loss cosine_embedding_loss
nll_loss hinge_embedding_loss kl_div l1_loss smooth_l1_loss huber_loss mse_loss margin_ranking_loss
multilabel_margin_loss soft_margin_loss triplet_margin_loss multi_margin_loss cross_entropy
binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp prod softmax log_softmax cumprod cumsum
sum""".split()
WIDEST = "addcdiv addcmul atan2 cat cross dot grid_sample scatter_add stack tensordot".split()


class State:
    enabled = False
    dtype = torch.float16
    depth = 0
    used = None  # the dtype of the first enabled context: what the script trains in
    cache = {}  # id of a weight -> (weight, its cast)


class Autocast:
    """Stands for torch.autocast and torch.cuda.amp.autocast; also a decorator."""

    original = torch.autocast

    def __new__(cls, *args, **kwargs):
        first = args[0] if args else kwargs.get("device_type", "cuda")
        if isinstance(first, str) and first.split(":")[0] != "cuda":
            return cls.original(*args, **kwargs)
        return super().__new__(cls)

    def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=True):
        self.device, self.enabled = device_type, enabled
        self.fast_dtype = dtype or torch.float16

    def __enter__(self):
        self.before = State.enabled, State.dtype
        State.enabled, State.dtype = self.enabled, self.fast_dtype
        State.depth += 1
        if self.enabled and State.used is None:
            State.used = self.fast_dtype
        return self

    def __exit__(self, *_):
        State.enabled, State.dtype = self.before
        State.depth -= 1
        if State.depth == 0:
            State.cache.clear()
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            with Autocast(self.device, self.fast_dtype, self.enabled):
                return function(*args, **kwargs)
        return run


class CudaAutocast(Autocast):
    """torch.cuda.amp.autocast(enabled, dtype)."""

    def __new__(cls, *_, **__):
        return object.__new__(cls)

    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        Autocast.__init__(self, "cuda", dtype, enabled)


def casts(value):
    return (isinstance(value, torch.Tensor) and value.is_cuda and value.is_floating_point()
            and value.dtype != torch.float64)


def cast(value, dtype):
    if not casts(value) or value.dtype == dtype:
        return value
    is_weight = value.is_leaf and value.requires_grad and value.dtype == torch.float32
    if not is_weight or dtype == torch.float32:
        return value.to(dtype)
    if id(value) not in State.cache:
        State.cache[id(value)] = (value, value.to(dtype))
    return State.cache[id(value)][1]


def over(value, change):
    if isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value):
        return type(value)(change(v) for v in value)
    return change(value)


def wrapped(function, dtype_of):
    @functools.wraps(function)
    def run(*args, **kwargs):
        if not State.enabled:
            return function(*args, **kwargs)
        flat = [v for a in (*args, *kwargs.values()) for v in (a if isinstance(a, (list, tuple)) else [a])]
        tensors = [v for v in flat if casts(v)]
        if not tensors:
            return function(*args, **kwargs)
        dtype = dtype_of(tensors)
        change = lambda v: cast(v, dtype)
        return function(*[over(a, change) for a in args],
                        **{k: over(v, change) for k, v in kwargs.items()})
    run._trace_original = function
    return run


def install():
    lists = ((HALF, lambda _: State.dtype), (FULL, lambda _: torch.float32),
             (WIDEST, lambda tensors: max((t.dtype for t in tensors), key=lambda d: torch.finfo(d).bits)))
    for names, dtype_of in lists:
        for name in names:
            for place in (torch, torch.Tensor, F, torch._C._nn):
                function = getattr(place, name, None)
                if callable(function) and not hasattr(function, "_trace_original"):
                    setattr(place, name, wrapped(function, dtype_of))
    torch.autocast = torch.amp.autocast = torch.amp.autocast_mode.autocast = Autocast
    torch.cuda.amp.autocast = torch.cuda.amp.autocast_mode.autocast = CudaAutocast
    of_gpu = lambda device: str(device or "cuda").split(":")[0] == "cuda"
    enabled, dtype = torch.is_autocast_enabled, getattr(torch, "get_autocast_dtype", None)
    torch.is_autocast_enabled = lambda device=None: (
        State.enabled if of_gpu(device) else enabled(device))
    torch.get_autocast_gpu_dtype = lambda: State.dtype
    if dtype is not None:
        torch.get_autocast_dtype = lambda device: State.dtype if of_gpu(device) else dtype(device)
