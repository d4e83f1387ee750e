#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""schema_keeps.py OLD NEW: does the schema NEW keep what OLD, of the same version, promises?

Prints what it does not, a line each. A new version may break everything."""
import json
import sys


def breaks(old, new, path=""):
    """What a program that knows OLD relies on and NEW does not say"""
    if isinstance(old.get("anyOf"), list):
        # events, which their name tells apart
        names = {one.get("properties", {}).get("event", {}).get("const"): one for one in new.get("anyOf", [])}
        for one in old["anyOf"]:
            name = one.get("properties", {}).get("event", {}).get("const")
            if name and name not in names:
                yield f"{path}: no event {name}"
            elif name:
                yield from breaks(one, names[name], f"{path}/{name}")
    for word in ("type", "const", "$ref", "x-attribute"):
        if word in old and old[word] != new.get(word):
            yield f"{path}: {word} {old[word]} is {new.get(word)}"
    for value in old.get("enum", ()):
        if value not in new.get("enum", ()):
            yield f"{path}: no value {value}"
    for key in old.get("required", ()):
        if key not in new.get("required", ()):
            yield f"{path}: {key} is optional"
    for word in ("properties", "$defs"):
        for key, inner in old.get(word, {}).items():
            if key not in new.get(word, {}):
                yield f"{path}: no {key}"
            else:
                yield from breaks(inner, new[word][key], f"{path}/{key}")
    if "items" in old:
        yield from breaks(old["items"], new.get("items", {}), path + "[]")


def main(*files):
    schemas = []
    for name in files:
        with open(name, encoding="utf-8") as file:
            schemas.append(json.load(file))
    old, new = schemas
    found = list(breaks(old, new)) if old["$id"] == new["$id"] else []
    for line in found:
        print(line)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
