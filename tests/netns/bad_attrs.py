# SPDX-License-Identifier: GPL-2.0-or-later
"""bad_attrs.py: every attribute of every request of the specification, malformed
in every way that does not depend on its meaning."""
import struct

from wire import (BYTEORDER, CONST, DUMP, ENUM, FORMATS, NESTED, OPS, SETS, Tap, Wire, attrs_of,
                  encode, encode_all, tlv)

# A valid value each; others are 1.
GOOD = {"name": "bad", "new-name": "worse", "before": "here", "limit": "here", "dev": "eth9",
        "address": bytes([192, 0, 2, 0]), "prefix-len": 24,
        "from": {"address": bytes([192, 0, 2, 0])}, "to": {"address": bytes([192, 0, 2, 0])},
        "sport": {"first": 1}, "dport": {"first": 1},
        "window-ms": 1000, "sources": 64, "family": 2, "proto": 6, "prefix4": 32, "prefix6": 64,
        "match": {"proto": 6}, "packet": {"proto": 6}, "len": 64, "invert": 16, "comment": "a note",
        "newcomers-ms": 1000, "known-ms": 1000, "budget": {"budget": 1, "window-ms": 1000},
        "zone": {"name": "UTC"}, "from-list": "one", "to-list": "one", "budgets-by": "one", "prefix": {"address": bytes([192, 0, 2, 0])}}


# Of saved states, whose attributes have the names of others.
STATE = {"budget": {"budget": 1, "slots": 1}, "newcomers": {"slot-ns": 1}, "hash-key": bytes(16), "limit": "here",
         "source": {"dropped": 1}, "floor": {"set": 0}, "count": {"wanted": 1},
         "address": bytes([192, 0, 2, 0]), "dev": "eth9", "numbers": bytes(2), "slot-ns": 1, "width": 2}


def good(aset, name):
    if aset.startswith("state"):
        return 1 if aset != "state" and name == "budget" else STATE.get(name, 1)
    if name == "hash-key":
        return bytes(16)
    if aset in ("budget", "member") and name == "budget":
        return 1
    if aset != "config":
        return GOOD.get(name, 1)
    if name == "exempt":
        return {"address": GOOD["address"]}
    if name == "prefix-list":
        return {"name": "one", "prefix": GOOD["prefix"]}
    return {"name": "bad", "budget": {"budget": 1, "window-ms": 1000}}


def payload_of(aset, name):
    raw = encode(aset, name, good(aset, name))
    return raw[4:struct.unpack_from("=H", raw)[0]]


def bound(attr, which):
    value = attr.get("checks", {}).get(which)
    return CONST.get(value, value)


def wrong_lengths(aset, name):
    """(what, bytes) of attributes too short and too long"""
    attr = attrs_of(aset)[name]
    kind, number = attr["type"], attr["number"]
    data = payload_of(aset, name)
    if kind in FORMATS:
        yield "too short", tlv(number, data[:-1])
        yield "too long", tlv(number, data + b"\0")
        yield "empty", tlv(number, b"")
    elif kind == "string":
        most = bound(attr, "max-len")
        yield "too long", tlv(number, b"x" * (most + 1) + b"\0")
        yield "unterminated", tlv(number, b"xyz")
        yield "empty", tlv(number, b"")
    elif kind == "binary":
        yield "too long", tlv(number, bytes((bound(attr, "max-len") or bound(attr, "exact-len")) + 1))
    elif kind == "flag":
        yield "too long", tlv(number, b"\1")
    elif kind == "nest":
        yield "too short", tlv(number | NESTED, b"\0\0")


def wrong_values(aset, name):
    """(what, bytes) of attributes out of range"""
    attr = attrs_of(aset)[name]
    if attr["type"] not in FORMATS:
        return
    low, high = bound(attr, "min"), bound(attr, "max")
    if low:
        yield "too small", encode(aset, name, low - 1)
    if high:
        yield "too large", encode(aset, name, high + 1)
    if "enum" in attr:
        entries = len(ENUM[attr["enum"]])
        flags = attr.get("enum-as-flags")
        yield "no such value", encode(aset, name, 1 << entries if flags else entries)


def wrong_flags(aset, name):
    """(what, bytes) of attributes nested wrongly"""
    attr = attrs_of(aset)[name]
    data = payload_of(aset, name)
    if attr["type"] == "nest":
        yield "not marked as a nest", tlv(attr["number"], data)
    else:
        yield "marked as a nest", tlv(attr["number"] | NESTED, data)


def wrong(aset, name):
    """All that the netlink core refuses."""
    yield from wrong_lengths(aset, name)
    yield from wrong_values(aset, name)
    yield from wrong_flags(aset, name)


def late(aset, name):
    """What the module itself refuses; the last attribute is at fault."""
    attr = attrs_of(aset)[name]
    raw = encode(aset, name, good(aset, name))
    yield "in network order", tlv(attr["number"] | BYTEORDER | (NESTED if attr["type"] == "nest" else 0),
                                  payload_of(aset, name)), 0
    if attr["type"] == "binary" and name != "numbers":
        for size in (0, 3, 5, 15):
            yield f"of {size} bytes", tlv(attr["number"], bytes(size)), 0
    if not attr.get("multi-attr"):
        yield "repeated", raw + raw, len(raw)


def unknown(aset, taken):
    """(what, bytes) of attributes that do not belong there"""
    full = SETS[SETS[aset].get("subset-of", aset)]["attributes"]
    for number, attr in enumerate(full, 1):
        if attr["name"] not in taken:
            yield f"{attr['name']}, which is not asked for", tlv(number, b"")
    yield "one number too far", tlv(len(full) + 1, b"\0\0\0\0")
    yield "number 0", tlv(0, b"")


class Bad:
    """Sends invalid messages and checks the answers."""

    def __init__(self):
        self.wire = Wire()
        self.wire.ask("limit-add", {"name": "here", "budget": {"budget": 1, "window-ms": 1000}, "sources": 64})
        self.wire.ask("exempt-add", {"address": bytes([10, 0, 0, 0]), "prefix-len": 8})
        self.wire.ask("prefix-list-add", {"name": "one", "prefix": GOOD["prefix"]})
        self.before = self.wire.all_of()
        self.faults = []
        self.sent = 0

    def refused(self, op, flags, what, head, raw, at=0):
        """head: bytes before raw; at: expected offset of the fault within raw"""
        answer = self.wire.ask(op, head + raw, flags)
        self.sent += 1
        # Offsets count from the netlink header, 20 bytes before.
        wanted = 20 + len(head) + at
        # On 6.1 the end of a dump has no offset.
        vague = answer.dumped and answer.offset is None
        if not answer.error or not answer.msg or (answer.offset != wanted and not vague):
            self.faults.append(f"{what}: {answer}, wanted an error at {wanted}")

    def done(self, name):
        """One test result for all messages since the last one."""
        if self.wire.all_of() != self.before:
            self.faults.append("the configuration has changed")
        if not self.sent:
            self.faults.append("nothing was sent")
        Tap.ok(not self.faults, f"{name} ({self.sent} messages)", *self.faults[:10])
        self.faults, self.sent = [], 0

    def attributes(self, op, flags, aset, names, wrap=lambda raw: (b"", raw, 0)):
        """Every malformed variant of the attributes, in a message."""
        for name in names:
            for what, raw in wrong(aset, name):
                head, whole, skip = wrap(raw)
                self.refused(op, flags, f"{name} {what}", head, whole, skip)
            for what, raw, at in late(aset, name):
                head, whole, skip = wrap(raw)
                self.refused(op, flags, f"{name} {what}", head, whole, skip + at)
        for what, raw in unknown(aset, names):
            head, whole, skip = wrap(raw)
            self.refused(op, flags, what, head, whole, skip)

    def nests(self, op, aset, nest, inner, names=None, **words):
        """The same for the attributes of a nest, or those of the names, after other attributes.
        A nest in another is given as outer/nest, with other attributes of outer."""
        outer, _, nest = nest.rpartition("/")
        whole = attrs_of(aset)[outer]["nested-attributes"] if outer else aset
        number = attrs_of(whole)[nest]["number"]
        head = encode_all(whole, {k.replace("_", "-"): v for k, v in words.items()})

        def wrap(raw):
            raw = tlv(number | NESTED, raw)
            if not outer:
                return head, raw, 4
            return b"", tlv(attrs_of(aset)[outer]["number"] | NESTED, head + raw), 4 + len(head) + 4

        self.attributes(op, 0, inner, names or list(attrs_of(inner)), wrap)
        self.done(f"{op}: attributes of {outer}{'/' if outer else ''}{nest} said wrongly")


def main():
    bad = Bad()
    for op, spec in OPS.items():
        for mode, flags in (("do", 0), ("dump", DUMP)):
            if mode not in spec:
                continue
            names = spec[mode].get("request", {}).get("attributes", [])
            bad.attributes(op, flags, spec["attribute-set"], names)
            bad.done(f"{op}, {mode}: attributes said wrongly")
    bad.nests("limit-add", "limit", "match", "match", name="new", budget=GOOD["budget"])
    bad.nests("limit-set", "limit", "match", "match", name="here")
    bad.nests("limit-add", "limit", "budget", "budget", ["budget", "window-ms", "unit", "slots", "mode", "burst"], name="new")
    bad.nests("limit-set", "limit", "budget", "budget", ["budget", "window-ms", "unit", "slots", "mode", "burst"], name="here")
    bad.nests("limit-add", "limit", "zone", "zone", ["name", "offset", "next-offset", "change"],
              name="new", budget={"budget": 1, "window-ms": 60000, "mode": 5})
    bad.nests("config-replace", "config", "limit", "limit-entry")
    bad.nests("config-replace", "config", "limit/match", "match", name="new", budget=GOOD["budget"])
    bad.nests("config-replace", "config", "exempt", "exempt-entry")
    bad.nests("config-replace", "config", "prefix-list", "prefix-list-entry")
    bad.nests("prefix-list-add", "prefix-list", "prefix", "prefix", name="new")
    saved = {"limit": "here", "clock_ns": 1, "tick_ns": 4000000, "prefix4": 32, "prefix6": 64, "sets": 1}
    bad.nests("source-merge", "state", "budget", "state-budget",
              [n for n in attrs_of("state-budget") if n != "pad"], **saved)
    saved["budget"] = {"budget": 1, "slots": 1, "slot-ns": 1000000000, "width": 2}
    bad.nests("source-merge", "state", "newcomers", "state-newcomers", [n for n in attrs_of("state-newcomers") if n != "pad"],
              **saved)
    bad.nests("source-merge", "state", "source", "state-source", [n for n in attrs_of("state-source") if n != "pad"], **saved)


main()
