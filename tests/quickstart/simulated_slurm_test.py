#!/usr/bin/env python3
"""packaging/quickstart/simulated_slurm.py reads options as Slurm does. No daemon is asked."""
import os
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "packaging/quickstart"))
import simulated_slurm as slurm  # noqa: E402

GPU = {"gres": "gpu:gpul40s:2", "partition": "p"}


class Options(unittest.TestCase):
    def test_long_and_short_ones_with_and_without_equals(self):
        for words in (["-t10", "-pgpu", "job.sh"], ["-t", "10", "-p", "gpu", "job.sh"],
                      ["--time=10", "--partition", "gpu", "job.sh"]):
            self.assertEqual(slurm.read_options(words), ({"time": "10", "partition": "gpu"}, ["job.sh"]))

    def test_flags_take_no_value(self):
        self.assertEqual(slurm.read_options(["--parsable", "--wait", "a"]), ({"parsable": "", "wait": ""}, ["a"]))

    def test_a_missing_value_is_refused(self):
        with self.assertRaisesRegex(slurm.Refused, "option --time needs a value"):
            slurm.read_options(["--time"])

    def test_those_of_a_script_end_at_its_first_command(self):
        script = "#!/bin/bash\n#SBATCH -t 5 # short\n# words\n\n#SBATCH --job-name='a b'\necho\n#SBATCH -t 9\n"
        self.assertEqual(slurm.options_of_script(script), {"time": "5", "job-name": "a b"})

    def test_time_limits_are_slurms(self):
        for text, seconds in (("10", 600), ("1:30", 90), ("02:00:00", 7200), ("1-00", 86400), ("1-02:30", 95400),
                              ("0", 60)):
            self.assertEqual(slurm.seconds_of(text), seconds, text)
        for text in ("", "never", "1:2:3:4", "-5"):
            with self.assertRaises(slurm.Refused):
                slurm.seconds_of(text)

    def test_memory_is_slurms(self):
        for text, mebibytes in (("4G", 4096), ("500", 500), ("2048K", 2), ("1T", 1 << 20), ("1K", 1)):
            self.assertEqual(slurm.mebibytes(text), mebibytes, text)
        with self.assertRaises(slurm.Refused):
            slurm.mebibytes("much")


class Jobs(unittest.TestCase):
    def test_amounts_are_of_one_node(self):
        job = slurm.job_of({**GPU, "nodes": "2", "ntasks-per-node": "3", "cpus-per-task": "4", "mem-per-gpu": "8G"})
        self.assertEqual((job["gpus"], job["nodes"], job["cpus"], job["memory_mib"]), (2, 2, 12, 16384))
        self.assertEqual(slurm.job_of({"partition": "p", "gpus": "gpul40s:6", "nodes": "2"})["gpus"], 3)
        self.assertEqual(job["uid"], os.getuid())

    def test_gpus_without_a_type_are_refused(self):
        for gres in ("gpu:2", "gpu", "2"):
            with self.assertRaisesRegex(slurm.Refused, "typed GPUs only"):
                slurm.job_of({"partition": "p", "gres": gres})
        with self.assertRaisesRegex(slurm.Refused, "--nodes=x is not a whole number"):
            slurm.job_of({**GPU, "nodes": "x"})


if __name__ == "__main__":
    unittest.main()
