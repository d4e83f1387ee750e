#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py [WORD...]: run tests and report them as TAP. Without words those that a contributor needs
before sending a patch: the core set and what the changed files concern (the file sets). Words:
all (everything), ci (that, then the debug kernels), suites (build unit litmus proof cli fuzz lint
bench 32bit systemd demo mutants netns), files (netns/limit, cli/words), kernels (6.1 6.12 sid 6.12-rt
6.12-arm64 6.12-kasan 6.12-kcsan uml-kasan).

A test is a program that writes TAP (tests/*/*.t) or reports by its exit status; status 4 means
skipped. tests/netns runs as root in guests. All output is in .cache/test, the TAP in .cache/test/tap.
On a terminal only what fails is printed, V=1 prints everything. JOBS=2 guests run in parallel,
beside two tests that need no guest. WEIR_UNTIL, in seconds since 1970, is a deadline for all but the
core set: what would run past it is listed as not run. The last line counts passed, failed and
skipped; status 1 if any failed.

run.py --record: write how long each test took in the last run into the file seconds, and the
commits where things last ran into the file last. run.py --ran TARGET: a make target has succeeded.
"""
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import plan as planning
from plan import TOP, Guest, SETS

# The programs that guest tests start most often
NEAR = """awk bash cat dirname echo grep insmod ip jq mkfifo mktemp nft paste rm rmmod sed sh sort timeout xargs
	userspace/weir .cache/build/netns/send .cache/build/netns/window""".split()
PASSED_ON = ["UNIT_PERCENT", "UNIT_SEED", "UNIT_RUN", "FUZZ_SEED", "FUZZ_MESSAGES", "FUZZ_PACKETS", "FUZZ_BATCHES", "FUZZ_FIRST"]
UNTIL = int(os.environ.get("WEIR_UNTIL") or 0)
LOGS = os.environ.get("WEIR_LOGS") or os.path.join(TOP, ".cache/test")


def relative(path):
    return os.path.relpath(path, TOP)


def matches(name, words):
    """Does the name of a result have all parts of a word?"""
    return any(set(word.split("@")) <= set(re.split("[ :,]", name)) for word in words)


class Report:
    """Prints and counts results. Lanes call it from their threads, a whole result at a time."""

    def __init__(self, plan):
        self.lock = threading.RLock()
        self.tap = open(os.path.join(LOGS, "tap"), "w")
        self.terminal = sys.stdout.isatty()
        self.brief = self.terminal and not os.environ.get("V")
        self.number = self.passed = self.skipped = 0
        self.failures, self.listed, self.not_run, self.ended, self.seconds = [], [], [], [], {}
        self.running, self.plan, self.began = {}, plan, time.time()
        self.permitted = [re.compile(line) for line in planning.lines("skips")]
        self.put("TAP version 13")
        for note in plan.notes:
            self.put("# " + note, True)

    def put(self, text, show=False):
        with self.lock:
            print(text, file=self.tap, flush=True)
            if show or not self.brief:
                print(("\r\033[K" if self.terminal else "") + text, flush=True)

    def result(self, good, name, skip=None, said=(), again="", log=""):
        """skip: the reason; said: diagnostics; again: the command that runs it alone"""
        with self.lock:
            self.number += 1
            if skip is not None and not any(p.search("%s # SKIP %s" % (name, skip)) for p in self.permitted):
                good, said, skip = False, ["skipped, which tests/runner/skips does not permit: " + skip], None
            if good:
                self.skipped += skip is not None
                self.passed += skip is None
                self.put("ok %d - %s%s" % (self.number, name, "" if skip is None else " # SKIP " + skip), skip is not None)
                return
            only_listed = matches(name, self.plan.listed) and not matches(name, self.plan.deciding)
            self.number -= only_listed
            text = ["# not ok - " + name] if only_listed else ["not ok %d - %s" % (self.number, name)]
            text += ["# " + re.sub("^# ?", "", s) for s in said]
            text += ["#   again: " + again] if again else []
            text += ["#   log: " + relative(log)] if log else []
            (self.listed if only_listed else self.failures).append(text[:12] + text[-2:] if len(text) > 14 else text)
            self.put("\n".join(text), True)

    def note(self, text):
        self.put("# " + text)

    def late(self, name):
        with self.lock:
            self.not_run.append(name)
            self.put("# not run: " + name, True)

    def begin(self, name):
        with self.lock:
            self.running[name] = time.time()
            if self.terminal:
                self.progress()

    def end(self, name, seconds=None):
        with self.lock:
            began = self.running.pop(name, time.time())
            self.seconds[name] = round(time.time() - began if seconds is None else seconds)
            # What a deadline may leave out
            if seconds != 0 and self.plan.turn:
                self.ended.append(name)

    def progress(self):
        with self.lock:
            spent = time.time() - self.began
            text = "%d passed, %d failed; %d:%02d of about %d:%02d; %s" % (
                self.passed, len(self.failures), *divmod(int(spent), 60),
                *divmod(int(max(spent, self.plan.seconds)), 60), ", ".join(self.running))
            print("\r\033[K" + text[:shutil.get_terminal_size().columns - 1], end="", flush=True)

    def finish(self):
        late = "\n".join(self.not_run)
        for name in [self.plan.turn, "6.12-kcsan"] if self.plan.turn else []:
            if name.split(",")[0] not in late:
                planning.remember(name)
        ran = planning.last()
        self.not_run = ["%s (last ran: %s)" % (n, ran.get(n.split(": ")[0], "never")) for n in self.not_run]
        for name in self.ended:
            planning.remember(name)
        with open(os.path.join(LOGS, "seconds"), "w") as f:
            f.writelines("%d %s\n" % (s, name) for name, s in sorted(self.seconds.items()))
        for title, failures in (("Failed, which decides nothing", self.listed), ("Failed", self.failures)):
            if failures:
                self.put("# %s:" % title, True)
            for text in failures:
                self.put("\n".join("#   " + re.sub("^# +", "  ", line) for line in text), True)
        if self.not_run + self.plan.left_out:
            self.put("# Not run:", True)
        for name in self.not_run + self.plan.left_out:
            self.put("#   " + name, True)
        self.put("1..%d" % self.number)
        self.put("%d passed, %d failed, %d skipped" % (self.passed, len(self.failures), self.skipped), True)
        return 1 if self.failures else 0


class Tap:
    """The output of one program. A failure is reported with the diagnostics that follow it."""

    def __init__(self, report, name, again, log, forgiven="", prefix=None):
        self.report, self.name, self.again, self.log, self.forgiven = report, name, again, log, forgiven
        self.prefix = name + ": " if prefix is None else prefix
        self.plan, self.seen, self.bad, self.skip, self.tail, self.failing = None, 0, 0, "", [], None

    def result(self, good, text, skip=None, said=()):
        if not good:
            self.bad += 1
            if self.forgiven:
                good, skip = True, self.forgiven
        self.report.result(good, text, skip, said, self.again, self.log)

    def flush(self):
        if self.failing:
            text, said = self.failing
            self.failing = None
            self.result(False, text, said=said)

    def line(self, line):
        match = re.match(r"(ok|not ok)\b *\d* *-? *(.*)$", line)
        if match:
            self.flush()
            self.seen += 1
            text, _, skip = re.match(r"(.*?)( # *SKIP(.*))?$", match[2], re.I).groups()
            if match[1] == "ok":
                self.result(True, self.prefix + text, None if skip is None else skip.strip())
            else:
                self.failing = (self.prefix + text, [])
        elif re.match(r"1\.\.\d", line):
            self.plan = int(re.match(r"1\.\.(\d+)", line)[1])
            skip = re.search(r"skip *(.*)$", line, re.I)
            self.skip = skip[1] if skip and not self.plan else ""
        elif line.startswith("Bail out!"):
            self.flush()
            self.result(False, self.prefix + line)
        elif re.match(r"\S*tests/\S+: line \d+: (?!warning: |.*(Terminated|Killed))", line):
            # A loop whose input cannot be opened is left out without a result.
            self.flush()
            self.result(False, self.prefix + "bash meets no error: " + line)
        elif line.strip():
            self.tail = (self.tail + [line])[-20:]
            if self.failing and len(self.failing[1]) < 80:
                self.failing[1].append(line)

    def ended(self, status):
        self.flush()
        if not self.seen and (status == 4 or self.plan == 0):
            self.result(True, self.name, self.skip or (self.tail or [""])[-1])
        elif status and not self.bad:
            self.result(False, "%s: ends well (status %d)" % (self.name, status), said=self.tail)
        elif self.plan is not None and self.plan != self.seen and not (self.bad and status):
            self.result(False, "%s: runs all its tests (%d of %d)" % (self.name, self.seen, self.plan))
        elif not self.seen and not self.bad:
            self.result(True, self.name)
        return not self.bad


class Runner:
    def __init__(self, plan, report):
        self.plan, self.report = plan, report
        self.done, self.good, self.boots, self.children = {}, set(), {}, set()

    def popen(self, command, **more):
        child = subprocess.Popen(command, cwd=TOP, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True, errors="replace", start_new_session=True, **more)
        self.children.add(child)
        return child

    def kill(self, *_):
        for child in list(self.children):
            try:
                os.killpg(child.pid, signal.SIGTERM)
            except OSError:
                pass
        os._exit(130)

    def run(self):
        for lanes in self.plan.stages:
            for jobs, _ in lanes:
                for job in jobs:
                    self.done.setdefault(job, threading.Event())
            threads = [threading.Thread(target=self.lane, args=lane, daemon=True) for lane in lanes]
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(1)
                    if self.report.terminal:
                        self.report.progress()

    def lane(self, jobs, nice):
        for job in jobs:
            for need in job.needs:
                if need in self.done:
                    self.done[need].wait()
            try:
                self.job(job, nice)
            finally:
                self.done[job].set()

    def job(self, job, nice):
        names = ["%s %s" % (job.kernel, f) for f in job.files] if isinstance(job, Guest) else [job.name]
        if job.optional and not os.path.exists(os.path.join(TOP, job.optional)):
            self.report.result(True, job.name, "the mirror has no such kernel")
        elif job in self.good:
            pass
        elif any(need not in self.good for need in job.needs) or not self.time_for(job):
            for name in names:
                self.report.late(name)
        elif isinstance(job, Guest):
            self.guest(job)
        else:
            self.host(job, nice)

    def time_for(self, job):
        """A guest leaves out files itself."""
        return not UNTIL or job.core or time.time() + (1 if isinstance(job, Guest) else job.seconds) < UNTIL

    def host(self, job, nice):
        """The limit of an hour only ends what hangs."""
        log = os.path.join(LOGS, re.sub("[ /]", "-", job.name) + ".log")
        self.report.begin(job.name)
        tap = Tap(self.report, job.name, job.again, log)
        with open(log, "w") as f:
            child = self.popen(["nice", "-n", str(nice), "timeout", "-k", "5", "3600", *job.command])
            for line in child.stdout:
                f.write(line)
                f.flush()
                tap.line(line.rstrip("\n"))
        if tap.ended(child.wait()):
            self.good.add(job)
        self.children.discard(child)
        self.report.end(job.name)

    def guest(self, job):
        """Run the files; boot again after one that kills the guest."""
        todo = list(job.files)
        while todo:
            boot = self.boots[job.kernel] = self.boots.get(job.kernel, 0) + 1
            out = os.path.join(LOGS, "guest-%s-%d" % (job.kernel, boot))
            env = ["env"] + ["%s=%s" % (n, os.environ[n]) for n in PASSED_ON if os.environ.get(n)]
            if UNTIL and not job.core:
                env.append("WEIR_UNTIL=%d" % UNTIL)
            child = self.popen(["tests/vm/guest.sh", "-n", "-k", job.kernel, "-s", str(job.cpus), "-t", "7200", "-o", out,
                                *[w for n in NEAR for w in ("-p", n)], "--", *env, "tests/vm/in-guest.sh",
                                *["tests/%s.t" % f for f in todo]])
            before = len(todo)
            with open(out + ".log", "w") as log:
                self.listen(job, self.lines(child), log, todo, out + ".log")
            status = child.wait()
            self.children.discard(child)
            self.verdict(job, boot, status, out, before != len(todo))
            if before == len(todo):
                for name in todo:
                    self.report.late("%s %s" % (job.kernel, name))
                return
            self.schema(job, out)

    @staticmethod
    def lines(child):
        """What a guest prints, until it says nothing for longer than in-guest.sh gives a file."""
        while True:
            silent = threading.Timer(1000, os.killpg, (child.pid, signal.SIGTERM))
            silent.start()
            line = child.stdout.readline()
            silent.cancel()
            if not line:
                return
            yield line

    def listen(self, job, lines, log, todo, path):
        tap = name = None
        for line in lines:
            log.write(line)
            log.flush()
            line = line.rstrip("\n")
            word, _, rest = line.partition(" ")
            if word == "@begin":
                file = re.sub(r"^tests/|\.t$", "", rest)
                todo.remove(file)
                name = "%s %s" % (job.kernel, file)
                slow = file in part_of("too slow on " + job.kernel)
                tap = Tap(self.report, name, "tests/run.sh %s %s" % (file, job.kernel), path,
                          "failed, but the file is too slow on this kernel" if slow else "")
                self.report.begin(name)
            elif word == "@late":
                self.report.late("%s%s" % (name, rest and ": " + rest))
                self.report.end(name, 0)
                tap = None
            elif word == "@end":
                if tap:
                    status, seconds = rest.split()
                    tap.ended(int(status))
                    self.report.end(name, int(seconds))
                tap = None
            elif tap:
                tap.line(line)
        if tap:
            tap.flush()
            self.report.result(False, name + ": the guest survives", None, tap.tail, tap.again, path)
            self.report.end(name)

    def verdict(self, job, boot, status, out, begun):
        name, said = "%s: the kernel's log is clean (boot %d)" % (job.kernel, boot), []
        if status == 99:
            with open(os.path.join(out, "kernel.bad"), errors="replace") as f:
                said = f.read().split("\n")[:80]
        elif status:
            name = "%s: the guest ends well (boot %d, status %d)" % (job.kernel, boot, status)
            with open(out + ".log", errors="replace") as f:
                said = f.read().split("\n")[-20:]
        elif not begun:
            name = "%s: the guest begins its tests (boot %d)" % (job.kernel, boot)
        again = "tests/run.sh %s %s" % (" ".join(re.findall(r"(?m)^during tests/(.*)\.t$", "\n".join(said))[:1] or ["netns"]), job.kernel)
        self.report.result(status == 0 and begun, name, None, said, again, out + ".log")

    def schema(self, job, out):
        """Check what the tests had weir print as JSON."""
        if not os.path.exists(os.path.join(out, "json")) or not os.path.getsize(os.path.join(out, "json")):
            return
        name = "%s: JSON as in weir -schema" % job.kernel
        child = self.popen(["bash", "-c", 'tests/netns/schema.py <(userspace/weir -schema) "$0"', os.path.join(out, "json")])
        tap = Tap(self.report, name, "", os.path.join(out, "json"))
        for line in child.stdout:
            tap.line(line.rstrip("\n"))
        tap.ended(child.wait())
        self.children.discard(child)


def part_of(name):
    return planning.part(SETS.get(name, []), "netns")


def record():
    """Take over the times of the last run. A busy machine's are longer, but all of them."""
    recorded = dict(planning.RECORDED)
    with open(os.path.join(LOGS, "seconds")) as f:
        for line in f:
            seconds, name = line.rstrip("\n").split(" ", 1)
            recorded[name[5:] if name.startswith("6.12 ") else name] = int(seconds)
    for file, text in (("seconds", ["%d %s\n" % (s, n) for n, s in sorted(recorded.items())]),
                       ("last", ["%s %s\n" % (c, n) for n, c in sorted(planning.last().items())])):
        path = os.path.join(planning.HERE, file)
        with open(path) as f:
            head = [line for line in f if line.startswith("#")]
        with open(path, "w") as f:
            f.writelines(head + text)


def logs_folder():
    """A run beside another has its own logs; the lock lasts as long as the process."""
    global LOGS
    os.makedirs(os.path.join(TOP, ".cache"), exist_ok=True)
    lock = open(os.path.join(TOP, ".cache/test.lock"), "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        LOGS = "%s-%d" % (LOGS, os.getpid())
    shutil.rmtree(LOGS, ignore_errors=True)
    os.makedirs(LOGS)
    os.environ["WEIR_LOGS"] = LOGS
    return lock


def main(words):
    if words == ["--record"]:
        return record()
    if words[:1] == ["--ran"]:
        return planning.remember("make " + words[1])
    try:
        plan = planning.plan_of(words)
    except planning.WrongWord as error:
        print("run.sh: %s" % error, file=sys.stderr)
        return 1
    lock = logs_folder()
    plan.seconds = sum(max([sum(j.seconds for j in jobs) for jobs, _ in lanes] or [0]) for lanes in plan.stages)
    report = Report(plan)
    runner = Runner(plan, report)
    signal.signal(signal.SIGTERM, runner.kill)
    signal.signal(signal.SIGINT, runner.kill)
    runner.run()
    status = report.finish()
    lock.close()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
