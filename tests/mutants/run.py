#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py [-n] [-s NUMBER] [-r SEED] [WORD...]: apply the changes in tests/mutants/list (its head
describes the format), one at a time, to a copy of the sources, and check that its test fails.
WORD selects those whose name, file or killer contains it; -s takes NUMBER of these at random, by
SEED or else other ones with each commit. TAP, with the seconds that each takes; -n only checks that
each can be applied.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
KERNEL = "6.12"  # for guests
# The programs that guest tests start most often, see tests/runner
NEAR = ("awk bash cat dirname echo grep insmod ip jq mkfifo mktemp nft paste rm rmmod sed sh sort"
        " timeout xargs").split()


def function(text, name):
    """Where the function or macro of that name begins and ends in text; '-' is the whole file"""
    if name == "-":
        return 0, len(text)
    bare = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"",
                  lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.S)
    found = re.search(r"^#define[ \t]+%s\b(?:[^\n]*\\\n)*[^\n]*|^\w[^;{}]*\b%s\s*\([^;{}]*\n\{.*?^\}" %
                      (name, name), bare, re.M | re.S)
    return found.span() if found else (0, 0)


class Mutant:
    def __init__(self, name, place, killer, finding=""):
        self.name, self.killer, self.finding = name, killer, finding
        self.file, self.function = place.split(":")
        self.pattern, self.new = "", ""

    def apply(self, top):
        """Write the changed file below top; what is wrong, or ''."""
        try:
            with open(os.path.join(TOP, self.file)) as f:
                text = f.read()
        except OSError as error:
            return str(error)
        begin, end = function(text, self.function)
        if not end:
            return "there is no %s in %s" % (self.function, self.file)
        # A blank stands for any white space.
        changed, times = re.subn(self.pattern.strip().replace(" ", r"\s+"), self.new.strip(), text[begin:end])
        if times != 1:
            return "its pattern is in %s of %s %d times" % (self.function, self.file, times)
        with open(os.path.join(top, self.file), "w") as f:
            f.write(text[:begin] + changed + text[end:])
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
                mutants[-1].pattern += line[1:]
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


def failures(ran):
    """What failed; None if the test ran nothing"""
    if not re.search(r"^(not )?ok \d", ran.stdout, re.M):
        sys.stderr.write(ran.stdout + ran.stderr)
        return None
    failed = ", ".join(re.findall(r"^not ok(?: \d+)? - (.*)$", ran.stdout, re.M))
    return failed or ("status %d" % ran.returncode if ran.returncode else "")


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
    failed = ", ".join(re.findall(r"^not ok \d+ - (.*)$", ran.stdout, re.M))
    return failed or ("status %d" % ran.returncode if ran.returncode else "")


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


def cli(top, test):
    if not built("make", "-s", "-C", top + "/userspace"):
        return None
    return failures(run(top + "/tests/cli/" + test + ".t"))


def netns(top, test):
    """One file in a guest. What the kernel complains of is a failure, too."""
    path = "tests/netns/" + test + ".t"
    if not built("make", "-s", "-C", top + "/userspace") or \
            not built(top + "/tests/vm/kernel-build.sh", KERNEL):
        return None
    near = [word for name in NEAR for word in ("-p", name)]
    for name in ("send", "window"):
        near += ["-p", top + "/.cache/build/netns/" + name]
    ran = run(top + "/tests/vm/guest.sh", "-n", "-k", KERNEL, "-t", "600", "-o", top + "/out/guest",
              *near, "-p", top + "/userspace/weir", "--", top + "/tests/vm/in-guest.sh", path)
    # 98: it died; 99: its kernel's log has warnings
    if ran.returncode in (98, 99) and "not ok" not in ran.stdout:
        return "the guest: " + (ran.stderr.strip().split("\n") or [""])[0]
    return failures(ran)


def killed(top, killer):
    suite, program = killer.split("/")
    return {"unit": unit, "demo": demo, "cli": cli, "netns": netns}[suite](top, program)


def missing(killer):
    """What this machine lacks for it, or ''"""
    if killer.startswith(("demo/", "netns/")) and not os.path.exists(TOP + "/.cache/kernels/" + KERNEL + "/version"):
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
    began = time.time()
    failed = killed(top, mutant.killer)
    mutant.undo(top)
    if failed is None:
        return False, "does not build or run"
    if not failed or mutant.finding not in failed:
        return False, "SURVIVED " + mutant.killer
    return True, "died of %s (%.0f s)" % (failed.split(", ", maxsplit=1)[0], time.time() - began)


def tree(top):
    """Copy the sources to top; what the tests in guests need besides is here."""
    for part in ("module", "userspace", "tests", "Makefile", "Kbuild", "Documentation", "debian", "dkms.conf"):
        subprocess.run(["cp", "-a", os.path.join(TOP, part), top], check=True)
    os.makedirs(top + "/.cache/build")
    for part in ("kernels", "source", "pahole", "captures", "build/netns", "build/fuzz"):
        os.symlink(TOP + "/.cache/" + part, top + "/.cache/" + part)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", action="store_true")
    parser.add_argument("-s", type=int)
    parser.add_argument("-r")
    parser.add_argument("words", nargs="*")
    args = parser.parse_args()
    mutants = [m for m in read_list() if not args.words or
               any(w in " ".join((m.name, m.file, m.killer)) for w in args.words)]
    if args.s is not None:
        seed = args.r or run("git", "-C", TOP, "rev-list", "--count", "HEAD").stdout
        print("# seed", seed.strip())
        mutants = random.Random(seed.strip()).sample(mutants, min(args.s, len(mutants)))
        # Those of one test are built after each other.
        mutants.sort(key=lambda m: m.killer)
    bad = 0
    print("1..%d" % len(mutants), flush=True)
    with tempfile.TemporaryDirectory() as top:
        tree(top)
        if not args.n and any(m.killer.startswith("netns/") for m in mutants):
            built("make", "-s", "-C", TOP + "/tests/netns")
        for killer in sorted({m.killer for m in mutants if not args.n}):
            failed = "" if missing(killer) else killed(top, killer)
            if failed != "":
                sys.exit("%s fails without a change: %s" % (killer, failed))
        for n, m in enumerate(mutants, 1):
            fine, word = verdict(top, m, args.n)
            bad += not fine
            print("%sok %d - %s: %s" % ("" if fine else "not ", n, m.name, word), flush=True)
    return 1 if bad else 0


sys.exit(main())
