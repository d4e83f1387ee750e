#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""captures.py PROGRAM FILE...: compare what PROGRAM (captures.c, the module's parser) reads of the
packets in capture files with what tshark does. A line for each difference, then how often each
part was compared. Frames of one link layer are put together, since tshark starts slowly.
"""
import collections
import os
import struct
import subprocess
import sys
import tempfile

LINKS = {1: "Ethernet", 113: "Linux, cooked", 101: "none"}
SAME = {12: 101}
PORTS = {6: "tcp", 17: "udp", 132: "sctp", 33: "dccp", 136: "udp"}
# What follows the headers of IPv6, by tshark's name
PROTOS = {"tcp": 6, "udp": 17, "icmpv6": 58, "sctp": 132, "ospf": 89, "pim": 103, "esp": 50, "ip": 4,
          "ipv6": 41, "gre": 47, "vrrp": 112, "dccp": 33, "eigrp": 88}
EXTENSIONS = ("ipv6.hopopts", "ipv6.routing", "ipv6.fraghdr", "ipv6.dstopts", "ah")
BELOW = ("eth", "ethertype", "vlan", "sll", "raw", "ieee8021ad")
FIELDS = ["frame.number", "frame.protocols", "ip.src", "ip.proto", "ip.frag_offset", "ipv6.src",
          "ipv6.fraghdr.offset", "tcp.flags"] + \
         [name + end for name in ("tcp", "udp", "sctp", "dccp") for end in (".srcport", ".dstport")]


def frames(name):
    """Link layer and bytes of each frame of a file, and where it is"""
    with open(name, "rb") as file:
        data = file.read()
    order = {b"\xd4\xc3\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">"}.get(data[:4])
    if not order:
        return
    link = struct.unpack(order + "I", data[20:24])[0] & 0xffff
    at = 24
    for number in range(1, 1 << 30):
        if at + 16 > len(data):
            return
        size = struct.unpack(order + "I", data[at + 8:at + 12])[0]
        yield SAME.get(link, link), data[at + 16:at + 16 + size], "%s, frame %d" % (os.path.basename(name), number)
        at += 16 + size


def judged(path):
    """By tshark: number, then source, protocol, later fragment, ports and SYN; None is not known"""
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "occurrence=f"]
    for option in "ip.defragment", "ipv6.defragment", "tcp.check_checksum":
        command += ["-o", option + ":FALSE"]
    for field in FIELDS:
        command += ["-e", field]
    for line in subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout.splitlines():
        is_of = dict(zip(FIELDS, line.split("\t")))
        names = is_of["frame.protocols"].split(":")
        while names and names[0] in BELOW:
            names.pop(0)
        if not names or names[0] not in ("ip", "ipv6"):
            continue
        if names.pop(0) == "ip":
            source, proto = is_of["ip.src"], int(is_of["ip.proto"] or -1)
            later = int(is_of["ip.frag_offset"] or 0) > 0
        else:
            source, later = is_of["ipv6.src"], False
            while names and names[0] in EXTENSIONS:
                later |= names.pop(0) == "ipv6.fraghdr" and int(is_of["ipv6.fraghdr.offset"] or 0) > 0
            proto = PROTOS.get(names[0]) if names else None
        ports = syn = None
        # What tshark reads of it is of this header if that comes next.
        if not later and names and PORTS.get(proto) == names[0]:
            ports = is_of[names[0] + ".srcport"], is_of[names[0] + ".dstport"]
            ports = ports if all(ports) else None
            if proto == 6 and is_of["tcp.flags"]:
                syn = int(is_of["tcp.flags"], 16) & 0x17 == 2
        yield int(is_of["frame.number"]), (source, proto, later, ports, syn)


def compare(program, path, places, count):
    judge, bad = dict(judged(path)), 0
    told = subprocess.run([program, path], capture_output=True, text=True, check=True).stdout
    for line in told.splitlines():
        number, source, proto, later, sport, dport, syn, cut = line.split("\t")
        wanted = judge.get(int(number))
        got = (source, None if proto == "-" else int(proto), later == "1",
               None if sport == "-" else (sport, dport), None if syn == "-" else syn == "1")
        where = places[int(number) - 1]
        if not wanted:
            print("# %s: tshark finds no IP" % where)
            bad += 1
            continue
        for name, mine, theirs in zip(("source", "protocol", "fragment", "ports", "syn"), got, wanted):
            # Where a header is cut the parser says so instead of reading on.
            if theirs is None or (mine is None and (cut == "1" or got[2])):
                continue
            count[name] += 1
            if name in ("fragment", "syn"):
                count[name + " set"] += bool(theirs)
            if mine != theirs:
                print("# %s: %s is %s, and %s for tshark" % (where, name, mine, theirs))
                bad += 1
        count["cut"] += cut == "1"
        count["IPv6"] += ":" in source
    return bad


def main():
    together, bad, count = collections.defaultdict(list), 0, collections.Counter()
    for name in sys.argv[2:]:
        for link, data, where in frames(name):
            if link in LINKS:
                together[link].append((data, where))
    with tempfile.TemporaryDirectory() as tmp:
        for link, found in together.items():
            path = os.path.join(tmp, "%d.pcap" % link)
            with open(path, "wb") as file:
                file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 1 << 20, link))
                for data, _ in found:
                    file.write(struct.pack("<IIII", 0, 0, len(data), len(data)) + data)
            bad += compare(sys.argv[1], path, [where for _, where in found], count)
    print(" ".join("%s=%d" % (name.replace(" ", "_"), number) for name, number in sorted(count.items())))
    return bad > 0


sys.exit(main())
