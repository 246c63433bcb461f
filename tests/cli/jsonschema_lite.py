# SPDX-License-Identifier: Apache-2.0
"""The part of JSON Schema that `stoker schema` uses, checked with the standard library alone."""


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(name, list):
        return any(is_type(value, n) for n in name)
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    return isinstance(value, kinds[name])


def check_object(value, schema, where, problems):
    known = schema.get("properties", {})
    problems += [f"{where}: '{key}' is missing" for key in schema.get("required", []) if key not in value]
    for key, item in value.items():
        if key in known:
            check(item, known[key], f"{where}.{key}", problems)
        elif "additionalProperties" in schema:
            check(item, schema["additionalProperties"], f"{where}.{key}", problems)
        else:  # allowed by the contract, but then it is not documented
            problems.append(f"{where}: '{key}' is not in the schema")


def check(value, schema, where="report", problems=None):
    """Problems as a list of texts; empty: the value is valid."""
    problems = [] if problems is None else problems
    if not is_type(value, schema["type"]):
        problems.append(f"{where}: {value!r} is not of type {schema['type']}")
        return problems
    if "enum" in schema and value not in schema["enum"]:
        problems.append(f"{where}: {value!r} isn't one of {schema['enum']}")
    if "minimum" in schema and value < schema["minimum"]:
        problems.append(f"{where}: {value!r} is below {schema['minimum']}")
    if "maximum" in schema and value > schema["maximum"]:
        problems.append(f"{where}: {value!r} is above {schema['maximum']}")
    if isinstance(value, dict):
        check_object(value, schema, where, problems)
    if isinstance(value, list):
        for i, item in enumerate(value):
            check(item, schema["items"], f"{where}[{i}]", problems)
    return problems
