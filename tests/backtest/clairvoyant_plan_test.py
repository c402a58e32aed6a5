#!/usr/bin/env python3
"""bench/clairvoyant_plan.py: days of a few jobs, of which the best plan can be found by trying all."""
import itertools
import pathlib
import random
import statistics
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import clairvoyant_plan  # noqa: E402
from clairvoyant_plan import Plan, Request  # noqa: E402

POOLS = {"fast": (1, 4), "slow": (2, 4)}


def starts(*jobs, nodes=1):
    """Of (arrival, GPUs, seconds), on nodes of four GPUs."""
    return clairvoyant_plan.place([(arrival, Request("fast", gpus, seconds)) for arrival, gpus, seconds in jobs], nodes, 4)


def day(seed):
    """(others, trainings) on POOLS."""
    dice = random.Random(seed)
    others = [(dice.randrange(60), Request(dice.choice(list(POOLS)), dice.choice([1, 2, 4]), dice.randrange(5, 60)))
              for _ in range(8)]
    lengths = [dice.randrange(10, 60) for _ in range(4)]
    trainings = [(dice.randrange(60), [Request("fast", 4, length), Request("slow", 4, 2 * length), Request("slow", 2, 3.7 * length)])
                 for length in lengths]
    return others, trainings


def orders(arrivals, kinds):
    """All exchanges of ranks among trainings of one kind."""
    for order in itertools.permutations(range(len(arrivals))):
        if [kinds[i] for i in order] == kinds:
            yield [arrivals[i] for i in order]


class Placement(unittest.TestCase):
    def test_waits_for_room_on_one_node(self):
        self.assertEqual(starts((0, 3, 100), (0, 2, 50), (0, 1, 100)), [0, 100, 0])

    def test_takes_another_node_that_has_room(self):
        self.assertEqual(starts((0, 3, 100), (0, 2, 50), nodes=2), [0, 0])

    def test_fills_a_gap_without_delaying_those_before(self):
        self.assertEqual(starts((0, 2, 100), (0, 4, 100), (0, 2, 100), (0, 2, 101)), [0, 100, 0, 200])

    def test_starts_nothing_before_its_arrival(self):
        self.assertEqual(starts((70, 4, 10), (5, 4, 10)), [70, 5])


class Search(unittest.TestCase):
    def test_chooses_what_ends_first_on_an_empty_cluster(self):
        plan = Plan(POOLS, [], [(0, [Request("slow", 4, 20), Request("fast", 4, 10)])])
        self.assertEqual(plan.chosen, [Request("fast", 4, 10)])

    def test_lets_the_shorter_of_two_go_first(self):
        others = [(0, Request("fast", 4, 10))]
        plan = Plan(POOLS, others, [(1, [Request("fast", 4, 100)]), (2, [Request("fast", 4, 5)])])
        self.assertEqual(plan.cost, (110 - 1) + (115 - 2))
        plan.improve()
        self.assertEqual((plan.starts, plan.cost), ([15, 10], (115 - 1) + (15 - 2)))

    def test_comes_near_the_best_of_all_plans(self):
        over = []
        for seed in range(20):
            others, trainings = day(seed)
            plan = Plan(POOLS, others, trainings)
            plan.improve()
            best = min(Plan(POOLS, others, trainings, chosen, ranks).cost
                       for chosen in itertools.product(*(requests for _, requests in trainings))
                       for ranks in orders([arrival for arrival, _ in trainings], [request.kind for request in chosen]))
            over.append(plan.cost / best)
        self.assertGreaterEqual(min(over), 1 - 1e-9)
        self.assertLess(statistics.mean(over), 1.05)

    def test_says_what_others_wait(self):
        others = [(0, Request("fast", 4, 10)), (0, Request("fast", 4, 10)), (3, Request("slow", 1, 10))]
        self.assertEqual(sorted(Plan(POOLS, others, []).others_waits()), [0, 0, 10])


if __name__ == "__main__":
    unittest.main()
