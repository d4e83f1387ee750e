#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.t: 100,000 sources are told while they change
. "$(dirname "$0")/lib.sh"
begin
config <<<"limit add d budget 1k/1h sources 131072" || bail "cannot configure"
flood -s 10.0.0.0 -n 100000 -c 100000
is "$(passed)" 100000 "100,000 sources send a packet each"
weir source show >"$tmp/rest" 2>"$tmp/said"
is "$?" 0 "they are shown"
evicted=$(stat_of d evictions)
within "$evicted" 0 100 "hardly any has been evicted"
is "$(wc -l <"$tmp/rest")" $((100000 - evicted)) "each one that has a way"
is "$(sort -u "$tmp/rest" | wc -l)" $((100000 - evicted)) "... once"
is "$(awk '{ for (i = 1; i < NF; i++) if ($i == "count") n += $(i + 1) } END { print n }' "$tmp/rest")" \
	$((100000 - evicted)) "... with its count"

# Some come, some go on.
flooding -s 10.0.0.0 -n 100000 -R -r 15000 -k -t 60000
flooding -s 198.18.0.0 -n 100000 -R -r 3000 -k -t 60000
weir source show >"$tmp/flood" 2>"$tmp/said"
is "$?:$(<"$tmp/said")" "0:" "shown under a flood, they are not interrupted"
is "$(awk '{ print $1 }' "$tmp/flood" | sort | uniq -d | wc -l)" 0 "... none twice"
within "$(grep -c '^10\.' "$tmp/flood")" 98000 100000 "... and all but those that lost their way"
within "$(grep -c '^198\.1[89]\.' "$tmp/flood")" 1 100000 "... and newcomers"
weir source show top 10 by count >"$tmp/top"
is "$(wc -l <"$tmp/top")" 10 "the ten that sent most"
weir source show 10.0.1.0/24 >"$tmp/net"
within "$(wc -l <"$tmp/net")" 240 256 "those of a prefix"

# The limit goes while it is told.
weir source show >"$tmp/cut" 2>"$tmp/said" &
reader=$!
some() { [ -s "$tmp/cut" ]; }
wait_for 20 some
weir limit set d sources 200000 >/dev/null 2>&1
wait "$reader"
like "$(<"$tmp/said")" "incomplete" "one whose table changed says that it may be incomplete"
quiet
finish
