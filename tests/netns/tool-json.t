#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tool-json.t: every output in JSON is what weir -schema says: which keys there
# are, of what type and range; and colour is never in it
. "$(dirname "$0")/lib.sh"
begin

weir -schema >"$tmp/schema" || bail "weir has no schema"
# judge NAME COUNT FILE...: each an array of so many, as the schema says; Python is
# slow to start
cat >"$tmp/judge.py" <<-'PY'
	import json
	import sys
	import jsonschema

	name, count, *files = sys.argv[2:]
	with open(sys.argv[1], encoding="utf-8") as file:
	    defs = json.load(file)["$defs"]
	entry = {"$ref": f"#/$defs/{name}"}
	for path in files:
	    with open(path, encoding="utf-8") as file:
	        told = json.load(file)
	    jsonschema.validate(told, {"type": "array", "items": entry, "minItems": int(count),
	                               "maxItems": int(count), "$defs": defs})
PY

# tells NAME COUNT WORD...: an array of so many, each as the schema says, and the
# same when it is to be pretty and in colour
tells() {
	local name=$1 count=$2
	shift 2
	weir -j "$@" >"$tmp/out" 2>"$tmp/err"
	weir -jp -color=always "$@" >"$tmp/pretty" 2>>"$tmp/err"
	python3 "$tmp/judge.py" "$tmp/schema" "$name" "$count" "$tmp/out" "$tmp/pretty" 2>>"$tmp/err"
	ok $? "weir -j, -jp -color=always $*" || diag "$(<"$tmp/out")" "$(tail -n 30 "$tmp/err")"
}

tells limit 0 limit show
tells exempt 0 exempt show
tells source 0 source show
tells stats 1 stats show
tells limit 0 limit show nosuch
weir limit add web budget 20/30d to 192.0.2.0/24 dport 9 proto udp sources 64 >"$tmp/out" 2>&1
weir limit add every budget 100k/30d bytes not dev lo not from 10.0.0.0/8 not mark 1/3 not frag not syn not family ipv6 lenient per 24,56 >"$tmp/out" 2>&1
weir limit add everybody budget 2/30d per 0 action observe >"$tmp/out" 2>&1
weir exempt add 203.0.113.0/24 limit web
weir exempt add 2001:db8::/32 dev rx0
flood -s 10.0.0.1 -n 200 -c 400
flood -s 198.51.100.1 -c 50
tells limit 3 limit show
tells limit 3 -s limit show
tells limit 1 limit show web
tells limit 1 -s limit show everybody
tells exempt 2 exempt show
tells exempt 1 exempt get 2001:db8::1 dev rx0
tells source 1 source get 198.51.100.1 limit every
tells source 3 source get 203.0.113.1
tells source 1 source show top 1
tells source 1 source charge 198.51.100.9 limit web packets 3
tells stats 1 stats
tells source 1 source forget 203.0.113.77
tells config 1 save
tells limit 1 limit set web budget 21/30d
tells version 1 -Version
# what is not as it says does not pass
echo '[{"name": "web", "bogus": 1}]' >"$tmp/bad"
! python3 "$tmp/judge.py" "$tmp/schema" limit 1 "$tmp/bad" 2>"$tmp/err"
ok $? "an object that has another member is none of the schema's"
unload
ok $? "the module goes"
finish
