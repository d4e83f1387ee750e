# SPDX-License-Identifier: GPL-2.0-or-later
"""fault_config.py slab|rest|call: every operation, with each of its faults in
turn: an error with a sentence and no change, or success."""
import collections
import errno
import socket
import sys

from fault import Call, Slab, Trial
from wire import DUMP, ECHO, OPS, Tap, Wire, attrs_of, encode_all, parse

HOUR = 3600000
WEB = {"name": "web", "budget": {"budget": 100, "window-ms": HOUR, "slots": 4}, "sources": 64,
       "match": {"proto": 6, "dport": {"first": 443}}}
MAIL = {"name": "mail", "budget": {"budget": 100000, "window-ms": HOUR, "slots": 4, "unit": 1}, "sources": 64}
NEW = {"name": "new", "budget": {"budget": 5, "window-ms": HOUR}, "sources": 64, "before": "web"}
FIRST = {k: v for k, v in NEW.items() if k != "before"}
# Tables and lists of several pages, so that some are from vmalloc.
LARGE = {"name": "large", "budget": {"budget": 5, "window-ms": HOUR}, "sources": 16384}


def net(text, bits=32, **words):
    return {"address": socket.inet_aton(text), "prefix-len": bits, **words}


# The second budget needs a wider table.
NETS, MORE = ({"address": socket.inet_aton(text), "len": 24, "budget": budget} for text, budget in (("192.0.2.0", 5), ("198.51.100.0", 70000)))
EXEMPTS = [net("10.0.0.0", 8), net("10.1.0.0", 16, dev="eth0"), net("10.2.0.0", 16, limit="web")]
SENT = [("web", "192.0.2.1", 7), ("web", "192.0.2.2", 100), ("mail", "192.0.2.1", 700)]


def config(limits, exempts, *more):
    return encode_all("config", [("limit", v) for v in limits] + [("exempt", v) for v in exempts] + list(more))


# What is told of each budget of a source, without when it has room again
BUDGET = ("count", "left", "budget", "unit")


def words(payload, aset, names):
    number = {attrs_of(aset)[n]["number"]: n for n in names}
    found = ((number[k], v) for k, v in parse(payload) if k in number)
    if aset == "source":
        found = ((k, words(v, "source-budget", BUDGET) if k == "budget" else v) for k, v in found)
    return tuple(sorted(found))


class World:
    """The namespace, and its state that does not depend on time"""

    def __init__(self):
        self.wire = Wire()

    def must(self, op, payload=b"", flags=0):
        answer = self.wire.ask(op, payload, flags)
        if answer.error:
            raise OSError(answer.error, f"{op}: {answer}")
        return answer

    def empty(self):
        self.must("config-replace", {})

    def base(self):
        """Two limits, three exemptions, three sources"""
        self.empty()
        self.must("config-replace", config([WEB, MAIL], EXEMPTS))
        for limit, address, cost in SENT:
            self.must("source-charge", {"limit": limit, "address": socket.inet_aton(address), "cost": cost})

    def shared(self):
        """The same, one limit of which is shared, and alone"""
        self.base()
        self.must("limit-set", {"name": "web", "sharing": 1, "budget": {"alone": 9}})

    def blocked(self):
        """The same, one source of which is blocked"""
        self.base()
        self.must("source-block", {**ADDRESS, "for-ms": HOUR})

    def listed(self):
        """The same, where a limit uses one of two lists"""
        self.base()
        self.must("prefix-list-add", {"name": "nets", "prefix": NETS})
        self.must("prefix-list-add", {"name": "idle", "prefix": NETS})
        self.must("limit-set", {"name": "web", "match": {"from-list": "nets"}, "budgets-by": "nets"})

    def held(self):
        """A configuration that waits for config-publish"""
        self.empty()
        self.must("config-replace", config([WEB, MAIL], EXEMPTS, ("hold", True)))

    def saved(self):
        """What a limit knows of its sources"""
        self.base()
        return self.must("state-get", {"limit": "web"}).payloads[0]

    def added(self):
        """The same, to be added to what it knows"""
        return self.saved() + encode_all("state", {"add": True})

    def state(self):
        """Lists, limits, exemptions, memory, and what was counted"""
        sources = [words(p, "source", ("limit", "address", "budget", "dropped", "blocked"))
                   for p in self.must("source-show").payloads]
        stats = words(self.must("stats-get").payloads[0], "stats", ("memory", "limits", "exempts"))
        return self.wire.all_of(), sorted(sources), stats


def told(op, answer):
    """The content of an answer, without times"""
    if op.startswith("source-") and op != "source-merge":
        return [words(p, "source", ("limit", "address", "budget", "taken", "forgotten"))
                for p in answer.payloads]
    if op == "state-get":
        return [collections.Counter(number for number, _ in parse(p)) for p in answer.payloads]
    if op == "stats-get":
        clock = attrs_of("stats")["clock-ns"]["number"]
        return [[pair for pair in parse(p) if pair[0] != clock] for p in answer.payloads]
    return answer.payloads


ADDRESS = {"address": socket.inet_aton("192.0.2.1")}
# Those that begin without configuration register or release the hooks. A payload that is a
# function is that of what it returns.
TRIALS = [
    ("the first limit-add", World.empty, "limit-add", WEB, ECHO),
    ("the last limit-del", lambda w: (w.empty(), w.must("limit-add", WEB)), "limit-del",
     {"name": "web"}, 0),
    ("limit-add", World.base, "limit-add", NEW, 0),
    ("limit-add, large", World.base, "limit-add", LARGE, 0),
    ("limit-set budget", World.base, "limit-set", {"name": "web", "budget": {"budget": 9}}, ECHO),
    ("limit-set a list", World.base, "limit-set",
     {"name": "web", "match": [("dport", {"first": 80}), ("dport", {"first": 443})]}, 0),
    ("limit-set match", World.base, "limit-set", {"name": "web", "match": {"proto": 17}}, 0),
    ("limit-set sources", World.base, "limit-set", {"name": "web", "sources": 256}, 0),
    ("limit-set window", World.base, "limit-set", {"name": "web", "budget": {"window-ms": 2 * HOUR}}, 0),
    ("limit-rename", World.base, "limit-rename", {"name": "web", "new-name": "www"}, 0),
    ("limit-join", World.shared, "limit-join", {"name": "web", "joined-ms": 60000}, 0),
    ("limit-set alone", World.shared, "limit-set", {"name": "web", "budget": {"alone": 8}}, 0),
    ("limit-del", World.base, "limit-del", {"name": "web"}, 0),
    ("limit-flush", World.base, "limit-flush", {}, 0),
    ("limit-reset", World.base, "limit-reset", {"name": "web"}, 0),
    ("exempt-add", World.base, "exempt-add", net("10.3.0.0", 16, limit="mail"), 0),
    ("exempt-add of a block", World.base, "exempt-add", net("10.3.0.0", 16, block=True), 0),
    ("exempt-del", World.base, "exempt-del", net("10.0.0.0", 8), 0),
    ("exempt-add with replace", World.base, "exempt-add", {**net("10.0.0.0", 8), "replace": 1, "for-ms": HOUR}, 0),
    ("exempt-flush", World.base, "exempt-flush", {}, 0),
    ("config-replace", World.base, "config-replace",
     config([FIRST, {**WEB, "budget": {"budget": 7, "window-ms": HOUR, "slots": 4}, "sources": 256}], EXEMPTS[:2]), 0),
    ("config-replace, large", World.base, "config-replace",
     config([WEB], [net(f"10.{i >> 8}.{i & 255}.0", 24) for i in range(100)]), 0),
    ("config-replace with add", World.base, "config-replace",
     config([FIRST], [net("10.3.0.0", 16, limit="new"), net("10.4.0.0", 16)], ("add", 1)), 0),
    ("config-replace with del", World.base, "config-replace",
     config([], [net("10.0.0.0", 8)], ("del", 1)), 0),
    ("config-replace with lists", World.listed, "config-replace",
     encode_all("config", [("prefix-list", {"name": "nets", "prefix": MORE}),
                           ("limit", {**WEB, "match": {"from-list": "nets"}, "budgets-by": "nets"})]), 0),
    ("the first prefix-list-add", World.base, "prefix-list-add", {"name": "nets", "prefix": NETS}, 0),
    ("prefix-list-add", World.listed, "prefix-list-add", {"name": "nets", "prefix": MORE}, 0),
    ("prefix-list-set", World.listed, "prefix-list-set", {"name": "nets", "prefix": MORE}, 0),
    ("prefix-list-del", World.listed, "prefix-list-del", {"name": "idle"}, 0),
    ("all of prefix-list-get", World.listed, "prefix-list-get", {}, DUMP),
    ("source-charge", World.base, "source-charge", {**ADDRESS, "limit": "web", "cost": 3}, 0),
    ("source-forget of one", World.base, "source-forget", ADDRESS, 0),
    ("source-forget of a prefix", World.base, "source-forget", net("192.0.0.0", 16), 0),
    ("source-forget of a limit", World.base, "source-forget", {"limit": "web"}, 0),
    ("source-block", World.base, "source-block", {**ADDRESS, "for-ms": HOUR}, 0),
    ("source-release", World.blocked, "source-release", ADDRESS, 0),
    ("source-show", World.base, "source-show", {}, 0),
    ("source-show top", World.base, "source-show", {"top": 2, "rank": 1}, 0),
    ("source-get", World.base, "source-get", ADDRESS, 0),
    ("limit-get", World.base, "limit-get", {"name": "web", "want-stats": True}, 0),
    ("all of limit-get", World.base, "limit-get", {"want-stats": True}, DUMP),
    ("exempt-get", World.base, "exempt-get", net("10.2.3.4"), 0),
    ("all of exempt-get", World.base, "exempt-get", {}, DUMP),
    ("stats-get", World.base, "stats-get", {}, 0),
    ("config-replace with hold", World.empty, "config-replace", config([WEB, MAIL], EXEMPTS, ("hold", True)), 0),
    ("config-publish", World.held, "config-publish", {}, 0),
    ("state-get", World.base, "state-get", {}, 0),
    ("state-get of changes", World.base, "state-get", {"since-ns": 0}, 0),
    ("source-merge", World.base, "source-merge", World.added, 0),
    ("source-merge into what is held", World.held, "source-merge", World.saved, 0),
]


def trial(world, faults, name, reset, op, payload, flags):
    """One operation. Its answer is part of the state: a truncated dump without an
    error is no success. Returns the number of errors."""
    said = []
    if callable(payload):
        payload = payload(world)

    def do():
        answer = world.wire.ask(op, payload, flags)
        said[:] = [told(op, answer)] if not answer.error else [None]
        if answer.error and answer.error not in (errno.ENOMEM, errno.ENOBUFS):
            said[:] = [repr(answer)]
        elif answer.error and not answer.msg:
            said[:] = ["no sentence"]
        return answer.error

    def state():
        return world.state(), said[0]

    reset(world)
    do()
    done = state()
    this = Trial(name, faults)
    said[:] = [None]
    this.run(lambda: (reset(world), said.__setitem__(0, None)), do, state, done)
    return this.tell()


def main():
    kind = sys.argv[1]
    faults = Call() if kind == "call" else Slab(rest=kind == "rest")
    world = World()
    seen = {t[2] for t in TRIALS}
    if kind != "call":
        asked = {n for n in OPS if not n.endswith("-ntf")}
        Tap.ok(seen == asked, "every operation is tried", asked ^ seen)
    failed = sum(trial(world, faults, *t) for t in TRIALS)
    Tap.ok(failed > 0, f"{faults.name}: some of it mattered ({failed} errors)")
    world.empty()


main()
