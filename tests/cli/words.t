#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What bad words get: each a sentence of its own and status 1.
. "$(dirname "$0")/lib.sh"

says <<'LINES'
# the grammar's own examples are good
0 | -check limit add web budget 1000/s to 192.0.2.0/24 proto tcp dport 443 |
0 | -check limit add syn budget 20/10s proto tcp syn per 32,64 sources 262144 |
0 | -check limit add all budget 2M/s per 0 action observe | ^weir: note: limit 'all' has no to, dport or syn
0 | -check limit add bulk budget 10M/1s bytes slots 8 lenient before web to ::/0 |
0 | -check limit set web budget 2000/s |
0 | -check limit add routes budget 100/s proto ospf |
0 | -check limit add gre budget 100/s proto gre | note: limit 'gre' has no to
0 | -check limit add not budget 100/s not proto vrrp | note: limit 'not' has no to
0 | -check limit set web match any | note: limit 'web' has no to
0 | -check limit show |
0 | -check limit show web |
0 | -check limit flush |
0 | -check source show limit web limited top 10 by dropped |
0 | -check source show 2001:db8::/32 dev lo idle |
0 | -check source get 203.0.113.9 dev lo limit web |
0 | -check source charge 203.0.113.9 limit web packets 100 |
0 | -check source charge 203.0.113.9 limit web mode drain bytes 1M |
0 | -check source forget 203.0.113.9 |
0 | -check source forget all limit web |
0 | -check exempt add 10.0.0.0/8 limit web |
0 | -check exempt show |
0 | -check -n blue -s limit show web |
0 | -check stats show |
0 | -check monitor |
0 | -check save |

# abbreviations, where they are unique
0 | -check l a web bu 1/s to ::/0 |
0 | -check sour sh limit web |
0 | -check limit d web |
0 | -check limit dele web |
1 | -check s show | 's' is short for more than one word: source, stats, save
1 | -check source show l | 'l' is short for more than one word: limit, limited

# unknown words, with the nearest known one
1 | lmit show | ^weir: unknown word 'lmit'; the nearest is 'limit'$
1 | limit shom | ^weir: limit: unknown word 'shom'; the nearest is 'show'$
1 | limit add web bugdet 1/s | ^weir: limit add: unknown word 'bugdet'; the nearest is 'budget'$
1 | limit add web budget 1/s acton drop | the nearest is 'action'
1 | limit add web budget 1/s action dop | ^weir: limit add: action: unknown word 'dop'; the nearest is 'drop'$
1 | source show limited topp 3 | the nearest is 'top'
1 | exempt add 10.0.0.0/8 dve lo | the nearest is 'dev'
1 | limit flush now | 'now' is a word too many
1 | save x | ^weir: save: 'x' is a word too many$
# what is far from all of them is told all of them, or where they are
1 | rate | ^weir: unknown word 'rate'; known are limit, source, exempt, stats, monitor, save$
1 | limit frobnicate | ^weir: limit: unknown word 'frobnicate'; known are show, add, set, del, flush$
1 | limit add web budget 1/s action reject | action: unknown word 'reject'; known are drop, observe$
1 | limit add web budget 1/s colour blue | unknown word 'colour'; known are budget, family, dev, .*, action, before$
# as near as each other
1 | limit add web budget 1/s proto tcp port 443 | unknown word 'port'; the nearest is 'sport' or 'dport'$
1 | limit add web budget 1/s byte | budget: unknown word 'byte'; the nearest is 'bytes'$
# a value without its word
1 | limit add web budget 1/s observe | ^weir: limit add: 'observe' is a value; say action observe$
1 | limit add web budget 1/s ipv6 | 'ipv6' is a value; say family ipv6$
1 | weir limit show | ^weir: leave 'weir' out; what follows it is the command$
1 | limit add web budget 1/s not not proto tcp | not: given twice$
1 | limit add web budget 1/s proto TCP | proto: 'TCP' is not a protocol; the nearest is 'tcp'$
1 | limit add web budget 1/s proto smtp | proto: 'smtp' is not a protocol; the nearest is 'sctp'$
1 | limit add web budget 1/s proto http | proto: 'http' is not a protocol \(tcp, udp,
1 | exempt add fe80::1%eth0 | 'fe80::1%eth0': dev eth0 is a word of its own$
1 | source show fe80::%eth0/64 | 'fe80::%eth0/64': dev eth0 is a word of its own$
# what would never be reached
1 | limit add help budget 5/s syn | ^weir: limit add: a limit called help could not be shown or deleted; give it another name$


# a value is missing
1 | limit add | ^weir: limit add: NAME missing$
1 | limit add web | ^weir: limit add: budget missing: budget COUNT
1 | limit add web budget | ^weir: limit add: budget: value missing
1 | limit add web budget 1/s to | to: value missing \(PREFIX\)
1 | limit set web | nothing to change in 'web'
1 | source get | ADDR missing
1 | source charge 10.0.0.1 | limit missing
1 | exempt del | PREFIX missing
1 | -netns | ^weir: option -netns: value missing \(NAME.PATH.PID\)$

# out of range, with the range
1 | limit add web budget 0/s | ^weir: limit add: budget: 0 not in 1..4294967295$
1 | limit add web budget 4294967296/s | budget: 4294967296 not in 1..4294967295
1 | limit add web budget 72057594037927937/s bytes | not in 1..72057594037927936
1 | limit add web budget 1/5ms | budget: window 5ms not in 10ms..30d
1 | limit add web budget 1/31d | budget: window 31d not in 10ms..30d
1 | limit add web budget 1/s slots 65 | slots: 65 not in 1..64
1 | limit add web budget 1/s sources 63 | sources: 63 not in 64..16777216
1 | limit add web budget 1/s per 33 | per: '33' is not V4\[,V6\], prefix lengths in 0..32 and 0..128
1 | limit add web budget 1/s proto 256 | proto: '256' is not a protocol
1 | limit add web budget 1/s proto tcp dport 65536 | dport: '65536' is not PORT\[-PORT\], each in 0..65535
1 | limit add web budget 1/s mark 0x100000000 | mark: .* each in 0..0xffffffff
1 | source show top 1001 | top: 1001 not in 1..1000

# a budget without a time, or with a bad one
1 | limit add web budget 1000 | budget: '1000' has no time, like 1000/s
1 | limit add web budget 1000/fortnight | budget: 'fortnight' is not a time \(\[N\]ms, s, m, h or d\)
1 | limit add web budget many/s | budget: 'many/s' is not COUNT

# prefixes
1 | limit add web budget 1/s to 192.0.2.1/24 | to: '192.0.2.1/24' has host bits; the prefix is 192.0.2.0/24
1 | limit add web budget 1/s from 2001:db8::1/32 | from: '2001:db8::1/32' has host bits; the prefix is 2001:db8::/32
1 | exempt add 10.1.2.3/8 | '10.1.2.3/8' has host bits; the prefix is 10.0.0.0/8
1 | limit add web budget 1/s to 10.0.0.0/33 | prefix length not in 0..32
1 | limit add web budget 1/s to example.org | 'example.org' is not an IPv4 or IPv6 address
1 | source get 10.0.0.0/8 | '10.0.0.0/8' is a prefix; one address is wanted
1 | limit add web budget 1/s family ipv4 to 2001:db8::/32 | family is IPv4 but to is IPv6
1 | limit add web budget 1/s from 10.0.0.0/8 to 2001:db8::/32 | from is IPv4 but to is IPv6

# what does not go together
1 | limit add web budget 1/10ms slots 20 | slots: 20 do not fit a window of 10ms; at most 10 do
1 | limit add web budget 1/s dport 80 | dport needs a proto that has ports
1 | limit add web budget 1/s proto icmp sport 80 | sport needs a proto that has ports
1 | limit add web budget 1/s proto udp syn | syn is of tcp
1 | limit add web budget 1/s frag syn | a fragment behind the first has no such header
1 | limit add web budget 1/s budget 2/s | budget: given twice
1 | limit add web budget 1/s not syn syn | syn: given twice
1 | limit add web budget 1/s strict lenient | strict and lenient exclude each other
1 | limit add web budget 1/s not slots 3 | not: 'slots' is not a condition
1 | limit add web budget 1/s mark 0x3/0x1 | has bits outside its mask; the mark is 0x1/0x1
1 | limit set web match any syn | match any excludes it
1 | source show idle all | idle and all exclude each other

# names
1 | limit add 12345678901234567890123456789012 budget 1/s | name '12345678901234567890123456789012' is longer than 31 bytes
1 | limit add 'a b' budget 1/s | name 'a b' has a space
1 | limit add 'a/b' budget 1/s | letters, digits and
1 | limit add '' budget 1/s | the name of a limit is empty
1 | limit add budget 1000/s | 'budget' was taken for the name
1 | limit add web budget 1/s dev 1234567890123456 | longer than the 15 bytes of a device's name
1 | limit add web budget 1/s dev 'a/b' | dev: 'a/b' cannot name a device$
1 | limit add web budget 1/s dev 'a#b' | a device with #, .* is not supported
1 | limit add web budget 1/s dev $'a\e[31mb' | ^weir: limit add: dev: 'a\\x1b\[31mb': a device with .*control characters.* is not supported
1 | $'\e]0;x\a' show | ^weir: unknown word '\\x1b\]0;x\\x07'
0 | -check limit add web budget 1/s dev nosuchdev0 to ::/0 | ^weir: warning: device 'nosuchdev0' does not exist here \(it may come\)$
0 | -check exempt add 10.0.0.0/8 dev nosuchdev0 | warning: device 'nosuchdev0' does not exist
1 | -n nosuchnetns limit show | ^weir: no network namespace 'nosuchnetns'
1 | -n 4194305 limit show | ^weir: no network namespace and no process '4194305'$
1 | -n /etc/passwd limit show | ^weir: ('/etc/passwd' is not a network namespace¦cannot enter)

# options
1 | -jsonn limit show | ^weir: unknown option '-jsonn'; the nearest is '-json'$
1 | --bacth x | ^weir: unknown option '--bacth'; the nearest is '-batch'$
1 | -bogus limit show | ^weir: unknown option '-bogus'; the value of an option is a word of its own: -batch FILE$
1 | -nblue limit show | ^weir: unknown option '-nblue'; .*: -netns NAME
1 | -x limit show | ^weir: unknown option '-x'; weir -help tells those known$
1 | -xyzzy limit show | ^weir: unknown option '-xyzzy'; weir -help tells those known$
1 | -jx limit show | ^weir: unknown option '-jx'
1 | -jn blue limit show | ^weir: unknown option '-jn'
1 | -json=yes limit show | ^weir: option '-json=yes': -json takes no value$
1 | limit show -j | ^weir: limit show: '-j' is an option; options come before the object: weir -j limit ...$
1 | limit -s show | ^weir: limit: '-s' is an option; options come before the object: weir -s limit
1 | limit add web budget 1/s -check | '-check' is an option; options come before
1 | source show -jp | '-jp' is an option; options come before
1 | limit del -x | limit del: name '-x' begins with -$
1 | -color=sometimes limit show | -color: 'sometimes' is not always, auto or never
1 | -batch x -file y | -batch and -file exclude each other
1 | -file x limit show | 'limit': no command goes with -batch or -file
0 | -check -jp -s -t -c=never -exist -force limit show |
0 | -check -j -p -stats -timestamp -color=always -netns blue limit show |
0 | -check --json --pretty limit show |
0 | -check -sta limit show |
0 | -check -statis limit show |
0 | -ch -js -pre -ti -e -fo limit show |
0 | -check -netns=blue limit show |
0 | -check -n=blue -- limit show |
LINES

[ -e /sys/module/weir ] || says <<'LINES'
3 | limit show | ^weir: the kernel module is not loaded and did not load by itself: modprobe weir says why
3 | -j stats show | modprobe weir
3 | limit add web budget 1/s to ::/0 | modprobe weir
LINES
finish
