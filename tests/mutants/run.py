#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py [-n] [-o FILE] [WORD...]: apply the changes in tests/mutants/list, one at a
time, to a copy of the sources, and see that a fast test dies of each. WORD
chooses those whose name, file or killer contains it. TAP; -o FILE keeps what
became of them, a line each; -n sees only that each can be applied.

The list has paragraphs: a line "NAME FILE KILLER", then lines to look for, each
behind "-", and those to put there instead, behind "+". What is looked for is in
the file once. KILLER is unit/PROGRAM, run with asan, or with tsan where it is
unit/table_threads, or fuzz/PROGRAM, one of libFuzzer's.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))


class Mutant:
    def __init__(self, name, file, killer):
        self.name, self.file, self.killer = name, file, killer
        self.old, self.new = "", ""

    def apply(self, top):
        """Write the changed file below top; None, or what is wrong."""
        with open(os.path.join(TOP, self.file)) as f:
            text = f.read()
        if text.count(self.old) != 1:
            return "is in %s %d times" % (self.file, text.count(self.old))
        with open(os.path.join(top, self.file), "w") as f:
            f.write(text.replace(self.old, self.new))
        return None

    def undo(self, top):
        shutil.copy(os.path.join(TOP, self.file), os.path.join(top, self.file))
        os.utime(os.path.join(top, self.file))


def read_list():
    mutants = []
    with open(os.path.join(TOP, "tests/mutants/list")) as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            if line[0] == "-":
                mutants[-1].old += line[1:]
            elif line[0] == "+":
                mutants[-1].new += line[1:]
            else:
                mutants.append(Mutant(*line.split()))
    return mutants


def unit(top, program):
    """Build and run a unit test; what failed, '' if nothing did, None if it
    does not build."""
    build = "clang-tsan" if program == "table_threads" else "gcc-asan"
    env = dict(os.environ, UNIT_TIMEOUT="100")
    args = ["MODULE=" + top + "/module", "USERSPACE=" + top + "/userspace",
            "OUT=" + top + "/out", "BUILDS=" + build, "T=" + program,
            "CFLAGS=-O1"]
    make = ["make", "-s", "-C", TOP + "/tests/unit"] + args
    built = subprocess.run(make + ["all"], env=env, capture_output=True,
                           text=True)
    if built.returncode:
        sys.stderr.write(built.stderr)
        return None
    ran = subprocess.run(make + ["UNIT_PERCENT=30", "check"], env=env,
                         capture_output=True, text=True, errors="replace")
    return ", ".join(re.findall(r"^not ok \d+ - [^/]*/(.*)$", ran.stdout, re.M))


def fuzz(top, program):
    """The same with one of libFuzzer's programs."""
    make = ["make", "-s", "-C", TOP + "/tests/fuzz", "T=" + program,
            "MODULE=" + top + "/module", "USERSPACE=" + top + "/userspace",
            "OUT=" + top + "/out/fuzz", "FUZZ_RUNS=30000"]
    built = subprocess.run(make + [top + "/out/fuzz/" + program],
                           capture_output=True, text=True)
    if built.returncode:
        sys.stderr.write(built.stderr)
        return None
    ran = subprocess.run(make + ["check"], capture_output=True, text=True,
                         errors="replace")
    return ", ".join(re.findall(r"^not ok \d+ - (.*): seed", ran.stdout, re.M))


def here(top, killer):
    suite, program = killer.split("/")
    return fuzz(top, program) if suite == "fuzz" else unit(top, program)


def main():
    words = sys.argv[1:]
    keep, only_apply = None, False
    if words[:1] == ["-n"]:
        only_apply, words = True, words[1:]
    if words[:1] == ["-o"]:
        keep, words = words[1], words[2:]
    mutants = [m for m in read_list() if not words or
               any(w in " ".join((m.name, m.file, m.killer)) for w in words)]
    lines, bad = [], 0
    print("1..%d" % len(mutants), flush=True)
    with tempfile.TemporaryDirectory() as top:
        for part in ("module", "userspace", "tests", "Makefile", "Kbuild"):
            subprocess.run(["cp", "-a", os.path.join(TOP, part), top],
                           check=True)
        wrong = {m.name: m.apply(top) for m in mutants}
        for m in mutants:
            m.undo(top)
        for killer in sorted({m.killer for m in mutants}):
            failed = "" if only_apply else here(top, killer)
            if failed != "":
                sys.exit("%s fails without a change: %s" % (killer, failed))
        for n, m in enumerate(mutants, 1):
            word = "cannot be applied: what it looks for " + str(wrong[m.name])
            if only_apply and not wrong[m.name]:
                word = "can be applied"
            elif not wrong[m.name]:
                m.apply(top)
                killed = here(top, m.killer)
                m.undo(top)
                word = "SURVIVED " + m.killer
                if killed is None:
                    word = "does not build"
                elif killed:
                    word = "died of " + killed.split(", ")[0]
            dead = word.startswith(("died", "can be"))
            bad += not dead
            print("%sok %d - %s: %s" % ("" if dead else "not ", n, m.name, word),
                  flush=True)
            lines.append("%-28s %-22s %s\n" % (m.name, m.file, word))
    if keep:
        with open(keep, "w") as f:
            f.write("# SPDX-License-Identifier: GPL-2.0-or-later\n")
            f.write("# Of %d small wrong changes %d died.\n" %
                    (len(mutants), len(mutants) - bad))
            f.writelines(lines)
    return 1 if bad else 0


sys.exit(main())
