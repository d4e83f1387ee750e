# SPDX-License-Identifier: GPL-2.0-or-later
"""nfqueue.py NUMBER: accept what the kernel queues to user space there (NFQUEUE), so that
each packet goes on in the context of this process, but for those that come faster than
it is: they go on where they are. Says "ready" when it listens."""
import errno
import socket
import struct
import sys

NUMBER, FAIL_OPEN = int(sys.argv[1]), struct.pack("!I", 1)
SOCK = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)


def send(kind, *attrs):
    body = struct.pack("!BBH", 0, 0, NUMBER)
    for number, value in attrs:
        body += struct.pack("=HH", 4 + len(value), number) + value + bytes(-len(value) % 4)
    SOCK.send(struct.pack("=IHHII", 16 + len(body), 3 << 8 | kind, 1, 0, 0) + body)


# bind, copy no payload, fail open
send(2, (1, struct.pack("!BBH", 1, 0, 0)), (2, struct.pack("!IB", 0, 1)), (4, FAIL_OPEN), (5, FAIL_OPEN))
print("ready", flush=True)
while True:
    try:
        part = SOCK.recv(1 << 16)
    except OSError as error:
        if error.errno != errno.ENOBUFS:
            raise
        continue
    while len(part) >= 28:
        size, kind = struct.unpack_from("=IH", part)
        # The first attribute is the packet header, with the packet's ID.
        if kind == 3 << 8:
            send(1, (2, struct.pack("!I", 1) + part[24:28]))
        part = part[(size + 3) & ~3:]
