#!/usr/bin/env python3
"""What is wrong with a training file is said with file, line and remedy, by a live daemon.

    end_to_end_bad_input_test.py BIN_DIR [unittest options]
"""
import programs

# Line by line, so that a test can replace one and name its number.
LINES = """\
name: wrong
model:
  memory: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}
training:
  max_steps: 10000
  effective_batch_size: [120, 144]
  measured: [{gpu: rtx4090, gpus: 4, batch: 10, seconds_per_step: 3.9}]
resources:
  cpus_per_gpu: 2
  mem_per_gpu: 4G
slurm:
  partition: gpu_shared
command: sleep 60
""".splitlines()


class BadInput(programs.SiteTest):
    LAB = {"cluster": "tiny"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site.start()

    def setUp(self):
        """The cluster stays as it is."""

    def tearDown(self):
        """A wrong file never becomes a job, and the daemon is as well as before."""
        self.assertEqual(self.queue(), [])
        self.assertEqual(self.site.health()["status"], "ok")

    def refused(self, content, *flags, code=2):
        """The complaint about a file of this content, which `advise` and `submit` share."""
        path = self.site.write("train.yaml", content)
        advised = self.site.run("advise", path.name, *flags, check=False)
        submitted = self.site.run("submit", path.name, "--yes", *flags, check=False)
        self.assertEqual((advised.returncode, submitted.returncode), (code, code), advised.stdout + advised.stderr)
        self.assertEqual(advised.stderr, submitted.stderr)
        self.assertEqual(len(advised.stderr.strip().splitlines()), 1, "one sentence")
        return advised.stderr

    def with_line(self, number, text):
        lines = list(LINES)
        lines[number - 1:number] = text if isinstance(text, list) else [text]
        return "\n".join(lines) + "\n"

    def assert_refused(self, line, text, *words, flags=()):
        """Line number `line` replaced by `text` is refused at that line, with all `words`."""
        said = self.refused(self.with_line(line, text), *flags)
        for word in (f"train.yaml:{line}: ", *words):
            self.assertIn(word, said)

    def test_the_file_without_a_mistake_is_accepted(self):
        self.site.run("advise", self.site.write("train.yaml", "\n".join(LINES) + "\n"))

    # ---- bytes -------------------------------------------------------------------------------

    def test_a_missing_file(self):
        done = self.site.run("advise", "nowhere.yaml", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nowhere.yaml: there is no such file", done.stderr)

    def test_an_unreadable_file(self):
        path = self.site.write("secret.yaml", "\n".join(LINES))
        path.chmod(0)
        done = self.site.run("advise", "secret.yaml", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("secret.yaml: cannot be read (Permission denied)", done.stderr)

    def test_a_directory(self):
        (self.site.home("lab1") / "folder").mkdir(exist_ok=True)
        self.assertIn("a directory", self.site.run("advise", "folder", check=False).stderr)

    def test_an_empty_file(self):
        self.assertIn("train.yaml", self.refused(""))
        self.assertIn("empty", self.refused("# nothing but a comment\n"))

    def test_a_file_over_one_mebibyte(self):
        said = self.refused("\n".join(LINES) + "\n" + "# padding\n" * 120_000)
        self.assertIn("larger than 1024 KiB", said)

    def test_a_file_that_is_no_utf_8(self):
        said = self.refused("\n".join(LINES).encode() + b"\nsetup: [echo \xff\xfe]\n")
        self.assertIn("train.yaml:14: ", said)
        self.assertIn("UTF-8", said)

    def test_deep_nesting(self):
        said = self.refused("\n".join(LINES) + "\nsetup: " + "[" * 5000 + "]" * 5000 + "\n")
        self.assertIn("train.yaml:14: ", said)
        self.assertIn("nested", said)

    def test_a_bomb_of_aliases(self):
        bomb = ["a: &a [x,x,x,x,x,x,x,x,x]"] + [
            f"{new}: &{new} [{','.join(['*' + old] * 9)}]" for old, new in zip("abcdefgh", "bcdefghi")]
        self.assertIn("train.yaml", self.refused("\n".join(bomb) + "\n"))

    def test_broken_yaml(self):
        said = self.refused(self.with_line(3, "  memory: {base: 5 GB, per_sample: 1.2 GB"))
        self.assertIn("train.yaml:4: not valid YAML", said)  # where the next key cannot stand

    # ---- keys and numbers --------------------------------------------------------------------

    def test_a_misspelt_key_names_the_nearest(self):
        self.assert_refused(5, "  max_stps: 10000", "unknown key 'max_stps'", "did you mean 'max_steps'?")
        self.assert_refused(5, "  max_iters: 10000", "unknown key 'max_iters'", "here it is training.max_steps")
        self.assert_refused(8, ["resource:"], "'resources'")

    def test_no_steps_at_all(self):
        self.assert_refused(5, "  max_steps: 0", "max_steps")
        self.assert_refused(5, "  max_steps: -5", "not -5")

    def test_a_size_without_unit(self):
        self.assert_refused(3, "  memory: {base: 5, per_sample: 1.2 GB, overhead: 2 GB}", "unit")

    def test_an_effective_batch_size_that_no_product_reaches(self):
        self.assert_refused(6, "  effective_batch_size: 121", "121", "nearest",
                            flags=["--gres", "gpu:gpu4090:4"])

    # ---- the cluster's own limits ------------------------------------------------------------

    def test_a_gpu_that_the_cluster_does_not_have_lists_those_it_has(self):
        content = self.with_line(9, ["  cpus_per_gpu: 2", "  gpus: [h200]"])
        said = self.refused(content)
        for word in ("train.yaml:10: ", "h200", "RTX 4090", "RTX 2080 Ti"):
            self.assertIn(word, said)
        said = self.refused("\n".join(LINES), "--gres", "gpu:h200:1")
        self.assertIn("--gres: ", said)

    def test_more_gpus_than_exist(self):
        self.assertIn("no node has more than 4", self.refused("\n".join(LINES), "--gres", "gpu:gpu4090:8"))
        self.assertIn("there are only 2", self.refused("\n".join(LINES), "-N", "9"))

    def test_a_time_limit_over_the_partitions(self):
        self.assert_refused(12, ["  time: 30-00:00:00"], "exceeds the partition's 7 d")
        said = self.refused("\n".join(LINES), "-t", "30-00:00:00")
        self.assertIn("--time: ", said)

    def test_a_partition_that_does_not_exist(self):
        self.assert_refused(12, "  partition: gpu_shareds", "did you mean 'gpu_shared'?")

    def test_wrong_flags(self):
        path = self.site.write("train.yaml", "\n".join(LINES))
        for flags, word in [(["-t", "soon"], "time"), (["--gres", "gpu:4090:many"], "gres"), (["-N", "0"], "nodes"),
                            (["--objective", "fun"], "finish, start, cost or deadline"), (["--pik", "2"], "--pik")]:
            done = self.site.run("submit", path.name, "--yes", *flags, check=False)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(word, done.stderr)

    def test_a_row_that_does_not_exist(self):
        path = self.site.write("train.yaml", "\n".join(LINES) + "\n")
        done = self.site.run("submit", path.name, "--yes", "--pick", "99", check=False)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("--pick 99", done.stderr)

    def test_when_names_the_option_that_is_wrong(self):
        for options, word in [(["-t", "soon"], "--time"), (["--gres", "gpu:h200:1", "-t", "60"], "h200"),
                              (["-p", "nowhere", "-t", "60"], "nowhere"),
                              (["--gres", "gpu:gpu4090:8", "-t", "60"], "8")]:
            done = self.site.run("when", *options, check=False)
            self.assertIn(done.returncode, (2, 3), done)
            self.assertIn(word, done.stderr)


if __name__ == "__main__":
    programs.main()
