# SPDX-License-Identifier: GPL-2.0-or-later
"""ynl.py LIBRARY SPEC: drive every operation of the family with the kernel's
own YNL client and the specification alone, and compare the policy that the
kernel tells with what the specification says."""
import contextlib
import io
import os
import subprocess
import sys
import time

sys.path.insert(0, sys.argv[1])
from lib import NlError, YnlFamily  # noqa: E402  pylint: disable=wrong-import-position,import-error

from wire import CONST, ECHO, ENUM, Tap, attrs_of  # noqa: E402  pylint: disable=wrong-import-position

TYPE_MAX = {"u8": 0xff, "u16": 0xffff, "u32": 0xffffffff, "u64": 0xffffffffffffffff}
WEB = {"name": "web", "budget": {"budget": 10, "window-ms": 600000, "slots": 4}, "prefix4": 24, "sources": 64,
       "comment": "public web, #123",
       "match": {"to": [{"address": "192.0.2.0", "len": 24}, {"address": "203.0.113.7", "len": 32}],
                 "proto": [6], "dport": [{"first": 443, "last": 443}, {"first": 8000, "last": 8100}],
                 "invert": {"dport"}}}
ALL = {"name": "host", "budget": {"budget": 1000, "window-ms": 600000, "unit": "bytes", "mode": "lenient"},
       "action": "observe", "sources": 64, "before": "web"}
DRIVEN = set()


class Driver:
    """The client; records which operations were used."""

    def __init__(self, spec):
        self.ynl = YnlFamily(spec)
        self.said = io.StringIO()

    def do(self, op, words=None, echo=False):
        DRIVEN.add((op, "do"))
        with contextlib.redirect_stdout(self.said):  # it prints warnings
            return self.ynl.do(op, words or {}, flags=[ECHO] if echo else None)

    def dump(self, op, words=None):
        DRIVEN.add((op, "dump"))
        return self.ynl.dump(op, words or {})

    def refused(self, op, words):
        try:
            return f"not refused: {self.do(op, words)}"
        except NlError as error:
            return str(error)


def holds(told, **words):
    return all(told.get(k.replace("_", "-")) == v for k, v in words.items())


def limits(client):
    ok = Tap.ok
    would = client.do("limit-add", WEB | {"check": True}, echo=True)
    ok(client.do("limit-add", WEB | {"check": True}) is None and not client.dump("limit-get"),
       "limit-add with check changes nothing")
    told = client.do("limit-add", WEB, echo=True)
    ok(would == told, "... and tells what it would make, if it is asked to", would)
    first = told["budget"][0]
    ok({k: told.get(k) for k in WEB if k != "budget"} == {k: v for k, v in WEB.items() if k != "budget"} and
       len(told["budget"]) == 1 and {k: first.get(k) for k in WEB["budget"]} == WEB["budget"] and
       first["slot-ns"] == 150 * 10**9 and first["window-ns"] == 600 * 10**9 and
       told["entries"] >= 64 and told["memory"] > 0 and 64 < told["source-bytes"] < 128, "limit-add tells what it made, slots, entries and memory", told)
    ok(client.do("limit-add", ALL) is None, "limit-add tells nothing if it is not asked to")
    ok("never fit" in client.said.getvalue(), "a warning comes with a limit that is made", client.said.getvalue())
    told = client.dump("limit-get")
    ok([x["name"] for x in told] == ["host", "web"] and "stats" not in told[0] and
       holds(told[0], action="observe", prefix6=64) and
       holds(told[0]["budget"][0], unit="bytes", mode="lenient"), "limit-get, in their order", told)
    told = client.do("limit-get", {"name": "web", "want-stats": True})["stats"]
    ok(told["matched"] == {"packets": 0, "bytes": 0} and told["sources-now"] == 0 and
       "sources-wanted" not in told, "limit-get with stats", told)
    told = client.do("limit-set", {"name": "web", "budget": {"budget": 20, "slots": 8}, "comment": ""}, echo=True)
    ok(holds(told["budget"][0], budget=20, slots=8) and told["prefix4"] == 24 and "comment" not in told, "limit-set tells what became of it", told)
    client.do("limit-set", {"name": "web", "budget": {"budget": 10, "slots": 4}})
    client.do("limit-del", {"name": "host"})
    told = client.refused("limit-del", {"name": "host"})
    ok("no limit of that name" in told and ".name" in told, "a refusal has a sentence and an attribute", told)


def sources(client):
    """source-charge, get, show, forget: their answers. netns/tool-source tests the rest."""
    ok = Tap.ok
    words = {"limit": "web", "address": "203.0.113.77"}
    told = client.do("source-charge", {**words, "cost": 8})
    ok(holds(told, limit="web", taken=8) and told["budget"] == [{"count": 8, "left": 2, "budget": 10, "unit": "packets"}] and
       "limited" not in told, "source-charge", told)
    told = client.do("source-charge", {**words, "cost": 3, "charge-mode": "drain"})
    ok(holds(told, taken=2, limited=True) and told["next-ns"] > 0 and told["budget"][0]["left"] == 0, "source-charge drain", told)
    told = client.dump("source-get", {"address": "203.0.113.200"})
    ok(len(told) == 1 and holds(told[0], address="203.0.113.0", prefix_len=24, limit="web",
                                limited=True, action="drop") and len(told[0]["budget"]) == 1 and
       holds(told[0]["budget"][0], count=10, left=0, limited=True, slot_ns=150 * 10**9) and
       sum(told[0]["budget"][0]["slot"]) == 10 and len(told[0]["budget"][0]["slot"]) == 5, "source-get: count, room, until when, slots", told)
    client.do("source-charge", {"limit": "web", "address": "2001:db8:0:1::5"})
    client.do("source-charge", {"limit": "web", "address": "fe80::5", "dev": "lo"})
    four, six, local = "203.0.113.0", "2001:db8:0:1::", "fe80::5"
    for words, found in [({"limit": "web"}, [four, six, local]), ({"address": four, "prefix-len": 24}, [four]),
                         ({"address": "203.0.113.9", "prefix-len": 32}, [four]), ({"address": "::", "prefix-len": 0}, [six, local]),
                         ({"address": "10.0.0.0", "prefix-len": 8}, []), ({"dev": "lo"}, [local]),
                         ({"filter-limited": True}, [four]), ({"top": 1}, [four]), ({"top": 1, "rank": "count"}, [four])]:
        told = client.dump("source-show", words)
        ok(sorted(x["address"] for x in told) == sorted(found), f"source-show of {words}", told)
    told = client.do("source-forget", {"address": "203.0.113.99", "limit": "web"})
    ok(holds(told, forgotten=1, limit="web", address=four), "source-forget of an address is of its source", told)
    told = client.dump("source-show", {"idle": True, "address": "203.0.113.1", "prefix-len": 32})
    ok(len(told) == 1 and told[0].get("idle") and told[0]["budget"][0]["count"] == 0, "source-show of the idle", told)
    told = client.do("source-forget", {"limit": "web"})
    ok(told == {"forgotten": 2, "limit": "web"} and client.dump("source-show") == [], "source-forget of all", told)


def budgets(client):
    """Several budgets, a zone, a penalty; blocks."""
    ok = Tap.ok
    several = [{"budget": 5, "window-ms": 600000},
               {"budget": 100, "window-ms": 86400000, "unit": "bytes", "mode": "calendar"},
               {"budget": 7, "window-ms": 3600000, "mode": "bucket", "burst": 9}]
    zone = {"name": "Europe/Berlin", "offset": 3600, "next-offset": 7200, "change": 4000000000}
    told = client.do("limit-add", {"name": "many", "budget": several, "sources": 64,
                                   "zone": zone, "penalty-ms": 60000, "renew": True}, echo=True)
    ok([{k: x[k] for k in y} for x, y in zip(told["budget"], several)] == several, "limit-add with several budgets", told)
    ok(told["zone"] == zone and told["penalty-ms"] == 60000 and told["renew"], "... a zone and a penalty", told)
    ok("get others blocked" in client.said.getvalue(), "... with a warning")
    told = client.do("limit-get", {"name": "many"})
    ok(told["budget"][1]["renews"] > time.time(), "... which renews", told)
    if os.path.exists("/sys/module/nfnetlink_log"):
        told = client.do("limit-set", {"name": "many", "log": 65535}, echo=True)
        stats = client.do("limit-get", {"name": "many", "want-stats": True})["stats"]
        ok(told["log"] == 65535 and stats["logged"] == 0, "limit-set of a log", told)
    client.do("limit-set", {"name": "many", "penalty-ms": 0, "log": 0})
    told = client.do("limit-set", {"name": "many", "budget": {"budget": 8, "window-ms": 3600000}}, echo=True)
    ok([x["budget"] for x in told["budget"]] == [5, 100, 8], "limit-set of one of them", told)
    told = client.do("limit-set", {"name": "many", "budget": {"budget": 6, "window-ms": 600000}, "only": True}, echo=True)
    ok(len(told["budget"]) == 1 and "zone" not in told and not told.get("penalty-ms"), "limit-set without them", told)
    words = {"address": "203.0.113.5", "limit": "many"}
    told = client.do("source-block", {**words, "for-ms": 60000})
    ok(holds(told, address="203.0.113.5", limit="many", blocked=True) and 59 * 10**9 < told["blocked-ns"] <= 61 * 10**9,
       "source-block", told)
    ok("already blocked" in client.refused("source-block", {**words, "for-ms": 1000}), "... once")
    told = client.do("source-block", {**words, "for-ms": 0, "replace": True})
    ok(told["blocked"] and "blocked-ns" not in told, "... or for ever, in its place", told)
    told = client.dump("source-show", {"filter-blocked": True})
    ok([x["address"] for x in told] == ["203.0.113.5"], "source-show of the blocked", told)
    told = client.do("source-release", words)
    ok(holds(told, limit="many") and "blocked" not in told, "source-release", told)
    ok("not blocked" in client.refused("source-release", words), "... once")
    client.do("limit-rename", {"name": "many", "new-name": "some"})
    ok(client.do("limit-get", {"name": "some"})["blocks"] == 27, "limit-rename, and the blocks that fit")
    client.do("limit-del", {"name": "some"})


def lists(client):
    ok = Tap.ok
    client.do("prefix-list-add", {"name": "nets", "prefix": [{"address": "10.0.0.0", "len": 8}, {"address": "2001:db8::", "len": 32}]})
    client.do("prefix-list-add", {"name": "nets", "prefix": [{"address": "10.1.0.0", "len": 16}], "check": True})
    told = client.dump("prefix-list-get", {"name": "nets"})
    ok(told == [{"name": "nets", "prefix": [{"address": "10.0.0.0", "len": 8}, {"address": "2001:db8::", "len": 32}]}],
       "prefix-list-add and prefix-list-get", told)
    client.do("prefix-list-set", {"name": "nets", "prefix": [{"address": "10.1.0.0", "len": 16, "budget": 7}]})
    told = client.dump("prefix-list-get", {})
    ok(told == [{"name": "nets", "prefix": [{"address": "10.1.0.0", "len": 16, "budget": 7}]}], "prefix-list-set", told)
    client.do("limit-add", {"name": "by", "budget": [{"budget": 5, "window-ms": 1000}], "budgets-by": "nets"})
    ok(client.do("limit-get", {"name": "by"})["budgets-by"] == "nets", "limit-add by a list")
    told = client.dump("source-get", {"address": "10.1.2.3", "limit": "by"})
    ok(told[0]["budget"][0]["budget"] == 7, "... which has the budget of a source", told)
    told = client.do("limit-set", {"name": "by", "sharing": "shared"}, echo=True)
    ok(told["sharing"] == "shared", "limit-set of sharing", told)
    client.do("limit-set", {"name": "by", "budgets-by": "none"})
    told = client.do("limit-set", {"name": "by", "budget": [{"alone": 2}]}, echo=True)
    ok(told["budget"][0]["alone"] == 2 and told["alone-now"], "... and of an amount alone", told)
    client.do("limit-join", {"name": "by", "joined-ms": 60000})
    ok("alone-now" not in client.do("limit-get", {"name": "by"}), "limit-join")
    told = client.do("limit-set", {"name": "by", "sharing": "unshared", "budgets-by": "nets"}, echo=True)
    ok("sharing" not in told, "... and without", told)
    client.do("limit-set", {"name": "by", "budgets-by": "none"})
    ok("budgets-by" not in client.do("limit-get", {"name": "by"}), "... and without one")
    client.do("limit-del", {"name": "by"})
    client.do("prefix-list-del", {"name": "nets"})
    ok(client.dump("prefix-list-get", {}) == [], "prefix-list-del")


def exempts(client):
    ok = Tap.ok
    rows = [{"address": "10.0.0.0", "prefix-len": 8}, {"address": "203.0.113.0", "prefix-len": 25, "limit": "web",
             "comment": "monitoring"}, {"address": "2001:db8::", "prefix-len": 32, "dev": "eth9"}]
    for row in rows:
        client.do("exempt-add", row)
    told = client.dump("exempt-get")
    ok(sorted(told, key=str) == sorted(rows, key=str), "exempt-get of all", told)
    for words, row in [({"address": "10.1.2.3"}, rows[0]), ({"address": "203.0.113.9", "limit": "web"}, rows[1]),
                       ({"address": "2001:db8::7", "dev": "eth9"}, rows[2])]:
        ok(client.do("exempt-get", words) == row, f"exempt-get of {words}")
    told = client.dump("source-get", {"address": "203.0.113.9"})
    ok(told[0].get("exempt") == rows[1], "source-get tells the exemption", told)
    client.do("exempt-add", {"address": "11.0.0.0", "prefix-len": 8, "check": True})
    client.do("exempt-del", rows[0] | {"check": True})
    ok(len(client.dump("exempt-get")) == 3, "exempt-add and -del with check change nothing")
    client.do("exempt-del", rows[0])
    ok(len(client.dump("exempt-get")) == 2, "exempt-del")
    client.do("exempt-add", {"address": "203.0.113.0", "prefix-len": 25, "limit": "web", "for-ms": 3600000, "replace": True, "force": True})
    told = [x for x in client.dump("exempt-get") if x["address"] == "203.0.113.0"]
    ok(len(told) == 1 and 3590000 < told[0].get("for-ms", 0) and told[0]["comment"] == "monitoring",
       "exempt-add with replace: a new end, and the comment stays", told)
    client.do("exempt-add", {"address": "198.18.0.0", "prefix-len": 15, "block": True})
    told = client.do("stats-get")
    ok(holds(told, exempts=2) and told["blocked-prefixes"] == 1 and told["dropped-by-prefix"] == 0,
       "stats-get tells exemptions and blocks apart", told)
    client.do("exempt-flush")
    ok([x["address"] for x in client.dump("exempt-get")] == ["198.18.0.0"], "exempt-flush")
    client.do("exempt-flush", {"block": True})
    ok(client.dump("exempt-get") == [], "exempt-flush of blocks")


def configs(client):
    ok = Tap.ok
    web = {k: v for k, v in WEB.items() if k != "before"}
    other = {"name": "other", "budget": {"budget": 5, "window-ms": 1000}, "sources": 64}
    rows = [{"address": "10.0.0.0", "prefix-len": 8, "limit": "other"}, {"address": "::1"}]
    more = {"limit": [{**other, "name": "more"}], "exempt": [{"address": "10.1.0.0", "prefix-len": 16, "limit": "more"}]}

    def now():
        return client.dump("limit-get"), client.dump("exempt-get"), client.do("stats-get")["memory"]

    before = now()
    client.do("config-replace", {"limit": [other, web], "check": True})
    ok(now() == before, "config-replace with check changes nothing")
    client.do("config-replace", {"limit": [other, web], "exempt": rows})
    before = now()
    ok([x["name"] for x in before[0]] == ["other", "web"] and len(before[1]) == 2 and
       before[0][1]["comment"] == WEB["comment"], "config-replace: limits in their order, exemptions", before)
    ok(all(x["stats"] == {"packets": 0, "bytes": 0} for x in client.dump("exempt-get", {"want-stats": True})),
       "exempt-get: what each exempted")
    client.do("config-replace", {**more, "add": True, "check": True})
    ok(now() == before, "config-replace with add and check changes nothing")
    client.do("config-replace", {**more, "add": True})
    told = now()
    ok(told[0][:2] == before[0] and told[0][2]["name"] == "more" and [x for x in told[1] if x in before[1]] == before[1] and
       [x for x in told[1] if x not in before[1]] == more["exempt"], "config-replace with add: all others stay", told)
    client.do("config-replace", {"exempt": more["exempt"], "del": True, "check": True})
    ok(now() == told, "config-replace with del and check changes nothing")
    client.do("config-replace", {"exempt": more["exempt"], "del": True})
    ok(now()[1] == before[1], "config-replace with del: all others stay", now())
    client.do("config-replace", {"exempt": more["exempt"], "add": True})
    told = client.do("stats-get")
    ok(holds(told, limits=3, exempts=3) and told["memory"] > 0 and told["tick-ns"] > 0 and
       told["seen"] == told["exempt"] + told["unmatched"] + told["admitted"] + told["dropped"], "stats-get", told)
    client.do("limit-reset", {"name": "web"})
    client.do("source-charge", {"limit": "web", "address": "203.0.113.9", "cost": 3})
    saved = [m for m in client.dump("state-get") if m["limit"] == "web"]
    ok(len(saved) == 1 and [s["address"] for s in saved[0]["source"]] == ["203.0.113.0"], "state-get", saved)
    told = [m for m in client.dump("state-get", {"limit": "web", "since-ns": 0, "least": 1})]
    ok([s["address"] for m in told for s in m.get("source", [])] == ["203.0.113.0"] and "since-ns" in told[0], "... of changes", told)
    told = client.dump("state-get", {"limit": "web", "least": 2**64 - 1})
    ok(not any("source" in m for m in told), "... of the largest", told)
    client.do("limit-flush")
    client.do("config-replace", {"limit": [web], "hash-key": saved[0]["hash-key"], "hold": True})
    ok(client.dump("limit-get") == [], "config-replace with hold puts nothing in force")
    told = client.do("source-merge", saved[0])
    client.do("config-publish")
    ok(holds(told, limit="web", merged=1, evicted=0, blocks_lost=0, skipped=0) and
       client.dump("source-get", {"address": "203.0.113.9"})[0]["budget"][0]["count"] == 3, "source-merge", told)
    client.do("config-replace", {"limit": [other, web], "exempt": rows})
    client.do("limit-flush")
    ok(client.dump("limit-get") == [] and [x["address"] for x in client.dump("exempt-get")] == ["::1"],
       "limit-flush: limits, and exemptions from them")
    client.do("config-replace")
    ok(client.dump("exempt-get") == [], "config-replace by nothing")


def events(client, spec):
    listener = Driver(spec).ynl
    listener.ntf_subscribe("events")

    def heard(name, **words):
        for event in listener.poll_ntf(duration=10):
            if event["name"] == name and holds(event["msg"], **words):
                DRIVEN.add((name, "event"))
                return event["msg"]
        return {}

    ok = Tap.ok
    client.do("limit-add", {"name": "e", "budget": {"budget": 2, "window-ms": 600000}, "sources": 64})
    told = heard("limit-ntf", event="added")
    ok(holds(told, name="e", action="drop") and
       holds(told["budget"][0], budget=2, window_ms=600000, unit="packets"), "a limit came", told)
    client.do("limit-set", {"name": "e", "budget": {"budget": 1}})
    told = heard("limit-ntf", event="changed")
    ok(holds(told, name="e") and told["budget"][0]["budget"] == 1, "a limit changed", told)
    subprocess.run(os.environ["SEND"].split(), stdout=subprocess.DEVNULL, check=True)
    told = heard("source-ntf", event="limited")
    ok(holds(told, limit="e", address="198.51.100.77", limited=True, action="drop") and
       holds(told["budget"][0], count=1, budget=1) and
       told["prefix-len"] == 32 and told["next-ns"] > 0, "a source became limited", told)
    for i in range(400):
        client.do("source-charge", {"limit": "e", "address": f"198.51.{i >> 8}.{i & 255}"})
    told = heard("pressure-ntf")
    ok(holds(told, limit="e") and told["sources-wanted"] >= 128 and
       told["evictions"] + told["floor-refused"] > 0, "pressure", told)
    client.do("limit-del", {"name": "e"})
    ok(holds(heard("limit-ntf", event="removed"), name="e"), "a limit went")
    client.do("limit-add", {"name": "n", "budget": {"budget": 9, "window-ms": 600000}, "sources": 64,
                            "newcomers": 1, "newcomers-ms": 600000, "known-ms": 1000})
    # A limit that was just made learns for known-ms, and refuses no newcomer.
    time.sleep(1.2)
    subprocess.run(os.environ["SEND"].split(), stdout=subprocess.DEVNULL, check=True)
    told = heard("newcomers-ntf")
    ok(holds(told, limit="n") and told["refused"] > 0 and told["next-ns"] > 0, "newcomers have no room", told)
    client.do("limit-del", {"name": "n"})
    heard("limit-ntf", event="removed")
    client.do("exempt-add", {"address": "203.0.113.0", "prefix-len": 24})
    ok(holds(heard("exempt-ntf", event="added"), address="203.0.113.0", prefix_len=24), "an exemption came")
    client.do("exempt-flush", {})
    ok(holds(heard("exempt-ntf", event="removed"), prefix_len=24), "and went")


def expected(attr):
    """The expected policy of an attribute, as the client returns it."""
    kind, checks = attr["type"], attr.get("checks", {})
    checks = {k: CONST.get(v, v) for k, v in checks.items()}
    if kind in TYPE_MAX:
        entries = len(ENUM[attr["enum"]]) if "enum" in attr else 0
        if attr.get("enum-as-flags"):
            return {"type": kind, "mask": (1 << entries) - 1}
        high = entries - 1 if entries else checks.get("max", TYPE_MAX[kind])
        return {"type": kind, "min-value": checks.get("min", 0), "max-value": high}
    if kind in ("s32", "s64"):
        high = (1 << int(kind[1:]) - 1) - 1
        return {"type": kind, "min-value": -high - 1, "max-value": high}
    if "exact-len" in checks:
        return {"type": kind, "min-length": checks["exact-len"], "max-length": checks["exact-len"]}
    if kind in ("string", "binary"):
        return {"type": "nul-string" if kind == "string" else kind, "max-length": checks["max-len"]}
    if kind == "nest":
        inner = [a for a in attrs_of(attr["nested-attributes"]).values() if a["type"] != "pad"]
        return {"type": "nested", "policy": {a["name"]: expected(a) for a in inner}}
    return {"type": kind}


def tellable(wanted, told):
    """wanted, without the length of binary attributes if not reported, as on 7.2"""
    if wanted["type"] == "nested":
        inner = told.get("policy", {})
        return {**wanted, "policy": {a: tellable(w, inner.get(a, {})) for a, w in wanted["policy"].items()}}
    return {k: v for k, v in wanted.items() if k in told or (wanted["type"], k) != ("binary", "max-length")}


def policies(client):
    """The kernel's policies agree with the specification. Older kernels have one for
    both modes of an operation."""
    for name, op in client.ynl.ops.items():
        attrs = attrs_of(op.yaml["attribute-set"])
        asked = {m: op.yaml[m]["request"]["attributes"] for m in ("do", "dump") if "request" in op.yaml.get(m, {})}
        for mode, names in asked.items():
            policy = client.ynl.get_policy(name, mode)
            told = {k: v for k, v in policy.to_dict().items() if v.get("type") != "invalid"} if policy else {}
            if os.uname().release.startswith("6.1."):
                names = {a for both in asked.values() for a in both}
            wanted = {a: tellable(expected(attrs[a]), told.get(a, {})) for a in names}
            faults = [f"{a}: {told.get(a)}, wanted {wanted.get(a)}" for a in {*told, *wanted}
                      if told.get(a) != wanted.get(a)]
            Tap.ok(not faults, f"the policy of {name}, {mode}", *faults)


def main():
    spec = sys.argv[2]
    client = Driver(spec)
    for part in (limits, sources, budgets, exempts, lists, configs):
        part(client)
    events(client, spec)
    policies(client)
    ops = client.ynl.yaml["operations"]["list"]
    missed = [(op["name"], m) for op in ops for m in ("do", "dump", "event")
              if m in op and (op["name"], m) not in DRIVEN]
    Tap.ok(not missed, "every operation was used", *missed)


main()
