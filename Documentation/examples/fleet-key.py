#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fleet-key.py FILE: make a key of a user of NATS (an nkey), with openssl. FILE gets the private
key, for -seed; the public one is printed, for -nkey and for the server's file."""

import base64
import binascii
import os
import subprocess
import sys

USER, SEED = 20 << 3, 18 << 3  # prefixes: the first letters U and S


def openssl(*words, data=None):
    return subprocess.run(["openssl", *words], input=data, check=True, capture_output=True).stdout


def text(data):
    data += binascii.crc_hqx(data, 0).to_bytes(2, "little")
    return base64.b32encode(data).decode().rstrip("=")


if len(sys.argv) != 2:
    sys.exit(__doc__)
private = openssl("genpkey", "-algorithm", "ed25519", "-outform", "DER")
public = openssl("pkey", "-inform", "DER", "-pubout", "-outform", "DER", data=private)
with open(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
    print(text(bytes([SEED | USER >> 5, (USER & 31) << 3]) + private[-32:]), file=file)
print(text(bytes([USER]) + public[-32:]))
