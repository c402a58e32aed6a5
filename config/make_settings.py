#!/usr/bin/env python3
"""Prints the settings of gpuadvised as C++ structs: make_settings.py gpuadvised.yaml. Runs when the build is configured.

What a key may be stands after it, or in comments indented below it; with (restart) it is read at the start only. Each kind
of value has a C++ type, by which daemon/settings/settings_values.h reads and shows it. A key with keys of its own is a
struct, and an example stands after it.
"""
import pathlib
import re
import sys

UNITS = {"": 1, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "MB": 10**6, "GB": 10**9, "TB": 10**12}
TYPES = {"text": "std::string", "path": "std::string", "path, not empty": "std::string", "HOST:PORT": "std::string",
         "true or false": "bool", "octal permissions": "uint32_t", "host names": "std::vector<std::string>", "size": "Bytes",
         "duration": "std::chrono::milliseconds", "whole number": "int64_t", "number": "double"}
LISTS = {"gpu_aliases": "std::vector<std::pair<std::string, std::string>>",
         "untyped_gpus": "std::vector<SiteGpus::UntypedRule>", "interconnects": "std::vector<SiteGpus::InterconnectRule>"}
HEAD = """\
// Made from config/gpuadvised.yaml by config/make_settings.py. A member is the key of that name, at its default.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/gpu/gpu_catalogue.h"
#include "daemon/settings/setting_form.h"

namespace gpuadvise::daemon {
"""


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def amount(text):
    """"5m" in milliseconds, "1 GB" in bytes; what has no unit as it is."""
    measured = re.fullmatch(r"(\d+) ?([A-Za-z]+)", text)
    return str(int(measured[1]) * UNITS[measured[2]]) if measured else text


class Setting:
    def __init__(self, key, default, words):
        self.key, self.default, self.words, self.keys = key, default.strip('"'), words, []

    def lines(self, struct):
        """Its member, and its line in Keys()."""
        words, low, high, restart = re.fullmatch(r"(.*?)(?: from (\S+(?: .B)?) to (\S+(?: .B)?))?( ?\(restart\))?", self.words).groups()
        kind = "std::string" if words.startswith("one of ") else LISTS.get(self.key) or TYPES.get(words)
        if self.keys:
            kind = self.key.title().replace("_", "") + "Settings"
        if kind is None:
            sys.exit(f"make_settings.py: no kind of value: {self.key}: {words}")
        default = amount(self.default.strip("[]{}"))
        default = quoted(default) if kind == "std::string" and default else default
        form = f"{quoted(re.sub('^(one|list|map) of ', '', words))}, {amount(low or '0')}, {amount(high or '0')}"
        return (f"  {kind} {self.key}{{{default}}};\n",
                f"    f({quoted(self.key)}, &{struct}::{self.key}, SettingForm{{{form}, {'true' if restart else 'false'}}});\n")

    def struct(self, name):
        members, keys = zip(*(key.lines(name) for key in self.keys))
        equal = f"  bool operator==(const {name}&) const = default;\n" if self.key else ""
        return (f"struct {name} {{\n{''.join(members)}{equal}"
                f"  template <typename F>\n  static void Keys(F&& f) {{\n{''.join(keys)}  }}\n}};\n")


def settings_of(lines):
    """The file; comments at the start of a line are for people."""
    top = Setting("", "", "")
    for line in filter(lambda line: line and not line.startswith("#"), lines):
        found = re.fullmatch(r"(  )?([a-z_]+):(?: ([^ ].*?))?(?:  # (.*))?", line)
        if found:
            of = top.keys[-1] if found[1] else top
            of.keys.append(Setting(found[2], found[3] or "", found[4] or ""))
        elif line.startswith("  # "):
            top.keys[-1].words = f"{top.keys[-1].words} {line[4:]}".strip()
        else:
            sys.exit(f"make_settings.py: cannot read this line of gpuadvised.yaml: {line}")
    return top


def main():
    top = settings_of(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines())
    sections = [key.struct(key.key.title().replace("_", "") + "Settings") for key in top.keys if key.keys]
    print("\n".join([HEAD, *sections, top.struct("Settings")]) + "\n}  // namespace gpuadvise::daemon")


if __name__ == "__main__":
    main()
