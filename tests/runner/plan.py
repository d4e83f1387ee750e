# SPDX-License-Identifier: GPL-2.0-or-later
"""plan.py: what a run consists of: the jobs that the words of the command line name, which
of them need which, and in which lane each runs. The lists are in the files sets and seconds.
"""
import glob
import os
import re
import shutil
import subprocess

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
HERE = os.path.join(TOP, "tests/runner")
RAN = os.path.join(TOP, ".cache/ran")
STOCK = ["6.1", "6.12", "sid", "6.12-rt", "6.12-arm64"]
DEBUG = ["6.12-kasan", "6.12-kcsan", "uml-kasan"]
SUITES = ["build", "unit", "litmus", "proof", "cli", "fuzz", "lint", "bench", "32bit", "systemd", "demo", "mutants", "netns"]
BOOT = 6  # seconds
# How much longer a file takes than on 6.12, where no time is recorded
SLOWER = {"6.12-kasan": 4, "6.12-kcsan": 2}
TURNS = 3
SPARSE = ["6.1", "6.12"] if shutil.which("sparse") else []  # it cannot parse newer headers
CORE = ["unit", "litmus", "proof", "fuzz", "lint", "bench", "cli", "build tool", "build tests", "build 6.12",
        "table tests for 6.12", "suspend for 6.12", "packages"]  # by names of jobs
TARGETS = ["test-arm64", "fuzz", "soak", "mutants", "bench-native", "compare", "test-fresh"]


class WrongWord(Exception):
    pass


class Job:
    """A command, or for a guest the files that it runs."""

    def __init__(self, name, command, again=None, needs=(), seconds=None):
        self.name, self.command, self.needs = name, command, list(needs)
        self.again = again or " ".join(command)
        self.seconds = expected(name) if seconds is None else seconds
        self.optional = ""  # why it may be impossible
        self.core = name in CORE or name.split("/")[0] in CORE  # no deadline leaves it out


class Guest(Job):
    def __init__(self, kernel, cpus, files, needs):
        super().__init__("%s in a guest with %d CPU%s" % (kernel, cpus, "s" * (cpus > 1)), [], "-", needs,
                         BOOT + sum(expected(f, kernel) for f in files))
        self.kernel, self.cpus, self.files = kernel, cpus, files
        self.core = kernel == "6.12"


class Plan:
    def __init__(self):
        self.stages = []  # of lanes: a list of (jobs, nice); a stage begins when the last has ended
        self.notes = []
        self.left_out = []  # what is part of no such run, or not of this one
        self.turn = ""
        self.listed = []  # words of results that, if they fail, are listed and do not decide
        self.deciding = []  # ... except these


def lines(name):
    """The lines of a list, without comments."""
    with open(os.path.join(HERE, name)) as f:
        return [line for line in (line.split("#")[0].rstrip() for line in f) if line]


def sets():
    """The paragraphs "NAME: WORD..." of the file sets, and the pairs of "for REGEX: WORD..."."""
    named, paths = {}, []
    for line in lines("sets"):
        if line[0].isspace():
            words += line.split()
            continue
        name, _, rest = line.partition(": ")
        words = rest.split()
        if name.startswith("for "):
            paths.append((name[4:].strip(), words))
        else:
            named[name] = words
    return named, paths


RECORDED = {line.split(maxsplit=1)[1]: int(line.split()[0]) for line in lines("seconds")}
SETS, PATHS = sets()


def debug(kernel):
    return kernel in DEBUG


def key(file, kernel):
    return file if kernel == "6.12" else kernel + " " + file


def expected(name, kernel="6.12"):
    """The seconds that it takes"""
    if key(name, kernel) in RECORDED:
        return RECORDED[key(name, kernel)]
    return RECORDED.get(name, 10) * SLOWER.get(kernel, 1)


def git(*words):
    ran = subprocess.run(["git", "-C", TOP, *words], capture_output=True, text=True)
    return ran.stdout.strip() if ran.returncode == 0 else ""


def base():
    """The commit that changes are compared with: where the landed branch was left, or the last."""
    return git("merge-base", "HEAD", "origin/main") or git("rev-parse", "--verify", "HEAD~")


def changed():
    since = base()
    names = git("diff", "--name-only", since).split("\n") if since else []
    return sorted(filter(None, names + git("ls-files", "--others", "--exclude-standard").split("\n"))), since


def concerned(names):
    """What the changed files add to the core set: {word: path}"""
    added = {}
    for name in names:
        own = re.match(r"tests/((netns|cli)/[a-z0-9-]+)\.t$", name)
        if own and os.path.exists(os.path.join(TOP, name)):
            added.setdefault(own[1], name)
        for pattern, words in PATHS:
            if re.match("(%s)$" % pattern, name):
                for word in words:
                    added.setdefault(word, name)
    return added


def files(suite, names):
    """The files tests/SUITE/NAME.t; the names may be patterns"""
    found = []
    for name in names:
        match = sorted(glob.glob(os.path.join(TOP, "tests", suite, name + ".t")))
        if not match:
            raise WrongWord("there is no test called %s/%s" % (suite, name))
        found += [suite + "/" + os.path.basename(f)[:-2] for f in match]
    return list(dict.fromkeys(found))


def part(words, suite):
    """The files that words like SUITE/NAME name, without those of words like -SUITE/NAME"""
    without = files(suite, [w.split("/", 1)[1] for w in words if w.startswith("-%s/" % suite)])
    return [f for f in files(suite, [w.split("/", 1)[1] for w in words if w.startswith(suite + "/")]) if f not in without]


def turn():
    """A number that the next commit changes, as CI keeps no state: how many there are; in a shallow
    clone, which has one, the commit's hash"""
    count = git("rev-list", "--count", "HEAD")
    if git("rev-parse", "--is-shallow-repository") != "false" or not count:
        count = int(git("rev-parse", "HEAD") or "0", 16)
    return int(count)


def last():
    """The commits where things last ran, by the file last and by what ran here since"""
    ran = dict(reversed(line.split(maxsplit=1)) for line in lines("last"))
    if os.path.exists(RAN):
        with open(RAN) as f:
            ran.update(reversed(line.rstrip("\n").split(maxsplit=1)) for line in f)
    return ran


def remember(name):
    with open(RAN, "a") as f:
        print(git("rev-parse", "--short=12", "HEAD") or "unknown", name, file=f)


def left_out(names):
    ran = last()
    return ["%s (last ran: %s)" % (n, ran.get(n, "never")) for n in names]


def third(n):
    return "6.12-kasan, third %d of %d" % (n + 1, TURNS)


def kasan_files(which):
    """Those that run on 6.12-kasan each time, and the ones whose turn it is"""
    always = part(SETS["6.12-kasan"], "netns")
    rest = [f for f in files("netns", ["*"]) if f not in always + part(SETS["never on 6.12-kasan"], "netns")]
    rest.sort(key=lambda f: (-expected(f), f))
    return always, rest[which::TURNS]


def unplanned():
    """The guest tests that make test never runs"""
    words = [w for line in PATHS for w in line[1] if "@" not in w and w != "netns/*"]
    planned = part(SETS["core"] + words, "netns")
    return [f for f in files("netns", ["*"]) if f not in planned and f != "netns/faults"]


def needs_two(file):
    with open(os.path.join(TOP, "tests", file + ".t")) as f:
        return any(line.startswith("need_cpus 2") for line in f)


TOOL = Job("build tool", ["make", "--no-print-directory", "-s", "tool"])
PROGRAMS = Job("build tests/netns", ["make", "--no-print-directory", "-s", "-C", "tests/netns"])
PACKAGES = Job("packages", ["tests/vm/package-build.sh", ".cache/build/packages"])


def kernel_jobs(kernel, names):
    """The builds for a kernel. Where sparse can, it checks what they compile."""
    build = ["tests/vm/kernel-build.sh", "-w"]
    jobs = []
    if not debug(kernel) and not os.path.exists(os.path.join(TOP, ".cache/kernels", kernel, "version")):
        # With set-up a changed file may ask for a kernel that set-up did not. Status 3: the mirror lacks it.
        if not os.environ.get("NO_SETUP"):
            jobs.append(Job("guest kernel " + kernel, ["sh", "-c", 'tests/vm/fetch.sh "$@" || [ $? = 3 ]', "-", kernel,
                                                       *["pahole"] * (kernel == "sid")], "tests/vm/fetch.sh " + kernel))
    elif kernel == "uml-kasan":
        jobs.append(Job("guest kernel uml-kasan", ["tests/vm/uml-build.sh", "kasan"]))
    elif debug(kernel):
        jobs.append(Job("guest kernel " + kernel, ["tests/vm/kernel-debug.sh", kernel]))
    if jobs and debug(kernel):
        # An earlier run has built it.
        if subprocess.run([jobs[0].command[0], "-n", *jobs[0].command[1:]], cwd=TOP, capture_output=True).returncode == 0:
            jobs[0].seconds = 1
        jobs[0].optional = ".cache/%s/source/version" % ("uml" if kernel == "uml-kasan" else "debug")
    jobs.append(Job("build " + kernel, build + [kernel] + ["C=1"] * (kernel in SPARSE)))
    if not debug(kernel):
        jobs[-1].optional = ".cache/kernels/%s/version" % kernel
    if "netns/faults" in names and debug(kernel) and kernel != "uml-kasan":
        jobs.append(Job("faults for " + kernel, build + ["-m", "tests/fault", "-o", ".cache/build/%s/fault" % kernel, kernel]))
    if "netns/table" in names:
        jobs.append(Job("table tests for " + kernel, build + ["-m", "tests/table", "-a", "module", "-a", "tests/unit",
                                                             "-o", ".cache/build/%s-table" % kernel, kernel]))
    if "netns/suspend" in names:
        jobs.append(Job("suspend for " + kernel, build + ["-m", "tests/suspend", "-o", ".cache/build/%s/suspend" % kernel, kernel]))
    if kernel == "6.12-arm64":
        jobs.append(Job("programs for " + kernel, ["tests/vm/cross-build.sh", kernel]))
    for job, before in zip(jobs[1:], jobs):
        job.needs.append(before)
    return jobs


def guest_lanes(chosen, count):
    """Lanes of guests. Guests with two CPUs run one at a time, in the first lane, as emulated CPUs
    mostly wait for each other on a busy machine; the files that need one fill all lanes alike."""
    lanes, one, two, load = [[] for _ in range(count)], [], [], [0] * count
    for n, (kernel, names) in enumerate(chosen.items()):
        jobs = kernel_jobs(kernel, names)
        lanes[n % count] += jobs
        load[n % count] += sum(j.seconds for j in jobs)
        needs = [TOOL, PROGRAMS] + jobs + [PACKAGES] * bool({"netns/package", "netns/autopkgtest"} & set(names))
        both = [f for f in names if kernel == "6.12-kcsan" or needs_two(f)]
        if both:
            two.append(Guest(kernel, 2, both, needs))
        one.append((kernel, [f for f in names if f not in both], needs))
    lanes[0] += two
    load[0] += sum(g.seconds for g in two)
    ends = max(load + [(sum(load) + sum(expected(f, k) for k, names, _ in one for f in names)) / count])
    lane = count - 1
    for kernel, names, needs in one:
        mine = []
        for file in names:
            if load[lane] + expected(file, kernel) > ends + 5 and lane > 0:
                lanes[lane] += [Guest(kernel, 1, mine, needs)] if mine else []
                mine, lane = [], lane - 1
            mine.append(file)
            load[lane] += expected(file, kernel)
        lanes[lane] += [Guest(kernel, 1, mine, needs)] if mine else []
    return lanes


def host_jobs(suite, words, everything):
    """The jobs of a suite that need no guest, or boot their own"""
    make = ["make", "--no-print-directory", "-s", "-C"]
    if suite == "unit":
        builds = "gcc-asan clang-tsan" if not everything else "gcc-asan clang-asan clang-tsan"
        return [Job("unit", make + ["tests/unit", "check", "BUILDS=" + builds], "make -C tests/unit check T=PROGRAM")]
    if suite == "proof":
        return [Job("proof/" + n, ["tests/proof/%s.py" % n]) for n in ("wheel", "leak", "slot", "log")]
    if suite == "litmus":
        return [Job("litmus", ["tests/litmus/run.sh"])]
    if suite == "fuzz":
        return [Job("fuzz", make + ["tests/fuzz", "check", "FUZZ_RUNS=20000"])]
    if suite == "lint":
        jobs = [Job("lint", ["tests/lint.sh"], "tests/lint.sh CHECK")]
        return jobs + ([Job("lint by clang", ["tests/lint.sh", "clang"])] if everything else [])
    if suite == "bench":
        own = [] if everything else ["env", "BENCH_TOOLS=weir"]
        return [Job("bench" if everything else "bench of weir", own + ["tests/bench/bench.sh"], needs=[TOOL])]
    if suite == "32bit":
        return [Job("32 bit, " + n, ["tests/32bit.sh", "6.1-" + n]) for n in ("i386", "armhf")]
    if suite == "systemd":
        return [Job(what + "systemd of Debian %d" % n, ["tests/systemd/run.sh", code, test], needs=[need])
                for n, code in ((12, "bookworm"), (13, "trixie"))
                for what, test, need in (("", "service", TOOL), ("packages under ", "packages", PACKAGES))]
    if suite == "demo":
        return [Job("demo", ["tests/demo/run.sh"], "make demo", needs=[TOOL, PROGRAMS]),
                Job("demo-fleet", ["tests/demo/run.sh", "fleet"], "make demo-fleet", needs=[TOOL, PROGRAMS])]
    if suite == "mutants":
        return [Job("mutants", ["tests/mutants/run.py", "-s", "12"], "make mutants T=NAME")]
    if suite == "cli":
        names = part(words, "cli") or files("cli", ["*"])
        return [Job(f, ["tests/%s.t" % f], "tests/run.sh " + f, needs=[TOOL]) for f in names]
    return []


def lanes_of(suites, words, chosen, everything):
    """One stage: lanes of guests, and two of lower priority for the rest, since tests in guests depend on time"""
    lanes = [(jobs, 0) for jobs in guest_lanes(chosen, int(os.environ.get("JOBS", 2)))]
    jobs = {s: host_jobs(s, words, everything) for s in suites}
    first = [j for s in ("cli", "bench", "fuzz", "demo", "mutants") for j in jobs.get(s, [])]
    second = [j for s in ("lint", "litmus", "proof", "unit", "32bit", "systemd") for j in jobs.get(s, [])]
    lanes += [(first, 10), (second, 10)]
    begin = [j for j in (TOOL, PROGRAMS, PACKAGES) if any(j in job.needs for jobs, _ in lanes for job in jobs)]
    lanes[0] = (begin + lanes[0][0], 0)
    return [lane for lane in lanes if lane[0]]


def whole():
    """Everything: each kernel with the files that may differ there"""
    return {"6.12": files("netns", ["*"]), "6.1": part(SETS["6.1"], "netns"), "sid": part(SETS["sid"], "netns")}


def usual(plan):
    """make test: the core set, and what the changes since the landed branch concern"""
    names, since = changed()
    core = [s for s in SETS["core"] if s in SUITES] + part(SETS["core"], "cli") + part(SETS["core"], "netns")
    added = {w: p for w, p in concerned(names).items() if w not in core}
    words = core + list(added)
    chosen = {"6.12": part([w for w in words if "@" not in w], "netns")}
    for word in added:
        if "@" in word:
            name, kernel = word.split("@")
            chosen.setdefault(kernel, []).extend(part([name], "netns"))
    why = {}
    for word, path in added.items():
        why.setdefault(path, []).append(word)
    text = "; ".join("%s (%s)" % (" ".join(w), p) for p, w in why.items())
    plan.notes.append("the core set%s; everything is in make test-all" % (
        ", and for what differs from %s: %s" % (since[:12], text) if text else
        " alone: no other test is for what differs from %s" % (since[:12] or "the last commit")))
    suites = [s for s in ("unit", "litmus", "proof", "fuzz", "lint", "bench") if s in words]
    suites += [s for s in ("systemd", "demo") if s in added]
    plan.stages.append(lanes_of(suites + ["cli"], words, chosen, False))


def plan_of(words):
    plan = Plan()
    if not words:
        usual(plan)
        return plan
    if words in (["all"], ["ci"]):
        plan.stages.append(lanes_of([s for s in SUITES if s not in ("build", "netns")], [], whole(), True))
        left = [third(n) for n in range(TURNS)]
        if words == ["ci"]:
            which = turn() % TURNS
            always, rest = kasan_files(which)
            plan.notes.append("%s, by the number of commits: %s" % (third(which), " ".join(rest)))
            chosen = {"6.12-kasan": always + rest, "6.12-kcsan": part(SETS["6.12-kcsan"], "netns")}
            plan.stages.append(lanes_of([], [], dict(sorted(chosen.items(), reverse=turn() % 2)), True))
            plan.turn = left.pop(which)
            plan.listed, plan.deciding = SETS["listed"], SETS["deciding"]
        else:
            left.append("6.12-kcsan")
        plan.left_out = left_out(left + ["make " + t for t in TARGETS])
        return plan
    kernels, suites = [w for w in words if w in STOCK + DEBUG], []
    for word in words:
        suite = word.split("/")[0]
        if word in SUITES or (suite in ("cli", "netns") and "/" in word):
            suites.append(word[:-2] if word.endswith(".t") else word)
        elif word not in kernels:
            raise WrongWord("there is no test called %s (all, %s, netns/NAME, cli/NAME, %s)" % (
                word, ", ".join(SUITES), ", ".join(STOCK + DEBUG)))
    if kernels and not suites:
        suites = ["build", "netns"]
    names = files("netns", ["*"]) if "netns" in suites else part(suites, "netns")
    chosen = {k: names for k in kernels}
    if not kernels and ("build" in suites or names):
        chosen = {"6.12": names, "6.1": names}
        if "build" in suites or set(names) & set(part(SETS["sid"], "netns")):
            chosen["sid"] = [f for f in names if f in part(SETS["sid"], "netns")]
    plan.stages.append(lanes_of([s for s in dict.fromkeys(w.split("/")[0] for w in suites) if s not in ("build", "netns")],
                                suites, chosen, True))
    return plan
