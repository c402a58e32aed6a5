#!/usr/bin/env python3
"""The runner of the tutorials: what it takes for a command, and what it lets pass."""
import os
import pathlib
import tempfile
import unittest

import tutorial


def document(*blocks):
    return "\n".join(f"Some text.\n\n```{head}\n{body}\n```\n" for head, body in blocks)


class Reading(unittest.TestCase):
    def test_commands_files_and_what_is_shown(self):
        steps = tutorial.steps_of(document(("yaml file=a/t.yaml", "x: 1"),
                                           ("console exit=3", "$ one \\\n> two\nout\n\nmore\n$ three"),
                                           ("json", "{}")))
        self.assertEqual(steps[0], ("a/t.yaml", "x: 1\n"))
        self.assertEqual((steps[1].text, steps[1].shown, steps[1].status), ("one \\\ntwo", ["out", "", "more"], 0))
        self.assertEqual((steps[2].text, steps[2].shown, steps[2].status), ("three", [], 3))
        self.assertEqual(len(steps), 3)

    def test_a_block_of_commands_that_would_not_be_run_is_refused(self):
        for language in ("bash", "sh", "shell", ""):
            with self.assertRaisesRegex(ValueError, "console block"):
                tutorial.steps_of(document((language, "gpuadvise fit gpt2")))

    def test_a_console_block_begins_with_a_command_and_ends(self):
        with self.assertRaisesRegex(ValueError, "begins with"):
            tutorial.steps_of(document(("console", "gpuadvise fit gpt2")))
        with self.assertRaisesRegex(ValueError, "does not end"):
            tutorial.steps_of("```console\n$ a\n")


class Running(unittest.TestCase):
    def outcomes(self, text):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder) / "work"
            work.mkdir()
            return tutorial.run(tutorial.steps_of(text), work, {"PATH": os.environ["PATH"]})

    def complaints(self, text):
        commands = [step for step in tutorial.steps_of(text) if isinstance(step, tutorial.Command)]
        outcomes = self.outcomes(text)
        return [tutorial.complaint_about(command, *outcome) for command, outcome in zip(commands, outcomes)]

    def test_one_shell_runs_them_all_with_the_files_in_place(self):
        text = document(("text file=d/note", "hello"), ("console", "$ cd d; X=5\n$ cat note\nhello\n$ echo $X\n5"))
        self.assertEqual(self.complaints(text), ["", "", ""])

    def test_standard_error_and_the_status_count(self):
        self.assertEqual(self.complaints(document(("console exit=2", "$ echo no >&2; false; (exit 2)\nno"))), [""])
        self.assertIn("status 1 instead of 0", self.complaints(document(("console", "$ false")))[0])

    def test_a_command_that_ends_the_shell_leaves_the_rest_unrun(self):
        self.assertIn("no end", self.complaints(document(("console", "$ exit 0\n$ true")))[1])

    def test_another_number_fails_unless_the_block_is_live(self):
        body = "$ echo 'L40S   12 h 30   24 × 1'\nL40S 3 h 05 24 × 2"
        self.assertIn("shows something else", self.complaints(document(("console", body)))[0])
        self.assertEqual(self.complaints(document(("console live", body))), [""])

    def test_a_live_job_may_start_now(self):
        body = "$ echo '  starts now'\n  starts in 6 h 38 (p90 in 15 h 14): today 21:08 (tomorrow 05:44)"
        self.assertEqual(self.complaints(document(("console live", body))), [""])
        self.assertTrue(self.complaints(document(("console", body)))[0])

    def test_another_word_or_line_fails_also_in_a_live_block(self):
        self.assertTrue(self.complaints(document(("console live", "$ echo waits 5 m\nruns 5 m")))[0])
        self.assertTrue(self.complaints(document(("console live", "$ printf '1\\n2\\n'\n1")))[0])
        self.assertTrue(self.complaints(document(("console live", "$ true\n1")))[0])

    def test_an_ellipsis_is_any_lines_and_no_more(self):
        seven = "$ seq 7\n"
        self.assertEqual(self.complaints(document(("console", seven + "1\n…\n7"))), [""])
        self.assertEqual(self.complaints(document(("console", seven + "…"))), [""])
        self.assertTrue(self.complaints(document(("console", seven + "1\n…\n8")))[0])

    def test_a_file_outside_the_folder_is_refused(self):
        for name in ("/tmp/x", "../x"):
            with self.assertRaisesRegex(ValueError, "own folder"):
                self.outcomes(document((f"text file={name}", "x")))

    def test_an_update_writes_what_was_shown_and_keeps_ellipses(self):
        text = document(("console", "$ seq 2 \\\n> 3\nold\n$ seq 9\n1\n…"), ("console", "$ echo new"))
        updated = tutorial.rewritten(text, self.outcomes(text))
        self.assertEqual(updated.strip(), document(("console", "$ seq 2 \\\n> 3\n2\n3\n$ seq 9\n1\n…"),
                                                   ("console", "$ echo new\nnew")).strip())
        self.assertEqual(self.complaints(updated), ["", "", ""])


if __name__ == "__main__":
    unittest.main()
