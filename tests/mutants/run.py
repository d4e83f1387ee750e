#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py [-n] [-s NUMBER] [WORD...]: apply the changes in tests/mutants/list (its head describes the
format), one at a time, to a copy of the sources, and check that its test fails.
WORD selects those whose name, file or killer contains it. TAP; -n only checks that each
can be applied; -s takes a sample of about NUMBER, other ones with each commit.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
KERNEL = "6.12"  # for the demo


class Mutant:
    def __init__(self, name, file, killer, finding=""):
        self.name, self.file, self.killer = name, file, killer
        self.finding = finding
        self.old, self.new = "", ""

    def apply(self, top):
        """Write the changed file below top; what is wrong, or ''."""
        try:
            with open(os.path.join(TOP, self.file)) as f:
                text = f.read()
        except OSError as error:
            return str(error)
        if text.count(self.old) != 1:
            return "what it looks for is in %s %d times" % (self.file, text.count(self.old))
        with open(os.path.join(top, self.file), "w") as f:
            f.write(text.replace(self.old, self.new))
        return ""

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


def run(*command, **env):
    return subprocess.run(command, env=dict(os.environ, **env), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace")


def built(*command):
    ran = run(*command)
    sys.stderr.write(ran.stderr if ran.returncode else "")
    return ran.returncode == 0


# Each of these builds and runs a test of the sources in top; returns what failed, '' if
# nothing did, None if it does not build.
def unit(top, program):
    build = "clang-tsan" if program == "table_threads" else "gcc-asan"
    make = ["make", "-s", "-C", TOP + "/tests/unit", "MODULE=" + top + "/module",
            "USERSPACE=" + top + "/userspace", "OUT=" + top + "/out", "BUILDS=" + build,
            "T=" + program, "CFLAGS=-O1"]
    if not built(*make, "all"):
        return None
    ran = run(*make, "UNIT_PERCENT=30", "check", UNIT_TIMEOUT="100")
    return ", ".join(re.findall(r"^not ok \d+ - [^/]*/(.*)$", ran.stdout, re.M))


def demo(top, _):
    """The demo's status is 1 if its verdict is bad, and then it prints why."""
    out = top + "/out/demo"
    if not built(top + "/tests/vm/kernel-build.sh", "-o", out, KERNEL):
        return None
    ran = run(TOP + "/tests/demo/run.sh", "-m", out + "/weir.ko", "-o", out + "/played")
    found = re.findall(r"^NOT OK +([^;\n]*)", ran.stdout, re.M)
    if ran.returncode and (ran.returncode != 1 or not found):
        sys.stderr.write(ran.stdout + ran.stderr)
        return None
    return ", ".join(found) if ran.returncode else ""


def killed(top, killer):
    suite, program = killer.split("/")
    return {"unit": unit, "demo": demo}[suite](top, program)


def missing(killer):
    """What this machine lacks for it, or ''"""
    if killer.startswith("demo/") and not os.path.exists(TOP + "/.cache/kernels/" + KERNEL + "/version"):
        return "no guest kernel " + KERNEL + " here; make setup downloads it"
    return ""


def verdict(top, mutant, only_apply):
    """Is it as it should be, and what became of it?"""
    wrong = mutant.apply(top)
    if wrong:
        return False, "cannot be applied: " + wrong
    if only_apply or missing(mutant.killer):
        mutant.undo(top)
        return True, "can be applied" if only_apply else "# SKIP " + missing(mutant.killer)
    failed = killed(top, mutant.killer)
    mutant.undo(top)
    if failed is None:
        return False, "does not build or run"
    if not failed or mutant.finding not in failed:
        return False, "SURVIVED " + mutant.killer
    return True, "died of " + failed.split(", ", maxsplit=1)[0]


def main():
    words = sys.argv[1:]
    only_apply = words[:1] == ["-n"]
    words = words[only_apply:]
    sample = int(words[1]) if words[:1] == ["-s"] else 0
    words = words[2 if sample else 0:]
    mutants = [m for m in read_list() if not words or any(w in " ".join((m.name, m.file, m.killer)) for w in words)]
    if sample:
        step = max(len(mutants) // sample, 1)
        mutants = mutants[int(run("git", "-C", TOP, "rev-list", "--count", "HEAD").stdout or 0) % step::step]
    bad = 0
    print("1..%d" % len(mutants), flush=True)
    with tempfile.TemporaryDirectory() as top:
        for part in ("module", "userspace", "tests", "Makefile", "Kbuild"):
            subprocess.run(["cp", "-a", os.path.join(TOP, part), top], check=True)
        os.mkdir(top + "/.cache")
        os.symlink(TOP + "/.cache/kernels", top + "/.cache/kernels")
        for killer in sorted({m.killer for m in mutants if not only_apply}):
            if not missing(killer) and killed(top, killer) != "":
                sys.exit("%s fails without a change" % killer)
        for n, m in enumerate(mutants, 1):
            fine, word = verdict(top, m, only_apply)
            bad += not fine
            print("%sok %d - %s: %s" % ("" if fine else "not ", n, m.name, word), flush=True)
    return 1 if bad else 0


sys.exit(main())
