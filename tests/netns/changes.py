# SPDX-License-Identifier: GPL-2.0-or-later
"""changes.py: announce what a limit admitted, as a host of many does: by dumps of changes, with
what other hosts admitted added meanwhile."""
import collections
import json
import os
import socket
import struct
import subprocess
import time

from wire import Tap, Wire, attrs_of, encode_all, parse

WEIR, SEND = os.environ["WEIR"], os.environ["SEND"].split()
HOUR = 3600000
FORMAT = {2: "H", 4: "I", 8: "Q"}


def tool(*words):
    said = subprocess.run([WEIR, "-j", *words], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(said) if said else None


def send(source, *words):
    subprocess.run([*SEND, "-s", source, *words], check=True, stdout=subprocess.DEVNULL)


def admitted(limit):
    return tool("-s", "limit", "show", limit)[0]["stats"]["admitted"]["packets"]


def number(aset, name):
    return attrs_of(aset)[name]["number"]


def u64(attrs, aset, name):
    return struct.unpack("=Q", attrs[number(aset, name)])[0]


def attributes(raw):
    """[(number without flags, the whole attribute)]"""
    found = []
    while raw:
        size, kind = struct.unpack_from("=HH", raw)
        found.append((kind & 0x3fff, raw[:size + 3 & ~3]))
        raw = raw[size + 3 & ~3:]
    return found


class Message:
    """A message of a dump: its budgets, the clock and number of its current slot, and the
    numbers of each source by slot, of the first count"""

    def __init__(self, raw):
        attrs = dict(parse(raw))
        kept = {number("state", n) for n in ("limit", "clock-ns", "tick-ns", "prefix4", "prefix6", "sets", "budget")}
        self.head = b"".join(whole for k, whole in attributes(raw) if k in kept)
        self.clock = u64(attrs, "state", "clock-ns")
        self.since = u64(attrs, "state", "since-ns") if number("state", "since-ns") in attrs else None
        self.floors = [v for k, v in parse(raw) if k == number("state", "floor")]
        self.newcomers = number("state", "newcomers") in attrs
        self.budgets = [k for k, _ in parse(raw)].count(number("state", "budget"))
        budget = dict(parse(next(v for k, v in parse(raw) if k == number("state", "budget"))))
        self.slot_ns = u64(budget, "state-budget", "slot-ns")
        self.width = struct.unpack("=I", budget[number("state-budget", "width")])[0]
        begin = self.clock - u64(budget, "state-budget", "phase-ns")
        self.slot = round(begin / self.slot_ns) if self.slot_ns else 0
        self.sources = dict(self.source(v) for k, v in parse(raw) if k == number("state", "source"))

    def source(self, raw):
        counts = [v for k, v in parse(raw) if k == number("state-source", "count")]
        numbers = dict(parse(counts[0])).get(number("state-count", "numbers"), b"")
        numbers = struct.unpack(f"={len(numbers) // self.width}{FORMAT[self.width]}", numbers)
        address = dict(parse(raw)).get(number("state-source", "address"), b"")
        return address, {self.slot - i: n for i, n in enumerate(numbers) if n}

    def added(self, counts):
        """A request that adds to the first count of sources, by slots before the current one"""
        sources = []
        for address, numbers in counts.items():
            raw = struct.pack(f"={len(numbers)}{FORMAT[self.width]}", *numbers)
            sources.append(("source", [("address", address), ("count", {"numbers": raw}), *[("count", {})] * (self.budgets - 1)]))
        return self.head + encode_all("state", [*sources, ("add", True)])


class Host:
    """What a host announces of a limit, and adds to it"""

    def __init__(self, wire, limit, least=1):
        self.wire, self.limit, self.least = wire, limit, least
        self.since = 0
        self.seen = collections.defaultdict(dict)  # {source: {slot: number}}, of the last dump and what was added since
        self.told = collections.Counter()  # of each source, what it announced
        self.interrupted = False
        self.last = None

    def dump(self):
        """Announce what is new. Returns the sources that were dumped."""
        answer = self.wire.ask("state-get", {"limit": self.limit, "since-ns": self.since, "least": self.least})
        assert not answer.error, answer
        messages = [Message(raw) for raw in answer.payloads]
        for message in messages:
            for source, numbers in message.sources.items():
                seen = self.seen[source]
                for slot, count in numbers.items():
                    self.told[source] += max(0, count - seen.get(slot, 0))
                    seen[slot] = max(count, seen.get(slot, 0))
        self.interrupted |= bool(answer.flags & 16)
        self.since = messages[0].since
        self.last = messages[-1]
        return [s for m in messages for s in m.sources]

    def add(self, counts):
        """Add {source: [count of a slot, the current one first]}"""
        answer = self.wire.ask("source-merge", self.last.added(counts))
        assert not answer.error, answer
        for source, numbers in counts.items():
            for age, count in enumerate(numbers):
                seen = self.seen[source]
                seen[self.last.slot - age] = seen.get(self.last.slot - age, 0) + count
        return {n: struct.unpack("=I", dict(parse(answer.payloads[0]))[number("state", n)])[0] for n in ("merged", "evicted")}


def address(text):
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


def counts_of(wire, limit):
    """Of all sources that have a place"""
    host = Host(wire, limit)
    host.dump()
    return host.told


def under_flood(host, name, source, sources, add, *words):
    """Dump during a flood: what is announced is what was admitted."""
    host.dump()
    host.told.clear()
    before = admitted(host.limit)
    flood = subprocess.Popen([*SEND, "-s", source, "-n", str(sources), *words], stdout=subprocess.DEVNULL)
    first = int.from_bytes(address(source), "big")
    dumps = added = 0
    end = time.monotonic() + 7  # longer than a window
    while flood.poll() is None and (dumps < 6 or time.monotonic() < end):
        host.dump()
        dumps += 1
        if add:
            counts = {(first + (dumps * 7 + i) % sources).to_bytes(4, "big"): [1 + i % 2, i % 3] for i in range(20)}
            host.add(counts)
            added += sum(map(sum, counts.values()))
    Tap.ok(flood.poll() is None, f"{name}: dumps during a flood", dumps)
    flood.terminate()
    flood.wait()
    for _ in range(100):  # until no packet is under way
        host.dump()
        passed = admitted(host.limit) - before
        if passed == host.told.total():
            break
        time.sleep(0.02)
    Tap.ok(passed > 1000 and not host.interrupted, "... in which packets pass", passed)
    Tap.ok(host.told.total() == passed, "... announced is what was admitted", f"{host.told.total()} of {passed}, {added} were added")


def changes(wire):
    ok = Tap.ok
    tool("limit", "add", "few", "budget", "30/5s", "from", "10.1.0.0/16", "sources", "4096")
    tool("limit", "add", "wide", "budget", "70k/5s", "lenient", "slots", "5", "from", "10.2.0.0/16", "sources", "64")
    tool("limit", "add", "both", "budget", "50/4s", "budget", "1M/1m", "bytes", "from", "10.3.0.0/16", "sources", "4096")
    tool("limit", "add", "every", "budget", "20k/4s", "per", "0", "from", "10.4.0.0/16")
    under_flood(Host(wire, "few"), "a strict limit", "10.1.0.0", 200, False, "-R", "-r", "20000", "-k", "-t", "60000")
    under_flood(Host(wire, "few"), "... to which is added", "10.1.128.0", 200, True, "-R", "-r", "20000", "-k", "-t", "60000")
    under_flood(Host(wire, "wide"), "a lenient limit of large counts", "10.2.0.1", 1, True, "-r", "20000", "-k", "-t", "60000")
    under_flood(Host(wire, "both"), "two budgets", "10.3.0.0", 200, True, "-R", "-r", "20000", "-k", "-t", "60000")
    under_flood(Host(wire, "every"), "everybody as one source", "10.4.0.0", 100, False, "-R", "-r", "20000", "-k", "-t", "60000")


def chosen(wire):
    """Which sources are dumped"""
    ok = Tap.ok
    tool("limit", "add", "slow", "budget", "60/1h", "slots", "60", "from", "10.5.0.0/16")
    host = Host(wire, "slow")
    ok(host.dump() == [] and host.since is not None, "nothing is there, and a message says so")
    for last, count in ((1, 1), (2, 5), (3, 60)):
        send(f"10.5.0.{last}", "-c", str(count))
    ok(len(host.dump()) == 3 and sorted(host.told.values()) == [1, 5, 60], "all are new", host.told)
    ok(len(host.dump()) == 3 and host.told.total() == 66, "... in the same slot they come again, without a difference", host.told)
    for least, number_of in ((1, 3), (2, 2), (5, 2), (6, 1), (60, 1), (61, 0), (2**64 - 1, 0)):
        found = Host(wire, "slow", least).dump()
        ok(len(found) == number_of, f"with at least {least}: {number_of}", found)
    answer = wire.ask("state-get", {"limit": "slow", "least": 5})
    ok(sum(len(Message(raw).sources) for raw in answer.payloads) == 2 and not answer.error, "... without a clock, too", answer)
    answer = wire.ask("state-get", {"limit": "slow", "since-ns": 2**64 - 1})
    ok(sum(len(Message(raw).sources) for raw in answer.payloads) == 3 and not answer.error, "a clock of the future is now", answer)
    answer = wire.ask("state-get", {"limit": "none", "since-ns": 0})
    ok(answer.error and "no limit" in (answer.msg or ""), "no such limit", answer)

    # Of a slot that has passed nobody is dumped, but who sent since.
    tool("limit", "add", "quick", "budget", "9/6s", "slots", "60", "from", "10.6.0.0/16")
    host = Host(wire, "quick")
    send("10.6.0.1", "-n", "50", "-c", "100")
    host.dump()
    for _ in range(100):
        time.sleep(0.05)
        found = host.dump()
        if not found:
            break
    ok(not found and host.told.total() == 100, "who is at rest is not dumped", found, host.told)
    ok(len(Host(wire, "quick").dump()) == 50, "... though counted still")
    send("10.6.0.7", "-c", "1")
    ok(host.dump() == [address("10.6.0.7")] and host.told.total() == 101, "... and who sends is", host.told)

    # Other ways to count, of which the slots tell less
    for way in ("fixed", "calendar", "bucket", "exact"):
        tool("limit", "add", way, "budget", "20/minute", way, "from", "10.7.0.0/16", "sources", "64")
    send("10.7.0.1", "-c", "3")
    for way in ("fixed", "calendar", "bucket", "exact"):
        host = Host(wire, way)
        ok(host.dump() == [address("10.7.0.1")] and host.dump(), f"a budget that is {way}: who is live is dumped")


def floors(wire):
    """A dump of changes has neither floors nor newcomers."""
    ok = Tap.ok
    tool("limit", "add", "full", "budget", "1k/1h", "from", "10.8.0.0/16", "sources", "64")
    send("10.8.0.0", "-n", "4000", "-c", "8000")
    whole = [Message(raw) for raw in wire.ask("state-get", {"limit": "full"}).payloads]
    ok(any(m.floors for m in whole) and whole[0].since is None, "a table that is full has floors")
    host = Host(wire, "full")
    answer = wire.ask("state-get", {"limit": "full", "since-ns": 0})
    ok(host.dump() and not any(Message(raw).floors for raw in answer.payloads), "... which a dump of changes leaves out")

    # A source of which more was counted than of others gets the place of one of them.
    ours = address("10.9.0.1")
    least = min(counts_of(wire, "full").values())
    told = host.add({ours: [least + 1]})
    count = counts_of(wire, "full")[ours]
    ok(least < count <= 2 * least + 1 and told == {"merged": 1, "evicted": 1}, "what is added finds a place", told, least, count)
    before = counts_of(wire, "full")
    told = host.add({address(f"10.10.{i >> 8}.{i & 255}"): [1] for i in range(2000)})
    after = counts_of(wire, "full")
    ok(told["merged"] == 2000 and told["evicted"] == 2000, "... less than others have finds none", told)
    ok(before == after and after[ours] == count, "... and changes nothing of theirs", set(before.items()) ^ set(after.items()))
    host.add({ours: [2**16 - 1]})
    host.add({ours: [2**16 - 1]})
    ok(counts_of(wire, "full")[ours] == 2**16 - 1, "the largest count, twice, is the largest")


def places(wire):
    """What is added for sources that are not there, and for those that limits do not count"""
    ok = Tap.ok
    tool("limit", "add", "new", "budget", "50/1h", "newcomers", "10/1h", "from", "10.11.0.0/16", "sources", "64")
    tool("limit", "add", "idle", "budget", "50/200ms", "from", "10.12.0.0/16", "sources", "64")
    host = Host(wire, "new")
    host.dump()
    ok(not host.last.newcomers, "a dump of changes has no newcomers' budget")
    host.add({address("10.11.0.1"): [50]})
    state = tool("source", "get", "10.11.0.1", "limit", "new")[0]
    ok(state["budgets"][0]["count"] == 50 and state.get("unknown"), "who is added is a newcomer", state)
    before = admitted("new")
    send("10.11.0.1", "-c", "10")
    send("10.11.0.2", "-c", "10")
    ok(admitted("new") - before == 10, "... and takes nothing of the newcomers' budget", admitted("new") - before)

    # Sources that are idle give way.
    send("10.12.0.0", "-n", "1000", "-c", "1000")
    time.sleep(0.5)
    host = Host(wire, "idle")
    host.dump()
    evicted = tool("-s", "limit", "show", "idle")[0]["stats"]["evictions"]
    told = host.add({address(f"10.12.200.{i}"): [1] for i in range(32)})
    ok(told == {"merged": 32, "evicted": 0} and tool("-s", "limit", "show", "idle")[0]["stats"]["evictions"] == evicted,
       "in a table that is full of the idle there is a place", told)

    tool("exempt", "add", "10.13.0.0/16")
    tool("limit", "add", "free", "budget", "5/1h", "from", "10.13.0.0/16", "sources", "64")
    host = Host(wire, "free")
    host.dump()
    host.add({address("10.13.0.1"): [5]})
    before = admitted("free")
    send("10.13.0.1", "-c", "10")
    ok(tool("-s", "limit", "show", "free")[0]["stats"]["matched"]["packets"] == before, "who is exempt stays so")


def main():
    wire = Wire()
    changes(wire)
    chosen(wire)
    floors(wire)
    places(wire)


main()
