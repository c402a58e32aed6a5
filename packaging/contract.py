#!/usr/bin/env python3
"""What is made of the table of the API's answers and requests, common/api/answers.yaml.

    contract.py             writes what is published: the schemas of docs/openapi.yaml, the page's types, the Python client's,
                            and what the tools of gpuadvise-mcp take (also by --help) and answer
    contract.py --check     compares these instead, and ends with 1 where one differs
    contract.py --headers FOLDER
                            writes the structs of the programs, FOLDER/SECTION.h for each section; the build runs this

Needs Python 3 alone: the table is YAML, and its few forms are read here.
"""
import json
import keyword
import pathlib
import re
import runpy
import sys
import textwrap

TOP = pathlib.Path(__file__).resolve().parents[1]
TABLE = TOP / "common/api/answers.yaml"
BEGIN = "# Made from common/api by packaging/contract.py; not written by hand."
END = "# End of what is made."
WIDTH = 140  # of lines of names
MCP = "integrations/mcp/gpuadvise_mcp.py"
# Word of the table -> C++, JSON Schema, TypeScript, Python.
WORDS = {
    "text": ("std::string", "type: string", "string", "str"),
    "whole": ("int64_t", "type: integer", "number", "int"),
    "number": ("double", "type: number", "number", "float"),
    "bool": ("bool", "type: boolean", "boolean", "bool"),
    "any": ("nlohmann::json", "", "unknown", "Any"),
}
INITIAL = {"whole": "0", "number": "0", "bool": "false"}
TRAITS = {"omitted", "words", "prefix", "default"}
REQUEST_TRAITS = {"needed", "words", "prefix", "least", "most"}
REQUESTS = "requests"  # the section that has them


# ---- the table -------------------------------------------------------------------------------


class Struct:
    def __init__(self, name, shown, kind, section, comment):
        self.name, self.shown, self.section, self.comment = name, shown, section, comment
        self.is_answer, self.is_body, self.is_request = kind == "answer", kind == "body", section == REQUESTS
        self.members = []


class Member:
    """A row: `nullable` "or null", `is_list` "list of", `of` a word or the name of a struct."""

    def __init__(self, name, row, is_request):
        parts = re.fullmatch(r'(list of )?(\w+)( or null)?(?:, ("(?:[^"\\]|\\.)*"))?((?:, \w+(?:: [^,]*)?)*)', row)
        if not parts or not (parts[4] or is_request):
            raise ValueError(f'{name}: a row is [type, "meaning"], and traits')
        self.name, self.is_list, self.of, self.nullable = name, bool(parts[1]), parts[2], bool(parts[3])
        self.meaning = json.loads(parts[4] or '""')
        traits = dict((trait + ": ").split(": ")[:2] for trait in parts[5].split(", ")[1:])
        if unknown := set(traits) - (REQUEST_TRAITS if is_request else TRAITS):
            raise ValueError(f"{name}: unknown: {' '.join(unknown)}")
        self.omitted = "needed" not in traits if is_request else "omitted" in traits
        self.words = traits.get("words", "").split()
        self.least, self.most = traits.get("least"), traits.get("most")
        self.prefix = traits["prefix"].strip('"') if "prefix" in traits else None
        self.default = traits.get("default", "" if self.is_list or self.nullable else INITIAL.get(self.of, ""))


class Table:
    """Sections (name -> comment) and structs (name -> Struct), in the order of the file."""

    def __init__(self, text):
        self.sections, self.structs = {}, {}
        comment, started, struct = [], "", None
        for number, line in enumerate(text.splitlines(), 1):
            try:
                if started:
                    line = f"{started} {line.strip()}"
                if started := line if line.startswith("    ") and not line.endswith("]") else "":
                    continue
                if line.lstrip().startswith("#"):
                    comment.append(line.strip())
                    continue
                if (row := re.fullmatch(r"    (\w+): \[(.*)\]", line)) and struct:
                    self.add_member(struct, Member(row[1], row[2], struct.is_request))
                elif head := re.fullmatch(r"  (?:(answer|body) )?(\w+)(?: as (\w+))?:( {})?", line):
                    struct = Struct(head[2], head[3] or head[2], head[1], list(self.sections)[-1], comment)
                    if self.structs.setdefault(struct.name, struct) is not struct:
                        raise ValueError(f"{struct.name} is there twice")
                elif section := re.fullmatch(r"(\w+):", line):
                    self.sections[section[1]], struct = comment, None
                elif line:
                    raise ValueError("no section, struct or member")
                comment = []
            except ValueError as error:
                sys.exit(f"{TABLE}:{number}: {error}")

    def add_member(self, struct, member):
        if member.of not in WORDS and (member.of not in self.structs or member.of == struct.name):
            raise ValueError(f"{member.name}: {member.of} is no word, and no struct above")
        if member.prefix is not None and (member.of in WORDS or member.is_list):
            raise ValueError(f"{member.name}: only a struct's members have a prefix")
        if keyword.iskeyword(member.name):
            raise ValueError(f"{member.name} is a word of Python's, whose clients could not name it")
        if member.name in (other.name for other in struct.members):
            raise ValueError(f"{member.name} is there twice")
        struct.members.append(member)


# ---- C++ -------------------------------------------------------------------------------------


def cpp_type(member):
    text = WORDS[member.of][0] if member.of in WORDS else member.of
    text = f"std::vector<{text}>" if member.is_list else text
    return f"std::optional<{text}>" if member.nullable else text


def cpp_struct(struct):
    lines = ["", *(line.replace("#", "//", 1) for line in struct.comment), f"struct {struct.name} {{"]
    for member in struct.members:
        start = f" = {member.default}" if member.default else ""
        lines.append(f"  {cpp_type(member)} {member.name}{start};" + (f"  // {member.meaning}" if member.meaning else ""))
    lines += ["", "  template <typename F>", "  static void Fields(F&& f) {"]
    for member in struct.members:
        trait = ", kOmitted" if member.omitted else f', Prefixed("{member.prefix}")' if member.prefix is not None else ""
        lines.append(f'    f("{member.name}", &{struct.name}::{member.name}{trait});')
    return lines + ["  }", "};"]


def header(table, section):
    structs = [struct for struct in table.structs.values() if struct.section == section]
    used = {table.structs[member.of].section for struct in structs for member in struct.members if member.of in table.structs}
    lines = [*(line.replace("#", "//", 1) for line in table.sections[section]), "// Made from common/api/answers.yaml.",
             "#pragma once", ""]
    lines += [f"#include <{name}>" for name in ("cstdint", "nlohmann/json.hpp", "optional", "string", "vector")] + [""]
    lines += [f'#include "common/api/{other}.h"' for other in sorted(used - {section})]
    lines += ['#include "common/base/fields.h"', "", "namespace gpuadvise::api {"]
    for struct in structs:
        lines += cpp_struct(struct)
    return "\n".join(lines + ["", "}  // namespace gpuadvise::api", ""])


def write_headers(table, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for section in set(table.sections) - {REQUESTS}:
        path, text = folder / f"{section}.h", header(table, section)
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # what is as it was, is not compiled again
            path.write_text(text, encoding="utf-8")


# ---- what is published -----------------------------------------------------------------------


class Row:
    """A member as it is published: those of a prefixed struct stand in the outer one."""

    def __init__(self, member, table, prefix, meaning, omitted):
        self.name, self.meaning, self.is_list = prefix + member.name, meaning + member.meaning, member.is_list
        self.of, self.words, self.omitted = member.of, member.words, omitted or member.omitted
        self.least, self.most = member.least, member.most
        self.nullable = member.nullable and not member.omitted  # else it is absent instead
        self.struct = table.structs.get(member.of)


def rows_of(struct, table, prefix="", meaning="", omitted=False):
    for member in struct.members:
        if member.prefix is None:
            yield Row(member, table, prefix, meaning, omitted)
        else:
            yield from rows_of(table.structs[member.of], table, prefix + member.prefix, meaning + member.meaning,
                               omitted or member.nullable)


def published(table):
    """(struct, rows) of the frame, the answers and the requests, each followed by what is in it, each once."""
    found = {}

    def add(struct):
        if struct.name in found:
            return
        found[struct.name] = rows = list(rows_of(struct, table))
        for row in rows:
            if row.struct:
                add(row.struct)

    for struct in table.structs.values():
        if struct.is_answer or struct.is_body or struct.name == "Frame":
            add(struct)
    return [(table.structs[name], rows) for name, rows in found.items()]


def with_frame(contract):
    """The same with the rows of the frame in each answer."""
    frame = contract[0][1]
    return [(struct, rows + frame if struct.is_answer else rows) for struct, rows in contract]


def schema(row):
    inside = f'$ref: "#/components/schemas/{row.struct.shown}"' if row.struct else WORDS[row.of][1]
    if row.is_list:
        inside = f"type: array, items: {{{inside}}}"
    if row.nullable and row.struct and not row.is_list:
        inside = f'anyOf: [{{{inside}}}, {{type: "null"}}]'
    elif row.nullable:
        inside = re.sub(r"^type: (\w+)", r'type: [\1, "null"]', inside)
    parts = [inside] if inside else []
    bounds = ("minItems", "maxItems") if row.is_list else ("minimum", "maximum")
    parts += [f"{word}: {bound}" for word, bound in zip(bounds, (row.least, row.most)) if bound]
    if row.words:
        parts.append(f"enum: [{', '.join(row.words + ['null'] * row.nullable)}]")
    if row.meaning:
        parts.append(f"description: {json.dumps(row.meaning, ensure_ascii=False)}")
    return ", ".join(parts)


def wrapped(head, items, end, indent):
    """The items, on as many lines as they need; none is broken."""
    words = head + ", ".join(item.replace(" ", "\0") for item in items) + end
    lines = textwrap.fill(words, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2),
                          break_long_words=False, break_on_hyphens=False)
    return lines.replace("\0", " ") + "\n"


def openapi(contract):
    text = ""
    for struct, rows in with_frame(contract):
        text += f"    {struct.shown}:\n      type: object\n"
        if struct.is_request and struct.comment:
            text += f"      description: {json.dumps(' '.join(line[2:] for line in struct.comment), ensure_ascii=False)}\n"
        if not rows:
            text += "      additionalProperties: true\n"
            continue
        if always := [row.name for row in rows if not row.omitted]:
            text += wrapped("required: [", always, "]", 6)
        text += "      properties:\n" + "".join(f"        {row.name}: {{{schema(row)}}}\n" for row in rows)
    return text


def typescript_type(row):
    text = row.struct.shown if row.struct else WORDS[row.of][2]
    if row.words:
        text = " | ".join(f"'{word}'" for word in row.words)
    return text + "[]" * row.is_list + " | null" * (row.nullable and row.of != "any")


def named_by_page():
    text = "".join(path.read_text(encoding="utf-8") for path in (TOP / "web/src").rglob("*.ts*"))
    return set(re.findall(r"\w+", " ".join(re.findall(r"import type {([^}]*)} from '[^']*/contract'", text))))


def reached(contract, named):
    """The structs that are named, and those that these are made of."""
    left, found = [row for row in contract if row[0].shown in named], set()
    while left:
        struct, rows = left.pop()
        found.add(struct.name)
        within = {row.of for row in rows} - found
        left += [row for row in contract if row[0].name in within]
    return [(struct, rows) for struct, rows in contract if struct.name in found]


def typescript(contract, named=None):
    text = "// What the page uses of the API. Made from common/api by packaging/contract.py; not written by hand.\n"
    for struct, rows in reached(contract, named or named_by_page()):
        text += f"\nexport interface {struct.shown}{' extends Frame' if struct.is_answer else ''} {{\n"
        text += "" if rows else "  [key: string]: unknown;\n"
        for row in rows:
            text += f"  /** {row.meaning} */\n" if row.meaning else ""
            text += f"  {row.name}{'?' if row.omitted else ''}: {typescript_type(row)};\n"
        text += "}\n"
    return text


def python_type(row):
    text = row.struct.shown if row.struct else WORDS[row.of][3]
    text = f"List[{text}]" if row.is_list else text
    return f"Optional[{text}]" if row.nullable and row.of != "any" else text


def python(contract):
    """A name is used after it is declared. The frame is in the answers, and bodies are put together by functions."""
    left = [(struct, rows) for struct, rows in with_frame(contract) if struct.name != "Frame" and not struct.is_body and rows]
    classes = []
    while left:
        waiting = {struct.name for struct, _ in left}
        struct, rows = next((struct, rows) for struct, rows in left if not waiting & {row.of for row in rows})
        left.remove((struct, rows))
        members = "".join(f"    {row.name}: {python_type(row)}\n" for row in rows)
        classes.append(f"class {struct.shown}(TypedDict, total=False):\n{members}")
    return "\n\n".join(classes)


def options_of(command):
    """name -> row of options that take a value, from --help: "  -G,--gpus N                   GPUs per job (default 1)"."""
    path = TOP / f"tests/client/golden/help_{command}.txt"  # what the program prints: a test holds it to that
    found = re.findall(r"^  \S*?--([\w-]+)\S* (\S+) +(\S.*)$", path.read_text(encoding="utf-8"), re.M) if path.exists() else []
    return {name.replace("-", "_"): f"{'integer' if value == 'N' else 'string'} {meaning}" for name, value, meaning in found}


def mcp_row(row, shown):
    kind = WORDS[row.of][1][len("type: "):] if not row.struct else row.struct.shown if row.struct.shown in shown else "object"
    return f"{f'[{kind}]' if row.is_list else kind}{'?' * row.nullable} {row.meaning}"


def mcp(contract, server=None):
    """What the server names: arguments of its tools, which are options or members of a request, and members of structs."""
    server = server or runpy.run_path(str(TOP / MCP))
    shown, groups = server["SHOWN"], {"arguments": {}}
    structs = {struct.shown: {row.name: mcp_row(row, shown) for row in rows if row.meaning} for struct, rows in contract}

    def named(owner, names, *places):
        known = {name: row for place in reversed(places) for name, row in place.items()}
        for name in names:
            if name not in known:
                sys.exit(f"{MCP}: {owner} names {name}: SHOWN, {TABLE.name} and --help have no such name with a meaning")
        return {name: known[name] for name in names}

    for tool, (_, _, arguments, answer) in server["TOOLS"].items():
        named(tool, answer.split(), shown)
        names = [name for name in arguments.replace("!", "").split() if name not in server["SOURCES"]]
        places = [structs.get(struct, {}) for struct in ("JobRequest", "SbatchOptions", *answer.split())]
        rows = named(tool, names, options_of(tool), *places)
        groups[tool] = {name: row for name, row in rows.items() if groups["arguments"].setdefault(name, row) != row}
    groups.update((name, named(name, members.split(), structs.get(name, {}))) for name, members in shown.items())
    return "MADE: Dict[str, Dict[str, str]] = {\n" + "".join(
        wrapped(f'"{group}": {{', [f'"{name}": {json.dumps(row, ensure_ascii=False)}' for name, row in rows.items()], "},", 4)
        for group, rows in groups.items() if rows) + "}\n"


FILES = {"docs/openapi.yaml": openapi, "web/src/api/contract.ts": typescript, "integrations/python/gpuadvise.py": python, MCP: mcp}


def with_made(text, made):
    """`text` with `made` between its two marks; without marks the whole file is made."""
    if BEGIN not in text:
        return made
    head, rest = text.split(BEGIN, 1)
    indent = head[head.rfind("\n") + 1:]
    tail = rest.split(indent + END, 1)[1]
    return f"{head}{BEGIN}\n{made.rstrip()}\n{indent}{END}{tail}"


def publish(table, check):
    stale = []
    for name, make in FILES.items():
        path = TOP / name
        before = path.read_text(encoding="utf-8")
        after = with_made(before, make(published(table)))
        if after == before:
            continue
        stale.append(name)
        if not check:
            path.write_text(after, encoding="utf-8")
    for name in stale:
        print(f"{name} {'is not what common/api says: run packaging/contract.py' if check else 'is written'}")
    return 1 if check and stale else 0


def main(arguments):
    table = Table(TABLE.read_text(encoding="utf-8"))
    if arguments[:1] == ["--headers"] and len(arguments) == 2:
        write_headers(table, pathlib.Path(arguments[1]))
        return 0
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    return publish(table, check=bool(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
