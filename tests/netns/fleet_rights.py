#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fleet_rights.py ADDRESS CA PUBLIC SEED HOST: what a host with that key may not do. Speaks the
protocol of NATS itself. TAP lines "ok NAME", "not ok NAME"."""

import base64
import json
import socket
import ssl
import subprocess
import sys
import tempfile

address, authority, public, seed, host = sys.argv[1:]
HEAD = bytes.fromhex("302e020100300506032b657004220420")  # of a private ed25519 key in DER


def sign(nonce):
    text = open(seed, encoding="ascii").read().strip()
    raw = base64.b32decode(text + "=" * (-len(text) % 8))[2:34]
    with tempfile.NamedTemporaryFile() as key, tempfile.NamedTemporaryFile() as data:
        key.write(HEAD + raw)
        data.write(nonce)
        key.flush()
        data.flush()
        signed = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-keyform", "DER", "-inkey", key.name,
                                 "-in", data.name], check=True, capture_output=True).stdout
    return base64.urlsafe_b64encode(signed).decode().rstrip("=")


class Client:
    def __init__(self):
        self.asked = 0
        name, port = address.split(":")
        self.socket = socket.create_connection((name, int(port)))
        info = json.loads(self.line_of(self.socket).split(b" ", 1)[1])
        context = ssl.create_default_context(cafile=authority)
        self.socket = context.wrap_socket(self.socket, server_hostname=name)
        self.file = self.socket.makefile("rb")
        words = {"verbose": False, "headers": True, "no_responders": True, "nkey": public,
                 "sig": sign(info["nonce"].encode())}
        self.socket.sendall(b"CONNECT %s\r\n" % json.dumps(words).encode())
        self.sync()

    @staticmethod
    def line_of(raw):
        line = b""
        while not line.endswith(b"\n"):
            line += raw.recv(1)
        return line

    def sync(self):
        """Wait until the server has taken everything; what it said."""
        self.socket.sendall(b"PING\r\n")
        said = []
        while (line := self.file.readline().strip()) != b"PONG":
            if not line:
                sys.exit("the server closed the connection")
            said.append(line)
        return b"\n".join(said)

    def ask(self, subject, data, header=b""):
        """Publish, and return the answer, or that it is not permitted."""
        head = b"NATS/1.0\r\n%s\r\n\r\n" % header if header else b""
        sizes = f"{len(head)} {len(head) + len(data)}" if header else str(len(data))
        self.asked += 1
        inbox = f"_INBOX.{host}.{self.asked}"
        self.socket.sendall(f"SUB {inbox} {self.asked}\r\n{'H' if header else ''}PUB {subject} {inbox} {sizes}\r\n".encode()
                            + head + data + b"\r\n")
        while not (line := self.file.readline()).startswith((b"MSG " + inbox.encode(), b"-ERR")):
            if not line:
                sys.exit("the server closed the connection")
        return self.file.readline() if line.startswith(b"MSG") else line


def check(name, good, said=b""):
    print("ok" if good else "not ok", name)
    if not good:
        print("#", said)


client = Client()
for subject in ("$KV.weir.config.edge", "$KV.weir.canary.edge", "$KV.weir-status.other", "$KV.weir-blocks-other.a.all",
                "$JS.API.STREAM.DELETE.KV_weir", "$JS.API.STREAM.PURGE.KV_weir", "$JS.API.STREAM.UPDATE.KV_weir",
                "$JS.API.STREAM.MSG.DELETE.KV_weir", "weir.other.counts.ban"):
    answer = client.ask(subject, b"limit add evil budget 1/1d")
    check(f"a host may not publish to {subject}", b"Permissions Violation" in answer, answer)
client.socket.sendall(b"SUB $KV.> 7\r\nSUB _INBOX.other.> 8\r\nSUB weir.other.counts.> 9\r\n")
answer = client.sync()
check("... nor listen to others", answer.count(b"Permissions Violation for Subscription") == 3, answer)
for subject in (f"$KV.weir-status.{host}", "$KV.weir-blocks-edge.a.all"):
    answer = client.ask(subject, b"x", b"Nats-Rollup: all")
    check(f"... nor delete all keys by a header of {subject}", b"rollup not permitted" in answer, answer)
answers = [client.ask(f"$KV.weir-status.{host}", b"x" * size) for size in (20000, *64 * [16000])]
check("... nor have a status of 20,000 bytes kept", b"maximum message size" in answers[0] or b"message size exceeds" in answers[0], answers[0])
state = json.loads(client.ask("$JS.API.STREAM.INFO.KV_weir-status", b""))["state"]
check("... nor more than its last one", 16000 < state["bytes"] < 40000, state)

# A consumer delivers to any subject, whatever its maker may publish to.
for stream, subject in (("KV_weir", "$KV.weir.config.edge"), ("KV_weir-blocks-edge", "$KV.weir.config.edge"),
                        ("KV_weir-blocks-edge", "weir.edge.counts.ban")):
    answer = client.ask("$JS.API.CONSUMER.CREATE." + stream, json.dumps({"stream_name": stream, "config": {
        "deliver_subject": subject, "ack_policy": "none", "deliver_policy": "all"}}).encode())
    print("#", stream, subject, answer[:200])
answer = client.ask("$KV.weir-blocks-edge.a.all", b"limit add evil budget 1/1d")
check("a host may write what is no block", b'"seq"' in answer, answer)
client.sync()
