"""The part of JSON Schema (2020-12) that docs/openapi.yaml and the schema of train.yaml use.

One thing is stricter than the standard: a member that an object's `properties` do not list is a fault, unless
`additionalProperties` is true or a schema, or `propertyNames` allow it. So a document that forgets one is found; readers of the document need not mind.
"""
KNOWN = {"type", "enum", "properties", "required", "additionalProperties", "items", "anyOf", "$ref", "minimum", "maximum",
         "minItems", "maxItems", "description", "propertyNames", "$defs", "$schema", "title"}
TYPES = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}


def is_type(value, name):
    if name in ("integer", "number"):
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return not isinstance(value, bool) and (whole if name == "integer" else isinstance(value, (int, float)))
    return isinstance(value, TYPES[name])


def resolved(schema, document):
    """The schema that a reference leads to."""
    while "$ref" in schema:
        place = document
        for part in filter(None, schema["$ref"].removeprefix("#").split("/")):
            place = place[part]
        schema = place
    return schema


def faults(value, schema, document, place=""):
    """Sentences on what of `value` is not as `schema` says."""
    schema = resolved(schema, document)
    unknown = set(schema) - KNOWN
    assert not unknown, f"{place}: keywords that the test does not know: {unknown}"
    if "anyOf" in schema:
        each = [faults(value, one, document, place) for one in schema["anyOf"]]
        return [] if [] in each else each[0]
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if wanted and not any(is_type(value, name) for name in wanted):
        return [f"{place}: {str(value)[:60]!r} is not {' or '.join(wanted)}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place}: {value!r} is none of {schema['enum']}")
    if not isinstance(value, (bool, str, list, dict, type(None))):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            found.append(f"{place}: {value} is out of range")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{place}: {len(value)} items")
        for i, item in enumerate(value):
            found += faults(item, schema.get("items", {}), document, f"{place}/{i}")
    if isinstance(value, dict):
        found += [f"{place}: {name} is missing" for name in schema.get("required", []) if name not in value]
        others = schema.get("additionalProperties", "properties" not in schema)
        for name, member in value.items():
            if name in schema.get("properties", {}):
                found += faults(member, schema["properties"][name], document, f"{place}/{name}")
            elif isinstance(others, dict):
                found += faults(member, others, document, f"{place}/{name}")
            elif "propertyNames" in schema:
                found += faults(name, schema["propertyNames"], document, f"{place}/{name}")
            elif others is not True:
                found.append(f"{place}: {name} is not documented")
    return found
