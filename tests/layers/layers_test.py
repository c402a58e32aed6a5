#!/usr/bin/env python3
"""The layers hold: every include points at a room that the includer's room may use.

    layers_test.py [TREE]

A room is a folder that gpuadvise_room() makes a library of; its USES line, and the USES of those, say
what it may include (packaging/cmake/room.cmake). No two units (x.h with x.cc) may include each other, through any
number of others. With a wrong include or a cycle added to a copy of the tree the check must fail.
"""
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM_FOLDERS = ("common", "daemon", "client", "backtest")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
ROOM = re.compile(r"^gpuadvise_room\((\w+)\s(.*?)^\)", re.M | re.S)
KEYWORDS = {"SOURCES", "USES", "LINKS", "PRIVATE_LINKS"}


def folder_of(room):
    return room.replace("_", "/", 1)


def words_after(keyword, text):
    words = text.split()
    if keyword not in words:
        return []
    rest = words[words.index(keyword) + 1:]
    ends = [i for i, word in enumerate(rest) if word in KEYWORDS]
    return rest[:ends[0]] if ends else rest


def read_rooms(tree):
    """Folder of each room -> the folders that it may include, itself among them."""
    direct = {}
    for folder in PROGRAM_FOLDERS:
        for lists in (tree / folder).rglob("CMakeLists.txt"):
            for name, body in ROOM.findall(re.sub(r"#.*", "", lists.read_text())):
                direct[name] = words_after("USES", body)
    def reach(name, path):
        if name in path:
            raise ValueError(f"rooms use each other: {' -> '.join(path + (name,))}")
        found = {folder_of(name)}
        for used in direct[name]:
            found |= reach(used, path + (name,))
        return found
    return {folder_of(name): reach(name, ()) for name in direct}


def made_headers(tree):
    """Those of common/api: a section of its table is a header (packaging/contract.py); and what CMake configures."""
    sections = re.findall(r"^(\w+):$", (tree / "common/api/answers.yaml").read_text(), re.M)
    configured = {path.relative_to(tree).with_suffix("").as_posix() for path in (tree / "common").rglob("*.h.in")}
    return {f"common/api/{section}.h" for section in sections} | configured


def sources(tree):
    for folder in PROGRAM_FOLDERS:
        for path in sorted((tree / folder).rglob("*")):
            if path.suffix in (".h", ".cc"):
                yield path.relative_to(tree).as_posix(), path.read_text()


def cycle_in(graph):
    """One cycle of `graph` (node -> nodes) as a list, or None."""
    state, stack = {}, []
    def visit(node):
        state[node] = "open"
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if state.get(other) == "open":
                return stack[stack.index(other):] + [other]
            if other not in state and (found := visit(other)):
                return found
        state[node] = "done"
        stack.pop()
        return None
    for node in sorted(graph):
        if node not in state and (found := visit(node)):
            return found
    return None


def complaints(tree):
    """One line for each include against the layers, and for a cycle of units."""
    rooms = read_rooms(tree)
    made = made_headers(tree)
    found, units = [], {}
    for path, text in sources(tree):
        room = path.rpartition("/")[0]
        if is_main(path):
            continue
        if room not in rooms:
            found.append(f"{path}: its folder is no room: no gpuadvise_room() in {room}/CMakeLists.txt")
            continue
        for included in INCLUDE.findall(text):
            target = included.rpartition("/")[0]
            if target in rooms and target not in rooms[room]:
                found.append(f"{path} includes {included}: {room} does not use {target}")
            if target.split("/")[0] in PROGRAM_FOLDERS and not ((tree / included).exists() or included in made):
                found.append(f"{path} includes {included}, which is not there")
            unit, other = path.rpartition(".")[0], included.rpartition(".")[0]
            if unit != other:
                units.setdefault(unit, set()).add(other)
    if cycle := cycle_in(units):
        found.append("units include each other: " + " -> ".join(cycle))
    return found


def is_main(path):
    """main.cc is a program, not a room: its link line says what it uses, and nobody includes it."""
    return path.rpartition("/")[2] == "main.cc"


class Layers(unittest.TestCase):
    def test_every_include_points_at_a_room_that_may_be_used(self):
        self.assertEqual(complaints(TREE), [])

    def test_the_rooms_are_read(self):
        rooms = read_rooms(TREE)
        self.assertEqual(rooms["common/base"], {"common/base"})
        self.assertIn("common/base", rooms["common/advise"])
        self.assertNotIn("common/history", rooms["common/plan"])
        self.assertNotIn("common/spec", rooms["common/history"])
        self.assertNotIn("common/scheduler", rooms["client/commands"])

    def complaints_with(self, path, line):
        """Of a copy of the tree with `line` added to `path`."""
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder)
            for name in PROGRAM_FOLDERS:
                shutil.copytree(TREE / name, copy / name)
            with open(copy / path, "a") as out:
                out.write(line + "\n")
            return complaints(copy)

    def test_a_wrong_include_is_found(self):
        self.assertEqual(
            self.complaints_with("common/memory/batch_fit.cc", '#include "common/scheduler/simulation.h"'),
            ["common/memory/batch_fit.cc includes common/scheduler/simulation.h: "
             "common/memory does not use common/scheduler"])

    def test_a_cycle_of_units_is_found(self):
        found = self.complaints_with("common/base/error.h", '#include "common/base/json_fields.h"')
        self.assertEqual(len(found), 1)
        self.assertIn("units include each other", found[0])


if __name__ == "__main__":
    unittest.main()
