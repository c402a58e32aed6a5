"""A planner that knows all arrivals and all run times: what trainings could have reached on a day of bench/follow_day.py.

Jobs need GPUs of one node of one type. They are listed by rank, a training's being its arrival, and each is placed at the
earliest moment, from its arrival on, at which a node has room for all of its run time beside those before it in the list: what
FIFO with backfill does where every time limit is the run time. Others' jobs keep their ranks and types. The planner chooses the
type and number of GPUs of each training, and who of two trainings that wait for one type has the other's rank. A local search
takes such a change where it lessens the sum of the trainings' times to result, until none does.

What it is not: a proof. A local search finds no certain optimum, others' jobs are placed by their true run times where Slurm plans
with limits, and priorities and limits of GPUs are not there. So a rule may in principle do better. On days of a few trainings the
search comes within some per cent of the best of all plans (tests/backtest/clairvoyant_plan_test.py).
"""
import bisect
import dataclasses
import random


@dataclasses.dataclass(frozen=True)
class Request:
    """One way to run a job."""
    kind: str
    gpus: int
    seconds: float


class Node:
    def __init__(self, gpus):
        self.times, self.free = [0.0], [gpus]  # from each time on, so many GPUs are free

    def earliest(self, arrival, request, before):
        """Its earliest start from `arrival` on; None if that is not sooner than `before`."""
        begin, i = arrival, bisect.bisect_right(self.times, arrival) - 1
        while begin < before:
            if self.free[i] < request.gpus:
                begin = self.times[i + 1]  # the last step has every GPU free
            elif i + 1 == len(self.times) or self.times[i + 1] >= begin + request.seconds:
                return begin
            i += 1
        return None

    def take(self, begin, request):
        first, last = self._step_at(begin), self._step_at(begin + request.seconds)
        for i in range(first, last):
            self.free[i] -= request.gpus

    def _step_at(self, moment):
        i = bisect.bisect_left(self.times, moment)
        if i == len(self.times) or self.times[i] != moment:
            self.times.insert(i, moment)
            self.free.insert(i, self.free[i - 1])
        return i


def place(jobs, nodes, gpus):
    """Starts of `jobs`, each (arrival, Request), in that order on `nodes` nodes of `gpus` GPUs."""
    pool = [Node(gpus) for _ in range(nodes)]
    starts = []
    for arrival, request in jobs:
        start, chosen = float("inf"), None
        for node in pool:
            found = node.earliest(arrival, request, start)
            if found is not None:
                start, chosen = found, node
                if start == arrival:
                    break
        chosen.take(start, request)
        starts.append(start)
    return starts


class Plan:
    """`pools`: {kind: (nodes, GPUs on each)}; `others`: [(arrival, Request)]; `trainings`: [(arrival, [Request])], with all ways
    to run each. `chosen` and `ranks` hold the plan; `starts` and `cost` (the sum of times to result) what comes of it. Without
    `chosen`, each training in turn gets what is best for all up to it."""

    def __init__(self, pools, others, trainings, chosen=None, ranks=None):
        self.pools, self.trainings = pools, trainings
        self.others = {kind: [(arrival, -1, arrival, request) for arrival, request in others if request.kind == kind]
                       for kind in pools}
        self.ranks = list(ranks) if ranks else [arrival for arrival, _ in trainings]
        self.chosen = list(chosen) if chosen else [None] * len(trainings)
        self.starts = [0.0] * len(trainings)
        self.costs = {}
        self._take(pools)
        if not chosen:
            self._choose_in_turn()

    @property
    def cost(self):
        return sum(self.costs.values())

    def others_waits(self):
        """Of all jobs of others, in no order."""
        return [wait for kind in self.pools for wait in self._placed(kind)[2]]

    def improve(self, seed=1):
        """The local search; `seed` is of the order in which changes are tried."""
        dice = random.Random(seed)
        changes = [(i, request) for i, (_, requests) in enumerate(self.trainings) for request in requests]
        changes += [(i, k) for i in range(len(self.trainings)) for k in range(i)]
        improved = True
        while improved:
            dice.shuffle(changes)
            improved = any([self._try(*change) for change in changes])

    def _choose_in_turn(self):
        for i in sorted(range(len(self.trainings)), key=lambda i: self.ranks[i]):
            def cost_with(request):
                self.chosen[i] = request
                return self._placed(request.kind)[0] - self.costs[request.kind]
            self.chosen[i] = min(self.trainings[i][1], key=cost_with)
            self._take([self.chosen[i].kind])

    def _try(self, i, change):
        """Whether a change was for the better, and taken."""
        before = self.chosen[i], self.ranks[:]
        kinds = self._change(i, change)
        if kinds and sum(self._placed(kind)[0] for kind in kinds) < sum(self.costs[kind] for kind in kinds) - 1e-6:
            self._take(kinds)
            return True
        self.chosen[i], self.ranks = before
        return False

    def _change(self, i, change):
        """Another request for training i, or the rank of training `change`; the kinds for which that means anything."""
        old = self.chosen[i]
        if not isinstance(change, Request):
            if old.kind != self.chosen[change].kind or not self._wait_together(i, change):
                return set()
            self._exchange(i, change)
            return {old.kind}
        if change == old:
            return set()
        if change.kind != old.kind:  # whoever has its own rank takes the one that it leaves
            own = self.trainings[i][0]
            self._exchange(i, next(k for k, rank in enumerate(self.ranks) if rank == own and self.chosen[k].kind == old.kind))
        self.chosen[i] = change
        return {old.kind, change.kind}

    def _exchange(self, i, k):
        self.ranks[i], self.ranks[k] = self.ranks[k], self.ranks[i]

    def _wait_together(self, i, k):
        """Whether one has arrived before the other has started: else their order changes nothing."""
        return max(self.trainings[i][0], self.trainings[k][0]) < max(self.starts[i], self.starts[k])

    def _take(self, kinds):
        for kind in kinds:
            self.costs[kind], starts, _ = self._placed(kind)
            for i, start in starts.items():
                self.starts[i] = start

    def _placed(self, kind):
        """(Sum of times to result, starts by training, waits of others) on one kind."""
        rows = self.others[kind] + [(self.ranks[i], i, arrival, self.chosen[i]) for i, (arrival, _) in enumerate(self.trainings)
                                    if self.chosen[i] and self.chosen[i].kind == kind]
        rows.sort(key=lambda row: row[:2])
        starts = place([row[2:] for row in rows], *self.pools[kind])
        cost = sum(start + row[3].seconds - row[2] for row, start in zip(rows, starts) if row[1] >= 0)
        return (cost, {row[1]: start for row, start in zip(rows, starts) if row[1] >= 0},
                [start - row[2] for row, start in zip(rows, starts) if row[1] < 0])
