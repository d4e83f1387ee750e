# SPDX-License-Identifier: GPL-2.0-or-later
"""bad_words.py: messages whose attributes are valid singly but contradict each
other, or that nobody may send. Each is refused with its own sentence, which
points at the fault, and changes nothing."""
import errno
import os
import re
import socket
import struct
import sys

from wire import CMD, DUMP, NESTED, OPS, Tap, Wire, attrs_of, encode, encode_all, tlv


def ip(text):
    """An address as bytes"""
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


BUDGET = {"budget": 10, "window-ms": 1000}
LIMIT = {"name": "new", "budget": BUDGET, "sources": 64}
A, E = ip("192.0.2.0"), errno


def limit(**words):
    """A valid limit with these attributes, or those of its budget, changed; None removes one."""
    words = {k.replace("_", "-"): v for k, v in words.items()}
    budget = {**BUDGET, **{k: words.pop(k) for k in attrs_of("budget") if k in words}}
    words = {**LIMIT, "budget": {k: v for k, v in budget.items() if v is not None}, **words}
    return {k: v for k, v in words.items() if v is not None}


def match(**words):
    return limit(match={k.replace("_", "-"): v for k, v in words.items()})


def net(text, bits):
    return {"address": ip(text), "len": bits}


def second(**words):
    """A limit with a valid second budget, with these attributes changed"""
    words = {"budget": 5, "window-ms": 60000, **{k.replace("_", "-"): v for k, v in words.items()}}
    return [*LIMIT.items(), ("budget", {k: v for k, v in words.items() if v is not None})]


def calendar(**words):
    """A limit with a calendar, in a zone with these attributes"""
    return limit(mode=5, window_ms=60000, zone={k.replace("_", "-"): v for k, v in words.items()})


def ports(first, last=None):
    return {"first": first} if last is None else {"first": first, "last": last}


def packet(*words):
    """A source with such a packet"""
    return {"address": A, "packet": list(words)}


def listed(name, *values, **words):
    """A limit with several values of a condition"""
    return limit(match=[(k, v) for k, v in words.items()] + [(name, v) for v in values])


def addresses(numbers):
    """An attribute for each, with no more than that IPv4 address: what 65,536 take is encoded at once"""
    def encoded(aset, name):
        head = encode(aset, name, {"address": bytes(4)})[:-4]
        return b"".join(head + struct.pack(">I", number) for number in numbers)
    return encoded


# There the end of a dump has only the sentence.
VAGUE = os.uname().release.startswith("6.1.")

# name, operation, attributes, sentence, attributes at fault, and the error unless it is EINVAL;
# "-name" is an attribute that is missing. A number in a path is the n-th of that name, from 0.
KEPT = {"limit": "here", "clock-ns": 1, "tick-ns": 4000000, "prefix4": 32, "prefix6": 64, "sets": 4,
        "budget": {"budget": 10, "slots": 4, "slot-ns": 1000000000, "width": 2}}


def kept(*more, count=None, **words):
    """What a state-get may have said, with attributes of it or of its budget changed; None removes one"""
    words = {k.replace("_", "-"): v for k, v in words.items()}
    budget = {**KEPT["budget"], **{k: words.pop(k) for k in attrs_of("state-budget") if k in words and k != "budget"}}
    words = {**KEPT, "budget": {k: v for k, v in budget.items() if v is not None}, **words}
    if count is not None:
        more = [*more, ("source", {"address": A, "count": count})]
    return [*((k, v) for k, v in words.items() if v is not None), *more]


def numbers(width, *values):
    return {"numbers": b"".join(v.to_bytes(width, sys.byteorder) for v in values)}


def tried(count=({}, {}), slot_ns=1000000000, phase_ns=0):
    """The same of the newcomers' budgets"""
    return kept(("newcomers", [*([("slot-ns", slot_ns)] if slot_ns else []), ("phase-ns", phase_ns), *(("count", c) for c in count)]))


CASES = [
    ("a limit without a name", "limit-add", limit(name=None), "name .* missing", "-name"),
    ("a limit without a budget", "limit-add", {"name": "new"}, "budget .* missing", "-budget"),
    ("a limit without a window", "limit-add", limit(window_ms=None), "window .* missing", "-budget/window-ms"),
    ("an empty name", "limit-add", limit(name=""), "at least one", "name"),
    ("a name with a slash", "limit-add", limit(name="a/b"), "letters", "name"),
    ("a name with a NUL inside", "limit-add", limit(name="a\0b"), "NUL", "name"),
    ("a name that begins with a dash", "limit-add", limit(name="-a"), "dash", "name"),
    ("a name that means every limit", "limit-add", limit(name="all"), "every limit; choose", "name"),
    ("a name that is taken", "limit-add", limit(name="here"), "exists", "name", E.EEXIST),
    ("before a limit that does not exist", "limit-add", limit(before="none"), "to place it before", "before", E.ENOENT),
    ("too many packets", "limit-add", limit(budget=1 << 32), "4294967295", "budget/budget", E.ERANGE),
    ("slots shorter than a tick", "limit-add", limit(window_ms=10, slots=64), "tick", "budget/slots"),
    ("a fixed window of several slots", "limit-add", limit(mode=2, slots=4), "single slot; leave slots", "budget/slots"),
    ("a burst without a bucket", "limit-add", limit(burst=5), "say bucket, too", "budget/burst"),
    ("a bucket with slots", "limit-add", limit(mode=3, slots=5), "no slots; leave", "budget/slots"),
    ("a bucket without a window", "limit-add", limit(mode=3, window_ms=0), "a total has none", "budget/window-ms"),
    ("a burst of too many budgets", "limit-add", limit(mode=3, burst=40961), "4096 times the budget", "budget/burst", E.ERANGE),
    ("a burst of too many packets", "limit-add", limit(mode=3, burst=1 << 33), "2.46 bytes", "budget/burst", E.ERANGE),
    ("a bucket of too many bytes", "limit-add", limit(mode=3, unit=1, budget=1 << 47), "2.46 bytes", "budget/budget", E.ERANGE),
    ("a total of several slots", "limit-add", limit(window_ms=0, slots=4), "single slot; leave slots", "budget/slots"),
    ("a window shorter than 10 ms", "limit-add", limit(window_ms=9), "at least 10 ms; 0 is the total", "budget/window-ms", E.ERANGE),
    ("a second budget without its number", "limit-add", second(budget=None), "packets or bytes .* missing", "-budget:1/budget"),
    ("a second budget without a window", "limit-add", second(window_ms=None), "window .* missing", "-budget:1/window-ms"),
    ("5 budgets", "limit-add", [*LIMIT.items(), *[("budget", {"budget": 5, "window-ms": 60000})] * 4], "at most 4 budgets",
     "budget:4"),
    ("a second budget of too many packets", "limit-add", second(budget=1 << 32), "4294967295", "budget:1/budget", E.ERANGE),
    ("a second window shorter than 10 ms", "limit-add", second(window_ms=9), "at least 10 ms", "budget:1/window-ms", E.ERANGE),
    ("a second burst without a bucket", "limit-add", second(burst=5), "say bucket, too", "budget:1/burst"),
    ("a second bucket with slots", "limit-add", second(mode=3, slots=5), "no slots; leave", "budget:1/slots"),
    ("a second bucket of too many bytes", "limit-add", second(mode=3, unit=1, budget=1 << 47), "2.46 bytes",
     "budget:1/budget", E.ERANGE),
    ("a second log of bytes", "limit-add", second(mode=4, unit=1), "counts packets", "budget:1/unit"),
    ("a second total of several slots", "limit-add", second(window_ms=0, slots=4), "single slot; leave", "budget:1/slots"),
    ("the third budget at fault", "limit-add", [*second(), ("budget", {"budget": 5, "window-ms": 1})],
     "at least 10 ms", "budget:2/window-ms", E.ERANGE),
    ("a budget that the limit does not have", "limit-set", {"name": "two", "budget": {"budget": 5, "window-ms": 3000}},
     "no budget of the limit has that window", "budget"),
    ("a budget whose window is in packets", "limit-set",
     {"name": "two", "budget": {"budget": 5, "window-ms": 1000, "unit": 1}}, "that window is in packets", "budget/unit"),
    ("a log of too many packets", "limit-add", limit(mode=4, budget=57), "at most 56 packets", "budget/budget", E.ERANGE),
    ("a log of bytes", "limit-add", limit(mode=4, unit=1), "counts packets", "budget/unit"),
    ("a log with slots", "limit-add", limit(mode=4, slots=5), "no slots; leave", "budget/slots"),
    ("a log without a window", "limit-add", limit(mode=4, window_ms=0), "a total has none", "budget/window-ms"),
    ("a calendar of five seconds", "limit-add", limit(mode=5, window_ms=5000), "minutes, hours, days", "budget/window-ms"),
    ("a calendar of several slots", "limit-add", limit(mode=5, window_ms=60000, slots=4), "single slot; leave", "budget/slots"),
    ("a zone without a calendar", "limit-add", limit(zone={"name": "UTC"}), "say calendar, too", "zone"),
    ("a zone without a name", "limit-add", calendar(offset=3600), "name of the zone is missing", "-zone/name"),
    ("a zone too far from UTC", "limit-add", calendar(name="X", offset=50401), "50400 seconds", "zone", E.ERANGE),
    ("... after its change", "limit-add", calendar(name="X", next_offset=-50401, change=1 << 40), "50400 seconds", "zone",
     E.ERANGE),
    ("a penalty shorter than a second", "limit-add", limit(penalty_ms=999), "a second at least; 0 is none", "penalty-ms",
     E.ERANGE),
    ("a penalty of one source of all", "limit-add", limit(penalty_ms=1000, prefix4=0), "a penalty needs their own",
     "penalty-ms"),
    ("renew without a penalty", "limit-add", limit(renew=True), "renew requires one", "renew"),
    ("renew of a penalty of 0", "limit-add", limit(penalty_ms=0, renew=True), "renew requires one", "renew"),
    ("set of renew alone", "limit-set", {"name": "here", "renew": True}, "renew requires one", "renew"),
    ("newcomers without a window", "limit-add", limit(newcomers=5), "window .* missing", "-newcomers-ms"),
    ("newcomers with a prefix length of 0", "limit-add", limit(newcomers=5, newcomers_ms=1000, prefix6=0),
     "one source of all", "newcomers"),
    ("a flood without newcomers", "limit-add", limit(flood=5), "the limit has none", "flood"),
    ("an age without newcomers", "limit-add", limit(known_ms=5000), "the limit has none", "known-ms"),
    ("an invalid address family", "limit-add", match(family=7), "family", "match/family"),
    ("an invalid device name", "limit-add", match(dev="a/b"), "device .*; no space", "match/dev"),
    ("an empty device", "limit-add", match(dev=""), "at least one", "match/dev"),
    ("an address of 5 bytes", "limit-add", match(**{"from": {"address": A + b"x"}}), "4 bytes", "match/from/address"),
    ("an address of 0 bytes", "limit-add", match(to={"address": b""}), "4 bytes", "match/to/address"),
    ("a prefix longer than its address", "limit-add", match(to={"address": A, "len": 33}), "longer", "match/to/len"),
    ("host bits", "limit-add", match(to=net("192.0.2.1", 24)), "host bits", "match/to/address"),
    ("IPv6 host bits", "limit-add", match(to=net("2001:db8::1", 64)), "host bits", "match/to/address"),
    ("a length without its address", "limit-add", match(to={"len": 24}), "address .* missing", "-match/to/address"),
    ("the last port without the first", "limit-add", match(proto=6, dport={"last": 9}), "first .* missing",
     "-match/dport/first"),
    ("prefixes that overlap", "limit-add", listed("from", net("10.1.0.0", 16), net("192.0.2.0", 24), net("10.0.0.0", 8)),
     "overlap; leave", "match/from:2"),
    ("the same prefix twice, inverted", "limit-add", listed("to", net("2001:db8::", 32), net("2001:db8::", 32), invert=8),
     "overlap; leave", "match/to:1"),
    ("17 prefixes", "limit-add", listed("from", *(net(f"10.{i}.0.0", 16) for i in range(17))), "at most 16",
     "match/from:16"),
    ("the last prefix has host bits", "limit-add", listed("from", net("10.0.0.0", 8), net("11.0.0.1", 8)), "host bits",
     "match/from:1/address"),
    ("ports that overlap", "limit-add", listed("dport", ports(80), ports(1, 5), ports(5, 9), proto=6), "overlap; name",
     "match/dport:2"),
    ("16 ranges of ports", "limit-add", listed("sport", *(ports(i) for i in range(16)), proto=6), "15 ranges",
     "match/sport:15"),
    ("a prefix of another family in the list", "limit-add",
     listed("from", net("10.0.0.0", 8), net("2001:db8::", 32), family=2), "family", "match/from:1"),
    ("from with two families, to with one", "limit-add", match(**{"from": net("10.0.0.0", 8), "to": net("2001:db8::", 32)}),
     "families", "match/to"),
    ("a mask without a mark", "limit-add", match(mark_mask=9), "half", "match/mark-mask -match/mark"),
    ("not of a condition that is not given", "limit-add", match(proto=6, invert=1), "not given; give it", "match/invert"),
    ("ports without a protocol", "limit-add", match(dport=ports(53)), "protocol", "match/dport"),
    ("ports of a protocol without ports", "limit-add", match(proto=1, sport=ports(53)), "protocol", "match/sport"),
    ("ports with an inverted protocol", "limit-add", match(proto=6, sport=ports(53), invert=16), "protocol", "match/sport"),
    ("the last port below the first", "limit-add", match(proto=17, dport=ports(9, 8)), "range .*; give the lower",
     "match/dport"),
    ("syn of another protocol", "limit-add", match(proto=17, syn=True), "tcp", "match/syn"),
    ("syn of two protocols", "limit-add", listed("proto", 6, 17, syn=True), "tcp", "match/syn"),
    ("ports of protocols of which one has none", "limit-add", listed("proto", 6, 1, dport=ports(5)), "protocol with ports",
     "match/dport"),
    ("33 protocols", "limit-add", listed("proto", *range(33)), "32 other values", "match/proto:32"),
    ("33 types", "limit-add", listed("icmpv6-type", *range(33)), "32 other values", "match/icmpv6-type:32"),
    ("types of another protocol", "limit-add", match(proto=58, icmp_type=8), "of icmp; name", "match/icmp-type"),
    ("types of IPv6 of another protocol", "limit-add", match(proto=1, icmpv6_type=8), "of icmpv6; name",
     "match/icmpv6-type"),
    ("types of both", "limit-add", match(icmp_type=8, icmpv6_type=128), "exclude", "match/icmpv6-type"),
    ("types of later fragments", "limit-add", match(icmp_type=8, frag=True), "fragment.*; leave", "match/frag"),
    ("ports of later fragments", "limit-add", match(proto=17, frag=True, dport=ports(1)), "fragment.*; leave", "match/frag"),
    ("a mark outside of its mask", "limit-add", match(mark=3, mark_mask=1), "mask; clear", "match/mark"),
    ("prefixes of two families", "limit-add", match(**{"from": net("192.0.2.0", 24), "to": net("::", 0)}), "famil",
     "match/to"),
    ("a prefix of another family", "limit-add", match(family=10, to=net("192.0.2.0", 24)), "family", "match/to"),
    ("a comment with a newline", "limit-add", limit(comment="a\nb"), "control characters; leave", "comment"),
    ("a comment with DEL at its end", "limit-set", {"name": "here", "comment": "a\x7f"}, "control", "comment"),
    ("a comment with CSI of C1", "limit-set", {"name": "here", "comment": "a\x9b31m"}, "control", "comment"),
    ("a comment with a NUL inside", "limit-add", limit(comment="a\0b"), "control", "comment"),
    ("exempt with ESC in the comment", "exempt-add", {"address": A, "comment": "\x1b["}, "control", "comment"),
    ("exempt again, with another comment", "exempt-add", {"address": ip("10.0.0.0"), "prefix-len": 8, "comment": "x"},
     "already exempt; replace it", "address", E.EEXIST),
    ("prefix-list add without a name", "prefix-list-add", {"prefix": net("10.0.0.0", 8)}, "name of the list is missing", "-name"),
    ("prefix-list add without prefixes", "prefix-list-add", {"name": "more"}, "prefixes of the list are missing", "-prefix"),
    ("prefix-list set without prefixes", "prefix-list-set", {"name": "some"}, "prefixes of the list are missing", "-prefix"),
    ("prefix-list add of a name with a slash", "prefix-list-add", {"name": "a/b", "prefix": net("10.0.0.0", 8)}, "letters", "name"),
    ("prefix-list add of what means all", "prefix-list-add", {"name": "all", "prefix": net("10.0.0.0", 8)}, "every limit", "name"),
    ("prefix-list add of host bits", "prefix-list-add", [("name", "some"), ("prefix", net("10.0.0.0", 8)), ("prefix", net("10.0.0.1", 8))],
     "host bits", "prefix:1/address"),
    ("prefix-list add of a prefix without an address", "prefix-list-add", {"name": "some", "prefix": {"len": 8}}, "address of a prefix is missing",
     "-prefix/address"),
    ("prefix-list add of 65537 prefixes", "prefix-list-add",
     {"name": "more", "prefix": addresses(range(65537))}, "65536", "prefix:65536", E.ENOSPC),
    ("prefix-list add of 65536 prefixes to others", "prefix-list-add",
     {"name": "more", "prefix": addresses(range(65536))}, "65536", "prefix", E.ENOSPC),
    ("prefix-list del without a name", "prefix-list-del", {}, "name of the list is missing", "-name"),
    ("prefix-list del of a list that does not exist", "prefix-list-del", {"name": "none"}, "no list", "name", E.ENOENT),
    ("prefix-list del of a prefix that is not there", "prefix-list-del",
     [("name", "some"), ("prefix", net("192.0.2.0", 24)), ("prefix", net("10.0.0.0", 9))], "does not have", "prefix:1", E.ENOENT),
    ("prefix-list del of a list that is used", "prefix-list-del", {"name": "some"}, "uses the list; change", "name", E.EBUSY),
    ("prefix-list del of all prefixes of one", "prefix-list-del", {"name": "some", "prefix": net("192.0.2.0", 24)}, "uses the list", "name", E.EBUSY),
    ("prefix-list add of what means none", "prefix-list-add", {"name": "none", "prefix": net("10.0.0.0", 8)}, "no list; choose", "name"),
    ("budgets by a list that does not exist", "limit-add", limit(budgets_by="absent"), "no list", "budgets-by", E.ENOENT),
    ("budgets of prefixes longer than a source", "limit-add", limit(budgets_by="some", prefix4=16), "longer than a source", "budgets-by"),
    ("budgets by a list of one source for all", "limit-add", limit(budgets_by="some", prefix6=0), "budgets-by needs their own", "budgets-by"),
    ("budgets by a list of a bucket", "limit-add", limit(budgets_by="some", mode=3), "drains alike", "budgets-by"),
    ("a bucket that is shared", "limit-add", limit(sharing=1, mode=3), "cannot be shared", "sharing"),
    ("an exact budget that is shared", "limit-add", limit(sharing=1, mode=4, budget=50), "cannot be shared", "sharing"),
    ("a budget of the calendar that is shared", "limit-add", limit(sharing=1, mode=5, window_ms=60000), "cannot be shared", "sharing"),
    ("set of an exact budget, shared", "limit-set", {"name": "here", "sharing": 1, "budget": {"budget": 5, "window-ms": 2000, "mode": 4}}, "cannot be shared", "sharing"),
    ("an amount alone of a limit that is not shared", "limit-add", limit(alone=5), "say shared, too", "budget/alone"),
    ("an amount alone, and unshared", "limit-set", {"name": "here", "sharing": 0, "budget": {"alone": 5}}, "say shared, too", "budget/alone"),
    ("more alone than the budget", "limit-add", limit(alone=11, sharing=1), "at most the budget", "budget/alone", E.ERANGE),
    ("more alone than the second budget", "limit-add", [*second(alone=6), ("sharing", 1)], "at most the budget", "budget:1/alone", E.ERANGE),
    ("an amount alone with a list", "limit-add", limit(budgets_by="some", alone=5, sharing=1), "leave out that of the first", "budgets-by"),
    ("join without a name", "limit-join", {"joined-ms": 1}, "name of the limit is missing", "-name"),
    ("join without a time", "limit-join", {"name": "here"}, "0 ends that", "-joined-ms"),
    ("join of a limit that does not exist", "limit-join", {"name": "none", "joined-ms": 1}, "no limit", "name", E.ENOENT),
    ("join of a limit that is not shared", "limit-join", {"name": "here", "joined-ms": 1}, "do not share", "name"),
    ("prefix-list get of a list that does not exist", "prefix-list-get", {"name": "none"}, "no list", "name", E.ENOENT),
    ("from a list that does not exist", "limit-add", match(from_list="none"), "no list", "match/from-list", E.ENOENT),
    ("to a list that does not exist", "limit-add", match(to_list="none"), "no list", "match/to-list", E.ENOENT),
    ("replace, parts of a list apart", "config-replace",
     [("prefix-list", {"name": n, "prefix": net("10.0.0.0", 8)}) for n in ("a", "b", "a", "c")], "follow each other", "prefix-list:2"),
    ("replace, 65 lists", "config-replace", [("prefix-list", {"name": f"l{i}", "prefix": net("10.0.0.0", 8)}) for i in range(65)],
     "at most 64", "prefix-list:64", E.ENOSPC),
    ("replace, without a list that is used", "config-replace",
     [("prefix-list", {"name": "other", "prefix": net("10.0.0.0", 8)}), ("limit", match(from_list="some"))], "no list",
     "limit/match/from-list", E.ENOENT),
    ("replace, a list without prefixes", "config-replace", [("prefix-list", {"name": "some"})], "prefixes of the list are missing", "-prefix-list/prefix"),
    ("set without a name", "limit-set", {"budget": {"budget": 1}}, "missing", "-name"),
    ("set of a limit that does not exist", "limit-set", {"name": "none", "budget": {"budget": 1}}, "no limit", "name", E.ENOENT),
    ("set of the prefix", "limit-set", {"name": "here", "prefix4": 24}, "cannot change", "prefix4"),
    ("set of the IPv6 prefix", "limit-set", {"name": "here", "prefix6": 48}, "cannot change", "prefix6"),
    ("set of too many packets", "limit-set", {"name": "here", "budget": {"budget": 1 << 32}}, "4294967295", "budget/budget", E.ERANGE),
    ("set before a limit that does not exist", "limit-set", {"name": "here", "before": "none"}, "before", "before",
     E.ENOENT),
    ("rename without a name", "limit-rename", {"new-name": "new"}, "missing", "-name"),
    ("rename without a new name", "limit-rename", {"name": "here"}, "new name of the limit is missing", "-new-name"),
    ("rename to a name with a slash", "limit-rename", {"name": "here", "new-name": "a/b"}, "letters", "new-name"),
    ("rename to what means every limit", "limit-rename", {"name": "here", "new-name": "all"}, "every limit", "new-name"),
    ("rename to a name that is taken", "limit-rename", {"name": "here", "new-name": "here"}, "exists", "new-name", E.EEXIST),
    ("rename of a limit that does not exist", "limit-rename", {"name": "none", "new-name": "new"}, "no limit", "name", E.ENOENT),
    ("del without a name", "limit-del", {}, "missing", "-name"),
    ("del of a limit that does not exist", "limit-del", {"name": "none"}, "no limit", "name", E.ENOENT),
    ("reset of a limit that does not exist", "limit-reset", {"name": "none"}, "no limit", "name", E.ENOENT),
    ("reset of an empty name", "limit-reset", {"name": ""}, "at least one", "name"),
    ("get without a name", "limit-get", {}, "missing", "-name"),
    ("get of a limit that does not exist", "limit-get", {"name": "none"}, "no limit", "name", E.ENOENT),
    ("exempt for less than a second", "exempt-add", {"address": A, "for-ms": 999}, "a second at least; 0 is", "for-ms", E.ERANGE),
    ("exempt nothing", "exempt-add", {}, "missing", "-address"),
    ("exempt del without an address", "exempt-del", {"prefix-len": 8}, "address .* missing", "-address"),
    ("exempt get without an address", "exempt-get", {"limit": "here"}, "address .* missing", "-address"),
    ("exempt host bits", "exempt-add", {"address": ip("10.0.0.1"), "prefix-len": 8}, "host bits", "address"),
    ("exempt an IPv4-mapped address", "exempt-add", {"address": ip("::ffff:192.0.2.1")}, "IPv4-mapped .*, 4 bytes",
     "address"),
    ("to an IPv4-mapped prefix", "limit-add", match(to=net("::ffff:0:0", 96)), "IPv4-mapped", "match/to/address"),
    ("source get of an IPv4-mapped address", "source-get", {"address": ip("::ffff:192.0.2.1")}, "IPv4-mapped", "address"),
    ("exempt a prefix too long", "exempt-add", {"address": A, "prefix-len": 64}, "longer", "prefix-len"),
    ("exempt 3 bytes", "exempt-add", {"address": A[:3]}, "4 bytes", "address"),
    ("exempt 3 bytes, and more bits", "exempt-add", {"address": A[:3], "prefix-len": 25}, "4 bytes", "address"),
    ("exempt on an invalid device name", "exempt-add", {"address": A, "dev": "a b"}, "device .*; no space", "dev"),
    ("exempt from a limit that does not exist", "exempt-add", {"address": A, "limit": "none"}, "no limit", "limit",
     E.ENOENT),
    ("del of an exemption that does not exist", "exempt-del", {"address": A}, "no such", "address", E.ENOENT),
    ("del of one from another limit", "exempt-del", {"address": ip("10.0.0.0"), "prefix-len": 8, "limit": "here"},
     "no such", "address", E.ENOENT),
    ("get of what is not exempt", "exempt-get", {"address": A}, "no exemption from all limits", "address", E.ENOENT),
    ("get of a prefix", "exempt-get", {"address": A, "prefix-len": 24}, "one address", "prefix-len"),
    ("exempt get for a limit that does not exist", "exempt-get", {"address": A, "limit": "none"}, "no limit", "limit",
     E.ENOENT),
    ("source get without an address", "source-get", {}, "address .* missing", "-address"),
    ("source get under a limit that does not exist", "source-get", {"address": A, "limit": "none"}, "no limit", "limit",
     E.ENOENT),
    ("source get of link-local without a device", "source-get", {"address": ip("fe80::1")}, "link-local", "address -dev"),
    ("source get on a device that does not exist", "source-get", {"address": ip("169.254.0.1"), "dev": "none"},
     "no device of that name", "dev", E.ENODEV),
    ("source get of a packet from a prefix", "source-get", packet(("from", net("10.0.0.0", 8))), "no such property", "packet/from"),
    ("source get of a packet of two protocols", "source-get", packet(("proto", 6), ("proto", 17)), "given twice", "packet/proto:1"),
    ("source get of a packet that is no TCP", "source-get", packet(("proto", 6), ("invert", 16)), "only syn and frag", "packet/invert"),
    ("source get of a packet not inverted", "source-get", packet(("invert", 128)), "not given", "packet/invert"),
    ("source get of a packet to a prefix", "source-get", packet(("to", net("10.0.0.0", 8))), "one address", "packet/to"),
    ("source get of a packet to another family", "source-get", packet(("to", net("2001:db8::1", 128))), "family", "packet/to"),
    ("source get of a packet to two ports", "source-get", packet(("proto", 6), ("dport", ports(1, 2))), "one value", "packet/dport"),
    ("source get of a packet without a protocol", "source-get", packet(("sport", ports(1))), "protocol with ports", "packet/sport"),
    ("source get of a packet with half a mark", "source-get", packet(("mark", 1), ("mark-mask", 3)), "one value", "packet/mark-mask"),
    ("source get of a packet with a list", "source-get", packet(("to-list", "none")), "no such property", "packet/to-list"),
    ("source show of a limit that does not exist", "source-show", {"limit": "none"}, "no limit", "limit", E.ENOENT),
    ("source show of host bits", "source-show", {"address": ip("192.0.2.1"), "prefix-len": 8}, "host bits", "address"),
    ("source show of a length", "source-show", {"prefix-len": 8}, "address", "prefix-len -address"),
    ("source show by rank without top", "source-show", {"rank": 1}, "top", "rank -top"),
    ("source show on a device that does not exist", "source-show", {"dev": "none"}, "no device of that name", "dev",
     E.ENODEV),
    ("charge without an address", "source-charge", {"limit": "here"}, "address .* missing", "-address"),
    ("charge without a limit", "source-charge", {"address": A}, "limit .* missing", "-limit"),
    ("charge of link-local without a device", "source-charge", {"address": ip("fe80::1"), "limit": "here"}, "link-local",
     "address -dev"),
    ("charge under a limit that does not exist", "source-charge", {"address": A, "limit": "none"}, "no limit", "limit",
     E.ENOENT),
    ("reservation of a ring", "source-charge", {"address": A, "limit": "here", "charge-mode": 2}, "only a bucket",
     "charge-mode"),
    ("block without an address", "source-block", {"for-ms": 1000}, "address .* missing", "-address"),
    ("block without a time", "source-block", {"address": A}, "time for which to block is missing; 0 is for ever", "-for-ms"),
    ("block for less than a second", "source-block", {"address": A, "for-ms": 999}, "a second at least; 0 is", "for-ms", E.ERANGE),
    ("block of an IPv4-mapped address", "source-block", {"address": ip("::ffff:192.0.2.1"), "for-ms": 1000}, "IPv4-mapped",
     "address"),
    ("block of link-local without a device", "source-block", {"address": ip("fe80::1"), "for-ms": 1000}, "link-local",
     "address -dev"),
    ("block under a limit that does not exist", "source-block", {"address": A, "for-ms": 1000, "limit": "none"}, "no limit",
     "limit", E.ENOENT),
    ("block of an address that the limit cannot match", "source-block", {"address": A, "for-ms": 1000, "limit": "six"},
     "cannot match the address", "limit"),
    ("block under a limit of one source of all", "source-block", {"address": ip("2001:db8::1"), "for-ms": 1000, "limit": "six"},
     "one source; block under another", "limit"),
    ("block of what is blocked", "source-block", {"address": ip("192.0.2.9"), "for-ms": 1000}, "already blocked", "address",
     E.EEXIST),
    ("release without an address", "source-release", {"limit": "here"}, "address .* missing", "-address"),
    ("release of what is not blocked", "source-release", {"address": A}, "is not blocked", "address", E.ENOENT),
    ("release under a limit that does not exist", "source-release", {"address": ip("192.0.2.9"), "limit": "none"}, "no limit",
     "limit", E.ENOENT),
    ("forget under a limit that does not exist", "source-forget", {"limit": "none"}, "no limit", "limit", E.ENOENT),
    ("forget on a device alone", "source-forget", {"dev": "lo"}, "address", "dev -address"),
    ("forget a length", "source-forget", {"prefix-len": 8}, "address", "prefix-len -address"),
    ("forget link-local without a device", "source-forget", {"address": ip("fe80::1")}, "link-local", "address -dev"),
    ("replace, the same name twice", "config-replace", [("limit", LIMIT), ("limit", limit(name="b")), ("limit", LIMIT)],
     "twice; give each", "limit:2/name", E.EEXIST),
    ("replace, the same exemption twice", "config-replace", [("exempt", {"address": A}), ("exempt", {"address": A})],
     "twice; leave", "exempt:1/address", E.EEXIST),
    ("replace, the same exemption twice, with different comments", "config-replace",
     [("exempt", {"address": A, "comment": "a"}), ("exempt", {"address": A, "comment": "b"})], "twice; leave",
     "exempt:1/address", E.EEXIST),
    ("replace, the same exemption twice among others", "config-replace",
     [("exempt", {"address": A}), ("limit", LIMIT), ("exempt", {"address": A, "limit": "new"}), ("exempt", {"address": ip("::1")}),
      ("exempt", {"address": A, "limit": "new"}), ("exempt", {"address": ip("10.0.0.0")}), ("limit", limit(name="b"))],
     "twice; leave", "exempt:3/address", E.EEXIST),
    ("replace, the same exemption three times", "config-replace",
     [("exempt", {"address": a}) for a in (ip("::2"), A, ip("::1"), A, A)], "twice; leave", "exempt:3/address", E.EEXIST),
    ("replace, two blocks behind 65536 exemptions are the same", "config-replace",
     [("exempt", addresses(range(65536)))] + [("exempt", {"address": A, "block": True})] * 2, "twice; leave",
     "exempt:65537/address", E.EEXIST),
    ("replace, a warning and an exemption twice", "config-replace",
     [("limit", limit(unit=1)), ("exempt", {"address": A}), ("exempt", {"address": A}), ("exempt", {"address": ip("::1")})],
     "twice; leave", "exempt:1/address", E.EEXIST),
    ("replace, a bad comment in the second limit", "config-replace",
     [("limit", LIMIT), ("limit", limit(name="b", comment="\t"))], "control", "limit:1/comment"),
    ("replace, a bad comment in the second exemption", "config-replace",
     [("exempt", {"address": A, "comment": "a"}), ("exempt", {"address": ip("10.1.0.0"), "comment": "\t"})], "control",
     "exempt:1/comment"),
    ("replace, a bad match in the second", "config-replace",
     [("limit", LIMIT), ("limit", limit(name="b", match={"dport": ports(1)}))], "protocol", "limit:1/match/dport"),
    ("replace, half a condition", "config-replace", [("exempt", {"address": A}), ("limit", match(mark_mask=3))], "half",
     "limit:0/match/mark-mask -limit:0/match/mark"),
    ("replace, a limit without a name", "config-replace", [("limit", LIMIT), ("limit", limit(name=None))],
     "name .* missing", "-limit:1/name"),
    ("replace, a limit without a budget", "config-replace", [("limit", {"name": "new"})], "budget .* missing",
     "-limit:0/budget"),
    ("replace, a limit without a window", "config-replace", [("limit", limit(window_ms=None))], "window .* missing",
     "-limit:0/budget/window-ms"),
    ("replace, an exemption without an address", "config-replace", [("exempt", {"address": A}), ("exempt", {"dev": "lo"})],
     "address .* missing", "-exempt:1/address"),
    ("replace, exempt from a limit that will not exist", "config-replace",
     [("limit", LIMIT), ("exempt", {"address": A}), ("exempt", {"address": A, "limit": "here"})], "no limit",
     "exempt:1/limit", E.ENOENT),
    ("replace, 257 limits", "config-replace", [("limit", limit(name=f"l{i}")) for i in range(257)], "256", "limit:256",
     E.ENOSPC),
    ("replace, 65537 exemptions", "config-replace", {"exempt": addresses(range(65537))},
     "65536", "exempt:65536", E.ENOSPC),
    ("add to all, an exemption that exists", "config-replace",
     [("exempt", {"address": A}), ("exempt", {"address": ip("10.0.0.0"), "prefix-len": 8}), ("add", 1)],
     "already exempt; replace it", "exempt:1/address", E.EEXIST),
    ("add to all, an exemption twice", "config-replace",
     [("add", 1), ("exempt", {"address": A}), ("exempt", {"address": A})], "twice; leave", "exempt:1/address", E.EEXIST),
    ("add to all, an exemption twice among others", "config-replace",
     [("exempt", {"address": ip("::2")}), ("exempt", {"address": A}), ("exempt", {"address": A}), ("add", 1),
      ("exempt", {"address": ip("::1")})], "twice; leave", "exempt:2/address", E.EEXIST),
    ("add to all, a limit that exists", "config-replace",
     [("limit", limit(name="b")), ("limit", limit(name="here")), ("add", 1)], "exists; use set", "limit:1/name", E.EEXIST),
    ("remove one that is not there", "config-replace",
     [("exempt", {"address": ip("10.0.0.0"), "prefix-len": 8}), ("exempt", {"address": A}), ("del", 1)],
     "no such exemption", "exempt:1/address", E.ENOENT),
    ("remove one twice", "config-replace", [("exempt", {"address": ip("10.0.0.0"), "prefix-len": 8}), ("del", 1)] +
     [("exempt", {"address": ip("10.0.0.0"), "prefix-len": 8})], "no such exemption", "exempt:1/address", E.ENOENT),
    ("remove a block that is not there", "config-replace",
     [("exempt", {"address": ip("10.0.0.0"), "prefix-len": 8, "block": 1}), ("del", 1)], "not blocked", "exempt:0/address",
     E.ENOENT),
    ("remove a limit with exemptions", "config-replace", [("del", 1), ("limit", limit(name="here"))], "limit-del", "limit:0"),
    ("remove exemptions with a list", "config-replace", [("del", 1), ("prefix-list", {"name": "more", "prefix": net("10.0.0.0", 8)})],
     "prefix-list-del", "prefix-list:0"),
    ("add and remove", "config-replace", [("add", 1), ("del", 1), ("exempt", {"address": A})], "exclude", "del"),
    ("add to all, 65536 exemptions", "config-replace",
     {"exempt": addresses(range(65536)), "add": 1}, "65536", "exempt:65535", E.ENOSPC),
    ("a state without its limit", "source-merge", kept(limit=None), "limit .* missing", "-limit"),
    ("a state of a limit that does not exist", "source-merge", kept(limit="none"), "no limit", "limit", E.ENOENT),
    *((f"a state without its {name}", "source-merge", kept(**{name.replace("-", "_"): None}), "missing", "-" + name)
      for name in ("clock-ns", "tick-ns", "prefix4", "prefix6", "sets", "budget")),
    ("a state of other IPv4 prefixes", "source-merge", kept(prefix4=24), "another prefix length", "prefix4"),
    ("a state of other IPv6 prefixes", "source-merge", kept(prefix6=56), "another prefix length", "prefix6"),
    ("3 sets", "source-merge", kept(sets=3), "power of two", "sets"),
    ("5 saved budgets", "source-merge", kept(*[("budget", KEPT["budget"])] * 4), "at most 4 budgets", "budget:4"),
    ("a saved window of 65 slots", "source-merge", kept(slots=65), "no budget has such", "budget"),
    ("a saved window of no slots", "source-merge", kept(slots=None), "no budget has such", "budget"),
    ("saved slots of years", "source-merge", kept(slot_ns=5184000000000000), "no budget has such", "budget"),
    ("numbers of 3 bytes", "source-merge", kept(width=3), "no budget has such", "budget"),
    ("a saved bucket without its rate", "source-merge", kept(mode=3), "no budget has such", "budget"),
    ("a saved calendar of several slots", "source-merge", kept(mode=5), "no budget has such", "budget"),
    ("a saved total of several slots", "source-merge", kept(mode=1, slot_ns=0), "no budget has such", "budget"),
    ("a slot that lasted for longer than it does", "source-merge", kept(phase_ns=1000000001), "longer than a slot", "budget/phase-ns"),
    ("a saved source without a count", "source-merge", kept(("source", {"address": A})), "fewer counts", "source"),
    ("a saved source of two counts", "source-merge", kept(("source", [("count", numbers(2, 1)), ("count", numbers(2, 1))])),
     "more counts", "source/count:1"),
    ("six slots of four", "source-merge", kept(count=numbers(2, 1, 1, 1, 1, 1, 1)), "such numbers", "source/count"),
    ("half a number", "source-merge", kept(count={"numbers": b"123"}), "such numbers", "source/count"),
    ("more than a slot can hold", "source-merge", kept(width=8, count=numbers(8, 1 << 58)), "such numbers", "source/count"),
    ("a log whose packets are not in order", "source-merge", kept(mode=4, width=4, count=numbers(4, 3, 2)), "such numbers",
     "source/count"),
    ("a log that goes back too far", "source-merge", kept(mode=4, width=4, count=numbers(4, 1, 5)), "such numbers", "source/count"),
    ("two levels of a bucket", "source-merge", kept(mode=3, rate=1, width=8, count=numbers(8, 1, 1)), "such numbers", "source/count"),
    ("the second source at fault", "source-merge",
     kept(("source", {"address": A, "count": numbers(2, 9)}), count={"numbers": b"123"}), "such numbers", "source:1/count"),
    ("a floor of a limit in force", "source-merge", kept(("floor", {"set": 0, "count": numbers(2, 1)})), "that is held", "floor"),
    ("a newcomers' budget without its slots", "source-merge", tried(slot_ns=None), "missing", "-newcomers/slot-ns"),
    ("a newcomers' slot that lasted for longer than it does", "source-merge", tried(phase_ns=1000000001), "longer than a slot",
     "newcomers/phase-ns"),
    ("only first tries of newcomers", "source-merge", tried(count=[numbers(4, 1)]), "fewer counts", "newcomers"),
    ("three tries of newcomers", "source-merge", tried(count=[numbers(4, 1)] * 3), "more counts", "newcomers/count:2"),
    ("newcomers' numbers of two bytes", "source-merge", tried(count=[numbers(2, 1), {}]), "such numbers", "newcomers/count"),
    ("seventeen slots of newcomers", "source-merge", tried(count=[{}, numbers(4, *[1] * 17)]), "such numbers", "newcomers/count:1"),
    ("more newcomers than a window can hold", "source-merge", tried(count=[numbers(4, 1, 2**32 - 1), {}]), "such numbers",
     "newcomers/count"),
    ("a hash key of what is not held", "config-replace", {"hash-key": bytes(16)}, "add hold", "hash-key"),
    ("a part of a configuration that is held", "config-replace", {"hold": True, "add": True}, "whole configuration", "hold"),
    ("to publish what is not held", "config-publish", {}, "no configuration is held", "", E.ENOENT),
]


def locate(raw, aset, path):
    """Where the attribute of a path begins in raw."""
    name, _, rest = path.partition("/")
    name, _, index = name.partition(":")
    attr, left, at = attrs_of(aset)[name], int(index or 0), 0
    while at < len(raw):
        size, number = struct.unpack_from("=HH", raw, at)
        if number & 0x3fff == attr["number"]:
            if not left:
                break
            left -= 1
        at += (size + 3) & ~3
    if not rest:
        return at
    return at + 4 + locate(raw[at + 4:at + size], attr["nested-attributes"], rest)


def misses(answer, raw, aset, path):
    """Does an answer report a missing attribute by its path, and in which nest?"""
    outer, _, name = path.rpartition("/")
    nest = 20 + locate(raw, aset, outer) if outer else None
    for step in outer.split("/") if outer else []:
        aset = attrs_of(aset)[step.partition(":")[0]]["nested-attributes"]
    return (answer.miss, answer.nest) == (attrs_of(aset)[name]["number"], nest)


def judge(answer, op, raw, sentence, where, error=errno.EINVAL):
    """The error in an answer, or nothing."""
    aset = OPS[op]["attribute-set"]
    if answer.error != error:
        return f"wanted {os.strerror(error)}"
    if not answer.msg or not re.search(sentence, answer.msg) or len(answer.msg) >= 80:
        return f"wanted a sentence with {sentence}"
    if answer.dumped and VAGUE:
        return ""
    for path in where.split():
        if path[0] == "-" and not misses(answer, raw, aset, path[1:]):
            return f"{path[1:]} is not told as missing"
        if path[0] != "-" and answer.offset != 20 + locate(raw, aset, path):
            return f"wanted offset {20 + locate(raw, aset, path)}, {path}"
    return ""


def header(wire):
    for name, kind, extra in [
            ("reserved bits of the header", "limit-get", {"reserved": 1}),
            ("flags without meaning here", "limit-flush", {"flags": 0x400})]:
        answer = wire.ask(kind, **extra)
        Tap.ok(answer.error == errno.EINVAL and answer.msg, name, answer)
    answer = wire.talk(wire.family, 99, b"")
    Tap.ok(answer.error == errno.EOPNOTSUPP, "an unknown operation", answer)
    answer = wire.talk(wire.family, CMD["limit-ntf"], b"")
    Tap.ok(answer.error == errno.EOPNOTSUPP, "a request with the number of a notification", answer)
    answer = wire.talk(wire.family, CMD["source-show"], b"")
    Tap.ok(answer.error == errno.EOPNOTSUPP, "source-show without dump", answer)
    answer = wire.ask("limit-flush", flags=DUMP)
    Tap.ok(answer.error == errno.EOPNOTSUPP, "a dump of an operation without one", answer)
    raw = tlv(2, b"here\0") + b"\1\2\3"
    answer = wire.ask("limit-get", raw)
    Tap.ok(answer.error == errno.EINVAL and answer.msg, "bytes after the last attribute", answer)


def values(wire):
    answer = wire.ask("limit-add", limit(window_ms=10, slots=64))
    Tap.ok(answer.cookie in (1, 2, 3, 10), "the cookie has the largest valid number of slots", answer)
    answer = wire.ask("limit-add", limit(unit=1, budget=1 << 56, slots=64, prefix6=128, sources=16 << 20))
    Tap.ok(answer.error == errno.ENOMEM and answer.cookie and answer.cookie > 8 << 30 and
           "memory" in answer.msg, "no memory, and the bytes it would take", answer)
    answer = wire.ask("limit-add", limit(name="warned", unit=1))
    Tap.ok(not answer.error and answer.msg, "a limit added with a warning", answer)
    wire.ask("limit-del", {"name": "warned"})


def rights(wire):
    os.setresuid(65534, 65534, 65534)
    nobody = Wire()
    for op, spec in OPS.items():
        if "event" in spec:
            continue
        answer = nobody.ask(op)
        wanted = "uns-admin-perm" in spec.get("flags", [])
        Tap.ok((answer.error == errno.EPERM) == wanted,
               f"{op} {'needs' if wanted else 'does not need'} CAP_NET_ADMIN", answer)
    try:
        nobody.sock.setsockopt(270, 1, nobody.group)
        Tap.ok(False, "listening needs CAP_NET_ADMIN")
    except PermissionError:
        Tap.ok(True, "listening needs CAP_NET_ADMIN")
    Tap.ok(wire.group == nobody.group, "an unprivileged user can look up the group")


def main():
    """All of them, on one configuration that must not change."""
    wire = Wire()
    wire.ask("limit-flush")
    wire.ask("exempt-flush")
    wire.ask("prefix-list-add", {"name": "some", "prefix": net("192.0.2.0", 24)})
    wire.ask("limit-add", limit(name="here"))
    wire.ask("limit-add", {**match(to_list="some"), "name": "listed"})
    wire.ask("limit-add", limit(name="six", match={"family": 10}, prefix6=0))
    wire.ask("limit-add", [*second()[1:], ("name", "two")])
    wire.ask("exempt-add", {"address": ip("10.0.0.0"), "prefix-len": 8})
    wire.ask("source-block", {"address": ip("192.0.2.9"), "for-ms": 0})
    before = wire.all_of()
    for name, op, words, *wanted in CASES:
        raw = encode_all(OPS[op]["attribute-set"], words)
        answer = wire.ask(op, raw)
        fault = judge(answer, op, raw, *wanted)
        Tap.ok(not fault, name, answer, fault)
    header(wire)
    values(wire)
    Tap.ok(wire.all_of() == before, "none of these messages changed anything")
    rights(wire)


main()
