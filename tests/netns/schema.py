#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""schema.py SCHEMA FILE...: validate all JSON in the files; of a long array, the first
hundred elements."""
import json
import re
import sys

try:
    import jsonschema
except ImportError:
    print("1..0 # SKIP python3-jsonschema is not installed")
    sys.exit(0)
SPACE = re.compile(r"\s*")


def documents(text):
    """The JSON texts of a file, in order"""
    decoder, at = json.JSONDecoder(), SPACE.match(text).end()
    while at < len(text):
        told, at = decoder.raw_decode(text, at)
        at = SPACE.match(text, at).end()
        yield told


def main(schema, *files):
    with open(schema, encoding="utf-8") as file:
        check = jsonschema.Draft202012Validator(json.load(file))
    seen, bad = set(), []
    for name in files:
        with open(name, encoding="utf-8") as file:
            text = file.read()
        for document in documents(text):
            some = document[:100] if isinstance(document, list) else document
            key = json.dumps(some)
            if key not in seen and not check.is_valid(some):
                bad.append(key[:400])
            seen.add(key)
    print("1..1")
    print(f"{'not ' if bad or not seen else ''}ok 1 - what weir wrote in JSON is what weir -schema says")
    print(f"# {len(seen)} that differ")
    for shown in bad[:10]:
        print(f"# {shown}")
    return bool(bad) or not seen


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
