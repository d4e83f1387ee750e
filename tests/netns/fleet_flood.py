#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fleet_flood.py [-n SERVER] PORT SECONDS RATE [HOST DEVICE ADDRESS MAC]...: send datagrams from 10.77.0.99,
RATE a second to all of these hosts together, in turn; none if DEVICE is "-", and from many ports as the
routes to ADDRESS have it if it is "route". Print how many were
sent. With a server of NATS, print then what delayed counts meanwhile: "late_ms", the most that an
agent was late by its statuses, and "way_ms", the longest way of a message through the server and back."""

import json
import socket
import struct
import sys
import time

STEP = 0.05
PORTS = 256
PROBE = "test.way"


class Server:
    """What it delivers: statuses of hosts, and messages of its own"""

    def __init__(self, address):
        name, port = address.split(":")
        self.socket = socket.create_connection((name, int(port)))
        self.socket.sendall(b'CONNECT {"verbose":false,"headers":true}\r\nSUB $KV.weir-status.> 1\r\nSUB %s 2\r\n' % PROBE.encode())
        self.buffer, self.way, self.late, self.told = b"", 0, {}, {}

    def take(self, words, data):
        if words[1] == PROBE:
            self.way = max(self.way, time.monotonic() - float(data))
            return
        status = json.loads(data)
        host = status["host"]
        self.told[host] = time.monotonic()
        self.late[host] = max(self.late.get(host, 0), status["counts"]["late_ms"])

    def read(self):
        """All that has come"""
        self.socket.setblocking(False)
        try:
            while data := self.socket.recv(65536):
                self.buffer += data
        except BlockingIOError:
            pass
        self.socket.setblocking(True)
        while b"\r\n" in self.buffer:
            line, rest = self.buffer.split(b"\r\n", 1)
            words = line.decode().split()
            size = int(words[-1]) if words and words[0] in ("MSG", "HMSG") else None
            if size is not None:
                if len(rest) < size + 2:
                    return
                self.take(words, rest[int(words[-2]) if words[0] == "HMSG" else 0:size])
                rest = rest[size + 2:]
            elif words and words[0] == "PING":
                self.socket.sendall(b"PONG\r\n")
            self.buffer = rest

    def probe(self):
        data = b"%f" % time.monotonic()
        self.socket.sendall(b"PUB %s %d\r\n%s\r\n" % (PROBE.encode(), len(data), data))
        self.read()


def frame(port, address, mac):
    data = b"weir" * 5
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(data), 0, 0, 64, 17, 0, socket.inet_aton("10.77.0.99"), socket.inet_aton(address))
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xffff) + (total >> 16)
    head = head[:10] + struct.pack(">H", ~total & 0xffff) + head[12:]
    return (bytes.fromhex(mac.replace(":", "")) + b"\2\0\0\0\0\1\x08\0" + head
            + struct.pack(">HHHH", 1024, port, 8 + len(data), 0) + data)


def routed(port, address):
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.bind(("10.77.0.99", 0))
    sender.connect((address, port))
    return sender, b"weir" * 5


def main(words):
    server = None
    if words[0] == "-n":
        server, words = Server(words[1]), words[2:]
    port, seconds, rate = (int(word) for word in words[:3])
    hosts, names = [], [name for name in words[3::4] if name != "-"]
    for device, address, mac in zip(words[4::4], words[5::4], words[6::4]):
        if device == "-":
            continue
        if device == "route":
            hosts += [routed(port, address) for _ in range(PORTS)]
            continue
        sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        sender.bind((device, 0))
        hosts.append((sender, frame(port, address, mac)))
    begin, sent = time.monotonic(), 0
    while (now := time.monotonic() - begin) < seconds:
        # What was missed is not made up for.
        sent = max(sent, int((now - 2 * STEP) * rate))
        while sent < now * rate:
            sender, packet = hosts[sent % len(hosts)]
            try:
                sender.send(packet)
            except ConnectionRefusedError:  # nobody listens
                pass
            sent += 1
        if server:
            server.probe()
        time.sleep(STEP)
    print("sent=%d" % sent, flush=True)
    if not server:
        return
    # The next status of each host tells how late it was to the end.
    end = time.monotonic()
    while any(server.told.get(name, 0) < end for name in names):
        if time.monotonic() > end + 60:
            sys.exit("fleet_flood.py: no status")
        time.sleep(STEP)
        server.read()
    print("late_ms=%d way_ms=%d" % (max(server.late[name] for name in names), server.way * 1000 + 1))


main(sys.argv[1:])
