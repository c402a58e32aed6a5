"""Hydra: a multirun is split over GPU types so that its last run is done first; each part is a job array.

    # conf/hydra/launcher/gpuadvise.yaml
    _target_: hydra_plugins.gpuadvise_launcher.GpuadviseLauncher
    submitit_folder: ${hydra.sweep.dir}/.submitit/%j
    name: ${hydra.job.name}
    gpuadvise_train_yaml: train.yaml
    gpuadvise_overrides: ["train.batch={micro_batch}", "train.accumulation={accumulation}"]

    python train.py -m hydra/launcher=gpuadvise train.rate=0.1,0.2,0.3

Parameters of its own:
- gpuadvise_train_yaml: the training file.
- gpuadvise_overrides: appended to the overrides of each run. {micro_batch}, {accumulation}, {precision}, {gpu},
  {gpus_per_node} and {nodes} are those of the GPU type that it runs on.
- gpuadvise_default: options of all runs where gpuadvise has no choice, {partition: gpu, gres: "gpu:1", micro_batch: 4};
  without it launching fails with gpuadvise's sentence.
All others are those of submitit_slurm of hydra-submitit-launcher. Partition, GPUs, time limit and what else gpuadvise
chooses win over them, each part has its own.

Hydra takes launchers from the package hydra_plugins only, which is a folder without __init__.py. With this folder's
parent and ../../python on PYTHONPATH Hydra finds this file. hydra-submitit-launcher submits the parts, and a job that
runs needs neither this file nor gpuadvise.
"""
from __future__ import annotations

import queue
import re
import threading
from typing import Any, Dict, List, Optional, Sequence

from gpuadvise_sweep import options, others, split
from hydra.plugins.launcher import Launcher

WORDS = ("micro_batch", "accumulation", "precision", "gpu", "gpus_per_node", "nodes")
WORD = re.compile(r"\{(" + "|".join(WORDS) + r")\}")


class GpuadviseLauncher(Launcher):
    """Has one launcher of hydra-submitit-launcher for each part."""

    def __init__(self, gpuadvise_train_yaml: str, gpuadvise_overrides: Sequence[str] = (),
                 gpuadvise_default: Optional[Dict[str, Any]] = None, **params: Any) -> None:
        self.train_yaml = gpuadvise_train_yaml
        self.overrides = list(gpuadvise_overrides or ())
        self.default = None if gpuadvise_default is None else dict(gpuadvise_default)
        self.params = params
        self._context: Dict[str, Any] = {}

    def setup(self, **context: Any) -> None:
        """Hydra's hydra_context, task_function and config."""
        self._context = context

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[Any]:
        """Returns the results in order when all runs have ended; raises at once what a part raises. Each run keeps its
        number in the multirun."""
        parts = split(self.train_yaml, len(job_overrides), default=self.default,
                      at_a_time=self.params.get("array_parallelism") or 0)
        ended: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def launch(place: int, launcher: Any, runs: List[List[str]], first: int) -> None:
            try:
                ended.put((place, launcher.launch(runs, first), None))
            except BaseException as error:  # pylint: disable=broad-except
                ended.put((place, [], error))

        for place, part in enumerate(parts):
            own = overrides_of(self.overrides, part)
            runs = [[*job_overrides[run], *own] for run in part["runs"]]
            arguments = (place, self.launcher_of(part), runs, initial_job_idx + part["runs"][0])
            threading.Thread(target=launch, args=arguments, daemon=True).start()  # a daemon: Ctrl-C ends the program
        results: Dict[int, Sequence[Any]] = {}
        while len(results) < len(parts):
            place, results[place], error = ended.get()
            if error is not None:
                raise error
        return [result for place in sorted(results) for result in results[place]]

    def launcher_of(self, part: Dict[str, Any]) -> Any:
        """hydra-submitit-launcher's, which submits this part."""
        # pylint: disable=import-outside-toplevel
        from hydra_plugins.hydra_submitit_launcher.submitit_launcher import SlurmLauncher
        launcher = SlurmLauncher(**{**others(part, self.params), **options(part)})
        launcher.setup(**self._context)
        return launcher


def overrides_of(templates: Sequence[str], part: Dict[str, Any]) -> List[str]:
    """The templates with the part's figures. One whose figure is not known is left out."""
    figures = {word: part[word] for word in WORDS if part.get(word) is not None}
    known = [text for text in templates if not set(WORD.findall(text)) - set(figures)]
    return [WORD.sub(lambda found: str(figures[found[1]]), text) for text in known]
