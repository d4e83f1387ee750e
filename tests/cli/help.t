#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Help and version: on stdout with status 0, without module or root.
. "$(dirname "$0")/lib.sh"

for words in help -help --help -h; do
	run "$words"
	is "$status$err" 0 "weir $words succeeds"
	like "$out" '^Usage: weir' "weir $words tells usage"
done
run
is "$status" 1 "weir alone has no words"
like "$err" '^Usage: weir' "weir alone tells usage on stderr"

for object in limit source exempt stats monitor save; do
	run "$object" help
	is "$status" 0 "weir $object help succeeds"
	like "$out" "^Usage: weir $object" "weir $object help tells usage"
done
for verb in show add set del flush; do
	run limit "$verb" help
	like "$out" "^Usage: weir limit $verb" "weir limit $verb help"
done
run source charge help
like "$out" 'charge ADDR limit NAME \[ dev' "weir source charge help tells its words"
like "$out" 'mode +all\|drain' "weir source charge help tells values"
longest=$("$weir" limit help | awk '{ if (length > n) n = length } END { print n }')
ok $((longest > 80)) "help fits 80 columns"

# every word that parses is in help, and help has no other
run limit add help
for word in budget family dev from to proto sport dport syn frag mark match per \
	slots strict lenient sources action before; do
	like "$out" "(^|[^a-z])$word " "weir limit add help has $word"
done

for words in -V -Version --Version -version version; do
	run "$words"
	like "$status $out" '^0 weir [0-9]+\.[0-9]+' "weir $words"
done
run -json -Version
is "$(jq -re '.[0].version' <<<"$out")" "$("$weir" -V | cut -d' ' -f2)" "weir -json -Version is JSON"
finish
