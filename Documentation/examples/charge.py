#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""charge.py YNL SPEC LIMIT ADDR [N [all|drain|reserve|wait]]: charge a source, as a login or mail
service would before it works for a client, with the specification alone.

YNL is tools/net/ynl/pyynl of a kernel's source, SPEC is weir.yaml. Exit status: 0 granted, 1 not."""
import sys
import time


class Charger:
    """Charges sources in the network namespace in which it is made."""

    def __init__(self, client, spec):
        sys.path.insert(0, client)
        from lib import YnlFamily  # pylint: disable=import-error,import-outside-toplevel
        self.ynl = YnlFamily(spec)

    def charge(self, limit, address, cost=1, mode="all"):
        """What was taken, what is left, and the seconds until it is due or could be taken; None: never."""
        told = self.ynl.do("source-charge", {"limit": limit, "address": address, "cost": cost, "charge-mode": mode})
        wait = told.get("wait-ns")
        return told["taken"], told["budget"][0]["left"], None if wait is None else wait / 1e9

    def wait(self, limit, address, cost=1, timeout=60):
        """Sleep until all is granted: whether it was, before the timeout was over."""
        end = time.monotonic() + timeout
        while True:
            taken, _, wait = self.charge(limit, address, cost)
            now = time.monotonic()
            if taken or wait is None or now >= end:
                return bool(taken)
            time.sleep(min(wait, end - now))


def main(client, spec, limit, address, cost="1", mode="all"):
    """One charge; a reservation is waited for."""
    charger = Charger(client, spec)
    if mode == "wait":
        return charger.wait(limit, address, int(cost))
    taken, left, wait = charger.charge(limit, address, int(cost), mode)
    print(f"taken {taken} left {left} wait {'never' if wait is None else f'{wait:.3f}'}")
    if taken and wait:
        time.sleep(wait)
    return bool(taken)


if __name__ == "__main__":
    if not 5 <= len(sys.argv) <= 7:
        sys.exit(__doc__)
    sys.exit(not main(*sys.argv[1:]))
