#!/usr/bin/env python3
"""The presets: a warning stops a developer, and nobody who only builds the programs."""
import json
import pathlib
import unittest

PRESETS = pathlib.Path(__file__).resolve().parents[2] / "CMakePresets.json"
FOR_USERS = {"release", "static-client"}


def variables(presets, name):
    """A preset's cache variables, inherited ones included."""
    preset = presets[name]
    parent = preset.get("inherits")
    return {**(variables(presets, parent) if parent else {}), **preset["cacheVariables"]}


class Presets(unittest.TestCase):
    def test_warnings_are_errors_where_the_tests_run_and_not_where_users_build(self):
        presets = {preset["name"]: preset for preset in json.loads(PRESETS.read_text())["configurePresets"]}
        for name in presets:
            wanted = "OFF" if name in FOR_USERS else "ON"
            self.assertEqual(variables(presets, name)["GPUADVISE_WARNINGS_AS_ERRORS"], wanted, name)


if __name__ == "__main__":
    unittest.main()
