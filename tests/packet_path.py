#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""packet_path.py [FOLDER]: print what the packet path of the module in FOLDER (module) might
allocate, sleep for, print or send: forbidden words in functions that the hooks, the kfunc and the
timer reach, by the names in function bodies. Status 1 if there are any, or if it reaches too few
functions to be right.
"""
import pathlib
import re
import sys

# Where the kernel enters the module in softirq or interrupt context
ROOTS = ("weir_hook_ipv4", "weir_hook_ipv6", "weir_xdp_refuses", "period_end")
FORBIDDEN = re.compile(r"\b(k[vmz]*alloc\w*|k[vz]*free\w*|alloc_percpu\w*|GFP_[A-Z]+|v[mz]*alloc\w*|printk\w*|pr_[a-z]+"
                       r"|net_[a-z]+_ratelimited|mutex_\w+|msleep|might_sleep|cond_resched"
                       r"|schedule_timeout\w*|wait_event\w*|synchronize_\w+|(genl|n)lmsg_\w+|flush_work"
                       r"|cancel_\w*work_sync|nf_log_\w+)\b")
# A limit with log sends a bounded number of packets a second.
ALLOWED = {("weir_nflog_drop", "nf_log_packet")}
LEAST = 200	# functions


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def functions(path):
    """name, is it for other files, number of its first line, and body of each function and macro"""
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", blank, path.read_text(), flags=re.S)
    for match in re.finditer(r"^#define\s+(\w+)\(((?:[^\n]*\\\n)*[^\n]*)", text, re.M):
        yield match[1], path.suffix == ".h", text.count("\n", 0, match.start(2)) + 1, match[2]
    for match in re.finditer(r"^\{(.*?)^\}", text, re.M | re.S):
        # The line above, or the lines of the declaration, begin with no blank.
        head = re.search(r"(?:^|\n)(\w[^;{}]*)\Z", text[:match.start()])
        name = head and re.search(r"(\w+)\s*\((?!\()", re.sub(r"__\w+\([^()]*\)", blank, head[1]))
        if name:
            shared = path.suffix == ".h" or not head[1].startswith("static ")
            yield name[1], shared, text.count("\n", 0, match.start()) + 1, match[1]


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "module")
    bodies, where = {}, {}
    for path in sorted(folder.rglob("*.[ch]")):
        for name, shared, line, body in functions(path):
            bodies[str(path), name] = path, line, body
            if shared:
                where.setdefault(name, []).append((str(path), name))
    todo = [key for key in bodies if key[1] in ROOTS]
    if len(todo) != len(ROOTS):
        print("of these not each is found once:", *ROOTS)
        return 1
    came, bad = dict.fromkeys(todo), 0
    while todo:
        key = todo.pop()
        path, line, body = bodies[key]
        for match in FORBIDDEN.finditer(body):
            if (key[1], match[0]) in ALLOWED:
                continue
            way = [key]
            while came[way[-1]]:
                way.append(came[way[-1]])
            print("%s:%d: %s, in %s" % (path, line + body.count("\n", 0, match.start()), match[0],
                                        " <- ".join(name for _, name in way)))
            bad = 1
        for name in set(re.findall(r"\b[a-z_]\w*", body)):
            mine = (key[0], name)
            for other in [mine] if mine in bodies else where.get(name, []):
                if other not in came:
                    came[other] = key
                    todo.append(other)
    if len(came) < LEAST:
        print("only %d functions are reached" % len(came))
        bad = 1
    return bad


sys.exit(main())
