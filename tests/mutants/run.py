#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py [-n] [-o FILE] [WORD...]: apply the changes in tests/mutants/list, one at a
time, to a copy of the sources, and see that a fast test dies of each. WORD
chooses those whose name, file or killer contains it. TAP; -o FILE keeps what
became of them, a line each; -n sees only that each can be applied.

The list has paragraphs: a line "NAME FILE KILLER [FINDING]", then lines to look
for, each behind "-", and those to put there instead, behind "+". What is looked
for is in the file once. KILLER is unit/PROGRAM, run with asan, or with tsan where
it is unit/table_threads; fuzz/PROGRAM, one of libFuzzer's; or demo/run, the demo
with the changed module in a guest, which must judge it and end with status 1.
FINDING is a word of what it has to die of.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
KERNEL = "6.12"  # of the demo


class Mutant:
    def __init__(self, name, file, killer, finding=""):
        self.name, self.file, self.killer = name, file, killer
        self.finding = finding
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


def demo(top, _):
    """The same with the demo; what it says is nothing if its status is 0, and
    its status is nothing if it does not say why."""
    out = top + "/out/demo"
    built = subprocess.run([top + "/tests/vm/kernel-build.sh", "-o", out, KERNEL],
                           capture_output=True, text=True)
    if built.returncode:
        sys.stderr.write(built.stderr)
        return None
    ran = subprocess.run([TOP + "/tests/demo/run.sh", "-m", out + "/weir.ko",
                          "-o", out + "/played"], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, errors="replace")
    found = re.findall(r"^NOT OK +([^;\n]*)", ran.stdout, re.M)
    if ran.returncode and (ran.returncode != 1 or not found):
        sys.stderr.write(ran.stdout + ran.stderr)
        return None
    return ", ".join(found) if ran.returncode else ""


KILLERS = {"unit": unit, "fuzz": fuzz, "demo": demo}


def here(top, killer):
    suite, program = killer.split("/")
    return KILLERS[suite](top, program)


def missing(killer):
    """What this machine lacks for it, or None"""
    if killer.startswith("demo/") and not os.access(
            TOP + "/.cache/kernels/" + KERNEL + "/version", os.R_OK):
        return "no guest kernel " + KERNEL + " here; make setup downloads it"
    return None


def tree(top):
    """What is to be changed and built"""
    for part in ("module", "userspace", "tests", "Makefile", "Kbuild"):
        subprocess.run(["cp", "-a", os.path.join(TOP, part), top], check=True)
    os.mkdir(top + "/.cache")
    os.symlink(TOP + "/.cache/kernels", top + "/.cache/kernels")


def main():
    words = sys.argv[1:]
    keep, only_apply = None, False
    if words[:1] == ["-n"]:
        only_apply, words = True, words[1:]
    if words[:1] == ["-o"]:
        keep, words = words[1], words[2:]
    mutants = [m for m in read_list() if not words or
               any(w in " ".join((m.name, m.file, m.killer)) for w in words)]
    lines, bad, dead = [], 0, 0
    print("1..%d" % len(mutants), flush=True)
    with tempfile.TemporaryDirectory() as top:
        tree(top)
        wrong = {m.name: m.apply(top) for m in mutants}
        for m in mutants:
            m.undo(top)
        for killer in sorted({m.killer for m in mutants}):
            failed = ""
            if not only_apply and not missing(killer):
                failed = here(top, killer)
            if failed != "":
                sys.exit("%s fails without a change: %s" % (killer, failed))
        for n, m in enumerate(mutants, 1):
            word = "cannot be applied: what it looks for " + str(wrong[m.name])
            if only_apply and not wrong[m.name]:
                word = "can be applied"
            elif not wrong[m.name] and missing(m.killer):
                word = "# SKIP " + missing(m.killer)
            elif not wrong[m.name]:
                m.apply(top)
                killed = here(top, m.killer)
                m.undo(top)
                word = "SURVIVED " + m.killer
                if killed is None:
                    word = "does not build or run"
                elif m.finding in killed and killed:
                    word = "died of " + killed.split(", ")[0]
            fine = word.startswith(("died", "can be", "# SKIP"))
            bad += not fine
            dead += word.startswith("died")
            print("%sok %d - %s: %s" % ("" if fine else "not ", n, m.name, word),
                  flush=True)
            lines.append("%-28s %-22s %s\n" % (m.name, m.file, word))
    if keep:
        with open(keep, "w") as f:
            f.write("# SPDX-License-Identifier: GPL-2.0-or-later\n")
            f.write("# Of %d small wrong changes %d died.\n" %
                    (len(mutants), dead))
            f.writelines(lines)
    return 1 if bad else 0


sys.exit(main())
