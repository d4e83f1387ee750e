#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2086 # lists of words
# Invalid command lines: a sentence that names the command, and status 1. The sentences
# on values and words are tested in tests/unit/parse_*.c.
. "$(dirname "$0")/lib.sh"
says <<'LINES'
# examples of the grammar
0 | -check limit add web budget 1000/s to 192.0.2.0/24 proto tcp dport 443 |
0 | -check limit add syn budget 20/10s proto tcp syn per 32,64 sources 262144 |
0 | -check limit add host budget 2M/s per 0 action observe | ^weir: note: limit 'host' has no 'dport' or 'syn'
0 | -check limit add bulk budget 10M/1s bytes slots 8 lenient before web to ff00::/8 |
0 | -check limit add three budget 50/s proto 0,255,tcp to 224.0.0.1 |
0 | -check limit add ping budget 50/s icmp-type echo-request,0,255 to 224.0.0.1 |
0 | -check limit add ping budget 50/s icmpv6 icmpv6-type echo-request,nd-redirect to ff02::1 |
0 | -check limit add gre budget 100/s proto gre | note: limit 'gre' has no 'dport'
0 | -check limit add not budget 100/s not proto vrrp | note: limit 'not' has no 'dport'
0 | -check limit set web match any | note: limit 'web' has no 'dport'
0 | -check limit set web match from 192.0.2.0/24 | note: limit 'web' has no 'dport'
0 | -check limit rezone |
0 | -check source show 2001:db8::/32 dev lo idle |
0 | -check -timeout 5s source charge 203.0.113.9 limit web packets 3 wait |
1 | -check source charge 203.0.113.9 limit web mode reserve wait | wait: only mode all waits
1 | -check -timeout 5 source charge 203.0.113.9 limit web wait | time '5' has no unit; write 5s
1 | -check -timeout 5s -timeout 6s source show | given twice
1 | -check -timeout | -timeout
0 | -check exempt add 0.0.0.0/0 | ^weir: warning: 0\.0\.0\.0/0 is every IPv4 source: no limit applies to IPv4$
0 | -check exempt add ::/0 | ^weir: warning: ::/0 is every IPv6 source: no limit applies to IPv6$
0 | -check exempt add 0.0.0.0/0 dev lo |
0 | -check -s exempt show |
1 | exempt show now | ^weir: exempt show: unexpected argument .now.$
0 | -check -n $$ -s limit show web |
1 | -check -n nosuch limit show web | ^weir: no network namespace 'nosuch': No such file or directory$
0 | -check top by rate count 1 every 2s 192.0.2.0/24 limit web |
1 | top count 0 | ^weir: top: count: 0 is out of range 1
1 | top every 500ms | ^weir: top: every: 500ms is out of range 1s..1h$
1 | top by drops | ^weir: top: by: .*dropped
0 | -check save /nowhere/x |

# unique abbreviations
0 | -check sour sh limit web |
1 | -ti monitor | ^weir: '-ti' is ambiguous: -timeout, -timestamp$
1 | -check s show | 's' is ambiguous: source, stats, save
1 | -check source show l | 'limit' requires a value

# unknown words, with the closest known one
1 | lmit show | ^weir: unknown word 'lmit'; did you mean 'limit'\?$
1 | -check /dev/null | ^weir: '/dev/null' is a file; use '-file /dev/null'$
1 | limit shom | ^weir: limit: unknown word 'shom'; did you mean 'show'\?$
1 | limit flush now | unexpected argument 'now'
1 | limit rezone web | ^weir: limit rezone: unexpected argument 'web'$
0 | -check prefix-list add xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 0.0.0.0/0,::/0,10.0.0.0/8,10.0.0.0/8 |
1 | prefix-list add xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ::/0 | ^weir: prefix-list add: name 'x*' is longer than 31 bytes$
1 | prefix-list add '' ::/0 | ^weir: prefix-list add: a list's name cannot be empty$
1 | prefix-list add all ::/0 | ^weir: prefix-list add: 'all' cannot name a list; 'prefix-list show' shows every list$
1 | limit add a budget 1/s from-list all | ^weir: limit add: from-list: 'all' cannot name a list
1 | prefix-list add | ^weir: prefix-list add: required: LIST$
1 | prefix-list add l | ^weir: prefix-list add: required: PREFIX\[,...\] or file FILE$
1 | prefix-list set l | ^weir: prefix-list set: required: PREFIX\[,...\] or file FILE$
1 | prefix-list del | ^weir: prefix-list del: required: LIST$
1 | prefix-list add l ./hosts | ^weir: prefix-list add: './hosts' is no prefix; for a file of that name write 'file ./hosts'$
1 | prefix-list add l 10.0.0.1-10.0.0.9 | ^weir: prefix-list add: '10.0.0.1-10.0.0.9' is a range: give the prefixes that it consists of$
1 | prefix-list add l 10.0.0.1/8 | ^weir: prefix-list add: '10.0.0.1/8' has host bits set; did you mean 10.0.0.0/8\?$
1 | prefix-list add l 10.0.0.0/8,, | ^weir: prefix-list add: a value is missing before or after ','
1 | prefix-list flush | ^weir: prefix-list: unknown word 'flush'; expected one of: show, add, set, del$
1 | limit add web budget 1/s from-list 'a$b' | ^weir: limit add: from-list: a name may contain only
1 | limit add web budget 1/s from-list a/b | ^weir: limit add: from-list: 'a/b' is not the name of a list; make one of it first: prefix-list add NAME file a/b$
1 | limit add web budget 1/s budgets-by 10.0.0.0/24=1000,10.0.1.0/24=5 | ^weir: limit add: budgets-by: '10.0.0.0/24=1000,10.0.1.0/24=5' is not the name of a list; make one of it first: prefix-list add NAME 10.0.0.0/24=1000,10.0.1.0/24=5$
1 | limit add web budget 1/s budgets-by ./prefixes.txt | make one of it first: prefix-list add NAME file ./prefixes.txt$
1 | limit add web budget 1/s from friends | ^weir: limit add: from: 'friends' is no address; for a list of that name write 'from-list friends'$
1 | limit add web budget 1/s from '$friends' | '.friends' is no address; for a list of that name write 'from-list friends'$
1 | limit add web budget 1/s from @10.0.0.0/8 | invalid IPv4 or IPv6 prefix '@10.0.0.0/8'$
1 | limit add web budget 1/s not to friends | ^weir: limit add: to: 'friends' is no address; for a list of that name write 'to-list friends'$
1 | limit add web budget 1/s from 10.0.0.300 | ^weir: limit add: from: invalid IPv4 or IPv6 address '10.0.0.300'$
1 | limit add web budget 1/s not to-list l to-list l | ^weir: limit add: 'to-list' given twice$
1 | limit re | 're' is ambiguous: rename, reset, rezone$
1 | save x y | ^weir: save: unknown word 'y'; expected one of: -state$
1 | save '' | ^weir: save: a file's name cannot be empty$
# without a close word: all known words, or where they are listed
1 | rats | ^weir: unknown word 'rats'; the nearest are: stats, save, xdp; help lists all$
1 | limit frobnicate | ^weir: limit: unknown word 'frobnicate'; expected one of: show, add, set, del, rename, reset, rezone, advise, flush$
# words of other tools
0 | -check limit add web budget 1/s dst ff00::/8 src 2001:db8::/32 |
0 | -check limit add web rate 20/s tcp dport 80 iif lo | ^weir: warning: limit 'web': nothing is limited on the loopback device$
0 | -check limit remove web |
0 | -check limit modify web slots 3 |
0 | -check limit zero web |
0 | -check source clear all |
0 | -check source del 10.0.0.1 |
1 | source flush | ^weir: source forget: required: PREFIX.all$
1 | limit add web rate 20/s burst 5 | ^weir: limit add: burst: a burst is what a bucket holds; say bucket, too, or no burst$
0 | -check limit add web budget 1/s -p tcp --dport 22 -s 10.0.0.0/8 -d ::ffff:192.0.2.1 -i lo | ^weir: warning: limit 'web': nothing is limited on the loopback device$
1 | limit add web budget 1/s -p tcp bogus | ^weir: limit add: unknown word 'bogus'
1 | limit add web budget 1/s udp ct count over 5 | ^weir: limit add: weir tracks no connections: 'tcp syn' opens one; of UDP all packets count$
1 | limit add web over 10/s | ^weir: limit add: a limit drops what exceeds its budget: write 'budget COUNT/TIME'$
1 | limit add web budget over 10/s | ^weir: limit add: budget: a limit drops what exceeds its budget: leave 'over' out$
1 | limit add web budget 10/s bucket burst 20 packets | ^weir: limit add: leave 'packets' out: a burst has the unit of its budget
1 | limit add web --hashlimit-above 10/s | write 'budget COUNT/TIME'$
1 | limit add web budget 10/s hashlimit-burst 5 | ^weir: limit add: write 'budget COUNT/TIME bucket burst COUNT'$
1 | limit add web budget 10/s --hashlimit-srcmask 24 | ^weir: limit add: write 'per V4', or 'per V4,V6', the lengths of prefixes$
1 | limit add web budget 10/s --hashlimit-mode srcip,dstport | ^weir: limit add: sources alone have counts: make a limit for each port or destination$
1 | limit add web budget 10/s --hashlimit-name web | ^weir: limit add: the name follows 'add'
1 | limit add web budget 10/s size 65536 | ^weir: limit add: write 'sources COUNT'$
1 | limit add web --connlimit-above 5 | ^weir: limit add: weir does not count open connections; it limits new ones: 'budget COUNT/1m tcp syn'$
1 | limit add web --hitcount 5 | ^weir: limit add: write 'budget COUNT/TIME', with 'penalty TIME' if it blocks, and 'renew' for --update$
1 | limit add web budget 5/10m bantime 1h | ^weir: limit add: write 'penalty TIME', which blocks a source$
1 | limit add web budget 1/s udp len 28 | ^weir: limit add: weir reads no lengths and payload: an nft chain at ingress can set a mark: 'mark 1'$
1 | limit add web budget 5/10m block 1h | ^weir: limit add: write 'penalty TIME', which blocks a source$
1 | limit add web budget 10/s tcp/443 | ^weir: limit add: write 'tcp dport 443'$
1 | limit add web budget 10/s dport 443/udp | ^weir: limit add: dport: write 'udp dport 443'$
1 | limit add web budget 10/s per 24/udp | ^weir: limit add: per: invalid prefix lengths
1 | limit add web budget 10/s icmp/8 | ^weir: limit add: unknown word 'icmp/8'
1 | limit add web budget 10/s tcp/65536 | ^weir: limit add: unknown word 'tcp/65536'
1 | limit add web budget 10/s tcp/0 | ^weir: limit add: write 'tcp dport 0'$
1 | exempt add 443/tcp | ^weir: exempt add: invalid IPv4 or IPv6 prefix '443/tcp'$
1 | limit add web budget 10/s 0/x | ^weir: limit add: unknown word '0/x'
1 | limit add web budget 10/s tcp dport any | ^weir: limit add: dport: for all ports leave the condition out$
1 | limit add web budget 1M/s bytes bucket burst 1MB | ^weir: limit add: burst: write '1M' for 1MB$
1 | limit add web budget 10/s quota 3 | ^weir: limit add: write 'budget 5G/month bytes', or 'budget COUNT/total'$
0 | -check source get 10.0.0.1 udp dport 53 length 53 |
1 | limit add web budget 1/s penalty ever | ^weir: limit add: penalty: 'ever' is no time here; the longest is 3650d$
1 | limit add web budget 1/s srcmask 16 | ^weir: limit add: write 'per V4', or 'per V4,V6', the lengths of prefixes$
1 | limit add web budget 1/s mode srcip | ^weir: limit add: sources alone have counts
1 | limit add web budget 1/s not match-set l | ^weir: limit add: write 'from-list LIST', or 'not from-list LIST'$
1 | limit add web budget 1/s icmp type echo-request | ^weir: limit add: write 'icmp-type TYPE' or 'icmpv6-type TYPE'$
1 | limit add web budget 1/s multicast | ^weir: limit add: write 'to 224
1 | limit add web budget 1/s ctorigdstport 80 | ^weir: limit add: weir sees packets before DNAT: write 'dport PORT'$
1 | limit add web budget 1/s log prefix x | ^weir: limit add: log: write 'log NUMBER', or 'log none'$
1 | limit add web budget 1/s bantime.increment true | ^weir: limit add: two limits do: weir.8. has a recipe$
1 | limit set web last | ^weir: limit set: a new limit is the last; of others, set those behind it before it$
1 | limit set web no newcomers | ^weir: limit set: to remove a condition give the others after 'match', a budget the others with 'only'; a setting is 'none'$
1 | source why 10.0.0.1 | ^weir: source: use 'get'$
1 | help penalty | ; 'help limit add' has the words of a limit$
1 | -t -file /dev/null | ^weir: '-t' is -timestamp, for events: to check a file write -check$
1 | limit add web budget 10/s priority 3 | ^weir: limit add: use 'before'
1 | limit clear web | ^weir: limit: use 'reset' for the counters, 'flush' to remove all limits$
0 | -check limit stats web |
0 | -check source free 10.0.0.1 |
1 | block get 10.0.0.1 | ^weir: block: use 'show'; of an address 'source get ADDRESS'$
1 | block add 10.0.0.1 1h | ^weir: block add: '1h' is a value of 'for': write 'for 1h'$
1 | limit add ssh chain INPUT | ^weir: limit add: weir has no chains, modules and targets: leave 'chain' out; weir-limit.8. has a table of such rules$
1 | save --state | ^weir: save: '-state' requires a value: FILE$
1 | save -force | ^weir: save: options precede the object: weir -force save ...$
1 | save --state=x | ^weir: save: '--state=x' is no option here; for a file of that name write './--state=x'$
0 | -check limit advise web --pcap /nowhere/x |
1 | limit add web budget 5/s dev eth0,eth1 | ^weir: limit add: dev: 'eth0,eth1' is not one device: make a limit for each, or leave .dev. out for all$
1 | limit add web budget 5/s dev eth+ | 'eth.' is not one device
1 | prefix-list update l 10.0.0.0/8 | ^weir: prefix-list: use 'set'$
1 | limit add web budget 5/s from != 10.0.0.0/8 | ^weir: limit add: write 'not from
1 | limit add web budget 5/s from !=10.0.0.0/8 | ^weir: limit add: write 'not from 10.0.0.0/8'$
1 | undo | ^weir: 'confirm revert' takes back a change made with -confirm$
1 | limit add web budget 1/s ip saddr 10.0.0.1 | ^weir: limit add: leave 'ip' out
1 | limit add web budget 1/s ignoreip 10.0.0.1 | ^weir: limit add: use exempt add, or 'not from PREFIX'$
1 | limit add web budget 1/s tcp dport !22 | ^weir: limit add: write 'not dport 22'$
1 | limit set web add budget 1/s | ^weir: limit set: to add or remove a budget, give all that the limit shall have, with 'only'$
1 | limit set web budget none | ^weir: limit set: budget: to remove a budget, give the others, with 'only'; to block a source use 'weir source block'$
1 | limit set web window 2m | ^weir: limit set: the window is that of a budget: give all, as in 'budget 500/5m'$
1 | limit add web budget 1/s forward | ^weir: limit add: what is routed on arrives at 'dev' of the outside, 'not to' this host's addresses$
1 | limit add web budget 1/s timeout 60s | ^weir: limit add: idle sources make room by themselves: leave 'timeout' out; 'penalty TIME' blocks$
0 | -check exempt add 239.1.0.0/16 | 239.1.0.0/16 is multicast, from which nothing comes; a limit leaves what goes there out with 'not to
0 | -check exempt add 240.0.0.0/4 |
1 | block add 10.0.0.1 timeout 5m | ^weir: block add: write 'for TIME'$
1 | block add 10.0.0.1 forever | ^weir: block add: write 'for ever'$
1 | exempt add dev lo | ^weir: exempt add: a device needs a prefix
1 | exempt add 10.0.0.1 tcp dport 22 | ^weir: exempt add: no conditions here
1 | limit add web tcp dport 22 | required: budget .*, or blocks$
0 | -check limit add web budget 1/s --protocol tcp --destination-port 22 --mark 2 |
1 | prefix-list replace web 10.0.0.0/8 | ^weir: prefix-list: use 'set'$
1 | -check prefix-list add web file /nowhere/x | ^weir: /nowhere/x: cannot open: No such file
1 | limit add web budget 5/10m tcp dport { 80, 443 } | ^weir: limit add: write a list without braces and spaces: 'dport A,B'$
1 | limit add web budget 5/10m from 10.0.0.0/8 from 11.0.0.0/8 | 'from' given twice; write A,B, for many a prefix-list, to leave some out exempt add$
0 | -check limit add web budget 5/1w syn |
1 | source get all | ^weir: source get: 'all' is the source of a limit with 'per 0': add 'limit NAME'$
1 | limit add web budget 1/s first | ^weir: limit add: use 'before' with the limit that is to follow$
1 | limit move web first | ^weir: limit: use 'set NAME before OTHER'$
1 | limit add web budget 1/s dry-run | ^weir: limit add: use 'action observe': it counts, and drops nothing$
0 | -check limit add web budget 1/s to ff00::/8 in lo | ^weir: warning: limit 'web': nothing is limited on the loopback device$
1 | source unblock | ^weir: source release: required: ADDR
1 | source block 192.0.2.1 | ^weir: source block: required: for TIME\|ever$
1 | source block 192.0.2.1 for 10 | ^weir: source block: for: time '10' has no unit; write 10s$
0 | -check source ban 192.0.2.0/24 for 10m |
0 | -check block add 192.0.2.0/24 comment "a b" for 1h30m |
1 | block add 192.0.2.0/24 until 2126-02-28T23:59:59Z | ^weir: block add: until: that is more than ten years away$
1 | block add 192.0.2.0/24 until 2001-01-01T00:00:00Z | ^weir: block add: until: that has passed$
1 | block add 192.0.2.0/24 until 2126-02-30T00:00:00Z | ^weir: block add: until: invalid date '2126-02-30T00:00:00Z'; expected one in UTC, as 2030-01-31T12:00:00Z; for a time write 'for TIME'$
1 | exempt add 192.0.2.0/24 until 1h | invalid date '1h'; expected one in UTC, as 2030-01-31T12:00:00Z; for a time write 'for TIME'$
1 | exempt add 192.0.2.0/24 for 1h until 2126-02-28T23:59:59Z | ^weir: exempt add: 'for' and 'until' cannot be combined$
1 | block add | required: PREFIX
1 | block add 192.0.2.1/24 | 192.0.2.0/24
1 | source block 192.0.2.1 for 999ms | ^weir: source block: for: 999ms is out of range 1s..3650d$
1 | source block 192.0.2.1 for 3651d | ^weir: source block: for: 3651d is out of range 1s..3650d$
1 | source block 192.0.2.1 for 1m for 2m | ^weir: source block: 'for' given twice$
1 | limit add web budget 1/s per 56 | ^weir: limit add: per: a single length is for IPv4, 32 at most; for IPv6 write 32,56$
1 | limit add web budget 1/s family ipv6 per 24 | ^weir: limit add: per: a single length is for IPv4, which the limit does not match; for IPv6 write 32,24$
1 | limit add web budget 1/s not family ipv4 per 32 | ^weir: limit add: per: a single length is for IPv4, which .*; for IPv6 write 32,32$
1 | limit add web budget 1/s from 2001:db8::/32 per 8 | ^weir: limit add: per: a single length is for IPv4, which .*; for IPv6 write 32,8$
1 | limit add web budget 1/s to 2001:db8::1,2001:db8::2 per 8 | ^weir: limit add: per: a single length is for IPv4, which
1 | limit add web budget 1/s per 8 proto icmpv6 | ^weir: limit add: per: a single length is for IPv4, which
1 | limit add web budget 1/s per 129 | ^weir: limit add: per: invalid prefix lengths '129'; expected V4\[,V6\] in 0..32 and 0..128, 32,64 if left out$
1 | source block all for 1m | ^weir: source block: 'all' is the source of a limit with 'per 0': add 'limit NAME'$
1 | source release 192.0.2.1 for 1m | ^weir: source release: unknown word 'for'; expected one of: limit, dev$
1 | ban 192.0.2.1 | ^weir: block: write 'block add 192.0.2.1'$
1 | limit add web budget 1/s penalty | ^weir: limit add: 'penalty' requires a value: none
1 | limit add web budget 1/s penalty 3651d | ^weir: limit add: penalty: 3651d is out of range 1s..3650d$
1 | limit add web budget 1/s renew | ^weir: limit add: 'renew' must follow 'penalty': write 'penalty none\|TIME \[ renew \]'$
1 | limit add web budget 1/s per 0 penalty 1m | ^weir: limit add: penalty: a prefix length of 0 makes one source of all; a penalty needs their own$
0 | -check source reset 10.0.0.1 |
1 | restore | ^weir: restore: required: FILE$
1 | load | ^weir: use 'weir -file FILE'$
1 | restore $top/userspace/weir.conf | ^weir: restore: .*weir.conf: not what 'weir save -state' writes \(for a configuration use -file\): no magic number at offset 0$
1 | load /etc/weir.conf | ^weir: use 'weir -file /etc/weir.conf'$
1 | -resume x | ^weir: '-resume' requires '-file'$
1 | -resume | ^weir: '-resume' requires a value: FILE$
1 | check my.conf x | ^weir: use 'weir -check -file my.conf'$
1 | check -file my.conf | ^weir: use 'weir -check -file FILE'$
1 | log | ^weir: use 'monitor'; who is limited now: 'source show limited'$
1 | why 10.0.0.1 | ^weir: use 'source get ADDRESS'$
1 | top -b -n 1 | ^weir: top: for screens as text write 'weir top count N'$
1 | source 203.0.113.9 | ^weir: source: write 'source get 203.0.113.9'$
0 | -check limit add x budget 1/s dev lo tcp syn | ^weir: warning: limit 'x': nothing is limited on the loopback device$
1 | top once | ^weir: top: for a screen as text write 'count 1'$
1 | confirm no | ^weir: confirm: use 'revert'$
1 | -check exempt add to 239.0.0.0/8 | ^weir: exempt add: this is of sources; a limit leaves packets out by 'not to ...'$
1 | -check prefix-list add cust 10.0.0.0/24 100 | ^weir: prefix-list add: for the budget of a prefix write PREFIX=100$
1 | -check limit add x budget 5/s icmp echo-request | ^weir: limit add: write 'icmp-type echo-request'$
0 | -check limit create web budget 1/s to ff00::/8 |
1 | limit insert web budget 1/s | ^weir: limit: use 'add'; for a limit, 'before NAME' says where$
0 | -check exempt test 10.0.0.1 |
1 | limit replace web budget 1/s | ^weir: limit: use 'set'$
1 | list | ^weir: 'list' requires an object: limit show, source show, exempt show, block show, prefix-list show, xdp show, stats show$
1 | ls limits | ^weir: 'ls' requires an object: limit show, source show, exempt show, block show, prefix-list show, xdp show, stats show, confirm show$
1 | create web | ^weir: 'create' requires an object: limit add, exempt add, block add, prefix-list add$
1 | rm web | ^weir: 'rm' requires an object: limit del, exempt del, block del, prefix-list del$
0 | -check limit set web match tcp dport 22 |
0 | -check limit set web match -p udp dports 53 |
0 | -check limit add web budget 1/s tcp dst-port 80 source-port 1024-65535 |
1 | limit add web budget 1/s tcp 443 | ^weir: limit add: for a port write 'dport 443'$
1 | limit set ssh ! syn | ^weir: limit set: write 'not' for '!'$
0 | -check limit add web budget 9/s budget 1G/d bytes tcp syn | ^weir: note: limit 'web' counts the bytes of SYN packets only: 'syn' holds for all of its budgets$
0 | -check limit add web budget 1/s dev none to ff00::/8 | or without 'dev' all: to remove 'dev', give the other conditions after 'match'$
1 | limit add web budget 20/s after ssh | ^weir: limit add: use 'before' with the limit that is to follow$
1 | limit add web budget 10Mbit/s | ^weir: limit add: budget: a budget counts packets or bytes; write '1250k/s bytes' for 10Mbit/s$
1 | limit add web budget 500pps | write '500/s' for 500pps$
1 | source show not 10.0.0.1 | ^weir: source show: 'not' cannot precede 'PREFIX' here$
1 | limit add web budget 1/s tcp udp | ^weir: limit add: separate the values of 'proto' by ','$
1 | limit add web budget 1/s tcp proto tcp | ^weir: limit add: separate the values of 'proto' by ','$
1 | limit add web budget 1/s proto tcp udp | ^weir: limit add: separate the values of 'proto' by ','$
1 | limit add web budget 1/s proto tcp,tcp | proto: tcp and tcp overlap$
1 | limit add web budget 1/s udp icmp-type echo-request | icmp-type requires proto icmp, or no proto$
1 | limit add web budget 1/s not icmpv6 icmpv6-type 128 | icmpv6-type requires proto icmpv6, or no proto$
1 | limit add web budget 1/s icmp-type 8 icmpv6-type 128 | 'icmp-type' and 'icmpv6-type' cannot be combined: make a limit of each$
1 | limit add web budget 1/s icmp-type 8 frag | 'icmp-type' and 'frag' cannot be combined: later fragments
1 | limit add web budget 1/s icmp-type echo | icmp-type: unknown type 'echo'; expected echo-request
1 | limit add web budget 1/s icmp-type ping-request | icmp-type: unknown type 'ping-request'; did you mean 'info-request'
1 | limit add web budget 1/s icmp-type 256 | icmp-type: unknown type '256'
1 | limit add web budget 1/s not udp udp | ^weir: limit add: 'udp' given twice$
1 | source show 10.0.0.1 10.0.0.2 | ^weir: source show: '10.0.0.1' and '10.0.0.2' cannot be combined$
1 | show | ^weir: 'show' requires an object: limit show, source show, exempt show, block show, prefix-list show, xdp show, stats show, confirm show$
1 | flush | ^weir: 'flush' requires an object: limit flush, source forget, exempt flush, block flush$
1 | del web | ^weir: 'del' requires an object: limit del, source forget, exempt del, block del, prefix-list del$
1 | weir limit show | ^weir: omit 'weir': a command begins with its object$
1 | limit add web budget 1/s proto TCP | proto: unknown protocol 'TCP'; did you mean 'tcp'\?$
1 | limit add web budget 1/s proto smtp | proto: unknown protocol 'smtp'; did you mean 'sctp'\?$
1 | limit add web budget 1/s proto http | proto: unknown protocol 'http'; expected tcp, udp,
1 | source show fe80::%eth0/64 | 'fe80::%eth0/64': write the device as a separate argument: 'dev eth0'$
# names that could not be addressed
1 | limit add help budget 5/s syn | ^weir: limit add: 'help' cannot name a limit: commands would take it as a request for help$

# the first invalid word is reported, even before help
1 | limit rename web | required: NEW-NAME$
1 | limit rename web a/b | a name may contain only letters
1 | limit rename web all | 'all'
1 | limit rename web web2 more | unexpected argument 'more'$
1 | limit del web budget | ^weir: limit del: del deletes the whole limit; to remove a budget, give those that stay: limit set web only budget ...$
1 | limit del web budget 5/s | give those that stay: limit set web only budget
1 | limit del web penalty | ^weir: limit del: del deletes the whole limit; to change its 'penalty': limit set web ...$
1 | limit del web mail | ^weir: limit del: unexpected argument 'mail'$
1 | limit del web extra help | ^weir: limit del: unexpected argument 'extra'$
1 | limit add web budget 1/s colour help | ^weir: limit add: unknown word 'colour'
# properties that cannot be changed
1 | -check limit set x per 24 | ^weir: limit set: 'per' cannot be changed; add another limit instead$
1 | -check limit set x name y | ^weir: limit set: 'name' cannot be changed; to rename a limit: limit rename OLD NEW$
1 | -netns | ^weir: '-netns' requires a value: NAME.PATH.PID$
# out of range, with the range
1 | limit add web budget 1/s proto tcp dport 65536 | dport: invalid ports '65536'; expected PORT\[-PORT\] in 0..65535
1 | limit add web budget 1/s mark 0x100000000 | mark: .* in 0..0xffffffff

0 | -check limit add web budget 1.25M/s bytes to ff00::/8 sources 0.1M |

1 | exempt add 10.0.0.0/8,11.0.0.0/8 | ^weir: exempt add: '10.0.0.0/8,11.0.0.0/8' is a list; each command takes one prefix$
1 | exempt get 10.0.0.1,10.0.0.2 | ^weir: exempt get: '10.0.0.1,10.0.0.2' is a list; each command takes one address$

# the kernel's rules that need no clock, without the kernel
1 | -check limit add x budget 1000/s exact | ^weir: limit add: budget: exact counts at most 56 packets
0 | -check limit add x budget 56/s exact to ff00::/8 |
1 | -check limit add x budget 57/s exact | exact counts at most 56 packets
0 | -check limit add x budget 54/s exact per 32,65 to ff00::/8 |
1 | -check limit add x budget 55/s exact per 32,65 | exact counts at most 56 packets, 54 if
1 | -check limit add x budget 5/s bytes exact | ^weir: limit add: budget: exact keeps the time of each packet
1 | -check limit add x budget 5/total exact | ^weir: limit add: budget: exact counts in a window
1 | -check limit add x budget 5/s slots 2 exact | ^weir: limit add: slots: exact has no slots
1 | -check limit add x budget 5/s log | ^weir: limit add: 'log' requires a value: none|GROUP$
1 | -check limit set x log | ^weir: limit set: 'log' requires a value: none|GROUP$
0 | -check limit add x budget 5/s to ff00::/8 log 65535 |
1 | -check limit add x budget 5/s log 65536 | ^weir: limit add: log: 65536 is out of range 1..65535$
1 | -check limit add x budget 5/s log 0 | ^weir: limit add: log: 0 is out of range 1..65535$
1 | -check limit add x budget 5/3s calendar | ^weir: limit add: budget: a calendar has minutes, hours, days, weeks
0 | -check limit add x budget 5/month calendar tz UTC to ff00::/8 |
1 | -check limit add x budget 5/day tz UTC | ^weir: limit add: tz: a time zone is that of a calendar
1 | -check limit add x budget 5/day calendar slots 4 | ^weir: limit add: slots: a fixed or calendar window or a total is a single slot
0 | -check limit add x budget 5/day calendar slots 1 to ff00::/8 |
1 | -check limit add x budget 5/total slots 2 | ^weir: limit add: slots: a fixed or calendar window or a total is a single slot
1 | -check limit add x budget 5/total bucket | ^weir: limit add: budget: a bucket drains by its budget
1 | -check limit add x budget 5/s bucket slots 3 | ^weir: limit add: slots: a bucket has no slots
0 | -check limit add x budget 1/s bucket burst 4096 to ff00::/8 |
1 | -check limit add x budget 1/s bucket burst 4097 | ^weir: limit add: burst: a burst is at most 4096 times
0 | -check limit add x budget 2M/s bucket burst 4294967295 to ff00::/8 |
1 | -check limit add x budget 2M/s bucket burst 4294967296 | ^weir: limit add: burst: a bucket holds at most
0 | -check limit add x budget 20G/s bytes bucket burst 70368744177664 to ff00::/8 |
1 | -check limit add x budget 80T/s bytes bucket | invalid suffix
1 | -check limit add x budget 80000G/s bytes bucket | ^weir: limit add: budget: a bucket holds at most
1 | -check limit add x budget 5/s budget 9/m bucket slots 3 | ^weir: limit add: budget 2 slots: a bucket has no slots
1 | -check limit add x budget 5/s per 0 newcomers 5/s | ^weir: limit add: newcomers: a prefix length of 0
1 | limit set x newcomers 0/s | ^weir: limit set: newcomers: write 'none'$
1 | -check limit add x budget 5/s per 24,0 newcomers 5/s | ^weir: limit add: newcomers: a prefix length of 0
1 | -check limit add x budget 5/s penalty none renew | ^weir: limit add: penalty: refusals renew a penalty
1 | -check limit add x budget 5/s budget 9/m exact shared | ^weir: limit add: unshared\|shared: bucket, exact and calendar cannot be shared
0 | -check limit add x budget 5/m fixed shared per 0 to ff00::/8 |
0 | -check limit set x budget 5/m shared |
1 | -check limit set x budget 5/m calendar shared | cannot be shared
1 | -check limit add x budget 5/m calendar shared | ^weir: limit add: unshared\|shared: bucket, exact and calendar cannot be shared; use
1 | -check limit add x budget 5/s alone 3 | ^weir: limit add: alone: hosts that share a limit can be alone
1 | -check limit add x budget 5/s alone 3 unshared | ^weir: limit add: alone: hosts that share a limit can be alone
1 | -check limit add x budget 5/s alone 6 shared | ^weir: limit add: alone: a host alone has at most the budget
1 | -check limit add x budget 9/s alone 9 budget 5/m alone 6 shared | ^weir: limit add: budget 2 alone: a host alone
1 | -check limit add x budget 5/s alone 0 shared | ^weir: limit add: alone: 0 is out of range 1\.\.
1 | -check limit add x budget 5/s alone 3/s shared | ^weir: limit add: alone: .
1 | -check limit add x budget 5/s alone -1 shared | ^weir: limit add: alone: .
1 | -check limit add x budget 5/s alone 72057594037927937 shared | ^weir: limit add: alone: .*72057594037927936
1 | -check limit add x budget 5/s alone 2 budgets-by l shared | ^weir: limit add: budgets-by: a list has no amounts
1 | -check limit add x budget 5/s alone 2 exact shared | ^weir: limit add: unshared\|shared: bucket, exact
0 | -check limit add x budget 5/s alone 1 shared to ff00::/8 |
0 | -check limit add x budget 72057594037927936/month bytes alone 72057594037927936 shared to ff00::/8 |
0 | -check limit add x budget 5/s alone none to ff00::/8 |
1 | -check limit set x alone 3 unshared | ^weir: limit set: alone: hosts that share a limit can be alone
0 | -check limit set x budget 5/d alone none budget 9/h alone 5 |
# ... and of set what is refused whatever the limit is
1 | -check limit set x exact slots 4 | ^weir: limit set: slots: exact has no slots
1 | -check limit set x budget 57/s exact | ^weir: limit set: budget: exact counts at most 56 packets
0 | -check limit set x budget 5/d fixed tz UTC |
1 | -check limit set x only budget 5/d fixed tz UTC | ^weir: limit set: tz: a time zone is that of a calendar
0 | -check limit set x budget 5/d tz UTC |

# words behind a budget are its own, those before the second the first's
1 | -check limit add x slots 3 budget 5/s bucket budget 9/m | ^weir: limit add: slots: a bucket has no slots
1 | -check limit add x bucket budget 5/s budget 9/m slots 3 strict budget 9/total slots 4 | ^weir: limit add: budget 3 slots: a fixed
0 | -check limit add x budget 5/s bucket burst 9 budget 9/m slots 3 to ff00::/8 |

# devices that drop early
0 | -check early dev lo |
1 | early dev lo mode slow | ^weir: early: mode: unknown word 'slow'
1 | early mode native | ^weir: early: required: dev IFACE$

# the schema
0 | -schema |
1 | -schema limit show | ^weir: '-schema' takes no command$
1 | -schema -b - | ^weir: '-schema' takes no command$

# prefixes and times as ip(8), or a reader of what weir prints, writes them
0 | -check exempt add 10/8 |
0 | -check exempt add 10.1/255.255.0.0 |
0 | -check exempt add 10.0.0.0/255.0.0.0 |
1 | -check exempt add 10.1/8 | did you mean 10.0.0.0/8
1 | -check exempt add 10.1 | invalid IPv4 or IPv6 address '10.1'$
0 | -check exempt add 0/0 | 0\.0\.0\.0/0 is every IPv4 source
1 | -check exempt add prefixes | ^weir: exempt add: 'prefixes' is no prefix, and names are not resolved; for those of a file: sed 's/.;#.\.\*//' FILE . tr -s ', .t.r' '.n' . sed '/./!d; s/./exempt add /' . weir -exist -batch -$
1 | -check exempt del ./prefixes.txt | no prefix, and names are not resolved; for those of a file: sed .* FILE . tr .*exempt del .' . weir -exist -batch -$
1 | -check block add prefixes for 1h | ^weir: block add: 'prefixes' is no prefix, and names are not resolved; for those of a file: sed .*block add .' . weir -exist -batch -$
1 | -check exempt get prefixes | ^weir: exempt get: invalid IPv4 or IPv6 address 'prefixes'$
1 | -check limit add x budget 1/s from any | ^weir: limit add: from: .*; for both leave the condition out$
1 | -check limit add x budget 1/s from '!10.0.0.0/8' | ^weir: limit add: write 'not from 10.0.0.0/8'$
0 | -check source block 10.0.0.1 limit a for forever |
0 | -check source block 10.0.0.1 limit a for 1h36m20s |
0 | -check source block 10.0.0.1 limit a for 1.008s |
0 | -check source block 10.0.0.1 limit a for 3650d |
1 | -check source block 10.0.0.1 limit a for 0.9991s.5 | invalid time
1 | -check source block 10.0.0.1 limit a for 3650d1ms | out of range 1s..3650d$
1 | -check source block 10.0.0.1 limit a for 30m1h | invalid time '30m1h'
1 | -check source block 10.0.0.1 limit a for 1h1h | invalid time '1h1h'
1 | -check source block 10.0.0.1 limit a for 1h30 | invalid time '1h30'
1 | -check source block 10.0.0.1 limit a for 1 | time '1' has no unit; write 1s$
1 | -check source block 10.0.0.1 limit a for 0 | ^weir: source block: for: 0 is not a time; write 'ever'$
1 | -check limit set a penalty 0 | ^weir: limit set: penalty: 0 is not a time; write 'none'$
1 | -check limit set a penalty off | ^weir: limit set: penalty: off is not a time; write 'none'$
1 | -check limit add a budget 1,000,000/s | ^weir: limit add: budget: leave the commas out of '1,000,000/s'$
1 | -check limit add a budget 5GB/day | ^weir: limit add: budget: write '5G/day bytes'$
0 | -check limit add a budgets 5/m tcp syn |
1 | -check limit add a budget 5/s from-list not x | ^weir: limit add: write 'not from-list LIST'$
1 | -check limit add a budget 5/s bucket 5 | ^weir: limit add: for the size of a bucket write 'bucket burst 5'$
1 | -check limit add a budget 5/s log group 5 | ^weir: limit add: log: write 'log NUMBER', or 'log none'$
1 | -check source block 10.0.0.1 limit a 1h | ^weir: source block: '1h' is a value of 'for': write 'for 1h'$
1 | -check source charge 10.0.0.1 limit a 1M bytes | ^weir: source charge: write 'bytes 1M'$
1 | -check limit add x budget 1/s comment public web | ^weir: limit add: 'web' stands behind a comment of one word; put one of several in quotes$
1 | -check limit add x budget 1/s xyz | ^weir: limit add: unknown word 'xyz'; the nearest are: tz, syn, dev; help lists all$
1 | -check xdp attach lo lo | ^weir: xdp attach: unknown word 'lo'
# a source is written as it is shown
0 | -check source block 2001:db8:5::/64 limit a for 5m |
0 | -check source block 2001:db8:5::/64 for 5m |
1 | -check exempt get 10.0.0.0/8 | a single address is required$
# what is known of a packet
0 | -check source get 10.0.0.7 tcp dport 443 syn to 192.0.2.1 mark 5 sport 65535 |
0 | -check source get 10.0.0.7 tcp dport 443 len 64k |
1 | -check source get 10.0.0.7 len 19 | ^weir: source get: len: 19 is out of range
1 | -check source get 10.0.0.7 len 1M | ^weir: source get: len: 1M
1 | -check source get 10.0.0.7 len | ^weir: source get: 'len' requires a value: BYTES
1 | -check source show 10.0.0.7 len 100 | 'len'
0 | -check source get 10.0.0.7 icmp-type echo-request |
1 | -check source get 10.0.0.7 not dport 5 | 'not' cannot precede 'dport' here
1 | -check source show 10.0.0.7 proto tcp | unknown word 'proto'
1 | source show web | ^weir: source show: unknown word 'web'; expected one of: limit, .*; for limit 'web' write 'limit web'$
1 | top web | for limit 'web' write 'limit web'$
1 | exempt add 10.0.0.0/8 web | for limit 'web' write 'limit web'$
1 | source show limeted | did you mean 'limited'\?$

# combinations
1 | limit set web match | ^weir: limit set: 'match' requires a value: any.MATCH$

# names
1 | limit add all budget 1/s syn | ^weir: limit add: 'all' cannot name a limit; 'limit show' shows every limit, 'limit flush' deletes them$
1 | limit del all | 'limit flush' deletes them$
1 | limit set all action drop | ^weir: limit set: 'all' cannot name a limit
1 | source show limit all | ^weir: source show: limit: 'all' cannot name a limit
1 | exempt add 10.0.0.0/8 limit all | ^weir: exempt add: limit: 'all' cannot name a limit
1 | limit add web budget 1/s dev 'a/b' | dev: invalid device name 'a/b'$
0 | -check limit add web budget 1/s dev '#a\' to ff00::/8 | warning: device '#a\\' does not exist
1 | limit add web budget 1/s dev $'a\e[31mb' | ^weir: limit add: dev: 'a\\x1b\[31mb': device names with .*control characters.* are not supported
1 | $'\e]0;x\a' show | ^weir: unknown word '\\x1b\]0;x\\x07'
0 | -check limit add web budget 1/s dev nosuchdev0 to ff00::/8 | ^weir: warning: device 'nosuchdev0' does not exist \(yet\)$
0 | -check exempt add 10.0.0.0/8 dev nosuchdev0 | warning: device 'nosuchdev0' does not exist
1 | -n nosuchnetns limit show | ^weir: no network namespace 'nosuchnetns'
1 | -n 4194305 limit show | ^weir: no network namespace or process '4194305'$
1 | -n /etc/passwd limit show | ^weir: ('/etc/passwd' is not a network namespace¦cannot enter)

# comments
0 | -check limit add web budget 1/s to ff00::/8 comment "public web, \"ticket\" #123" |
0 | -check limit set web comment "{ops} of \!x" |
0 | -check exempt add 192.0.2.0/24 comm monitoring |
1 | limit add web budget 1/s comment $'a\nb' | ^weir: limit add: comment: control character or invalid UTF-8 at byte 2; a comment is printable text on one line$
1 | exempt del 10.0.0.0/8 comment a | ^weir: exempt del: unknown word 'comment'; expected one of: dev, limit

# options
1 | -jsonn limit show | ^weir: unknown option '-jsonn'; did you mean '-json'\?$
1 | --bacth x | ^weir: unknown option '-bacth'; did you mean '-batch'\?$
1 | -bogus limit show | ^weir: unknown option '-bogus'; the nearest are: -[a-z]+, -[a-z]+, -[a-z]+; help lists all$
1 | -x limit show | ^weir: unknown option '-x'; the nearest are: -[a-z]+, -[a-z]+, -[a-z]+; help lists all$
1 | -jx limit show | ^weir: unknown option '-jx'
1 | -jn nosuchnetns limit show | ^weir: no network namespace 'nosuchnetns'
1 | -f nope -f good | ^weir: '-file' given twice$
1 | -b nope -b good | ^weir: '-batch' given twice$
1 | -n nope -netns good limit show | ^weir: '-netns' given twice$
1 | -json=yes limit show | ^weir: option '-json' takes no value$
1 | prefix-list add relays -file list | ^weir: prefix-list add: the prefixes of a file are those of 'file FILE', without a dash$
1 | limit show -j | ^weir: limit show: options precede the object: weir -j limit ...$
1 | limit -s show | ^weir: limit: options precede the object: weir -s limit
1 | source show -jp | options precede the object
1 | -color=sometimes limit show | invalid colour 'sometimes'; expected always, auto or never
# nft's -c checks; here it colours, and the file would be applied
1 | -c -f /dev/null | ^weir: '-c' is -color, as in ip: to check a file write -check
1 | -f /dev/null --color | to check a file write -check
1 | -jc -b /dev/null | to check a file write -check
1 | -check -c -f /dev/null | to check a file write -check
1 | -c=never -f nosuch | ^weir: nosuch: cannot open
1 | -batch x -file y | '-batch' and '-file' cannot be combined
1 | -file x limit show | unexpected argument 'limit': '-batch' and '-file' take no command
0 | -check -jp -s -t -c=never -exist -force limit show |
0 | -check -j -p -stats -timestamp -color=always -netns $$ limit show |
0 | -check --json --pretty limit show |
0 | -ch -js -pre -times -e -fo limit show |
0 | -check -brief -o source show |
0 | -check -oneline -jo limit show |
0 | -check -netns=$$ limit show |
0 | -check -n=$$ -- limit show |
LINES

is "$(grep -hoE '"([^"\\]|\\.)*"' "$top"/userspace/{,*/}*.[ch] | grep -E '([a-z]+ ){2}' | sort | uniq -d)" "" \
	"each sentence stands once in the sources"

[ -e /sys/module/weir ] || for words in "limit add x budget 1/s to ff00::/8" "exempt add ::1" "limit show" "-file -"; do
	is "$(echo '# none' | "$weir" -check $words 2>&1)" "weir: note: $([ "${words%-}" = "$words" ] || echo '-: ')not checked by the kernel: the module is not loaded" \
		"weir -check $words says that the kernel was not asked"
done
[ -e /sys/module/weir ] || says <<'LINES'
3 | limit show | ^weir: the kernel module is not loaded: modprobe weir, in a container on its host$
3 | -j stats show | modprobe weir
3 | limit add web budget 1/s to ff00::/8 | modprobe weir
LINES
finish
