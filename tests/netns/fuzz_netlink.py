# SPDX-License-Identifier: GPL-2.0-or-later
"""fuzz_netlink.py: send random messages, generated from the specification, and check the
answers. Every message must be answered: done, or refused with a sentence and without a
change. The answers to some are not awaited. The last line has the counts; the status is
1 if an answer was wrong, with the message on stderr."""
import argparse
import collections
import errno
import os
import random
import socket
import struct
import sys

from wire import (ACK, BYTEORDER, CMD, CONST, DONE, DUMP, ECHO, ENUM, ERROR, FORMATS, NESTED, OPS, REQUEST, SETS, Answer,
                  Wire, attrs_of, tlv)

ASKED = [op for op, spec in OPS.items() if "event" not in spec]
ADDING = [op for op in ASKED if op.endswith("-add")]
ATTRS = {name: list(attrs_of(name).values()) for name in SETS}
NUMBERED = {name: {attr["number"]: attr for attr in attrs} for name, attrs in ATTRS.items()}
# The errors in a message: in values; in lengths, types and places of attributes; in any byte.
MOODS = ["good"] * 4 + ["values"] * 3 + ["attrs"] * 2 + ["bytes"]
FULL = 20480  # bytes; then no more attributes are added: the largest one still fits

# Few names, and prefixes of the floods, so that operations and packets interact.
LIMITS, DEVS = ["a", "b", "c", "d", "default"], ["rx0", "lo", "eth9", "tx0"]
ODD_NAMES = ["", " ", "a b", "-a", ".", "..", "a/b", "\n", "\udcff\udcfe", "%s%n", "a:1", "0123456789" * 3 + "0",
             "0123456789" * 3 + "01", "é"]
ADDRESSES = [socket.inet_aton(a) for a in ("10.0.0.0", "198.51.100.0", "0.0.0.0", "169.254.0.1")] + [
    socket.inet_pton(socket.AF_INET6, a) for a in ("2001:db8::", "fe80::1", "::", "2001:db8::1")]
LENGTHS, PROTOS = [0, 8, 24, 32, 32, 64, 128], [6, 17, 6, 17, 1, 58]
# Valid combinations of conditions.
TOGETHER = [set(words.split()) for words in (
    "proto dport", "proto sport dport", "proto dport invert", "proto syn", "dev", "from", "to", "family", "frag",
    "mark mark-mask", "mark", "proto invert", "from to", "from-list", "to-list invert", "from from-list to-list", "icmp-type", "icmpv6-type invert", "proto icmp-type")]


def span(attr):
    checks = {k: CONST.get(v, v) for k, v in attr.get("checks", {}).items()}
    most = (1 << 8 * struct.calcsize(FORMATS[attr["type"]])) - 1
    if "enum" in attr:
        entries = len(ENUM[attr["enum"]])
        most = (1 << entries) - 1 if attr.get("enum-as-flags") else entries - 1
    return checks.get("min", 0), checks.get("max", most)
# What a request may have of a set that answers are made of, too.
WORDS = {"budget": ["budget", "window-ms", "unit", "slots", "mode", "burst"]}


class Maker(random.Random):
    """A random message, by the seed and its number"""

    def __init__(self, seed, number):
        super().__init__(seed << 64 | number)
        self.mood = self.choice(MOODS)
        self.depth = self.size = 0
        self.sound = True  # the headers were left alone

    def percent(self, n):
        return self.random() * 100 < n

    def below(self, n):
        return int(self.random() * n)

    def name(self, attr):
        if self.mood != "good" and self.percent(20):
            text = self.choice(ODD_NAMES)
        else:
            text = self.choice(DEVS if attr["name"] == "dev" else LIMITS)
        return text.encode(errors="surrogateescape") + b"\0"

    def address(self):
        """A known address, one near it, or any bytes"""
        raw = self.choice(ADDRESSES)
        if self.op in ("source-block", "source-release") and self.percent(80):
            # so that blocks are there to be released
            return ADDRESSES[0]
        if self.percent(20):
            raw = raw[:-1] + bytes([self.below(4)])
        elif self.percent(10):
            some = self.below(len(raw) + 1)
            raw = self.randbytes(some) + raw[some:]
        if self.mood != "good" and self.percent(10):
            raw = (raw + bytes(16))[:self.below(20)]
        return raw

    def number(self, attr):
        """A number: small, near a bound, or any"""
        name, (least, most) = attr["name"], span(attr)
        for ends, common in (("len", LENGTHS), ("proto", PROTOS), ("family", [2, 10])):
            if name.endswith(ends) and self.percent(80):
                return self.choice(common)
        # Of a saved state, what makes it one of a limit.
        usual = {"prefix4": [32], "prefix6": [64], "width": [2, 4, 8], "slots": range(1, 16), "mode": [0, 0, 1, 3, 4],
                 "sets": [1, 4, 64], "slot-ns": [4000000, 1000000000], "phase-ns": [0, 4000000]}
        if self.op == "source-merge" and name in usual and self.percent(90):
            return self.choice(usual[name])
        width = most - least
        # Large tables take the kernel time to clear.
        if name == "sources" and self.below(500):
            width = 4096
        elif name == "flood":
            width = 100000
        elif name.endswith("window-ms") and self.percent(70):
            width = 4000
        elif name == "budget" and self.percent(80):
            width = (1 << 32) - 2
        if self.percent(30 if self.mood == "values" else 1):
            return self.choice([least - 1, most + 1, self.getrandbits(64), 1 << self.below(64)])
        # Half of them from the ends, where conversions overflow.
        if self.percent(50):
            return least + self.choice([0, min(1, width), width, max(width - 1, 0), min(1 << self.below(64), width)])
        # All bit lengths of the others are equally likely.
        return least + self.choice([0, width] + 4 * [(self.getrandbits(64) >> self.below(64)) % (width + 1)])

    def value(self, attr):
        kind = attr["type"]
        if kind in FORMATS:
            size = struct.calcsize(FORMATS[kind])
            return (self.number(attr) & (1 << 8 * size) - 1).to_bytes(size, sys.byteorder)
        if kind == "nest":
            return self.attributes(attr["nested-attributes"], WORDS.get(attr["nested-attributes"]))
        if attr["name"] == "numbers":
            return b"".join(self.below(4).to_bytes(2, sys.byteorder) for _ in range(4 * self.below(5)))
        if attr["name"] == "hash-key":
            return bytes(16)
        return {"string": lambda: self.name(attr), "binary": self.address}.get(kind, bytes)()

    def spoiled(self, raw):
        size, number = struct.unpack_from("=HH", raw)
        size, number = self.choice([
            (self.below(5), number), (size + self.below(12), number), (size - self.below(5), number),
            (size, number ^ NESTED), (size, number ^ BYTEORDER), (size, self.below(40)), (self.getrandbits(16), number)])
        return struct.pack("=HH", size & 0xffff, number) + raw[4:]

    def attribute(self, attr):
        """An attribute, as the specification says or not"""
        odd, nest = self.mood == "attrs", attr["type"] == "nest"
        number = attr["number"] | (NESTED if nest else 0)
        if odd and nest and self.percent(10):
            raw = b""
            for _ in range(2 + self.below(60)):
                raw = tlv(number, raw)
            return raw
        value = self.value(attr)
        if odd and self.percent(5):
            value += bytes(self.below(9000 if self.percent(5) else 20))
        raw = tlv(number, value)
        return self.spoiled(raw) if odd and self.percent(20) else raw

    def likely(self, attr, wanted):
        """Its probability in percent: required attributes nearly always, others sometimes."""
        name = attr["name"]
        if wanted:
            return 100 if name in wanted else 0
        vital = ("name", "budget", "window-ms", "address", "sources", "first", "for-ms", "prefix")
        if self.op == "source-merge":
            vital += ("limit", "clock-ns", "tick-ns", "prefix4", "prefix6", "sets", "slots", "width", "slot-ns", "count",
                      "numbers", "source")
        return 93 if name in vital else {"limit": 50, "before": 5}.get(name, 20)

    def attributes(self, aset, taken):
        odd, raw = self.mood == "attrs", b""
        if self.depth == 8:
            return raw
        self.depth += 1
        wanted = self.choice(TOGETHER) if aset == "match" and self.percent(80) else None
        attrs = ATTRS[aset]
        start = self.below(len(attrs) + 1) if odd else 0
        for attr in attrs[start:] + attrs[:start]:
            times = int(self.percent(self.likely(attr, wanted)))
            if attr.get("multi-attr") and times:
                times = self.below(300 if self.percent(3) else 5)
                if attr["name"] in ("budget", "count") and self.percent(80):
                    times = 2 if aset == "state-newcomers" else 1
            if taken is not None and attr["name"] not in taken:
                times = int(odd and self.percent(2))
            elif odd and self.percent(10):
                times = self.below(3)
            for _ in range(times):
                if self.size < FULL:
                    more = self.attribute(attr)
                    self.size += len(more) if self.depth == 1 else 0
                    raw += more
        if odd and self.percent(5):
            raw += tlv(self.below(100), bytes(self.below(10)))
        self.depth -= 1
        return raw

    def spoiled_bytes(self, raw):
        raw = bytearray(raw)
        for _ in range(1 + self.below(6)):
            if not raw:
                break
            at = self.below(len(raw))
            how = self.below(4)
            if how == 0:
                raw[at] ^= 1 << self.below(8)
            elif how == 1:
                raw[at] = self.below(256)
            elif how == 2:
                del raw[at:]
            else:
                raw += raw[at:at + (self.below(len(raw) - at) & ~3)]
        return bytes(raw)

    def message(self, family, seq, ops):
        """The message of one of these operations; which in self.op, whether it asks for a dump in self.dump"""
        self.op = self.choice(ops)
        # Rarely remove everything, so that there are objects to operate on.
        if ("flush" in self.op or "replace" in self.op) and self.percent(85):
            self.op = self.choice(ASKED[:2])
        spec = OPS[self.op]
        self.dump = "do" not in spec or ("dump" in spec and self.percent(40))
        taken = spec["dump" if self.dump else "do"].get("request", {}).get("attributes", [])
        raw = self.attributes(spec["attribute-set"], taken)
        flags = REQUEST | ACK | (DUMP if self.dump else 0) | (ECHO if self.percent(20) else 0)
        if self.mood == "bytes":
            raw = self.spoiled_bytes(raw)
        head = {"size": 20 + len(raw), "flags": flags, "cmd": CMD[self.op], "version": 1, "reserved": 0}
        if self.mood == "bytes" and self.percent(40):
            self.sound = False
            size = head["size"]
            key, value = self.choice([
                ("size", self.below(64)), ("size", size + self.below(32)), ("size", max(size - self.below(32), 0)),
                ("flags", self.getrandbits(16)), ("cmd", self.below(40)), ("version", self.getrandbits(8)),
                ("reserved", self.below(3))])
            head[key] = value
        return struct.pack("=IHHIIBBH", head["size"], family, head["flags"], seq, 0, head["cmd"], head["version"],
                           head["reserved"]) + raw


def wrong_attrs(raw, aset):
    """How an answer contradicts the specification, or nothing."""
    while len(raw) >= 4:
        size, number = struct.unpack_from("=HH", raw)
        if size < 4 or size > len(raw):
            break
        value, raw = raw[4:size], raw[(size + 3) & ~3:]
        attr = NUMBERED[aset].get(number & 0x3fff)
        if not attr:
            return "an answer has an unknown attribute"
        checks, kind = attr.get("checks", {}), attr["type"]
        most = checks.get("max-len", checks.get("exact-len", 0))
        most = CONST.get(most, most)
        if kind in FORMATS and len(value) != struct.calcsize(FORMATS[kind]):
            return f"{attr['name']} has a wrong length in an answer"
        if kind == "string" and (value.find(b"\0") != len(value) - 1 or len(value) > most + 1 or not value):
            return f"{attr['name']} is no string in an answer"
        if kind == "binary" and len(value) > most or kind in ("flag", "pad") and value:
            return f"{attr['name']} is too long in an answer"
        if kind == "nest":
            wrong = wrong_attrs(value, attr["nested-attributes"]) if number & NESTED else "a nest is not marked"
            if wrong:
                return wrong
    return "an answer ends in bytes that are no attribute" if raw else ""


class Channel(Wire):
    """The kernel executes a message before send() returns, and produces the next part of a
    dump before recv() returns. So an answer is complete when nothing is left to read, and
    no call needs to block."""

    def __init__(self):
        super().__init__()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.sock.settimeout(None)

    def answer(self, message, seq, aset):
        """Send it; returns the answer, and the error in it"""
        self.sock.send(message)
        return self.rest(seq, aset)

    def rest(self, seq, aset):
        """The answer to what was sent, and the error in it"""
        answer, ended, wrong = Answer(), False, ""
        while True:
            try:
                part = self.sock.recv(1 << 17, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return answer, wrong or ("" if ended else "no answer")
            while len(part) >= 16:
                size, kind, flags, to, _ = struct.unpack_from("=IHHII", part)
                body, part = part[16:size], part[(size + 3) & ~3:]
                if to != seq:
                    wrong = "an answer to what was not asked"
                elif kind in (ERROR, DONE):
                    # A dump's end is followed by an ACK.
                    if not ended or kind == DONE or body[:4] != bytes(4):
                        answer.end(flags, body, 4 if kind == DONE else 20)
                    ended = True
                elif kind != self.family:
                    wrong = "an answer is of another family"
                else:
                    answer.count += 1
                    answer.payloads.append(body[4:])
                    wrong = wrong or wrong_attrs(body[4:], aset)


def judge(answer, wrong, size):
    """The error in an answer to a message of that size, or nothing."""
    if wrong:
        return wrong
    # These need no sentence.
    if answer.error and not answer.msg and answer.error not in (errno.EPERM, errno.EOPNOTSUPP):
        return "refused without a sentence"
    if answer.error not in errno.errorcode and answer.error:
        return "no such error"
    return "the fault is pointed at behind the message" if (answer.offset or 0) >= size else ""


def run(args):
    """Send all messages; print how often each operation was done and refused, and messages
    with a wrong answer."""
    talk, look = Channel(), Channel()
    done, refused, errors, tally = (collections.Counter() for _ in range(4))
    last, ops = args.first + args.count, ASKED
    for n in range(args.first, last + args.more):
        if n >= last:
            # What can be published another message has to hold.
            missing = [op for op in ASKED if not done[op] and op != "config-publish"]
            if not missing:
                break
            ops = missing + ADDING
        made = Maker(args.seed, n)
        message = made.message(talk.family, n, ops)
        compare = not args.others and not made.below(8)
        if not made.below(100):
            talk.sock.send(message)
            talk = Channel()
            continue
        before = look.all_of() if compare else None
        answer, wrong = talk.answer(message, n, OPS[made.op]["attribute-set"])
        fault = judge(answer, wrong, len(message)) if made.sound else ""
        if not fault and args.reader and made.sound and not answer.error and "uns-admin-perm" in OPS[made.op].get("flags", []):
            fault = "a reader may do that"
        if not fault and compare and (args.reader or (answer.error and made.sound)):
            tally["compared"] += 1
            fault = "" if look.all_of() == before else "refused, and the configuration has changed"
        if fault or args.verbose:
            print(f"seed {args.seed}, message {n}: {fault}\n{made.op}{' (dump)' if made.dump else ''}: {message.hex()}\n"
                  f"  -> {answer}, {answer.count} parts", file=sys.stderr)
        if fault:
            return 1
        if wrong:
            tally["silent"] += 1
        elif answer.error:
            refused[made.op] += 1
            errors[answer.error] += 1
        elif made.sound:
            done[made.op] += 1
    for op in ASKED:
        print(f"{op:15} {done[op]:8} done {refused[op]:8} refused")
    for error, times in sorted(errors.items()):
        print(f"{times:8} {os.strerror(error)}")
    print(f"seed={args.seed} done={done.total()} refused={refused.total()} silent={tally['silent']} compared={tally['compared']}")
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", dest="seed", type=int, default=1, help="of the lot")
    parser.add_argument("-n", dest="count", type=int, default=1000, help="messages")
    parser.add_argument("-m", dest="more", type=int, default=0, help="at most so many more, of operations that were not done yet")
    parser.add_argument("-f", dest="first", type=int, default=0, help="number of the first")
    parser.add_argument("-r", dest="reader", action="store_true", help="a reader: may change nothing")
    parser.add_argument("-o", dest="others", action="store_true", help="others change the configuration: it is not compared")
    parser.add_argument("-v", dest="verbose", action="store_true", help="print each message and its answer")
    sys.exit(run(parser.parse_args()))


if __name__ == "__main__":
    main()
