# SPDX-License-Identifier: GPL-2.0-or-later
"""ynl.py LIBRARY SPEC: drive every operation of the family with the kernel's
own YNL client and the specification alone, and compare the policy that the
kernel tells with what the specification says."""
import contextlib
import io
import os
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
from lib import NlError, YnlFamily  # noqa: E402  pylint: disable=wrong-import-position,import-error

from wire import CONST, ECHO, ENUM, Tap, attrs_of  # noqa: E402  pylint: disable=wrong-import-position

TYPE_MAX = {"u8": 0xff, "u16": 0xffff, "u32": 0xffffffff, "u64": 0xffffffffffffffff}
WEB = {"name": "web", "budget": 10, "window-ms": 600000, "slots": 4, "prefix4": 24, "sources": 64,
       "comment": "public web, #123",
       "match": {"to": [{"address": "192.0.2.0", "len": 24}, {"address": "203.0.113.7", "len": 32}],
                 "proto": 6, "dport": [{"first": 443, "last": 443}, {"first": 8000, "last": 8100}],
                 "invert": {"dport"}}}
ALL = {"name": "host", "budget": 1000, "window-ms": 600000, "unit": "bytes", "mode": "lenient",
       "action": "observe", "sources": 64, "before": "web"}
DRIVEN = set()


class Driver:
    """The client; records which operations were used."""

    def __init__(self, spec):
        self.ynl = YnlFamily(spec)
        self.said = io.StringIO()

    def do(self, op, words=None, echo=False):
        """A request with one answer"""
        DRIVEN.add((op, "do"))
        with contextlib.redirect_stdout(self.said):  # it prints warnings
            return self.ynl.do(op, words or {}, flags=[ECHO] if echo else None)

    def dump(self, op, words=None):
        """A request with a list of answers"""
        DRIVEN.add((op, "dump"))
        return self.ynl.dump(op, words or {})

    def refused(self, op, words):
        """The error of a request that must be refused"""
        try:
            return f"not refused: {self.do(op, words)}"
        except NlError as error:
            return str(error)


def holds(told, **words):
    """Does an answer have these values?"""
    return all(told.get(k.replace("_", "-")) == v for k, v in words.items())


def limits(client):
    """add, set, get, del, flush"""
    ok = Tap.ok
    ok(client.do("limit-add", WEB | {"check": True}, echo=True) is None and not client.dump("limit-get"),
       "limit-add with check changes nothing, and tells nothing")
    told = client.do("limit-add", WEB, echo=True)
    ok(all(told[k] == v for k, v in WEB.items() if k != "match") and
       told["match"] == WEB["match"], "limit-add tells what it made", told)
    ok(told["slot-ns"] == 150 * 10**9 and told["window-ns"] == 600 * 10**9 and
       told["ways"] >= 64 and told["memory"] > 0, "limit-add tells slots, ways and memory", told)
    ok(client.do("limit-add", ALL) is None, "limit-add tells nothing if it is not asked to")
    ok("never fit" in client.said.getvalue(), "a warning comes with a limit that is made", client.said.getvalue())
    told = client.dump("limit-get")
    ok([x["name"] for x in told] == ["host", "web"] and "stats" not in told[0], "limit-get, in their order", told)
    ok(holds(told[0], unit="bytes", mode="lenient", action="observe", prefix6=64), "limit-get, the words", told[0])
    told = client.do("limit-get", {"name": "web", "want-stats": True})["stats"]
    ok(told["matched"] == {"packets": 0, "bytes": 0} and told["sources-now"] == 0 and
       "sources-wanted" not in told, "limit-get with stats", told)
    client.do("source-charge", {"limit": "web", "address": "203.0.113.9", "cost": 3})
    told = client.do("limit-set", {"name": "web", "budget": 20, "slots": 8}, echo=True)
    ok(holds(told, budget=20, slots=8, prefix4=24), "limit-set tells what became of it", told)
    told = client.dump("source-get", {"address": "203.0.113.9", "limit": "web"})
    ok(told[0]["count"] == 3 and told[0]["left"] == 17, "limit-set loses no count", told)
    told = client.do("limit-set", {"name": "web", "comment": ""}, echo=True)
    ok(holds(told, name="web", budget=20) and "comment" not in told, "limit-set of an empty comment removes it", told)
    client.do("limit-set", {"name": "web", "budget": 10, "slots": 4})
    client.do("limit-del", {"name": "host"})
    ok([x["name"] for x in client.dump("limit-get")] == ["web"], "limit-del")
    told = client.refused("limit-del", {"name": "host"})
    ok("no limit of that name" in told and ".name" in told, "a refusal has a sentence and an attribute", told)


def charges(client):
    """source-charge and source-get: their answers. netns/tool-source tests the rest."""
    ok = Tap.ok
    words = {"limit": "web", "address": "203.0.113.77"}
    told = client.do("source-charge", {**words, "cost": 5})
    ok(holds(told, limit="web", taken=5, count=8, left=2, budget=10, unit="packets") and
       "limited" not in told, "source-charge", told)
    told = client.do("source-charge", {**words, "cost": 3, "charge-mode": "drain"})
    ok(holds(told, taken=2, left=0, limited=True) and told["next-ns"] > 0, "source-charge drain", told)
    told = client.dump("source-get", {"address": "203.0.113.200"})
    ok(len(told) == 1 and holds(told[0], address="203.0.113.0", prefix_len=24, limit="web", count=10, left=0,
                                limited=True, action="drop") and sum(told[0]["slot"]) == 10 and len(told[0]["slot"]) == 5 and
       told[0]["slot-ns"] == 150 * 10**9, "source-get: count, room, until when, slots", told)
    ok(client.dump("source-get", {"address": "2001:db8::1"}) == [], "source-get: no limit meets it")
    client.do("source-charge", {"limit": "web", "address": "2001:db8:0:1::5"})
    client.do("source-charge", {"limit": "web", "address": "fe80::5", "dev": "lo"})


def shows(client):
    """source-show and its filters"""
    def show(**words):
        told = client.dump("source-show", {k.replace("_", "-"): v for k, v in words.items()})
        return [x.get("address") for x in told]

    ok = Tap.ok
    four, six, local = "203.0.113.0", "2001:db8:0:1::", "fe80::5"
    told = client.dump("source-show")
    ok({x["address"] for x in told} == {four, six, local}, "source-show", told)
    ok([x.get("dev") for x in told if x["address"] == local] == ["lo"],
       "source-show: a link-local source has its device")
    ok(sorted(show(limit="web")) == sorted([four, six, local]), "source-show of a limit")
    for prefix, length, found in [(four, 24, [four]), ("203.0.113.9", 32, [four]), ("10.0.0.0", 8, []),
                                  ("::", 0, [six, local])]:
        ok(sorted(show(address=prefix, prefix_len=length)) == sorted(found), f"source-show within {prefix}/{length}")
    ok(show(dev="lo") == [local], "source-show on a device")
    ok(show(filter_limited=True) == [four], "source-show of those limited")
    ok(show(top=1) == [four] and show(top=1, rank="count") == [four], "source-show of the worst")
    stats = client.do("limit-get", {"name": "web", "want-stats": True})["stats"]
    ok(stats["sources-now"] == 3, "sources-now counts them", stats)


def forgets(client):
    """source-forget"""
    ok = Tap.ok
    told = client.do("source-forget", {"address": "203.0.113.99", "limit": "web"})
    ok(holds(told, forgotten=1, limit="web", address="203.0.113.0"),
       "source-forget of an address is of its source", told)
    told = client.dump("source-show", {"idle": True, "address": "203.0.113.1", "prefix-len": 32})
    ok(len(told) == 1 and told[0].get("idle") and told[0]["count"] == 0, "source-show of the idle", told)
    ok(client.dump("source-show", {"address": "203.0.113.1", "prefix-len": 32}) == [], "an idle one is not shown else")
    told = client.do("source-forget", {"address": "2001:db8::", "prefix-len": 72})
    ok(holds(told, forgotten=0), "source-forget of less than a source", told)
    told = client.do("source-forget", {"limit": "web"})
    ok(told == {"forgotten": 2, "limit": "web"} and client.dump("source-show") == [], "source-forget of all", told)
    ok(holds(client.do("source-charge", {"limit": "web", "address": "203.0.113.9"}), count=1),
       "who was forgotten starts afresh")


def exempts(client):
    """exempt-add, get, del, flush"""
    ok = Tap.ok
    rows = [{"address": "10.0.0.0", "prefix-len": 8}, {"address": "203.0.113.0", "prefix-len": 25, "limit": "web",
             "comment": "monitoring"}, {"address": "2001:db8::", "prefix-len": 32, "dev": "eth9"}]
    for row in rows:
        client.do("exempt-add", row)
    told = client.dump("exempt-get")
    ok(sorted(told, key=str) == sorted(rows, key=str), "exempt-get of all", told)
    ok(client.do("exempt-get", {"address": "10.1.2.3"}) == rows[0], "exempt-get of an address")
    told = client.refused("exempt-get", {"address": "203.0.113.9"})
    ok("not exempt" in told, "exempt-get: one from a limit is none from all", told)
    ok(client.do("exempt-get", {"address": "203.0.113.9", "limit": "web"}) == rows[1], "exempt-get from a limit")
    ok(client.do("exempt-get", {"address": "2001:db8::7", "dev": "eth9"}) == rows[2], "exempt-get on a device")
    told = client.dump("source-get", {"address": "203.0.113.9"})
    ok(told[0].get("exempt") == rows[1], "source-get tells the exemption", told)
    client.do("exempt-add", {"address": "11.0.0.0", "prefix-len": 8, "check": True})
    client.do("exempt-del", rows[0] | {"check": True})
    ok(len(client.dump("exempt-get")) == 3, "exempt-add and -del with check change nothing")
    client.do("exempt-del", rows[0])
    ok(len(client.dump("exempt-get")) == 2, "exempt-del")
    client.do("exempt-flush")
    ok(client.dump("exempt-get") == [], "exempt-flush")


def configs(client):
    """config-replace and stats-get"""
    ok = Tap.ok
    web = {k: v for k, v in WEB.items() if k != "before"}
    other = {"name": "other", "budget": 5, "window-ms": 1000, "sources": 64}
    before = client.dump("limit-get"), client.do("stats-get")["memory"]
    client.do("config-replace", {"limit": [other, web], "check": True})
    ok((client.dump("limit-get"), client.do("stats-get")["memory"]) == before,
       "config-replace with check changes nothing")
    client.do("config-replace", {"limit": [other, web],
                                 "exempt": [{"address": "10.0.0.0", "prefix-len": 8, "limit": "other"},
                                            {"address": "::1"}]})
    ok([x["name"] for x in client.dump("limit-get")] == ["other", "web"], "config-replace: limits in their order")
    ok(len(client.dump("exempt-get")) == 2, "config-replace: exemptions")
    ok(all(x["stats"] == {"packets": 0, "bytes": 0} for x in client.dump("exempt-get", {"want-stats": True})),
       "exempt-get: what each exempted")
    told = client.dump("source-get", {"address": "203.0.113.9", "limit": "web"})
    ok(told[0]["count"] == 1, "config-replace: a limit of the same name keeps its counts", told)
    ok(client.do("limit-get", {"name": "web"})["comment"] == WEB["comment"], "config-replace: with a comment")
    was = client.dump("limit-get"), client.dump("exempt-get")
    more = {"limit": [{**other, "name": "more"}], "exempt": [{"address": "10.1.0.0", "prefix-len": 16, "limit": "more"}]}
    client.do("config-replace", {**more, "add": True, "check": True})
    ok((client.dump("limit-get"), client.dump("exempt-get")) == was, "config-replace with add and check changes nothing")
    client.do("config-replace", {**more, "add": True})
    now = client.dump("limit-get"), client.dump("exempt-get")
    ok(now[0][:2] == was[0] and now[0][2]["name"] == "more" and [x for x in now[1] if x in was[1]] == was[1] and
       [x for x in now[1] if x not in was[1]] == more["exempt"], "config-replace with add: all others stay", now)
    client.do("limit-del", {"name": "more"})
    told = client.do("stats-get")
    ok(holds(told, limits=2, exempts=2) and told["memory"] > 0 and told["tick-ns"] > 0 and
       told["seen"] == told["exempt"] + told["unmatched"] + told["admitted"] + told["dropped"], "stats-get", told)
    many = [{**other, "name": f"l{i}"} for i in range(256)]
    rows = [{"address": f"10.{i >> 8}.{i & 255}.0", "prefix-len": 24} for i in range(8192)]
    client.do("config-replace", {"limit": many, "exempt": rows})
    ok([x["name"] for x in client.dump("limit-get")] == [x["name"] for x in many] and
       client.dump("exempt-get") == rows, "config-replace: 256 limits and 8192 exemptions")
    client.do("limit-reset", {"name": "l7"})
    ok(client.do("limit-get", {"name": "l7", "want-stats": True})["stats"]["matched"]["packets"] == 0, "limit-reset")
    client.do("limit-flush")
    ok(client.dump("limit-get") == [] and len(client.dump("exempt-get")) == 8192, "limit-flush")
    client.do("config-replace")
    ok(client.dump("exempt-get") == [], "config-replace by nothing")


def events(client, spec):
    """Notifications"""
    listener = Driver(spec).ynl
    listener.ntf_subscribe("events")

    def heard(name, **words):
        for event in listener.poll_ntf(duration=10):
            if event["name"] == name and holds(event["msg"], **words):
                DRIVEN.add((name, "event"))
                return event["msg"]
        return {}

    ok = Tap.ok
    client.do("limit-add", {"name": "e", "budget": 2, "window-ms": 600000, "sources": 64})
    told = heard("limit-ntf", event="added")
    ok(holds(told, name="e", budget=2, window_ms=600000, unit="packets", action="drop"), "a limit came", told)
    client.do("limit-set", {"name": "e", "budget": 1})
    ok(holds(heard("limit-ntf", event="changed"), name="e", budget=1), "a limit changed")
    subprocess.run(os.environ["SEND"].split(), stdout=subprocess.DEVNULL, check=True)
    told = heard("source-ntf", event="limited")
    ok(holds(told, limit="e", address="198.51.100.77", count=1, budget=1, limited=True, action="drop") and
       told["prefix-len"] == 32 and told["next-ns"] > 0, "a source became limited", told)
    for i in range(400):
        client.do("source-charge", {"limit": "e", "address": f"198.51.{i >> 8}.{i & 255}"})
    told = heard("pressure-ntf")
    ok(holds(told, limit="e") and told["sources-wanted"] >= 128 and
       told["evictions"] + told["floor-refused"] > 0, "pressure", told)
    stats = client.do("limit-get", {"name": "e", "want-stats": True})["stats"]
    ok(stats["sources-wanted"] >= 128 and stats["evictions"] > 0, "pressure stays told", stats)
    client.do("limit-del", {"name": "e"})
    ok(holds(heard("limit-ntf", event="removed"), name="e"), "a limit went")
    client.do("exempt-add", {"address": "203.0.113.0", "prefix-len": 24})
    ok(holds(heard("exempt-ntf", event="added"), address="203.0.113.0", prefix_len=24),
       "an exemption came")
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
    if kind in ("string", "binary"):
        return {"type": "nul-string" if kind == "string" else kind, "max-length": checks["max-len"]}
    if kind == "nest":
        inner = attrs_of(attr["nested-attributes"]).values()
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
    """All of it"""
    spec = sys.argv[2]
    client = Driver(spec)
    for part in (limits, charges, shows, forgets, exempts, configs):
        part(client)
    events(client, spec)
    policies(client)
    ops = client.ynl.yaml["operations"]["list"]
    missed = [(op["name"], m) for op in ops for m in ("do", "dump", "event")
              if m in op and (op["name"], m) not in DRIVEN]
    Tap.ok(not missed, "every operation was used", *missed)


main()
