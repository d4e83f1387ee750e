#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# top.sh: flood the limits of a guest, and draw weir top as Documentation/top.svg and, of what Prometheus has read
# of weir metrics meanwhile, the dashboard as Documentation/dashboard.png
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) && cd "$top" || exit 1
kernel=6.12 served=127.0.0.1:9961 prometheus=127.0.0.1:9962
out=$(mktemp -d) && started=() && trap 'kill "${started[@]}"; wait; rm -rf "$out"' EXIT || exit 1
{ make -s tool && make -s -C tests/netns && tests/vm/kernel-build.sh "$kernel"; } >"$out/log" 2>&1 ||
	{ tail -n 20 "$out/log" >&2; exit 1; }
mkdir "$out/served"
cat >"$out/prometheus.yml" <<-WORDS
	scrape_configs:
	- {job_name: weir, metrics_path: /weir.prom, scrape_interval: 1s, static_configs: [{targets: ["$served"]}]}
WORDS
python3 -m http.server --bind "${served%:*}" --directory "$out/served" "${served#*:}" >"$out/http.log" 2>&1 &
started+=($!)
.cache/prometheus/prometheus --config.file="$out/prometheus.yml" --storage.tsdb.path="$out/data" \
	--web.listen-address="$prometheus" >"$out/prometheus.log" 2>&1 &
started+=($!)
tests/vm/guest.sh -r -k "$kernel" -t 200 -o "$out" -- tests/demo/top-scene.sh &&
	tests/metrics/dashboard.py "http://$prometheus" 40 >"$out/dashboard.html" &&
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1256,1244 --user-data-dir="$out/chromium" \
		--screenshot="$out/dashboard.png" "file://$out/dashboard.html" >"$out/chromium.log" 2>&1 &&
	Documentation/demo.py <"$out/screen" >"$out/top.svg" && cp "$out"/{top.svg,dashboard.png} Documentation/
