# SPDX-License-Identifier: GPL-2.0-or-later
"""bad_user.py: run by root of a user namespace, who may use every operation there
but at most 64 MiB of tables."""
import errno

from wire import Tap, Wire

LIMIT = {"budget": {"budget": 100, "window-ms": 1000, "slots": 4}}
HUGE = {**LIMIT, "sources": 1 << 19}


def main():
    """From an empty namespace"""
    wire = Wire()
    answer = wire.ask("limit-add", {**LIMIT, "name": "small", "sources": 4096})
    Tap.ok(not answer.error, "root of a user namespace may add limits", answer)
    wire.sock.setsockopt(270, 1, wire.group)
    Tap.ok(True, "... and listen to events")
    answer = wire.ask("source-show")
    Tap.ok(not answer.error, "... and read its sources", answer)

    before = wire.all_of()
    for op, name in (("limit-add", "huge"), ("limit-set", "small")):
        answer = wire.ask(op, {**HUGE, "sources": 4 << 20, "name": name})
        Tap.ok(answer.error == errno.EDQUOT and "64 MiB" in answer.msg and answer.cookie > 64 << 20,
               f"{op}: one table too large is refused, with its bytes", answer)
    made = 0
    while made < 100 and not wire.ask("limit-add", {**HUGE, "name": f"l{made}"}).error:
        made += 1
    Tap.ok(0 < made < 8, "tables that are too large together are refused", f"{made} were made")
    for i in range(made):
        wire.ask("limit-del", {"name": f"l{i}"})
    Tap.ok(wire.all_of() == before, "... without any other change")
    answer = wire.ask("limit-add", {**HUGE, "name": "again"})
    Tap.ok(not answer.error, "freed memory can be used again", answer)


main()
