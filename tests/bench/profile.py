#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""profile.py [-l WEIR.KO] [-n PACKETS] [-x] QEMU...: instructions per packet, by function

Runs QEMU with a socket as its next serial port, on which the guest waits, a file as
the one after it, for the kernel's symbols, and a socket for the debugger. Steps
through the measured packets and prints how many instructions per packet each
function takes. -l also resolves inlined functions and lines of the module WEIR.KO. -x: the
packets are those of the second test run of an XDP program.
"""
import argparse
import base64
import bisect
import collections
import gzip
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile


class Debugger:
    """The subset of gdb's remote protocol that is needed."""

    def __init__(self, sock):
        self.sock = sock
        self.rest = b""

    def send(self, text):
        data = text.encode()
        self.sock.sendall(b"$%s#%02x" % (data, sum(data) & 0xFF))

    def receive(self):
        while True:
            match = re.search(rb"\$([^#]*)#..", self.rest, re.S)
            if match:
                self.rest = self.rest[match.end():]
                self.sock.sendall(b"+")
                return match.group(1).decode("latin-1")
            data = self.sock.recv(65536)
            if not data:
                raise EOFError("QEMU has ended")
            self.rest += data

    def ask(self, text):
        self.send(text)
        return self.receive()

    def address(self):
        # rip is the seventeenth register
        return int.from_bytes(bytes.fromhex(self.ask("p10")), "little")


def connect(path, process):
    while True:
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.connect(path)
            return sock
        except OSError:
            sock.close()
            if process.poll() is not None:
                sys.exit("profile: QEMU did not start")


def symbols_read(lines, path):
    """ADDRESS TYPE NAME [MODULE] lines, packed, all there when the guest says "@symbols"."""
    for line in lines:
        if line.startswith("@symbols"):
            break
        print(line.rstrip(), file=sys.stderr)
    with open(path, "rb") as file:
        words = [line.split() for line in gzip.decompress(base64.b64decode(file.read())).decode().splitlines()]
    if not words:
        sys.exit("profile: the guest gave no symbols")
    return sorted((int(w[0], 16), " ".join(w[2:4])) for w in words)


def inlined(path, base, addresses):
    """address -> (function, line) of the innermost code there"""
    offsets = "\n".join(hex(a - base) for a in addresses)
    out = subprocess.run(["addr2line", "-f", "-e", path, "-j", ".text"], input=offsets,
                         capture_output=True, text=True, check=True).stdout.splitlines()
    places = {}
    for address, name, where in zip(addresses, out[::2], out[1::2]):
        where = re.sub(r" .*|^.*/", "", where)
        places[address] = (name, where)
    return places


def follow(debugger, begin, end, skip):
    """How often each address was executed between two functions, the first after @skip calls of it."""
    debugger.receive() # QEMU has stopped
    # QEMU serves single registers only after their description has been read
    debugger.ask("qXfer:features:read:target.xml:0,ffb")
    debugger.ask("Z1,%x,1" % begin)
    debugger.ask("c")
    for _ in range(skip):
        debugger.ask("z1,%x,1" % begin)
        debugger.ask("s")
        debugger.ask("Z1,%x,1" % begin)
        debugger.ask("c")
    debugger.ask("z1,%x,1" % begin)
    # no interrupts or timers while stepping; they are off already
    debugger.ask("Qqemu.sstep=7")
    count = collections.Counter()
    while True:
        debugger.ask("s")
        address = debugger.address()
        if address == end:
            return count
        count[address] += 1


def report(args, symbols, count, base):
    starts = [address for address, _ in symbols]
    functions, lines = collections.Counter(), collections.Counter()
    ours = []
    for address, times in count.items():
        name = symbols[bisect.bisect_right(starts, address) - 1][1]
        functions[name] += times
        if name.endswith("[weir]"):
            ours.append(address)
    places = inlined(args.lines, base, ours) if args.lines and ours else {}
    for address, (name, where) in places.items():
        lines[name, where] += count[address]
    total = sum(count.values())
    print("%8.1f  all" % (total / args.packets))
    for name, times in functions.most_common():
        print("%8.1f  %s" % (times / args.packets, name))
    if not places:
        return
    print("\nof weir, by what was inlined:")
    inner = collections.Counter()
    for (name, _), times in lines.items():
        inner[name] += times
    for name, times in inner.most_common():
        print("%8.1f  %s" % (times / args.packets, name))
        mine = [(t, w) for (n, w), t in lines.items() if n == name]
        for t, where in sorted(mine, reverse=True)[:12]:
            print("             %8.1f  %s" % (t / args.packets, where))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-l", dest="lines")
    parser.add_argument("-n", dest="packets", type=int, default=8)
    parser.add_argument("-x", dest="xdp", action="store_true")
    parser.add_argument("qemu", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    # QEMU must not outlive this script
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as where:
        serial, gdb, table = (os.path.join(where, name) for name in ("serial", "gdb", "symbols"))
        qemu = subprocess.Popen(args.qemu + ["-serial", f"unix:{serial},server=on,wait=on", "-serial", f"file:{table}",
                                             "-gdb", f"unix:{gdb},server=on,wait=off"],
                                stdin=subprocess.DEVNULL)
        try:
            port = connect(serial, qemu)
            lines = (line.decode() for line in port.makefile("rb"))
            symbols = symbols_read(lines, table)
            known = {name: address for address, name in symbols}
            base = int(next(lines), 16)
            debugger = Debugger(connect(gdb, qemu))
            port.sendall(b"go\n")
            between = ("bpf_test_run", "bpf_test_finish") if args.xdp else \
                      ("weir_bench_begin [weir_bench]", "weir_bench_end [weir_bench]")
            begin, end = (next(a for n, a in known.items() if n.split(".")[0] == name.split(".")[0])
                          for name in between)
            count = follow(debugger, begin, end, args.xdp)
        finally:
            qemu.terminate()
            qemu.wait()
    report(args, symbols, count, base)


if __name__ == "__main__":
    main()
