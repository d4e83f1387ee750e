# SPDX-License-Identifier: GPL-2.0-or-later
"""merge.py: dump what limits of every kind know of their sources, and merge it: after rmmod and
insmod into a configuration that is held, and into limits in force."""
import errno
import json
import os
import pathlib
import struct
import subprocess
import time

from wire import DUMP, Tap, Wire, attrs_of, encode_all, parse

HOUR = 3600000
BUDGETS = {
    "strict": {"budget": 5, "window-ms": HOUR, "slots": 15},
    "lenient": {"budget": 5, "window-ms": HOUR, "slots": 4, "mode": 1},
    "fixed": {"budget": 5, "window-ms": HOUR, "mode": 2},
    "bucket": {"budget": 5, "window-ms": HOUR, "burst": 5, "mode": 3},
    "exact": {"budget": 5, "window-ms": HOUR, "mode": 4},
    "calendar": {"budget": 5, "window-ms": 30 * 24 * HOUR, "mode": 5},
    "total": {"budget": 5, "window-ms": 0},
    "bytes": {"budget": 500, "window-ms": HOUR, "unit": 1},
}
LIMITS = [{"name": name, "budget": budget, "sources": 64} for name, budget in BUDGETS.items()]
LIMITS += [[("name", "both"), ("budget", {"budget": 5, "window-ms": HOUR}), ("budget", {"budget": 9, "window-ms": 24 * HOUR}),
            ("sources", 64)],
           {"name": "each", "budget": {"budget": 40, "window-ms": HOUR}, "prefix4": 0, "prefix6": 0},
           {"name": "known", "budget": {"budget": 50, "window-ms": HOUR}, "sources": 64, "newcomers": 20,
            "newcomers-ms": HOUR, "known-ms": 1000}]
SOURCES = [f"198.51.100.{i}" for i in range(1, 7)]
WEIR, SEND = os.environ["WEIR"], os.environ["SEND"].split()


def send(source, count):
    subprocess.run([*SEND, "-s", source, "-c", str(count)], check=True, stdout=subprocess.DEVNULL)


def tool(*words):
    return json.loads(subprocess.run([WEIR, "-j", *words], check=True, stdout=subprocess.PIPE).stdout)


def states():
    """What each limit says of each source"""
    return {(s["limit"], source): s for source in [*SOURCES, "198.51.100.99"] for s in tool("source", "get", source)}


def waits(state):
    return [b.get("next_ms", 0) for b in state["budgets"]] + [state.get("blocked_ms", 0), state.get("newcomers_next_ms", 0)]


def same(before, after, began):
    """Counts are as they were; who waits does so until the same time, and not longer."""
    later = 1e3 * (time.monotonic() - began)
    for key, was in before.items():
        now = after[key]
        if [b["count"] for b in was["budgets"]] != [b["count"] for b in now["budgets"]] or \
           any(was.get(k) != now.get(k) for k in ("dropped", "unknown", "floor", "blocked", "limited_by")) or \
           any(not 0 <= w - n <= later + 1000 for w, n in zip(waits(was), waits(now))):
            return f"{key}: {was} became {now}"
    return ""


def told(message):
    return dict(parse(message))


def number(name):
    return attrs_of("state")[name]["number"]


def restore(wire, key, messages):
    answers = [wire.ask("config-replace", [*(("limit", limit) for limit in LIMITS), ("hold", True), ("hash-key", key)])]
    answers += [wire.ask("source-merge", message) for message in messages]
    return [a for a in answers if a.error] or [a for a in [wire.ask("config-publish")] if a.error]


def newcomers(wire, counts):
    """Merge so much of newcomers into a limit that is new. What was answered, and what they have then used"""
    wire.ask("limit-flush")
    wire.ask("config-replace", [("limit", LIMITS[-1]), ("hold", True)])
    clock = dict(parse(wire.ask("stats-get").payloads[0]))[attrs_of("stats")["clock-ns"]["number"]]
    slot = [("slot-ns", HOUR * 1000000 // 15), *(("count", {"numbers": struct.pack(f"={len(c)}I", *c)}) for c in counts)]
    answer = wire.ask("source-merge", {
        "limit": "known", "clock-ns": struct.unpack("=Q", clock)[0], "tick-ns": 4000000, "prefix4": 32, "prefix6": 64, "sets": 1,
        "budget": {"budget": 50, "slots": 1, "slot-ns": 1, "width": 2}, "newcomers": slot})
    wire.ask("config-publish")
    return answer, tool("-s", "limit", "show", "known")[0]["stats"]["newcomers_now"]


def level(wire, number, *words):
    """Merge a level into a bucket. What it then counts"""
    clock = dict(parse(wire.ask("stats-get").payloads[0]))[attrs_of("stats")["clock-ns"]["number"]]
    wire.ask("source-merge", [
        *words, ("limit", "bucket"), ("clock-ns", struct.unpack("=Q", clock)[0]), ("tick-ns", 10000000), ("prefix4", 32),
        ("prefix6", 64), ("sets", 1), ("budget", {"budget": 5, "rate": 5, "mode": 3, "slots": 60000, "slot-ns": 60000000,
                                                  "window-ns": HOUR * 1000000, "width": 8}),
        ("source", {"address": bytes([198, 51, 100, 1]), "count": {"numbers": struct.pack("=Q", number)}})])
    return tool("source", "get", SOURCES[0], "limit", "bucket")[0]["budgets"][0]["count"]


def main():
    ok = Tap.ok
    wire = Wire()
    answer = wire.ask("config-replace", [("limit", limit) for limit in LIMITS])
    ok(not answer.error, "the limits are made", answer)
    for i, source in enumerate(SOURCES):
        send(source, 2 * i + 1)
    time.sleep(1.3)  # longer than known-ms
    send(SOURCES[0], 1)
    wire.ask("source-block", {"address": bytes([198, 51, 100, 2]), "limit": "strict", "for-ms": HOUR})
    wire.ask("source-block", {"address": bytes([198, 51, 100, 3]), "limit": "total", "for-ms": 0})

    messages = wire.ask("state-get").payloads
    names = [told(m)[number("limit")].rstrip(b"\0").decode() for m in messages]
    ok(sorted(names) == sorted([*BUDGETS, "both", "each", "known"]), "a message for each limit", names)
    key = told(messages[0])[number("hash-key")]
    began = time.monotonic()
    before = states()

    # Into limits in force: nothing changes.
    fault = [a for m in messages for a in [wire.ask("source-merge", m)] if a.error]
    ok(not fault, "merged into the limits that they are of", *fault)
    fault = same(before, states(), began)
    ok(not fault, "... nothing changes", fault)
    answer = wire.ask("source-merge", messages[0] + encode_all("state", {"add": True}))
    name = (names[0], SOURCES[1])
    was, now = before[name]["budgets"][0]["count"], states()[name]["budgets"][0]["count"]
    ok(not answer.error and now == 2 * was, "added, they count twice", answer, was, now)

    # Into those after a restart of the module
    wire.sock.close()
    subprocess.run(["rmmod", "weir"], check=True)
    subprocess.run(["insmod", os.environ["KO"]], check=True)
    wire = Wire()
    fault = restore(wire, key, messages)
    ok(not fault, "merged into a configuration that is held, after a restart", *fault)
    fault = same(before, states(), began)
    ok(not fault, "... nobody has sent less, or waits longer", fault)
    again = wire.ask("state-get").payloads
    ok([len(m) for m in again] == [len(m) for m in messages], "... what is dumped then says as much")

    # The most and the least that newcomers may have used, in each slot or in one
    most = 2**32 - 1
    for name, counts, used in (("nothing", [[], []], 0), ("a window", [[most], []], most),
                               ("in all slots", [[1] * 15 + [most - 15], [1]], most + 1)):
        answer, now = newcomers(wire, counts)
        ok(not answer.error and now == used, f"newcomers that used {name}", answer, now)

    # A level that no bucket has, and a part of a packet more
    wire.ask("limit-flush")
    wire.ask("config-replace", [("limit", LIMITS[3])])
    full = level(wire, 2**64 - 1)
    more = level(wire, 1, ("add", True))
    ok(full == more > 5, "what is added to a level that no bucket has makes it no smaller", full, more)

    # Nothing is in force before it is published, and no packet is counted.
    wire.ask("limit-flush")
    answer = wire.ask("config-replace", [("limit", LIMITS[0]), ("hold", True)])
    ok(not answer.error and not wire.ask("limit-get").payloads, "what is held is not in force", answer)
    answer = wire.ask("config-replace", {"hash-key": bytes(16), "limit": {"name": "-", "budget": BUDGETS["fixed"]}})
    published = wire.ask("config-publish")
    ok(answer.error and not published.error and told(wire.ask("state-get").payloads[0])[number("hash-key")] == key,
       "a request with another hash key that is refused changes neither the key nor what is held", answer, published)

    # What others change meanwhile would be undone.
    other, source, new = Wire(), {"address": bytes([198, 51, 100, 2])}, [("limit", LIMITS[1]), ("hold", True)]
    short = {"address": bytes([10, 0, 0, 1]), "for-ms": 1000}
    wire.ask("exempt-add", short)
    answer = wire.ask("config-replace", [*new, ("hash-key", bytes(16))])
    tries = {"exempt-add": short, "limit-flush": b"", "source-block": {**source, "for-ms": HOUR}, "source-release": source,
             "source-forget": b"", "source-merge": messages[0], "config-replace": new, "config-publish": b"",
             "prefix-list-add": {"name": "l"}}
    fault = [op for op, attrs in tries.items() if other.ask(op, attrs).error != errno.EAGAIN]
    ok(not answer.error and not fault, "others change nothing while a configuration is held", answer, fault)
    while other.ask("exempt-get").payloads:
        time.sleep(0.1)
    published = wire.ask("config-publish")
    limits, dump = other.ask("limit-get", flags=DUMP).payloads, other.ask("state-get").payloads
    ok(not published.error and len(limits) == 1 and told(dump[0])[number("hash-key")] == bytes(16),
       "it is published in place of limits in force, though an exemption has ended since", published)
    wire.ask("config-replace", new)
    wire.sock.close()
    fault = [other.ask("limit-flush").error, other.ask("config-publish").error]
    ok(fault == [0, errno.ENOENT], "nothing is held any more once its socket is closed", fault)

    # While the module is being replaced, only the process that does it changes anything.
    frozen = pathlib.Path("/sys/module/weir/parameters/frozen_until")
    wire = Wire()
    wire.ask("config-replace", new)
    subprocess.run(["sh", "-c", f"echo {2**64 - 1} >{frozen}"], check=True)
    fault = [op for op, attrs in tries.items() if wire.ask(op, attrs).error != errno.EAGAIN]
    ok(not fault, "frozen by another process, also what was held before is not put in force", fault)
    subprocess.run(["sh", "-c", f"echo 1 >{frozen}"], check=True)
    answer = wire.ask("config-publish")
    ok(not answer.error, "... until the host has been up for so long", answer)
    frozen.write_text(str(2**64 - 1))
    answers = [wire.ask("config-replace", new), wire.ask("config-publish"), wire.ask("limit-flush")]
    ok(not any(answer.error for answer in answers), "... and the process that sets it changes what it likes", answers)
    frozen.write_text("0")


main()
