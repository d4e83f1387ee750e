#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""replay.py make FILE SECONDS: write a capture of sources that send at random, and of some that flood.
replay.py send FILE DEVICE: send its frames on a device, at the times that it has."""
import random
import socket
import struct
import sys
import time

HEAD = struct.Struct("<IHHiIII")
RECORD = struct.Struct("<IIII")
NANO, ETHERNET = 0xa1b23c4d, 1
START = 1700000000
DESTINATION = socket.inet_aton("192.0.2.1")


def checksum(head):
    """Of an IP header"""
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def frame(source, payload):
    """A UDP datagram in an Ethernet frame"""
    fields = [0x45, 0, 28 + payload, 1, 0, 64, 17, 0, source, DESTINATION]
    fields[7] = checksum(struct.pack(">BBHHHBBH4s4s", *fields))
    return b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0" + struct.pack(">BBHHHBBH4s4s", *fields) + \
        struct.pack(">HHHH", 1024, 9, 8 + payload, 0) + bytes(payload)


def sender(number, rate, seconds, burst):
    """Times and frames of one source: bursts at random, so many packets a second"""
    chance = random.Random(number)
    source = socket.inet_aton("198.51.100.%d" % number)
    at = chance.random() * burst / rate
    while at < seconds:
        for i in range(burst):
            yield at + i * 0.001, frame(source, chance.randrange(18, 400))
        at += chance.expovariate(rate / burst)


def make(path, seconds):
    """Thirty sources that send 10 to 39 packets a second, and three that send 400, 500 and 700"""
    packets = []
    for number in range(1, 31):
        packets += sender(number, 9 + number, seconds, 1 + number % 4)
    for number, rate in (100, 400), (101, 500), (102, 700):
        packets += sender(number, rate, seconds, 1)
    packets.sort(key=lambda packet: packet[0])
    with open(path, "wb") as file:
        file.write(HEAD.pack(NANO, 2, 4, 0, 0, 65535, ETHERNET))
        for at, data in packets:
            file.write(RECORD.pack(START + int(at), int(at % 1 * 1e9), len(data), len(data)) + data)


def send(path, device):
    """Late frames catch up."""
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    out.bind((device, 0))
    with open(path, "rb") as file:
        data = file.read()
    at, first, begin = HEAD.size, None, time.monotonic()
    while at < len(data):
        seconds, nano, size, _ = RECORD.unpack_from(data, at)
        due = seconds - START + nano / 1e9
        first = due if first is None else first
        wait = begin + due - first - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        at += RECORD.size
        out.send(data[at:at + size])
        at += size


if sys.argv[1] == "make":
    make(sys.argv[2], float(sys.argv[3]))
else:
    send(sys.argv[2], sys.argv[3])
