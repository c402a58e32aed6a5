#!/usr/bin/env python3
"""What the lab of releases counts and compares, without a Slurm."""
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import conformance_test  # noqa: E402
import lab_root  # noqa: E402
import roots  # noqa: E402
import run  # noqa: E402

OUTPUT = """\
FAIL: test_mps (__main__.Conformance.test_mps) (source='slurm-cli')
FAIL: test_mps (__main__.Conformance.test_mps) (source='slurm-api')
FAIL: test_shards (__main__.Conformance.test_shards) (source='slurm-cli')
ERROR: test_licences (__main__.Conformance.test_licences)
Ran 23 tests in 40.1s

FAILED (failures=3, errors=1, skipped=3)
"""


def node(**fields):
    return {"record": "node", "name": "n1", **fields}


class Outcomes(unittest.TestCase):
    def test_a_source_fails_by_its_own_tests_and_by_those_of_no_source(self):
        self.assertEqual(run.Outcome(OUTPUT, 1, "slurm-api").failed, ["test_licences", "test_mps"])
        self.assertEqual(str(run.Outcome(OUTPUT, 1, "slurm-cli")), "17 of 20")
        self.assertEqual(str(run.Outcome(OUTPUT, 1)), "17 of 20")

    def test_what_did_not_run_is_no_success(self):
        self.assertFalse(run.Outcome("Segmentation fault\n", 139).ok)
        self.assertFalse(run.Outcome("Segmentation fault\n", 139, "slurm-api").ok)
        self.assertEqual(str(run.Outcome("skipped: no root\n", 77)), "–")
        self.assertTrue(run.Outcome("Ran 5 tests in 1.0s\n\nOK\n", 0).ok)


class Differences(unittest.TestCase):
    def test_are_named_field_by_field(self):
        lines = conformance_test.differences_of([node(gpus={"a100": 2})], [node(gpus={"a100": 1})], (22, 5), "slurm-cli")
        self.assertEqual(lines, ["node n1  : gpus: expected {'a100': 2}, got {'a100': 1}"])

    def test_records_that_one_side_lacks_are_said(self):
        self.assertEqual(conformance_test.differences_of([node()], [], (22, 5), "slurm-cli"), ["node n1  : missing"])
        self.assertEqual(conformance_test.differences_of([], [node()], (22, 5), "slurm-cli"), ["node n1  : unexpected"])

    def test_what_a_release_is_known_to_tell_differently_is_none_there_and_one_elsewhere(self):
        before = {"record": "job", "name": "held", "request": {"nodes_max": 0}}
        after = {"record": "job", "name": "held", "request": {"nodes_max": 4}}
        self.assertEqual(conformance_test.differences_of([before], [after], (26, 5), "slurm-cli"), [])
        self.assertEqual(len(conformance_test.differences_of([before], [after], (24, 11), "slurm-cli")), 1)

    def test_gpus_are_counted_by_type_as_scontrol_writes_them(self):
        self.assertEqual(conformance_test.gpus_of("gpu:a100:2(S:0-1),gpu:l40s:1(IDX:0,2),shard:8"), {"a100": 2, "l40s": 1})
        self.assertEqual(conformance_test.gpus_of("gpu:4,mps:200"), {"": 4})
        self.assertEqual(conformance_test.gpus_of("gpu:h100_1g.11gb:7(S:0)"), {"h100_1g.11gb": 7})
        self.assertEqual(conformance_test.gpus_of("gpu:a100:0(IDX:N/A)"), {})


class Roots(unittest.TestCase):
    def test_an_absolute_link_leads_into_the_root(self):
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ["usr/sbin", "etc/alternatives"]:
            (root / name).mkdir(parents=True)
        (root / "usr/sbin/slurmctld-wlm").write_text("program")
        (root / "etc/alternatives/slurmctld").symlink_to("/usr/sbin/slurmctld-wlm")
        (root / "usr/sbin/slurmctld").symlink_to("/etc/alternatives/slurmctld")
        self.assertEqual(roots._inside(root, "usr/sbin/slurmctld"), root / "usr/sbin/slurmctld-wlm")
        self.assertIsNone(roots._inside(root, "usr/sbin/slurmd"))

    def test_a_release_that_no_suite_carries_is_said_with_those_that_one_does(self):
        with self.assertRaisesRegex(roots.Unavailable, "no Debian suite carries Slurm 23.11; there are 20.11, 22.05"):
            roots.make("23.11")

    def test_the_hosts_libc_is_read_from_the_library_itself(self):
        major, minor = roots.libc_version(lab_root.HOSTS_LOADER)
        self.assertGreater((major, minor), (2, 30))


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main(verbosity=2)
