# SPDX-License-Identifier: GPL-2.0-or-later
"""fault_load.py slab|rest|call netns|load [KO]: a new namespace, or the load of
the module with a limit, with each of its faults in turn."""
import ctypes
import os
import pathlib
import sys

from fault import Call, Slab, Tap, Trial
from wire import Wire

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
FINIT_MODULE, DELETE_MODULE = 313, 176
LOADED = pathlib.Path("/sys/module/weir")
PARAMETERS = b"packets=1000 window_ms=1000 sources=64"


def call(number, *args):
    return ctypes.get_errno() if LIBC.syscall(number, *args) < 0 else 0


def unload():
    if LOADED.exists() and call(DELETE_MODULE, b"weir", 0):
        raise OSError(ctypes.get_errno(), "the module does not go")


def load(faults, path):
    """The module loads completely or not at all."""
    ko = os.open(path, os.O_RDONLY)

    def state():
        return LOADED.exists() and Wire().ask("limit-get", {"name": "default"}).error == 0

    trial = Trial("module load", faults)
    trial.run(unload, lambda: call(FINIT_MODULE, ko, PARAMETERS, 0), state, True)
    unload()
    return trial.tell()


def netns(faults):
    """The module can be used, in this namespace or in a new one. Each new one is
    nested in the previous one; all end with this process."""
    def inside():
        return os.readlink("/proc/self/ns/net")

    def enter():
        return ctypes.get_errno() if LIBC.unshare(CLONE_NEWNET) < 0 else 0

    trial = Trial("namespace", faults)
    was = inside()

    def state():
        wire = Wire()
        return (inside() == was,
                wire.ask("limit-add", {"name": "a", "budget": {"budget": 1, "window-ms": 1000}}).error,
                wire.ask("limit-flush").error)

    def reset():
        nonlocal was
        was = inside()

    trial.run(reset, enter, state, (False, 0, 0))
    return trial.tell()


def main():
    kind, what = sys.argv[1:3]
    faults = Call() if kind == "call" else Slab(rest=kind == "rest")
    if what == "load":
        failed = load(faults, sys.argv[3])
    else:
        failed = netns(faults)
    Tap.ok(failed > 0 or (what == "netns" and kind != "call"), f"{what}, {faults.name}: some of it mattered")


main()
