#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# captures.t: what the module's parser reads of the packets in tcpdump's capture files, recorded from
# many networks and programs and from attacks on parsers, is what tshark reads: source, protocol,
# later fragment, ports, SYN. The parser runs here, with sanitizers (tests/fuzz/captures.c).
. "$(dirname "$0")/lib.sh"
captures=("$top"/.cache/captures/*.pcap)
[ -e "${captures[0]}" ] || skip_all "there are no capture files; make setup downloads them"
holds "the parser is built" quietly make -s -C "$top/tests/fuzz" "OUT=$tmp" "$tmp/captures"
"$top/tests/fuzz/captures.py" "$tmp/captures" "${captures[@]}" >compared 2>err
ok $? "no packet is read in another way than by tshark" || diag "$(head -n 40 compared; tail -n 5 err)"
counted=$(tail -n 1 compared)
diag "$counted"
# least NAME NUMBER: so many were compared
least() { within "$(sed -nE "s/(^|.* )$1=([0-9]+).*/\2/p" <<<"$counted")" "$2" 1000000 "... $1 of $2 packets at least"; }
least source 4000
least protocol 4000
least ports 3000
least IPv6 500
least fragment_set 100
least syn_set 50
finish
