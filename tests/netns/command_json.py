#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""command_json.py SCHEMA COMMANDS FOLDER [KEY...]: what commands printed is what the schema says of each.

The folder has files COMMAND.ANYTHING; COMMANDS lists the commands of the tool; this kernel has
nothing to print of the KEYs. Prints lines "ok NAME"
or "not ok NAME" and "# WHY"."""
import json
import os
import sys

import jsonschema
from schema import documents

# What takes a fault, a race, another host or namespace, or a capture; exemptions are like blocks, but no block
RARE = {"event": {"events_lost", "sources_wanted", "blocks_lost"}, "restored": {"skipped"},
        "upgraded": {"netns", "closed_ms"}, "exempt": {"block"},
        "advice": {"unmatched_packets", "unread_packets"}}
# Text, or a screen, whatever -json says; and what undoes a change, which json.t does not
NO_JSON = {"top", "metrics", "confirm-revert"}


def say(passed, name, why=()):
    print(f"{'' if passed else 'not '}ok {name}")
    for line in () if passed else why:
        print(f"# {line}")


class Keys:
    """The keys that a schema allows and those that were printed, by definition"""

    def __init__(self, schema):
        self.defs = schema["$defs"]
        self.seen = {}

    def target(self, schema):
        return schema["$ref"].rsplit("/", 1)[1] if "$ref" in schema else None

    def look(self, schema, value, name):
        """Note the keys of a value that is valid"""
        if "$ref" in schema:
            return self.look(self.defs[self.target(schema)], value, self.target(schema))
        if "anyOf" in schema:
            for one in schema["anyOf"]:
                if one["properties"]["event"]["const"] == value["event"]:
                    return self.look(one, value, name)
        if isinstance(value, list) and "items" in schema:
            for element in value:
                self.look(schema["items"], element, name)
        elif isinstance(value, dict):
            for key, inner in value.items():
                self.seen.setdefault(name, set()).add(key)
                self.look(schema["properties"][key], inner, name)

    def allowed(self, schema):
        """Keys below a definition, but for those of others and of what is inverted"""
        if isinstance(schema, list):
            for one in schema:
                yield from self.allowed(one)
        elif isinstance(schema, dict):
            for key, inner in schema.get("properties", {}).items():
                yield key
                if key != "not":
                    yield from self.allowed(inner)
            for word in ("items", "anyOf"):
                yield from self.allowed(schema.get(word))


def main(schema_file, command_file, folder, *absent):
    with open(schema_file, encoding="utf-8") as file:
        schema = json.load(file)
    with open(command_file, encoding="utf-8") as file:
        commands = set(file.read().split())
    keys, defs = Keys(schema), schema["$defs"]
    printed = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            printed.setdefault(name.split(".")[0], []).extend(documents(file.read()))
    whole = {"version"}
    ran = set(printed) | NO_JSON
    say(commands <= ran, "each command of the tool was run", sorted(commands - ran))
    say(ran - NO_JSON <= commands | whole, "... and no other", sorted(ran - commands))
    for command in sorted(printed):
        if command not in defs:
            say(not printed[command], f"{command} prints nothing")
            continue
        part = defs[command] if command not in whole else {"type": "array", "items": {"$ref": f"#/$defs/{command}"}}
        check = jsonschema.Draft202012Validator({**part, "$defs": defs})
        bad = [f"{e.json_path}: {e.message}"[:300] for d in printed[command] for e in check.iter_errors(d)]
        say(printed[command] and not bad, f"{command} prints what its schema says", bad[:5])
        if not bad:
            for document in printed[command]:
                keys.look(part, document, command)
    for name, seen in sorted(keys.seen.items()):
        missing = set(keys.allowed(defs[name])) - seen - RARE.get(name, set()) - set(absent)
        say(not missing, f"{name}: each key was printed", sorted(missing))


main(*sys.argv[1:])
