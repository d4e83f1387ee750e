#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""diff_files.py FOLDER COUNT SEED: write random configurations, named 0, 1, ..., that have names
of limits and lists, prefixes and windows in common."""
import random
import re
import sys

NAMES = ["a", "b", "c", "d", "e", "f"]
LISTS = ["l", "m"]
PREFIXES = ["10.0.0.0/8", "10.1.0.0/16", "192.0.2.7", "2001:db8::/32", "2001:db8:1::/48", "::1"]
TIMES = ["100ms", "s", "10s", "1m", "h"]


def some(items, most):
    return ",".join(RANDOM.sample(items, RANDOM.randint(1, most)))


def budget():
    window = RANDOM.choice(TIMES)
    count = RANDOM.randint(1, 50)
    kind = RANDOM.choice(["plain"] * 4 + ["slots", "lenient", "fixed", "bucket", "burst", "exact", "total",
                                          "calendar"])
    unit = "" if kind == "exact" else RANDOM.choice(["", "", "", " bytes", " packets"])
    more = {"plain": "", "total": "", "burst": f" bucket burst {count * 3}", "slots": f" slots {RANDOM.randint(2, 9)}"}
    if kind in ("total", "calendar"):
        window = {"total": "total", "calendar": RANDOM.choice(["1m", "h", "d"])}[kind]
    return f"budget {count}/{window}{unit}" + more.get(kind, f" {kind}"), kind == "calendar"


def match(lists):
    words = []
    if RANDOM.random() < 0.4:
        words.append(RANDOM.choice(["", "not "]) + "from " + some(PREFIXES[:3], 2).replace("10.0.0.0/8,10.1", "10.2.0.0/16,10.1")
                     .replace("10.1.0.0/16,10.0.0.0/8", "10.1.0.0/16"))
    if RANDOM.random() < 0.4:
        words.append(RANDOM.choice(["proto tcp dport 80", "proto tcp,udp dport 443,80 not sport 1-9", "proto udp,tcp",
                                    "syn", "not syn", "frag", "icmp-type echo-request,3", "not proto icmp"]))
    if RANDOM.random() < 0.3:
        words.append(RANDOM.choice(["", "not "]) + RANDOM.choice(["dev eth0", "mark 5", "mark 0x10/0xf0"]))
    if lists and RANDOM.random() < 0.4:
        words.append(RANDOM.choice(["", "not "]) + RANDOM.choice(["from-list ", "to-list "]) + RANDOM.choice(lists))
    return words


def limit(name, lists):
    budgets = [budget() for _ in range(RANDOM.choice([1, 1, 1, 2, 3, 4]))]
    words = [words for words, _ in budgets] + match(lists)
    single = RANDOM.random() < 0.2
    if single:
        words.append("per " + RANDOM.choice(["24", "0", "32,128", "16,48"]))
    if any(calendar for _, calendar in budgets) and RANDOM.random() < 0.5:
        words.append("tz " + RANDOM.choice(["UTC", "+02:00"]))
    # Without, a table of 65,536 takes the kernel time to clear.
    if RANDOM.random() < 0.8:
        words.append(f"sources {RANDOM.choice([64, 100, 5000])}")
    if not single and RANDOM.random() < 0.3:
        words.append("newcomers 9/s" + RANDOM.choice(["", " flood 5/s"]) + RANDOM.choice(["", " known none", " known 1m"]))
    if not single and RANDOM.random() < 0.3:
        words.append("penalty " + RANDOM.choice(["1h", "1h renew", "5m"]))
    if not re.search("bucket|exact|calendar", " ".join(words)) and RANDOM.random() < 0.2:
        words.append(RANDOM.choice(["shared", "alone 1 shared"]))
    if RANDOM.random() < 0.2:
        words.append("action observe")
    if RANDOM.random() < 0.2:
        words.append(f"log {RANDOM.choice([1, 7, 65535])}")
    if RANDOM.random() < 0.3:
        words.append("comment " + RANDOM.choice(["x", "'a \"b\" $c'", '"\\\\ #"']))
    return f"limit add {name} " + " ".join(words)


def configuration():
    lists = RANDOM.sample(LISTS, RANDOM.randint(0, 2))
    names = RANDOM.sample(NAMES, RANDOM.randint(0, 6))
    lines = [f"prefix-list add {name} {some(PREFIXES, 4)}" for name in lists] + [limit(name, lists) for name in names]
    for verb in "exempt add", "block add":
        for prefix in RANDOM.sample(PREFIXES, RANDOM.randint(0, 4)):
            line = f"{verb} {prefix}" + RANDOM.choice(["", " dev eth1"])
            line += f" limit {RANDOM.choice(names)}" if names and RANDOM.random() < 0.5 else ""
            lines.append(line + RANDOM.choice(["", " comment x", " comment 'y z'"]))
    return "\n".join(["# random"] + lines) + "\n"


RANDOM = random.Random(sys.argv[3])
for i in range(int(sys.argv[2])):
    with open(f"{sys.argv[1]}/{i}", "w", encoding="utf-8") as file:
        file.write(configuration())
