#!/usr/bin/env python3
"""What packaging/contract.py makes of a table of answers: structs, schemas, types; and what it refuses."""
import importlib.util
import pathlib
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("contract", TOP / "packaging/contract.py")
contract = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(contract)

TABLE = '''
# What every answer has.
frame:

  Frame:
    warnings: [list of text, "Sentences."]

# Of GET /v1/cars.
cars:

  # A part.
  Part as CarPart:
    grams: [whole or null, "Mass; null if not known."]

  answer Cars:
    name: [text, "Its \\"name\\".", words: red blue]
    doors: [whole, "Doors.", default: 4]
    parts: [list of Part, "Its parts.", omitted]
    engine: [Part or null, "The engine: ", prefix: engine_]
    best: [Part or null, "A meaning that stands
      on two lines."]

requests:

  # What to build.
  body CarRequest:
    seats: [whole, needed, least: 1, most: 9]
    colours: [list of text, least: 1]
'''


def table(text=TABLE):
    return contract.Table(text)


class Made(unittest.TestCase):
    def test_structs_have_members_and_a_field_list(self):
        made = contract.header(table(), "cars")
        self.assertIn('#include "common/base/fields.h"\n\nnamespace gpuadvise::api {\n\n// A part.\nstruct Part {\n'
                      "  std::optional<int64_t> grams;  // Mass; null if not known.\n", made)
        for line in ("  int64_t doors = 4;  // Doors.\n", "  std::vector<Part> parts;  // Its parts.\n",
                     '    f("doors", &Cars::doors);\n', '    f("parts", &Cars::parts, kOmitted);\n',
                     '    f("engine", &Cars::engine, Prefixed("engine_"));\n'):
            self.assertIn(line, made)

    def test_schemas_have_the_members_of_prefixed_structs_and_of_the_frame(self):
        self.assertIn('''    Cars:
      type: object
      required: [name, doors, best, warnings]
      properties:
        name: {type: string, enum: [red, blue], description: "Its \\"name\\"."}
        doors: {type: integer, description: "Doors."}
        parts: {type: array, items: {$ref: "#/components/schemas/CarPart"}, description: "Its parts."}
        engine_grams: {type: [integer, "null"], description: "The engine: Mass; null if not known."}
        best: {anyOf: [{$ref: "#/components/schemas/CarPart"}, {type: "null"}], description: "A meaning that stands on two lines."}
        warnings: {type: array, items: {type: string}, description: "Sentences."}
''', contract.openapi(contract.published(table())))

    def test_members_of_requests_are_optional_but_for_those_that_are_needed(self):
        self.assertIn('''    CarRequest:
      type: object
      description: "What to build."
      required: [seats]
      properties:
        seats: {type: integer, minimum: 1, maximum: 9}
        colours: {type: array, items: {type: string}, minItems: 1}
''', contract.openapi(contract.published(table())))

    def test_types_of_the_page_and_of_python(self):
        made = contract.typescript(contract.published(table()), {"Cars"})
        self.assertIn("export interface CarPart {", made)
        self.assertNotIn("CarRequest", made)
        made = contract.typescript(contract.published(table()), {"Cars", "CarRequest"})
        self.assertIn("export interface Cars extends Frame {\n  /** Its \"name\". */\n  name: 'red' | 'blue';\n", made)
        self.assertIn("  parts?: CarPart[];\n", made)
        self.assertIn("export interface CarRequest {\n  seats: number;\n  colours?: string[];\n}\n", made)
        made = contract.python(contract.published(table()))
        self.assertLess(made.index("class CarPart("), made.index("class Cars("))
        self.assertIn("    best: Optional[CarPart]\n    warnings: List[str]\n", made)

    def test_the_server_of_assistants_gets_what_it_names(self):
        server = {"SOURCES": {"file": "string A file"}, "TOOLS": {"fit": ("", "", "file! gpus doors", "Cars")},
                  "SHOWN": {"Cars": "name best", "CarPart": "grams"}}
        self.assertEqual(contract.mcp(contract.published(table()), server), '''MADE: Dict[str, Dict[str, str]] = {
    "arguments": {"gpus": "integer GPUs per job (default 1)", "doors": "integer Doors."},
    "Cars": {"name": "string Its \\"name\\".", "best": "CarPart? A meaning that stands on two lines."},
    "CarPart": {"grams": "integer? Mass; null if not known."},
}
''')

    def test_what_is_published_is_what_the_table_says(self):
        self.assertEqual(contract.publish(contract.Table(contract.TABLE.read_text()), check=True), 0)


class Refused(unittest.TestCase):
    def assert_refused(self, row, said):
        text = TABLE.replace('    doors: [whole, "Doors.", default: 4]', row)
        with self.assertRaises(SystemExit) as refused:
            table(text)
        self.assertEqual(str(refused.exception), f"{contract.TABLE}:17: {said}")

    def test_rows_that_are_wrong_are_named_with_their_line(self):
        self.assert_refused('    doors: [Door, "Doors."]', "doors: Door is no word, and no struct above")
        self.assert_refused('    doors: [Cars, "Doors."]', "doors: Cars is no word, and no struct above")
        self.assert_refused("    doors: [whole]", 'doors: a row is [type, "meaning"], and traits')
        self.assert_refused('    doors: [whole, "Doors.", needed]', "doors: unknown: needed")
        self.assert_refused('    doors: [whole, "Doors.", prefix: d_]', "doors: only a struct's members have a prefix")
        self.assert_refused('    name: [whole, "Doors."]', "name is there twice")
        self.assert_refused("  Part:", "Part is there twice")
        self.assert_refused("  doors", "no section, struct or member")

    def test_a_name_of_the_server_of_assistants_that_nothing_has_is_refused(self):
        for argument, answer, shown, said in (("seats", "Cars", "name", "fit names seats"), ("", "Carts", "name", "fit names Carts"),
                                              ("", "Cars", "name wheels", "Cars names wheels")):
            server = {"SOURCES": {}, "TOOLS": {"fit": ("", "", argument, answer)}, "SHOWN": {"Cars": shown}}
            with self.assertRaisesRegex(SystemExit, f"gpuadvise_mcp.py: {said}: .* have no such name"):
                contract.mcp(contract.published(table()), server)


if __name__ == "__main__":
    unittest.main()
