#!/usr/bin/env python3
"""Some forty situations on a real Slurm: what `gpuadvise when` says, what --test-only says, and the truth.

Each is set up by other users' jobs, asked about, and then submitted exactly as asked (stage.py). A table says
what came of it, with what is off by more than 2 minutes and 15 %. Asserted is what no noise excuses: that a p50
is within 5 minutes or half of the truth, that a job that cannot start now is not told "now", and that one that
can never start is not promised anything. Where jobs end earlier than their limits say, the truth must lie between p10 and p90.

    situations_test.py BIN_DIR [--all] [--out FILE.csv] [unittest options]

Without --all the most telling are run, in four minutes; with it all, in eight. `-k NAME` picks some.
"""
import csv
import dataclasses
import pathlib
import shutil
import sys
import unittest

import lab as slurm_lab
import stage as stages
from stage import ALICE, BOB, CAROL, DAVE, ERIN, FRANK

SKIPPED = 77
A_4090, TWO_4090S, A_4090_NODE = "--gres=gpu:gpu4090:1", "--gres=gpu:gpu4090:2", "--gres=gpu:gpu4090:4"
AN_L40S_NODE, A_2080_NODE = "--gres=gpu:gpul40s:6", "--gres=gpu:gpu2080:4"
BUSY_NOISE = 300  # seconds of the clock, five true ones: other tests may take the machine meanwhile
SITUATIONS = []
TELLING = set()


def situation(play):
    SITUATIONS.append(play)
    return play


def telling(play):
    TELLING.add(play.__name__)
    return situation(play)


# ---- the story of each: BOB's, DAVE's, CAROL's and FRANK's jobs run to their limits, ERIN's to half of them --------


@telling
def idle(stage):
    return stage.ask(f"{A_4090_NODE} -t 10")


@telling
def busy_runs_to_limit(stage):
    stage.running(BOB, f"{A_4090_NODE} -t 10")
    return stage.ask(f"{A_4090_NODE} -t 10")


@situation
def busy_ends_at_half_of_limit(stage):
    stage.running(ERIN, f"{A_4090_NODE} -t 20", share=.5)
    return stage.ask(f"{A_4090_NODE} -t 10", early=True)


@telling
def busy_and_pending_before_to_limit(stage):
    stage.running(BOB, f"{A_4090_NODE} -t 10")
    stage.waiting(DAVE, f"{A_4090_NODE} -t 5")
    return stage.ask(f"{A_4090_NODE} -t 10")


@telling
def pending_of_others_below_qos_high(stage):
    stage.running(BOB, f"{A_4090_NODE} -t 10")
    stage.waiting(DAVE, f"{A_4090_NODE} -t 10")
    return stage.ask(f"{A_4090_NODE} -t 10 --qos=high")


@telling
def qos_limit_of_gpus_per_user(stage):
    stage.running(ALICE, f"{A_4090_NODE} -t 10 --qos=high")
    return stage.ask(f"{A_2080_NODE} -t 10 --qos=high", early=True)  # `why` adds past waits, which know no limits


@telling
def association_grptres(stage):
    stage.running(CAROL, f"{A_2080_NODE} -t 10")
    stage.running(CAROL, f"{A_2080_NODE} -t 20")
    return stage.ask(f"{A_4090_NODE} -t 10", user=CAROL, early=True)  # either may end early: p50 is here or there


@telling
def maintenance_ahead(stage):
    stage.reserve("reservationname=maintenance starttime=now+5minutes duration=5 flags=maint nodes=ALL user=root")
    return stage.ask(f"{A_4090_NODE} -t 10")


@situation
def fits_before_maintenance(stage):
    stage.reserve("reservationname=maintenance starttime=now+30minutes duration=5 flags=maint nodes=ALL user=root")
    return stage.ask(f"{A_4090_NODE} -t 10")


@telling
def reserved_for_another_user(stage):
    stage.reserve(f"reservationname=others starttime=now duration=10 nodes=classt25 user={BOB}")
    return stage.ask(f"{A_4090_NODE} -t 10")


@situation
def in_own_reservation(stage):
    stage.reserve(f"reservationname=own starttime=now duration=30 nodes=classt25 user={ALICE}")
    return stage.ask(f"{A_4090_NODE} -t 10 --reservation=own")


@telling
def only_node_drained(stage):
    stage.drain("classt25")
    return stage.ask(f"{A_4090_NODE} -t 10", never=True)


@situation
def one_of_two_nodes_draining(stage):
    stage.running(BOB, f"{AN_L40S_NODE} -w classt21 -t 10")
    stage.running(CAROL, f"{AN_L40S_NODE} -w classt22 -t 15")
    stage.drain("classt21")
    return stage.ask(f"{AN_L40S_NODE} -t 10")


@telling
def dependency_chain(stage):
    first = stage.running(ALICE, f"{A_2080_NODE} -t 5")
    second = stage.waiting(ALICE, f"{A_2080_NODE} -t 5 --dependency=afterany:{first}")  # afterok fails where the limit is met
    return stage.ask(f"{A_2080_NODE} -t 10 --dependency=afterany:{second}")


@telling
def held_by_its_user(stage):
    return stage.ask(f"{A_4090_NODE} -t 10 -H", never=True, held=True)


@situation
def begin_in_ten_minutes(stage):
    return stage.ask(f"{A_4090_NODE} -t 10 --begin={stage.time(10)}")


@telling
def own_throttled_array_last_task(stage):
    return stage.ask(f"{A_4090} -t 5 --array=0-5%2", part="_5")


@situation
def throttled_array_of_another_before(stage):
    stage.running(DAVE, f"{TWO_4090S} -t 15 --array=0-3%1")
    stage.running(FRANK, f"{TWO_4090S} -t 10")
    return stage.ask(f"{TWO_4090S} -t 10")


@situation
def exclusive_on_a_shared_node(stage):
    stage.running(BOB, f"{A_4090} -t 10")
    return stage.ask(f"{A_4090} -t 10 --exclusive")


@telling
def two_partitions(stage):
    stage.running(BOB, f"{A_4090_NODE} -t 10")
    stage.waiting(DAVE, f"{A_4090_NODE} -t 10")
    return stage.ask(f"{A_4090_NODE} -t 10 -p markov_gpu,short")


@situation
def partition_long(stage):
    stage.running(BOB, f"{A_4090_NODE} -t 10")
    return stage.ask(f"{A_4090_NODE} -t 10 -p long")


@situation
def nodes_of_which_some_are_busy(stage):
    for user, nodes, minutes in [(DAVE, 3, 15), (BOB, 5, 10), (FRANK, 5, 20)]:
        stage.running(user, f"-N {nodes} {A_2080_NODE} -t {minutes}")
    return stage.ask(f"-N 3 {A_2080_NODE} -t 10")


@situation
def cpus_are_the_bottleneck(stage):
    stage.running(BOB, f"{A_4090} -c 28 -t 10")
    return stage.ask(f"{A_4090} -c 8 -t 10")


@situation
def memory_is_the_bottleneck(stage):
    stage.running(BOB, f"{A_4090} --mem=120G -t 10")
    return stage.ask(f"{A_4090} --mem=20G -t 10")


@situation
def backfill_gap_fits(stage):
    stage.running(BOB, f"{TWO_4090S} -t 20")
    stage.waiting(DAVE, f"{A_4090_NODE} -t 10")
    return stage.ask(f"{TWO_4090S} -t 10")


@situation
def backfill_gap_too_small(stage):
    stage.running(BOB, f"{TWO_4090S} -t 10")
    stage.waiting(DAVE, f"{A_4090_NODE} -t 5")
    return stage.ask(f"{TWO_4090S} -t 20")


@telling
def limit_above_the_partitions(stage):
    return stage.ask(f"{A_4090_NODE} -t 300 -p short", never=True)


@situation
def untyped_gpu(stage):
    return stage.ask("--gres=gpu:1 -t 10")


@situation
def nodelist_busy(stage):
    stage.running(BOB, f"{A_2080_NODE} -w classt03 -t 10")
    return stage.ask(f"{A_2080_NODE} -w classt03 -t 10")


@situation
def other_node_excluded(stage):
    stage.running(BOB, f"{AN_L40S_NODE} -w classt21 -t 10")
    return stage.ask(f"{AN_L40S_NODE} -x classt22 -t 10")


@situation
def option_G_on_two_nodes(stage):
    stage.running(BOB, f"{AN_L40S_NODE} -w classt21 -t 10")
    return stage.ask("-N 2 -G gpul40s:12 -t 10")


@situation
def pending_before_with_nice(stage):
    stage.running(BOB, f"{A_4090_NODE} -t 10")
    stage.waiting(DAVE, f"{A_4090_NODE} -t 10 --nice=100000")
    return stage.ask(f"{A_4090_NODE} -t 10")


@situation
def held_job_of_another_before(stage):
    stage.running(BOB, f"{A_4090_NODE} -t 10")
    stage.waiting(DAVE, f"{A_4090_NODE} -t 10 -H")
    return stage.ask(f"{A_4090_NODE} -t 10")


@telling
def user_at_his_limit_before_does_not_block(stage):
    stage.running(CAROL, f"{A_2080_NODE} -t 20")
    stage.running(CAROL, f"{A_2080_NODE} -t 20")
    stage.running(BOB, f"{A_4090_NODE} -t 10")
    stage.waiting(CAROL, f"{A_4090_NODE} -t 10")
    return stage.ask(f"{A_4090_NODE} -t 10")


@situation
def queue_of_several_users(stage):
    stage.running(BOB, f"{AN_L40S_NODE} -t 10")
    stage.running(FRANK, "--gres=gpu:gpul40s:4 -t 15")
    stage.waiting(DAVE, f"{AN_L40S_NODE} -t 5")
    stage.waiting(CAROL, "--gres=gpu:gpul40s:3 -t 10")
    stage.waiting(ERIN, "--gres=gpu:gpul40s:4 -t 10", share=.5)
    return stage.ask("--gres=gpu:gpul40s:4 -t 10", early=True)


@telling
def part_of_a_het_job(stage):
    stage.running(BOB, f"{A_4090_NODE} -t 10")
    return stage.ask(f"{A_4090_NODE} -t 10 : {A_2080_NODE} -t 10", part="+1", when=False)


@situation
def task_of_an_array(stage):
    stage.running(BOB, f"{A_4090_NODE} -t 10")
    return stage.ask(f"{TWO_4090S} -t 10 --array=0-1", part="_1")


@telling
def after_a_restart_of_slurmctld(stage):
    stage.running(BOB, f"{A_4090_NODE} -t 10")
    stage.waiting(DAVE, f"{A_4090_NODE} -t 5 --qos=high")
    second = stage.waiting(FRANK, f"{A_4090_NODE} -t 5 --qos=high")
    stage.restart_slurmctld(second)
    return stage.ask(f"{A_4090_NODE} -t 10", watched=second)


# ---- what is made of them ------------------------------------------------------------------------------------------


class Situations(unittest.TestCase):
    """A method for each situation, added by main()."""
    bin_folder, out, rows = None, None, []

    @classmethod
    def setUpClass(cls):
        cls.stage = cls.enterClassContext(stages.the_stage(cls.bin_folder))

    def play(self, story):
        self.stage.begin(story.__name__)
        try:
            row = story(self.stage)
        finally:
            self.stage.end()
        self.rows.append(row)
        self.assertEqual(row.faults(noise=BUSY_NOISE, share=.5), [], row)

    @classmethod
    def tearDownClass(cls):
        print(f"\n{table(cls.rows)}\n\n{counts(cls.rows)}", flush=True)
        if cls.out:
            with open(cls.out, "w", newline="") as file:
                writer = csv.DictWriter(file, [field.name for field in dataclasses.fields(stages.Row)], lineterminator="\n")
                writer.writeheader()
                writer.writerows(map(dataclasses.asdict, cls.rows))


def table(rows):
    """Markdown."""
    lines = ["| situation | truth | `when` p50 (p10-p90) | `--test-only` | `why` p50 | wrong |", "|---|---|---|---|---|---|"]
    for row in rows:
        truth = f">{row.looked}" if row.truth is None else row.truth
        said = ("-" if row.asked else "not asked") if row.p50 is None else f"{row.p50} ({row.p10}-{row.p90})"
        lines.append(f"| {row.name} | {truth} | {said} | {dash(row.test_only)} | {dash(row.why)} | {'; '.join(row.faults())} |")
    return "\n".join(lines)


def dash(value):
    return "-" if value is None else value


def counts(rows):
    known = [row for row in rows if row.truth is not None and row.p50 is not None]
    slurms = [row for row in known if row.test_only is not None]
    whys = [row for row in rows if row.truth is not None and row.why is not None]
    never = [row for row in rows if row.never]
    return (f"p50 within 60 s or 10 % of the truth: {sum(row.close(row.p50, 60, .1) for row in known)} of {len(known)}; "
            f"`why` {sum(row.close(row.why, 60, .1) for row in whys)} of {len(whys)}; "
            f"--test-only {sum(row.close(row.test_only, 60, .1) for row in slurms)} of {len(slurms)}\n"
            f"truth inside p10-p90: {sum(row.inside() for row in known)} of {len(known)}\n"
            f"never, and said so: {sum(not row.faults() for row in never)} of {len(never)}")


def main():
    words = sys.argv[1:]
    everything = take(words, "--all")
    Situations.out = take(words, "--out", with_value=True)
    if not words or not pathlib.Path(words[0]).is_dir():
        sys.exit("usage: situations_test.py BIN_DIR [--all] [--out FILE.csv] [unittest options]")
    Situations.bin_folder = pathlib.Path(words.pop(0)).absolute()
    reason = slurm_lab.why_not(accounting=True) or ("" if shutil.which("faketime") else "faketime is not installed")
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    for number, story in enumerate(SITUATIONS):
        if everything or story.__name__ in TELLING:
            setattr(Situations, f"test_{number:02}_{story.__name__}", lambda self, story=story: self.play(story))
    unittest.main(argv=[sys.argv[0], *words], verbosity=2)


def take(words, name, with_value=False):
    """Removes an option from `words`: its value, or whether it was there."""
    if name not in words:
        return None if with_value else False
    place = words.index(name)
    words.pop(place)
    return words.pop(place) if with_value else True


if __name__ == "__main__":
    main()
