"""JSON Schema as far as the Model Context Protocol's schemas and our tools use it. An unknown keyword is an error."""
KNOWN = {"$ref", "type", "enum", "const", "properties", "required", "additionalProperties", "items", "anyOf", "allOf",
         "minimum", "maximum"}
IGNORED = {"$schema", "description", "format", "definitions", "$defs", "title"}
TYPES = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}


def is_type(value, name):
    if name in ("integer", "number"):
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return not isinstance(value, bool) and (whole if name == "integer" else isinstance(value, (int, float)))
    return isinstance(value, TYPES[name])


def faults(value, schema, document, place=""):
    """Sentences on what of `value` is not as `schema`, a part of `document`, says."""
    if isinstance(schema, bool):
        return [] if schema else [f"{place}: may not be there"]
    unknown = set(schema) - KNOWN - IGNORED
    assert not unknown, f"keywords that the test does not know: {unknown}"
    found = []
    if "$ref" in schema:
        target = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        found += faults(value, target, document, place)
    for one in schema.get("allOf", []):
        found += faults(value, one, document, place)
    if "anyOf" in schema:
        each = [faults(value, one, document, place) for one in schema["anyOf"]]
        found += [] if [] in each else min(each, key=len)
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if wanted and not any(is_type(value, name) for name in wanted):
        return found + [f"{place}: {str(value)[:60]!r} is not {' or '.join(wanted)}"]
    if "const" in schema and value != schema["const"]:
        found.append(f"{place}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place}: {value!r} is none of {schema['enum']}")
    if is_type(value, "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        found.append(f"{place}: {value} is out of range")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            found += faults(item, schema["items"], document, f"{place}/{i}")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{place}: {name} is missing" for name in schema.get("required", []) if name not in value]
        for name, member in value.items():
            found += faults(member, known.get(name, schema.get("additionalProperties", True)), document, f"{place}/{name}")
    return found
