#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write Documentation/netlink.rst from the specification; with --check, report
whether it is up to date."""

import pathlib
import sys
import textwrap

import yaml

HERE = pathlib.Path(__file__).resolve().parent
SPEC = HERE / "specs" / "weir.yaml"
PAGE = HERE.parent / "netlink.rst"


def heading(text, line):
    return [text, line * len(text), ""]


def sentence(doc):
    return " ".join((doc or "").split())


def paragraph(doc):
    return textwrap.wrap(sentence(doc), 79, break_on_hyphens=False) + [""]


def field(name, names):
    return textwrap.wrap(f":{name}: " + ", ".join(names), 79, subsequent_indent="  ",
                         break_on_hyphens=False)


def table(head, rows):
    """A simple RST table; cells are one line each."""
    rows = [[cell or "\\" for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [head] + rows) for i in range(len(head))]
    rule = "  ".join("=" * width for width in widths)
    text = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
            for row in [head] + rows]
    return [rule, text[0], rule] + text[1:] + [rule, ""]


def definitions(spec):
    yield from heading("Constants", "=")
    yield from table(["name", "value", "meaning"],
                     [[d["name"], str(d["value"]), sentence(d.get("doc"))]
                      for d in spec["definitions"] if d["type"] == "const"])
    yield from heading("Enumerations", "=")
    for define in spec["definitions"]:
        if define["type"] == "const":
            continue
        entries = [e if isinstance(e, str) else e["name"] for e in define["entries"]]
        start = define.get("value-start", 0)
        values = [f"{1 << i:#x}" if define["type"] == "flags" else str(i + start)
                  for i in range(len(entries))]
        yield from heading(define["name"], "-")
        if define.get("doc"):
            yield from paragraph(define["doc"])
        yield from [", ".join(f"``{e}`` {v}" for e, v in zip(entries, values)) + ".", ""]


def kind(attr):
    """Type of an attribute, with what it holds."""
    text = attr["type"]
    if "nested-attributes" in attr:
        text = f"nest of {attr['nested-attributes']}"
    elif "enum" in attr:
        text += f", {attr['enum']}" + (" as flags" if attr.get("enum-as-flags") else "")
    return text + (", repeated" if attr.get("multi-attr") else "")


def limits(attr):
    checks = attr.get("checks", {})
    if "min" in checks or "max" in checks:
        return f"{checks.get('min', 0)}..{checks.get('max', '')}"
    for check, word in (("max-len", "at most"), ("min-len", "at least"), ("exact-len", "exactly")):
        if check in checks:
            return f"{word} {checks[check]} bytes"
    return ""


def attributes(spec):
    yield from heading("Attributes", "=")
    known = {}
    for attr_set in spec["attribute-sets"]:
        known[attr_set["name"]] = {a["name"]: a for a in attr_set["attributes"]}
        yield from heading(attr_set["name"], "-")
        if attr_set.get("doc"):
            yield from paragraph(attr_set["doc"])
        if "subset-of" in attr_set:
            yield from paragraph(f"A subset of {attr_set['subset-of']}, with the same numbers: "
                                 + ", ".join(a["name"] for a in attr_set["attributes"]) + ".")
            continue
        yield from table(["no.", "name", "type", "range", "meaning"],
                         [[str(i), a["name"], kind(a), limits(a), sentence(a.get("doc"))]
                          for i, a in enumerate(attr_set["attributes"], 1)
                          if a["type"] not in ("pad", "unused")])


def operations(spec):
    yield from heading("Operations", "=")
    for op in spec["operations"]["list"]:
        yield from heading(op["name"], "-")
        yield from paragraph(op["doc"])
        rights = "CAP_NET_ADMIN in the namespace's user namespace" \
            if "uns-admin-perm" in op.get("flags", []) else "anybody"
        if "event" in op:
            rights = f"members of the group ``{op['mcgrp']}``"
        yield from [f":Attributes: {op['attribute-set']}", f":For: {rights}"]
        for mode in ("do", "dump"):
            for part in ("request", "reply"):
                if part in op.get(mode, {}):
                    names = op[mode][part].get("attributes", [])
                    yield from field(f"{mode.capitalize()}, {part}", names)
            if mode in op and not op[mode]:
                yield f":{mode.capitalize()}: no attributes"
        if "event" in op:
            yield from field("Event", op["event"]["attributes"])
        yield ""


def page(spec):
    yield ".. SPDX-License-Identifier: GPL-2.0-or-later"
    yield ".. Written by Documentation/netlink/reference.py from netlink/specs/weir.yaml."
    yield ""
    title = f"Netlink family {spec['name']}"
    yield from ["=" * len(title)] + heading(title, "=")
    yield from paragraph(spec["doc"])
    yield from ["The specification is ``Documentation/netlink/specs/weir.yaml``; the header",
                f"``{spec['uapi-header']}`` and this page are generated from it. Example, with the",
                "kernel's own client::", "",
                "    cli.py --spec Documentation/netlink/specs/weir.yaml --dump limit-get", ""]
    yield from operations(spec)
    yield from attributes(spec)
    yield from definitions(spec)
    yield from heading("Multicast groups", "=")
    for group in spec["mcast-groups"]["list"]:
        yield f"``{group['name']}``: " + ", ".join(
            op["name"] for op in spec["operations"]["list"] if op.get("mcgrp") == group["name"]) + "."


def main():
    text = "\n".join(page(yaml.safe_load(SPEC.read_text()))) + "\n"
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != text:
            print(f"{PAGE.name} differs from the specification; run reference.py")
            return 1
        return 0
    if sys.argv[1:]:
        print("usage: reference.py [--check]", file=sys.stderr)
        return 1
    PAGE.write_text(text)
    return 0


sys.exit(main())
