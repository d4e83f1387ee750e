# SPDX-License-Identifier: GPL-2.0-or-later
"""fuzz_sequence.py: send sequences of requests that were made to interfere, with numbers
from the ends of their ranges, in batches. A batch begins without any limit, and its
requests follow from the seed and its number alone. Two sockets take turns, dumps stay open
while the configuration changes, and a second process charges meanwhile. Every request must
be answered as in fuzz_netlink.py, and no charge may take more than it asked for. A batch
goes on until another process, the watch, has done something, too: it has that process
write a byte for each of its commands into a file. The status is 1 if an answer was wrong, or
the watch stood still for too long, with the request on stderr."""
import argparse
import os
import random
import socket
import struct
import sys
import time

from fuzz_netlink import ASKED, Channel, Maker, judge
from wire import ACK, CMD, CONST, DUMP, ECHO, OPS, REQUEST, attrs_of, encode_all, parse

NAMES = ["a", "b", "c", "d"]
SOURCES = [socket.inet_aton(a) for a in ("10.0.0.1", "10.0.0.2", "198.51.100.7", "0.0.0.0")] + [
    socket.inet_pton(socket.AF_INET6, a) for a in ("2001:db8::1", "2001:db8:0:1::1", "::")]
STRICT, LENIENT, FIXED, BUCKET, EXACT, CALENDAR, TOTAL = range(7)
ALL, DRAIN, RESERVE = range(3)
DAY = 86400000
WINDOW, PACKETS, BYTES = CONST["window-ms-max"], CONST["packets-max"], CONST["bytes-max"]
BLOCK, BURST = CONST["block-ms-max"], CONST["burst-max"]
# More requests than a batch has by itself, without a sign of the watch
STILL = 100000
TAKEN, COST = (attrs_of("source")[name]["number"] for name in ("taken", "cost"))


class Wrong(Exception):
    """An answer that was wrong"""


class Talker(random.Random):
    """Requests by a seed, on two sockets of its own"""

    def __init__(self, seed, verbose):
        super().__init__(seed)
        self.talk, self.verbose = [Channel(), Channel()], verbose
        self.sent = self.done = 0
        self.limit = {}  # the first budget of each, as far as this process knows

    def percent(self, n):
        return self.random() * 100 < n

    def below(self, n):
        return int(self.random() * n)

    def ends(self, least, most, *others):
        """A number of a range: mostly one of its ends, or near others"""
        width = most - least
        near = [n + self.below(3) - 1 for n in others]
        n = self.choice(near + [least, least + 1, most, most - 1, most, least + (1 << self.below(64)), most - (1 << self.below(64)),
                                least + self.below(width + 1)])
        return min(max(n, least), most)

    # ---- one request ---------------------------------------------------------

    def request(self, op, words, seq, flags=0):
        dump = DUMP if "do" not in OPS[op] or flags & DUMP else 0
        raw = words if isinstance(words, bytes) else encode_all(OPS[op]["attribute-set"], words)
        return struct.pack("=IHHIIBBH", 20 + len(raw), self.talk[0].family, REQUEST | ACK | flags | dump, seq, 0, CMD[op], 1, 0) + raw

    def tell(self, op, message):
        self.sent += 1
        if self.verbose:
            print(f"{self.sent} {op} {message.hex()}", file=sys.stderr, flush=True)

    def check(self, op, message, answer, wrong):
        """Counts the answer; raises Wrong if it is."""
        fault = judge(answer, wrong, len(message))
        taken = [n for part in answer.payloads for number, value in parse(part) if number == TAKEN and op == "source-charge"
                 for n in struct.unpack("=Q", value)]
        asked = [struct.unpack("=Q", value)[0] for number, value in parse(message[20:]) if number == COST and len(value) == 8]
        if taken and max(taken) > max(asked, default=1):
            fault = f"{max(taken)} was taken"
        if fault:
            raise Wrong(f"request {self.sent}: {fault}\n{op}: {message.hex()}\n  -> {answer}, {answer.count} parts")
        self.done += not answer.error
        return taken[0] if taken else None if answer.error else 0

    def ask(self, op, words=(), flags=0):
        """Returns what was taken by a charge; None if it was refused."""
        talk, seq = self.choice(self.talk), self.getrandbits(31)
        message = self.request(op, words, seq, flags | (ECHO if self.percent(20) else 0))
        self.tell(op, message)
        answer, wrong = talk.answer(message, seq, OPS[op]["attribute-set"])
        return self.check(op, message, answer, wrong)

    # ---- what to ask for -------------------------------------------------------

    def name(self):
        return self.choice(list(self.limit) or NAMES) if self.percent(95) else self.choice(NAMES)

    def source(self):
        if self.percent(80):
            return self.choice(SOURCES)
        return (10 << 24 | self.below(1 << 16)).to_bytes(4, "big")

    def budget(self):
        """A budget of any way to count, as a dict"""
        way, unit = self.choice([*range(7), BUCKET]), int(self.percent(25))
        most = BYTES if unit else PACKETS
        words = {"mode": way, "window-ms": self.ends(CONST["window-ms-min"], WINDOW), "unit": unit}
        if way == BUCKET:
            # The largest burst is of so many budgets; a window is long.
            most = min(most, 1 << 46)
            words["budget"] = self.choice([1, self.ends(1, most)])
            words["window-ms"] = self.choice([WINDOW, words["window-ms"]])
            words["burst"] = self.choice([min(4096 * words["budget"], BURST), self.ends(1, min(4096 * words["budget"], BURST))])
        elif way == EXACT:
            words.update({"budget": self.ends(1, 56), "unit": 0})
        elif way == CALENDAR:
            words.update({"budget": self.ends(1, most), "window-ms": self.choice([60000, 3600000, DAY, 7 * DAY, 30 * DAY])})
        elif way == TOTAL:
            words.update({"budget": self.ends(1, most), "window-ms": 0, "mode": self.choice([STRICT, LENIENT, FIXED])})
        else:
            words["budget"] = self.ends(1, most, 1 << 16, 1 << 32)
        if way not in (BUCKET, EXACT) and self.percent(10):
            words["alone"] = self.ends(0, words["budget"])
        if way in (STRICT, LENIENT) and self.percent(50):
            words["slots"] = self.ends(1, CONST["slots-max"])
        return words

    def zone(self):
        far, now = CONST["zone-offset-max"], int(time.time())
        zone = {"name": "Some/Where", "offset": self.ends(-far, far, 0)}
        if self.percent(60):
            zone.update({"next-offset": self.ends(-far, far, 0), "change": self.ends(-(1 << 63), (1 << 63) - 1, now, now + 1, 0)})
        return zone

    def budgets(self):
        """One to four of them, as attributes of a limit, and the first one"""
        first = self.budget()
        more = [self.budget() for _ in range(self.choice([0, 0, 0, 1, 1, 2, 3]))]
        pairs = [("budget", words) for words in (first, *more)]
        if any(words["mode"] == CALENDAR for words in (first, *more)) and self.percent(70):
            pairs.append(("zone", self.zone()))
        return pairs, first

    def others(self):
        """Some of a limit's other attributes"""
        pairs = []
        if self.percent(30):
            pairs += [("newcomers", self.ends(0, PACKETS, 5)), ("newcomers-ms", self.ends(CONST["window-ms-min"], WINDOW))]
            if self.percent(50):
                pairs += [("flood", self.ends(1, 100000)), ("known-ms", self.ends(CONST["known-ms-min"], CONST["known-ms-max"]))]
        if self.percent(30):
            pairs.append(("penalty-ms", self.ends(0, BLOCK, CONST["block-ms-min"])))
            pairs += [("renew", True)] if self.percent(30) else []
        if self.percent(20):
            pairs.append(("action", self.below(2)))
        if self.percent(20):
            pairs.append(("sharing", self.below(2)))
            self.ask("limit-join", [("name", self.name()), ("joined-ms", self.ends(0, CONST["joined-ms-max"], 1))])
        if self.percent(20):
            pairs.append(("log", self.ends(0, 65535, 5)))
        return pairs

    def whole(self, name):
        """A whole limit"""
        pairs, first = self.budgets()
        self.limit[name] = first
        pairs = [("name", name)] + pairs + [("sources", self.ends(64, 4096))] + self.others()
        if self.percent(40):
            pairs += [("prefix4", self.choice([0, 8, 24, 32])), ("prefix6", self.choice([0, 48, 64, 128]))]
        return pairs

    def exempt(self):
        pairs = [("address", self.source())]
        pairs += [("prefix-len", self.choice([0, 8, 24, 32, 64, 128]))] if self.percent(50) else []
        return pairs + ([("limit", self.name())] if self.percent(30) else [])

    # ---- steps: short sequences -----------------------------------------------------

    def charge(self, name, address, cost, mode):
        words = [("address", address), ("cost", cost), ("charge-mode", mode)]
        return self.ask("source-charge", words + ([("limit", name)] if name else []))

    def to_the_end(self):
        """Charge a source until nothing is left, also of what it may send later."""
        name, address = self.name(), self.source()
        known = self.limit.get(name, {})
        most = known.get("burst", known.get("budget", 1))
        cost = self.choice([most, most, self.ends(1, (1 << 64) - 1, most), self.ends(1, most)])
        if known.get("mode") == BUCKET:
            modes = self.choice([(RESERVE, ALL), (RESERVE, DRAIN), (ALL, RESERVE, ALL), (DRAIN, RESERVE, DRAIN, ALL)])
        else:
            modes = self.choice([(DRAIN,), (ALL, DRAIN, ALL), (RESERVE, ALL)])
        for mode in modes:
            for _ in range(8):
                if not self.charge(name if self.percent(90) else None, address, cost, mode):
                    break
        self.ask("source-get", [("address", address)])

    def fill(self):
        """More sources than a small table has"""
        name, base, cost = self.name(), self.getrandbits(24), self.ends(1, 1 << 16)
        for n in range(self.choice([10, 100, 300])):
            self.charge(name, (10 << 24 | (base + n) % (1 << 24)).to_bytes(4, "big"), cost, DRAIN)

    def look(self):
        op, words = self.choice([
            ("limit-get", [("want-stats", True)]), ("stats-get", []), ("exempt-get", [("want-stats", True)]),
            ("source-show", [("idle", True)]), ("source-show", [("top", self.ends(1, CONST["top-max"])), ("rank", self.below(2))]),
            ("source-show", [("filter-limited", True)]), ("source-show", [("filter-blocked", True)]),
            ("source-show", [("address", self.source())]), ("source-get", [("address", self.source()), ("limit", self.name())])])
        self.ask(op, words, DUMP if op != "stats-get" else 0)

    def add(self):
        name = self.choice(NAMES)
        if name not in self.limit or self.percent(20):
            self.ask("limit-add", self.whole(name))

    def set(self):
        """Another way to count, or other attributes"""
        name = self.name()
        pairs, first = self.budgets() if self.percent(70) else ([], None)
        if self.ask("limit-set", [("name", name)] + pairs + self.others()) is not None and first:
            self.limit[name] = first

    def raise_or_lower(self):
        """The same way to count, with another number"""
        name = self.name()
        words = dict(self.limit.get(name) or self.budget())
        words["budget"] = self.ends(1, BYTES if words["unit"] else PACKETS, words["budget"], 2 * words["budget"])
        if words["window-ms"] and words["mode"] != CALENDAR and self.percent(50):
            words["window-ms"] = self.ends(CONST["window-ms-min"], WINDOW, words["window-ms"])
        if self.ask("limit-set", [("name", name), ("budget", words)]) is not None:
            self.limit[name] = words

    def dumps_open(self):
        """Dumps that are read when the configuration is another one"""
        dumps = []
        for _ in range(1 + self.below(3)):
            talk, seq = Channel(), self.getrandbits(31)
            op, words = self.choice([("source-show", [("idle", True)]), ("source-show", [("limit", self.name()), ("top", 1000)]),
                                     ("limit-get", []), ("exempt-get", [])])
            message = self.request(op, words, seq, DUMP)
            self.tell(op, message)
            talk.sock.send(message)
            dumps.append((talk, op, message, seq))
        for _ in range(self.below(4)):
            self.choice([self.set, self.raise_or_lower, self.delete, self.replace, self.to_the_end, self.forget])()
        for talk, op, message, seq in dumps:
            if self.percent(80):
                answer, wrong = talk.rest(seq, OPS[op]["attribute-set"])
                self.check(op, message, answer, wrong)
            talk.sock.close()

    def block(self):
        address = self.source()
        words = [("address", address), ("for-ms", self.choice([0, self.ends(CONST["block-ms-min"], BLOCK)]))]
        words += [("limit", self.name())] if self.percent(50) else []
        words += [("replace", True)] if self.percent(50) else []
        self.ask("source-block", words)
        self.charge(self.name(), address, 1, self.below(3))
        if self.percent(50):
            self.ask("source-release", [("address", address)])
            self.charge(self.name(), address, 1, self.below(3))

    def block_many(self):
        """As many sources as may be blocked, and more"""
        name, base = self.name(), self.getrandbits(24)
        for n in range(self.choice([20, 80, 160])):
            address = (10 << 24 | (base + n) % (1 << 24)).to_bytes(4, "big")
            self.ask("source-block", [("address", address), ("for-ms", 0), ("limit", name)])

    def forget(self):
        words = [("limit", self.name())] if self.percent(60) else []
        if not words or self.percent(60):
            words += [("address", self.source())] + ([("prefix-len", self.choice([0, 8, 24]))] if self.percent(50) else [])
        self.ask("source-forget", words)

    def exempts(self):
        pairs = self.exempt()
        self.ask("exempt-add", pairs)
        self.ask("exempt-get", [pairs[0]])
        if self.percent(60):
            self.ask("exempt-del", pairs)

    def lists(self):
        """A list that changes while limits use it"""
        name = self.choice(NAMES)

        def prefixes():
            budget = {"budget": self.ends(1, PACKETS)} if self.percent(50) else {}
            return [("prefix", {"address": self.source(), "len": self.choice([24, 32]), **budget} if self.percent(80) else
                     {"address": bytes(4), "len": 0, **budget}) for _ in range(1 + self.below(5))]
        self.ask(self.choice(["prefix-list-add", "prefix-list-set"]), [("name", name)] + prefixes())
        if self.percent(60):
            self.ask("limit-set", [("name", self.name()), ("match", {"invert": 0x1000 * self.below(2), "from-list": name})])
        if self.percent(60):
            self.ask("limit-set", [("name", self.name()), ("budgets-by", self.choice([name, "none"]))])
        if self.percent(30):
            self.ask("prefix-list-del", [("name", name)] + (prefixes() if self.percent(50) else []))
        self.ask("prefix-list-get", [("name", name)] if self.percent(50) else [], DUMP)

    def replace(self):
        """A whole configuration: of some of the same limits, and others"""
        names = [n for n in NAMES if self.percent(60)]
        was = dict(self.limit)
        pairs = [("limit", self.whole(name)) for name in names] + [("exempt", self.exempt()) for _ in range(self.below(4))]
        pairs += [("prefix-list", {"name": n, "prefix": {"address": self.source()}}) for n in NAMES if self.percent(20)]
        add, check = self.percent(20), self.percent(20)
        pairs += [("add", True)] * add + [("check", True)] * check
        if self.ask("config-replace", pairs) is None or check:
            self.limit = was
        elif not add:
            self.limit = {n: w for n, w in self.limit.items() if n in names}

    def delete(self):
        name = self.name()
        if self.ask("limit-del", [("name", name)]) is not None:
            self.limit.pop(name, None)

    def flush(self):
        self.ask(self.choice(["limit-flush", "exempt-flush"]))

    def any(self):
        """Any message of fuzz_netlink.py"""
        made, seq = Maker(self.getrandbits(32), self.getrandbits(32)), self.getrandbits(31)
        message = made.message(self.talk[0].family, seq, ASKED)
        self.tell(made.op, message)
        talk = self.choice(self.talk)
        answer, wrong = talk.answer(message, seq, OPS[made.op]["attribute-set"])
        if made.sound:
            self.check(made.op, message, answer, wrong)

    def step(self, charges_only=False):
        steps = [(self.to_the_end, 30), (self.look, 8), (self.fill, 2)]
        if not charges_only:
            steps += [(self.add, 8), (self.set, 12), (self.raise_or_lower, 8), (self.dumps_open, 6), (self.block, 6), (self.block_many, 1),
                      (self.forget, 4), (self.exempts, 4), (self.lists, 4), (self.replace, 4), (self.delete, 2), (self.flush, 0.3), (self.any, 8)]
        self.choices([s for s, _ in steps], [weight for _, weight in steps])[0]()


def beside(args, number, stop):
    """The second process: charges and looks until the pipe is closed."""
    os.close(stop[1])
    os.set_blocking(stop[0], False)
    other = Talker(args.seed << 65 | number << 1 | 1, False)
    other.limit = dict.fromkeys(NAMES, {"budget": 1 << other.below(34)})
    try:
        while True:
            try:
                os.read(stop[0], 1)
                os._exit(0)
            except BlockingIOError:
                other.step(True)
    except Wrong as wrong:
        print(f"seed {args.seed}, batch {number}, second process: {wrong}", file=sys.stderr, flush=True)
    os._exit(1)


def batch(args, number):
    """Returns how many requests were sent, how many of them were done, and what the watch did."""
    talker = Talker(args.seed << 65 | number << 1, args.verbose)

    def watched():
        return os.fstat(args.watch).st_size if args.watch is not None else args.signs

    begin = watched() if args.watch is not None else 0
    talker.ask("limit-flush")
    talker.ask("exempt-flush")
    for _ in range(2):
        talker.add()
    stop = os.pipe()
    pid = os.fork()
    if not pid:
        beside(args, number, stop)
    os.close(stop[0])
    try:
        steps = 0
        while steps < args.steps or watched() - begin < args.signs:
            talker.step()
            steps += 1
            if talker.sent > STILL:
                raise Wrong(f"{watched() - begin} commands of the watch in {talker.sent} requests")
    except Wrong as wrong:
        print(f"seed {args.seed}, batch {number}: {wrong}", file=sys.stderr, flush=True)
        talker = None
    os.close(stop[1])
    status = os.waitpid(pid, 0)[1]
    return (talker.sent, talker.done, watched() - begin) if talker and not status else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", dest="seed", type=int, default=1, help="of all batches")
    parser.add_argument("-n", dest="count", type=int, default=10, help="batches")
    parser.add_argument("-f", dest="first", type=int, default=0, help="number of the first: none depends on another")
    parser.add_argument("-l", dest="steps", type=int, default=40, help="length of a batch at least, in steps")
    parser.add_argument("-w", dest="watch", type=int, help="descriptor of the watch's file")
    parser.add_argument("-p", dest="signs", type=int, default=0, help="bytes that the watch writes in each batch at least")
    parser.add_argument("-v", dest="verbose", action="store_true", help="print each request before it is sent")
    args = parser.parse_args()
    sent = done = signs = 0
    for number in range(args.first, args.first + args.count):
        told = batch(args, number)
        if not told:
            sys.exit(1)
        sent, done, signs = sent + told[0], done + told[1], signs + told[2]
        print(f"batch {number}: sent={sent} done={done} watched={signs}", flush=True)


main()
