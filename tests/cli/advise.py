#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""advise.py FOLDER: write the captures of advise.t."""
import os
import socket
import struct
import sys

START = 1700000000
ETHERNET, RAW, WIFI, NULL, SLL, SLL2 = 1, 101, 105, 0, 113, 276
MAC = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02"


def ipv4(payload, proto=17, source="198.51.100.7", fragment=0):
    """A packet of 192.0.2.1"""
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, fragment, 64, proto, 0,
                       socket.inet_aton(source), socket.inet_aton("192.0.2.1")) + payload


def ipv6(payload, following=17):
    """Likewise, of 2001:db8::1"""
    return struct.pack(">IHBB", 6 << 28, len(payload), following, 64) + \
        socket.inet_pton(socket.AF_INET6, "2001:db8:1:2::7") + socket.inet_pton(socket.AF_INET6, "2001:db8::1") + payload


UDP = struct.pack(">HHHH", 1024, 9, 26, 0) + bytes(18)
SYN = struct.pack(">HHIIBBHHH", 1024, 9, 1, 0, 0x50, 2, 1000, 0, 0)
PACKET = ipv4(UDP)


def ethernet(packet, tags=b""):
    """A frame, with VLAN tags"""
    kind = b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\0"
    return MAC + tags + kind + packet


def capture(frames, link=ETHERNET, order="<", magic=0xa1b2c3d4, parts=1e6):
    """A file of frames at times, of a third value if given their size on the wire"""
    data = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for at, frame, *size in frames:
        data += struct.pack(order + "IIII", START + int(at), int(at % 1 * parts), len(frame),
                            size[0] if size else len(frame)) + frame
    return data


def block(kind, body):
    """Of pcapng"""
    body += bytes(-len(body) % 4)
    size = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + size + body + size


def pcapng(frame):
    """A file of one frame"""
    return block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)) + \
        block(1, struct.pack("<HHI", ETHERNET, 0, 65535)) + \
        block(6, struct.pack("<IIIII", 0, START, 0, len(frame), len(frame)) + frame)


def once(packet, link=ETHERNET, before=b""):
    """A capture of one packet, with what precedes it on the link"""
    return capture([(0, ethernet(packet) if link == ETHERNET else before + packet)], link)


def bursts(hosts, size, every, seconds, source="198.51.100.%d"):
    """Each host sends that many packets at once, again and again"""
    return [(begin + i * 0.001, ethernet(ipv4(UDP, source=source % host)))
            for host in range(1, hosts + 1) for begin in range(0, seconds, every) for i in range(size)]


def mixed(*parts):
    """A capture of several senders"""
    return capture(sorted(sum(parts, []), key=lambda packet: packet[0]))


CALM = bursts(10, 30, 4, 8)
FLOOD = [(i * 0.001, ethernet(ipv4(UDP, source="203.0.113.9"))) for i in range(8000)]
TWO = capture([(0, ethernet(PACKET)), (1, ethernet(PACKET)), (2, ethernet(PACKET))])
FILES = {
    "empty": b"", "none.pcap": capture([]), "udp.pcap": once(PACKET),
    "nano.pcap": capture([(0.5, ethernet(PACKET))], magic=0xa1b23c4d, parts=1e9),
    "swapped.pcap": capture([(0.5, ethernet(PACKET))], order=">"),
    "ng.pcapng": pcapng(ethernet(PACKET)),
    "cut.pcap": TWO[:-5],
    "snap.pcap": capture([(0, ethernet(PACKET))] + [(i, ethernet(PACKET)[:36], 60) for i in (1, 2)]),
    "snapped.pcap": capture([(0, ethernet(PACKET)[:36], 60)]),
    "arp.pcap": capture([(0, MAC + b"\x08\x06" + bytes(28))]),
    "wifi.pcap": once(PACKET, WIFI),
    "vlan.pcap": capture([(0, ethernet(PACKET, b"\x81\0\0\x07"))]),
    "qinq.pcap": capture([(0, ethernet(PACKET, b"\x88\xa8\0\x07\x81\0\0\x08"))]),
    "raw.pcap": once(PACKET, RAW), "null.pcap": once(PACKET, NULL, b"\x02\0\0\0"),
    "sll.pcap": once(PACKET, SLL, bytes(14) + b"\x08\0"),
    "sll2.pcap": once(PACKET, SLL2, b"\x08\0" + bytes(18)),
    "syn.pcap": once(ipv4(SYN, 6)), "later.pcap": once(ipv4(UDP, fragment=100)),
    "ipv6.pcap": once(ipv6(UDP)),
    "ipv6ext.pcap": once(ipv6(b"\x3c\0" + bytes(6) + b"\x2c\0" + bytes(6) + b"\x11\0" + bytes(6) + UDP, 0)),
    "short.pcap": once(ipv4(UDP)[:22]),
    "calm.pcap": mixed(CALM), "flood.pcap": mixed(CALM, FLOOD),
    "brief.pcap": mixed(bursts(10, 2, 15, 150), FLOOD),
    # one that stays floods, and one that came once sent more than others that stayed
    "few.pcap": mixed(bursts(10, 2, 15, 150), bursts(1, 100, 1, 20, "203.0.113.%d"), bursts(1, 3, 1, 1, "192.0.2.%d")),
    # bursts of 40 once in a quarter of a minute, and new hosts, 25 a second
    "long.pcap": mixed(bursts(10, 40, 15, 150), [
        (i * 0.04, ethernet(ipv4(UDP, source="203.0.%d.%d" % (i // 250, i % 250)))) for i in range(3750)]),
    # 100 packets once an hour, from five in a row
    "hours.pcap": mixed([(3600 * hour + i * 0.001, ethernet(PACKET)) for hour in range(4) for i in range(100)]),
}

for name, data in FILES.items():
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(data)
