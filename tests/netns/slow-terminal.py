#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""slow-terminal.py RATE COMMAND...: run a command on a terminal of 80x24 that reads RATE bytes a
second, press q after 8 seconds, and print the bytes read before and after that, and the status."""
import os
import pty
import sys
import termios
import time

rate = int(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    termios.tcsetwinsize(0, (24, 80))
    os.execvp(sys.argv[2], sys.argv[2:])
read = [0, 0]
begin = time.monotonic()
pressed = False
while True:
    time.sleep(0.1)
    if not pressed and time.monotonic() - begin > 8:
        os.write(terminal, b"q")
        pressed = True
    try:
        read[pressed] += len(os.read(terminal, rate // 10))
    except OSError:  # the command has ended
        break
print(*read, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
