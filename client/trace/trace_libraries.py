"""What stands between a script and its first optimizer steps, as one process without a GPU sees it.

Data loaders read one batch and give it again; processes are one; weights are not loaded, checkpoints not
written. Optimizers end the run once two steps are done: the second has all states from its start, as
every later one.
"""
import contextlib
import importlib.abc
import importlib.machinery
import sys
import weakref

import torch

from trace_ledger import Untraceable

STEPS = 2
OTHER_OPTIMIZERS_STEPS = 3  # where a script has several, each must have had its turn


class Script:
    """What is learned of the training on the way."""

    def __init__(self, ledger, scale, enough):
        """`enough` is called once the steps are done, and does not return."""
        self.ledger = ledger
        self.enough = enough
        self.scale = scale
        self.optimizers = []
        self.steps = {}
        self.loader_batch = None
        self.input_batch = None
        self.modules = weakref.WeakSet()
        self.depth = 0

    def install(self):
        self.install_optimizers()
        self.install_modules()
        self.install_loaders()
        self.install_processes()
        torch.compile, torch.jit.script, torch.jit.trace = (
            self.left_out(name) for name in ("torch.compile", "torch.jit.script", "torch.jit.trace"))
        torch.nn.Module.compile = lambda module, *_, **__: torch.compile(module) and None
        torch.save = lambda *_, **__: None
        for scaler in {torch.cuda.amp.GradScaler, getattr(torch.amp, "GradScaler", torch.cuda.amp.GradScaler)}:
            scaler.__init__ = without_scaling(scaler.__init__)
        sys.meta_path.insert(0, AfterImport({
            "transformers.modeling_utils": without_weights(self.ledger),
            "torch.distributed.fsdp": refuse(("FullyShardedDataParallel", "fully_shard"), "FSDP's shards"),
            "deepspeed": refuse(("initialize",), "DeepSpeed's engine")}))

    def left_out(self, name):
        def unchanged(model=None, *_, **__):
            if model is None:
                return unchanged  # a decorator with options
            self.ledger.note(f"{name} is left out: what is counted is the eager step")
            return model
        return unchanged

    # -- optimizers and models ---------------------------------------------------------------------------

    def install_optimizers(self):
        script, original = self, torch.optim.Optimizer.__init__

        def init(optimizer, *args, **kwargs):
            original(optimizer, *args, **kwargs)
            if isinstance(optimizer, torch.optim.LBFGS):
                raise Untraceable("what LBFGS keeps depends on values, which a trace does not have: trace the "
                                  "script with SGD, and add 2 × history_size × the size of the gradients")
            script.optimizers.append(optimizer)
            cls = type(optimizer)
            owner = next(c for c in cls.__mro__ if "step" in c.__dict__)
            if not hasattr(owner.step, "_trace"):
                owner.step = script.watched(owner.step)

        torch.optim.Optimizer.__init__ = init

    def watched(self, original):
        script = self

        def step(optimizer, *args, **kwargs):
            if script.ledger.phase == "step":  # of an optimizer inside another
                return original(optimizer, *args, **kwargs)
            done = script.steps.get(id(optimizer), 0)
            if done + 1 >= OTHER_OPTIMIZERS_STEPS:
                script.enough()
            args = tuple(script.in_backward(a) if callable(a) else a for a in args)
            kwargs = {k: script.in_backward(v) if callable(v) else v for k, v in kwargs.items()}
            script.mark()
            with script.phase("step"):
                out = original(optimizer, *args, **kwargs)
                script.mark()
            script.steps[id(optimizer)] = done + 1
            if done + 1 == STEPS and len(script.optimizers) == 1:
                script.enough()
            if done == 0 and all(id(o) in script.steps for o in script.optimizers):
                script.ledger.start_anew()
            return out

        step._trace = True
        step.__name__, step.__doc__ = original.__name__, original.__doc__
        return step

    def in_backward(self, closure):
        def run(*args, **kwargs):
            with self.phase("backward"):
                return closure(*args, **kwargs)
        return run

    @contextlib.contextmanager
    def phase(self, name):
        before, self.ledger.phase = self.ledger.phase, name
        self.ledger.poll()
        try:
            yield
        finally:
            self.ledger.phase = before

    def mark(self):
        """Gradients, states and weights as they are now, by their owners."""
        weights = [t for m in self.modules for t in (*m._parameters.values(), *m._buffers.values())]
        trained = [p for o in self.optimizers for group in o.param_groups for p in group["params"]]
        self.ledger.mark([p.grad for p in trained + weights
                          if isinstance(p, torch.nn.Parameter) and p.grad is not None], "gradients")
        for optimizer in self.optimizers:
            for state in optimizer.state.values():
                if isinstance(state, dict):
                    self.ledger.mark(state.values(), "optimizer")
        self.ledger.mark(weights + trained, "weights")

    def install_modules(self):
        original_init, original_call = torch.nn.Module.__init__, torch.nn.Module.__call__

        def init(module, *args, **kwargs):
            original_init(module, *args, **kwargs)
            self.modules.add(module)

        def call(module, *args, **kwargs):
            if self.depth == 0 and module.training and torch.is_grad_enabled() and not self.steps:
                self.see_input([*args, *kwargs.values()])
            self.depth += 1
            try:
                return original_call(module, *args, **kwargs)
            finally:
                self.depth -= 1

        torch.nn.Module.__init__ = init
        torch.nn.Module.__call__ = call

    def see_input(self, values):
        for value in values:
            if isinstance(value, (dict, list, tuple)):
                return self.see_input(list(value.values()) if isinstance(value, dict) else value)
            if isinstance(value, torch.Tensor) and value.dim() > 0:
                self.input_batch = value.shape[0]
                return None

    def parameters(self):
        """Of the script's models: all, and those that an optimizer updates."""
        trained = {id(p): p for o in self.optimizers for g in o.param_groups for p in g["params"]}
        everything = {id(p): p for m in self.modules for p in m._parameters.values() if p is not None
                      and not self.ledger.is_host(p)}
        everything.update(trained)
        return (sum(p.numel() for p in everything.values()), sum(p.numel() for p in trained.values()),
                list(everything.values()))

    # -- data ----------------------------------------------------------------------------------------------

    def install_loaders(self):
        from torch.utils.data import DataLoader
        script, original_init, original_iter = self, DataLoader.__init__, DataLoader.__iter__

        def init(loader, dataset, batch_size=1, *args, **kwargs):
            if batch_size is not None and kwargs.get("batch_sampler") is None:
                batch_size *= script.scale
            kwargs.update(num_workers=0, pin_memory=False)
            for name in ("persistent_workers", "prefetch_factor", "multiprocessing_context", "timeout"):
                kwargs.pop(name, None)
            args = list(args)
            for place, value in ((3, 0), (5, False)):  # num_workers, pin_memory, after batch_size
                if len(args) > place:
                    args[place] = value
                    kwargs.pop(("num_workers", "pin_memory")[place // 5])
            original_init(loader, dataset, batch_size, *args, **kwargs)

        def iterate(loader):
            batches = original_iter(loader)
            try:
                batch = next(batches)
            except StopIteration:
                return
            with contextlib.suppress(TypeError):
                left = len(loader)
            if not isinstance(locals().get("left"), int):
                left = 1 << 30
            while left > 0:
                yield batch
                left = left - 1 if torch.is_grad_enabled() else 0

        DataLoader.__init__, DataLoader.__iter__ = init, iterate

    # -- processes -----------------------------------------------------------------------------------------

    def install_processes(self):
        torch.multiprocessing.spawn = lambda function, args=(), *_, **__: function(0, *args)
        nothing = lambda *_, **__: None
        started = []
        answers = {"is_available": lambda: True, "is_initialized": lambda: bool(started),
                   "init_process_group": lambda *_, **__: started.append(True),
                   "destroy_process_group": lambda *_, **__: started.clear(),
                   "get_rank": lambda *_, **__: 0, "get_world_size": lambda *_, **__: 1,
                   "get_backend": lambda *_, **__: "nccl", "new_group": nothing, "barrier": nothing,
                   "all_reduce": nothing, "broadcast": nothing, "reduce": nothing,
                   "broadcast_object_list": nothing, "all_gather": lambda out, tensor, *_, **__: None}
        for name, answer in answers.items():
            setattr(torch.distributed, name, answer)
        ledger = self.ledger

        class OneProcess(torch.nn.Module):
            """DistributedDataParallel of one process: its buckets are as large as the gradients."""

            def __init__(self, module, *_, gradient_as_bucket_view=False, **__):
                super().__init__()
                self.module = module
                sizes = {}
                for p in module.parameters():
                    if p.requires_grad:
                        sizes[p.dtype] = sizes.get(p.dtype, 0) + p.numel()
                if not gradient_as_bucket_view:
                    self.buckets = [torch.empty(n, dtype=d, device="meta") for d, n in sizes.items()]
                    ledger.note("DDP's buckets are counted as large as the gradients")

            def forward(self, *args, **kwargs):
                return self.module(*args, **kwargs)

            def no_sync(self):
                return contextlib.nullcontext()

            def state_dict(self, *args, **kwargs):
                return self.module.state_dict(*args, **kwargs)

        torch.nn.parallel.DistributedDataParallel = OneProcess
        torch.nn.parallel.distributed.DistributedDataParallel = OneProcess


# -- libraries that are not PyTorch --------------------------------------------------------------------------


def without_scaling(original):
    """A GradScaler that is switched off: whether a gradient is infinite, nobody knows here."""
    return lambda scaler, *args, **kwargs: original(scaler, enabled=False)


def refusal(what):
    def fail(*_, **__):
        raise Untraceable(f"{what} cannot be traced in one process: trace the script without, or give the "
                          "model's shape in a train.yaml, where sharding is counted")
    return fail


def refuse(names, what):
    def change(module):
        for name in names:
            setattr(module, name, refusal(what))
    return change


def without_weights(ledger):
    """Transformers' from_pretrained: the model of the configuration, no weights."""
    def change(module):
        model_class = module.PreTrainedModel

        def from_pretrained(cls, name, *args, config=None, **kwargs):
            for key in ("quantization_config", "load_in_4bit", "load_in_8bit"):
                if kwargs.get(key):
                    raise Untraceable(f"{key}: quantized weights cannot be traced (their kernels need a GPU); "
                                      "give the model and method: qlora in a train.yaml")
            if config is None or isinstance(config, str):
                config = cls.config_class.from_pretrained(config or name)
            dtype = kwargs.get("torch_dtype", kwargs.get("dtype"))
            if isinstance(dtype, str):
                dtype = getattr(config, "torch_dtype", None) if dtype == "auto" else getattr(torch, dtype)
            more = {"attn_implementation": kwargs["attn_implementation"]} if kwargs.get(
                "attn_implementation") else {}
            if more.get("attn_implementation") == "flash_attention_2":
                more["attn_implementation"] = "sdpa"  # keeps the same, and needs no GPU
            model = cls._from_config(config, **more)
            if isinstance(dtype, torch.dtype):
                model.to(dtype)
            ledger.note("from_pretrained made the model from its configuration, without weights")
            if kwargs.get("device_map") is not None:
                model.to("cuda")
            return model.eval()

        model_class.from_pretrained = classmethod(from_pretrained)
    return change


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls a change on a module once it is imported."""

    def __init__(self, changes):
        self.changes = changes

    def find_spec(self, name, path, target=None):
        change = self.changes.pop(name, None)
        if change is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            change(module)

        spec.loader.exec_module = exec_module
        return spec
