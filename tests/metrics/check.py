#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check.py PROMTOOL: the alerts' unit tests pass, Prometheus can parse each query of the dashboard,
and no query adds up namespaces. check.py --names: the metrics that alerts and dashboard need from weir."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "Documentation" / "examples"
ALERTS = EXAMPLES / "prometheus-alerts.yml"


def queries():
    """(panel, query) of the dashboard, with Grafana's variables filled in."""
    for panel in json.loads((EXAMPLES / "grafana.json").read_text())["panels"]:
        for target in panel["targets"]:
            text = target["expr"].replace("$__rate_interval", "5m")
            yield panel["title"], re.sub(r"\$(instance|limit)", ".*", text)


def find(regex):
    return set(re.findall(regex, ALERTS.read_text() + "".join(query for _, query in queries())))


def main():
    if sys.argv[1] == "--names":
        print("\n".join(sorted(find(r"\bweir_[a-z_]+"))))
        return 0
    promtool = sys.argv[1]
    rules = {"groups": [{"name": "dashboard", "rules": [
        {"record": f"query:{number}", "expr": query} for number, (_, query) in enumerate(queries())]}]}
    if len(rules["groups"][0]["rules"]) < 10:
        sys.exit("the dashboard has fewer than ten queries")
    if mixed := [by for by in find(r"\bby \(.*?\)") if "netns" not in by]:
        sys.exit(f"namespaces are added up: {mixed}")
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write(json.dumps(rules))
        file.flush()
        done = [subprocess.run([promtool, *words], capture_output=True, text=True) for words in (
            ["check", "rules", file.name], ["check", "rules", ALERTS], ["test", "rules", HERE / "alerts.yml"])]
    for run in done:
        if run.returncode:
            print(run.stdout + run.stderr, end="")
    return max(run.returncode for run in done)


if __name__ == "__main__":
    sys.exit(main())
