#!/usr/bin/env python3
"""The schema of train.yaml (`gpuadvise reference --schema`) allows the examples and finds mistakes.

    train_schema_test.py BIN YAML_TO_JSON
"""
import copy
import json
import pathlib
import subprocess
import sys
import unittest

from json_schema import faults

TOP = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted([*TOP.glob("examples/*.yaml"), *TOP.glob("examples/guides/*.yaml")])
BIN = YAML_TO_JSON = None


class TrainSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(subprocess.run([BIN / "gpuadvise", "reference", "--schema"], text=True, check=True,
                                               capture_output=True).stdout)

    def faults(self, value):
        return faults(value, self.schema, self.schema)

    @staticmethod
    def example(path):
        return json.loads(subprocess.run([YAML_TO_JSON, path], text=True, check=True, capture_output=True).stdout)

    def test_allows_every_example(self):
        self.assertGreater(len(EXAMPLES), 4)
        for path in EXAMPLES:
            self.assertEqual(self.faults(self.example(path)), [], path)

    def test_finds_mistakes(self):
        good = self.example(TOP / "examples/gr00t.yaml")
        mistakes = [("training", "max_stepss", 5), ("training", "max_steps", "many"), ("training", "max_steps", 0),
                    ("slurm", "partitions", "gpu"), ("training", "quantization", "int3"), ("name", None, ["a"])]
        for section, name, value in mistakes:
            wrong = copy.deepcopy(good)
            if name is None:
                wrong[section] = value
            else:
                wrong.setdefault(section, {})[name] = value
            self.assertEqual(len(self.faults(wrong)), 1, (section, name, value))

    def test_allows_what_other_programs_have_and_the_reader_passes_over(self):
        self.assertEqual(self.faults({"training": {"logging_steps": 10}}), [])
        self.assertNotEqual(self.faults({"slurm": {"logging_steps": 10}}), [])

    def test_says_what_a_key_means(self):
        described = self.schema["properties"]["training"]["properties"]["max_steps"]["description"]
        self.assertIn("steps", described)


if __name__ == "__main__":
    BIN, YAML_TO_JSON = pathlib.Path(sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
