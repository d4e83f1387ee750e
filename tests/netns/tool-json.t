#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tool-json.t: every output in JSON is what the schema says: which keys there
# are, of what type; and colour and width are never in it
. "$(dirname "$0")/lib.sh"
begin

cat >"$tmp/schema.jq" <<-'JQ'
	# has(KEYS; MAY): an object with KEYS, each of its type, and perhaps MAY
	def keeps(must; may):
		. as $o
		| type == "object"
		and (must | to_entries | all(.key as $k | $o | has($k)))
		and (to_entries | all((must + may)[.key] as $t
			| $t != null and (.value | if $t | type == "string" then type == $t else $t | index([type]) end | . != null and . != false)));
	def number: "number"; def string: "string"; def boolean: "boolean";
	def counter: keeps({packets: number, bytes: number}; {});
	def match: keeps({}; {family: string, dev: string, from: string, to: string, proto: string,
		sport_min: number, sport_max: number, dport_min: number, dport_max: number,
		syn: boolean, frag: boolean, mark: number, mark_mask: number, not: "array"});
	def words: {name: string, budget: number, window_ms: number, unit: string, match: "object",
		prefix4: number, prefix6: number, slots: number, sources: number, mode: string, action: string};
	def result: {slot_ns: number, window_ns: number, memory: number, ways: number};
	def stats: keeps({matched: "object", admitted: "object", dropped: "object", would_drop: "object",
		elsewhere: "object", floor_refused: "object", too_large: "object",
		sources_now: number, evictions: number}; {sources_wanted: number})
		and (to_entries | all(.value | type != "object" or counter));
	def limit: keeps(words + result; {stats: "object"}) and (.match | match)
		and (if has("stats") then .stats | stats else true end);
	def saved: keeps(words; {}) and (.match | match);
	def exempt: keeps({prefix: string}; {dev: string, limit: string});
	def standing: {source: string, limit: string, count: number, budget: number, unit: string,
		left: number, limited: boolean};
	def source: keeps(standing + {dropped: number, idle: boolean, floor: boolean, action: string};
		{dev: string, next_ns: number, slot_ns: number, slots: "array"})
		and (if .limited then has("next_ns") else true end)
		and (if has("slots") then .slots | all(type == "number") else true end);
	def spared: keeps({source: string, limit: string, exempt: "object"}; {dev: string}) and (.exempt | exempt);
	def charged: keeps(standing + {taken: number}; {dev: string, next_ns: number});
	def totals: keeps({seen: number, exempt: number, unmatched: number, admitted: number, dropped: number,
		unparsable: number, events_lost: number, limits: number, exempts: number, memory: number, tick_ns: number}; {});
	def list(f): type == "array" and all(f);
JQ

# tells FILTER COUNT WORD...: an array of so many, each as the schema says, and the
# same when it is to be pretty and in colour. jq is slow to start.
tells() {
	local filter=$1 count=$2
	shift 2
	weir -j "$@" >"$tmp/out" 2>"$tmp/err"
	weir -jp -color=always "$@" >"$tmp/pretty" 2>>"$tmp/err"
	jq -en --slurpfile plain "$tmp/out" --slurpfile pretty "$tmp/pretty" "$(<"$tmp/schema.jq")
		all(\$plain, \$pretty; length == 1 and (.[0] | list($filter) and length == $count))" >/dev/null
	ok $? "weir -j, -jp -color=always $*" || diag "$(<"$tmp/out")" "$(<"$tmp/pretty")" "$(<"$tmp/err")"
}

tells limit 0 limit show
tells exempt 0 exempt show
tells source 0 source show
tells totals 1 stats show
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
tells 'source or spared' 3 source get 203.0.113.1
tells source 1 source show top 1
tells charged 1 source charge 198.51.100.9 limit web packets 3
tells totals 1 stats
tells 'keeps({forgotten: number}; {})' 1 source forget 198.51.100.9
tells 'keeps({limits: "array", exempts: "array"}; {}) and (.limits | list(saved)) and (.exempts | list(exempt))' 1 save
tells limit 1 limit set web budget 21/30d
tells 'keeps({version: string}; {})' 1 -Version
unload
ok $? "the module goes"
finish
