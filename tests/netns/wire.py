# SPDX-License-Identifier: GPL-2.0-or-later
"""wire.py: build and parse messages byte by byte, by the names of the specification,
for tests that send what no library would.
"""
import contextlib
import functools
import os
import pathlib
import re
import socket
import struct

import yaml

TOP = pathlib.Path(__file__).resolve().parents[2]
SPEC = yaml.load((TOP / "Documentation/netlink/specs/weir.yaml").read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))

REQUEST, ACK, ECHO, DUMP = 1, 4, 8, 0x300
NESTED, BYTEORDER = 0x8000, 0x4000
ERROR, DONE = 2, 3
ACK_TLVS, CAPPED = 0x200, 0x100
GENL_CTRL, SOL_NETLINK = 0x10, 270
FORMATS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "s32": "i", "s64": "q"}

SETS = {s["name"]: s for s in SPEC["attribute-sets"]}
OPS = {op["name"]: op for op in SPEC["operations"]["list"]}
CMD = {op["name"]: i for i, op in enumerate(SPEC["operations"]["list"], 1)}
CONST = {d["name"]: d["value"] for d in SPEC["definitions"] if d["type"] == "const"}
ENUM = {d["name"]: d["entries"] for d in SPEC["definitions"] if d["type"] != "const"}


@functools.cache
def attrs_of(name):
    """The attributes of a set by name, each with its number; in a subset, the
    number in its superset."""
    aset = SETS[name]
    full = SETS[aset.get("subset-of", name)]
    all_of = {a["name"]: dict(a, number=i) for i, a in enumerate(full["attributes"], 1)}
    return {a["name"]: all_of[a["name"]] for a in aset["attributes"]}


def tlv(number, payload):
    raw = struct.pack("=HH", len(payload) + 4, number) + payload
    return raw + bytes(-len(raw) % 4)


def encode(aset, name, value):
    """An attribute by name. Its value is a number, text, bytes, True, or for a
    nest a dict or a list of pairs."""
    attr = attrs_of(aset)[name]
    kind = attr["type"]
    if kind == "nest":
        return tlv(attr["number"] | NESTED, encode_all(attr["nested-attributes"], value))
    if kind == "string":
        value = value.encode() + b"\0"
    elif kind == "flag":
        value = b""
    elif kind in FORMATS:
        value = struct.pack("=" + FORMATS[kind], value)
    return tlv(attr["number"], value)


def encode_all(aset, values):
    """A sequence of attributes. A value that is a function is called with the set
    and the name, and returns the encoded attribute."""
    pairs = values.items() if isinstance(values, dict) else values
    return b"".join(v(aset, k) if callable(v) else encode(aset, k, v) for k, v in pairs)


def parse(raw):
    """[(number without flags, payload)]"""
    found, at = [], 0
    while at + 4 <= len(raw):
        size, number = struct.unpack_from("=HH", raw, at)
        if size < 4:
            break
        found.append((number & 0x3fff, raw[at + 4:at + size]))
        at += (size + 3) & ~3
    return found


class Answer:
    """error, msg, offset, miss, nest (where that is missing), cookie of the
    message that ends an answer, whether it ends a dump, and how many messages
    came before it"""

    def __init__(self):
        self.error = self.count = self.flags = 0
        self.dumped = False
        self.msg = self.offset = self.miss = self.nest = self.cookie = None
        self.payloads = []

    def end(self, flags, raw, start):
        """raw: an NLMSG_ERROR or NLMSG_DONE; start: offset of its attributes"""
        self.error = -struct.unpack_from("=i", raw)[0]
        if not flags & ACK_TLVS:
            return
        for number, value in parse(raw[start:]):
            if number == 1:
                self.msg = value.rstrip(b"\0").decode()
            elif number == 2:
                self.offset = struct.unpack("=I", value)[0]
            elif number == 3:
                self.cookie = struct.unpack_from("=Q", value)[0]
            elif number == 5:
                self.miss = struct.unpack("=I", value)[0]
            elif number == 6:
                self.nest = struct.unpack("=I", value)[0]

    def __repr__(self):
        return (f"{os.strerror(self.error) if self.error else 'done'}: {self.msg}"
                f" (offset {self.offset}, missing {self.miss} in {self.nest}, value {self.cookie})")


class Wire:
    """A socket in the namespace of the process."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 << 20)
        with contextlib.suppress(PermissionError):
            self.sock.setsockopt(socket.SOL_SOCKET, 32, 8 << 20)  # SO_SNDBUFFORCE
        self.sock.setsockopt(SOL_NETLINK, 11, 1)  # extended ACKs
        self.sock.setsockopt(SOL_NETLINK, 10, 1)  # NETLINK_CAP_ACK
        self.sock.settimeout(20)
        self.seq = 0
        self.family = self.group = None
        family = self.talk(GENL_CTRL, 3, tlv(2, b"weir\0"))
        for number, value in parse(family.payloads[0]):
            if number == 1:
                self.family = struct.unpack("=H", value)[0]
            elif number == 7:
                groups = dict(parse(parse(value)[0][1]))
                self.group = struct.unpack("=I", groups[2])[0]

    def talk(self, kind, cmd, payload, flags=0, version=1, reserved=0):
        self.seq += 1
        raw = struct.pack("=BBH", cmd, version, reserved) + payload
        head = struct.pack("=IHHII", 16 + len(raw), kind, REQUEST | ACK | flags, self.seq, 0)
        self.sock.send(head + raw)
        answer = Answer()
        while True:
            part, at = self.sock.recv(1 << 20), 0
            while at + 16 <= len(part):
                size, kind_, flags_, seq, _ = struct.unpack_from("=IHHII", part, at)
                body = part[at + 16:at + size]
                at += (size + 3) & ~3
                if seq != self.seq:
                    continue
                answer.flags |= flags_
                if kind_ == ERROR:
                    answer.end(flags_, body, 20)
                    return answer
                if kind_ == DONE:
                    answer.dumped = True
                    answer.end(flags_, body, 4)
                    return answer
                answer.count += 1
                answer.payloads.append(body[4:])

    def ask(self, op, payload=b"", flags=0, **header):
        """Request an operation by its name; a dump if it supports nothing else.
        payload: bytes, or attributes to encode."""
        if not isinstance(payload, bytes):
            payload = encode_all(OPS[op]["attribute-set"], payload)
        if "do" not in OPS[op]:
            flags |= DUMP
        return self.talk(self.family, CMD[op], payload, flags, **header)

    def all_of(self):
        """The whole configuration, to compare: without what time changes, which is how long
        a limit still learns, and exemptions that end."""
        learning, ends = (struct.pack("=HH", 12, attrs_of(aset)[name]["number"])
                          for aset, name in (("limit", "learning-ns"), ("exempt", "for-ms")))
        limits = self.ask("limit-get", flags=DUMP).payloads
        exempts = self.ask("exempt-get", flags=DUMP).payloads
        lists = self.ask("prefix-list-get", flags=DUMP).payloads
        return (lists, [re.sub(re.escape(learning) + b".{8}", b"", limit, flags=re.DOTALL) for limit in limits],
                [exempt for exempt in exempts if ends not in exempt])


class Tap:
    """Lines of TAP for the shell to number."""

    @staticmethod
    def ok(good, name, *detail):
        """One result; detail is printed if it failed."""
        print(("ok - " if good else "not ok - ") + name, flush=True)
        if not good:
            for line in detail:
                print("#", line, flush=True)
        return good
