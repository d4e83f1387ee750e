#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Saved states, written and read as design.rst describes them, without the tool's code.

usage: state_file.py make FILE [AGE [BOOT]]    write one: a configuration from stdin, saved AGE
                                               seconds ago, and a message with two sources
       state_file.py list FILE                 print "OFFSET TYPE LENGTH" of each record
       state_file.py reboot FILE NEW SECONDS   as FILE, but saved so long ago, before a reboot
       state_file.py replace FILE NEW TYPE OLD TEXT
                                               as FILE, but with TEXT for OLD in records of TYPE
"""
import datetime
import os
import pathlib
import re
import struct
import sys
import time
import zlib

MAGIC = b"\x89WEIR\r\n\x1a"
HEAD, CONFIG, MESSAGE, END = 1, 2, 3, 4
SECOND = 1000000000
HEADER = pathlib.Path(__file__).resolve().parents[2] / "module/uapi/linux/weir.h"


def number_of(name):
    """The number of an attribute of state-get."""
    text = HEADER.read_text(encoding="ascii")
    names = re.search(r"WEIR_A_STATE_PAD = 1,(.*?)__WEIR_A_STATE_MAX", text, re.S)[1]
    return 2 + re.findall(r"WEIR_A_STATE_(\w+)", names).index(name)


def record(kind, data):
    start = struct.pack("=II", kind, len(data))
    return start + struct.pack("=I", zlib.crc32(data, zlib.crc32(start))) + data


def attr(name, data, nested=0):
    kind = number_of(name) | nested
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def message(*attrs):
    data = b"".join(attrs)
    return struct.pack("=IHHIIBBH", 20 + len(data), 32, 2, 1, 1, 1, 1, 0) + data


def state(records, order=0x01020304, version=2, magic=MAGIC):
    start = magic + struct.pack("=II", order, version)
    crc = zlib.crc32(start)
    for one in records:
        crc = zlib.crc32(one[:12], crc)
    return start + b"".join(records) + record(END, struct.pack("=QII", len(records), crc, 0))


def head(age, boot):
    with open("/proc/uptime", encoding="ascii") as file:
        up = float(file.read().split()[0])
    return record(HEAD, struct.pack("=40sQQQQ16s", boot.encode(),
                                    int((time.time() - age) * SECOND),
                                    max(int((up - age) * SECOND), 0),
                                    5000 * SECOND, SECOND // 250, bytes(range(16))))


def make(path, age=0, boot=None):
    if boot is None:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
    source = attr("SOURCE", b"", 0x8000)
    records = [head(float(age), boot), record(CONFIG, sys.stdin.buffer.read()),
               record(MESSAGE, message(attr("LIMIT", b"web\0"), attr("HASH_KEY", bytes(range(16))),
                                       attr("CLOCK_NS", struct.pack("=Q", 5000 * SECOND)),
                                       source, source))]
    write(path, records)


def write(path, records):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(state(records))


def records_of(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 16
    while at < len(data):
        kind, length = struct.unpack_from("=II", data, at)
        yield at, kind, data[at + 12:at + 12 + length]
        at += 12 + length


def borders(path):
    for at, kind, data in records_of(path):
        print(at, kind, len(data))


def reboot(path, new, seconds):
    def earlier(date):
        return (datetime.datetime.fromisoformat(date[1].decode()) -
                datetime.timedelta(seconds=int(seconds))).isoformat().encode()

    records = []
    for _, kind, data in records_of(path):
        if kind == HEAD:
            wall = struct.unpack_from("=Q", data, 40)[0] - int(seconds) * SECOND
            data = struct.pack("=40sQ", b"another boot", wall) + data[48:]
        if kind == CONFIG:
            data = re.sub(rb"(?<=until )([-0-9T:]+)(?=Z)", earlier, data)
        if kind != END:
            records.append(record(kind, data))
    write(new, records)


def replace(path, new, kind, old, text):
    write(new, [record(is_, data.replace(old.encode(), text.encode()) if is_ == int(kind) else data)
                for _, is_, data in records_of(path) if is_ != END])


if __name__ == "__main__":
    {"make": make, "list": borders, "reboot": reboot, "replace": replace}[sys.argv[1]](*sys.argv[2:])
