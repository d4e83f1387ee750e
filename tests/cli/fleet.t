#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # of lib.sh
# fleet.t: words, options and settings of weir-fleet: each error has a sentence. No server is there.
. "$(dirname "$0")/lib.sh"
PATH=${weir%/*}:$PATH
weir=${weir%/*}/fleet/weir-fleet
[ -x "$weir" ] || skip_all "weir-fleet is not built"
echo 'limit add web budget 10/s to ::/0' >good.conf
echo 'limit add web bugdet 10/s' >bad.conf
printf '%s\n' '# a comment' 'include good.conf' >other.conf
printf 'limit add web budget 10/s to ::/0 comment "\\\xff"\n' >latin.conf
echo 'server nats://127.0.0.1:1' >settings
printf '%s\n' 'group edge' 'group other' >twice
printf '%s\n' '' '# nothing' 'grup edge' >unknown
printf 'group edge\0x\n' >zero
echo 'group' >none
echo 'group a b' >many
printf '%s\n' 'server nats://127.0.0.1:1' 'group edge' 'nkey UA' >half
# Nothing listens on port 1.
nowhere='-settings settings -group edge'
says <<LINES
0 | help |
0 | -help |
0 | -version |
1 | | ^Usage: weir-fleet push FILE
1 | pusk x | ^weir-fleet: unknown command 'pusk'; did you mean 'push'\?$
1 | s | ^weir-fleet: 's' is ambiguous: status, show$
1 | -grup x status | ^weir-fleet: unknown option '-grup'; did you mean '-group'\?$
1 | -group | ^weir-fleet: '-group' requires a value: GROUP$
1 | -group a -group b status | ^weir-fleet: '-group' given twice$
1 | -settings nosuch status | ^weir-fleet: settings nosuch: No such file or directory$
1 | -settings twice status | ^weir-fleet: twice:2: '-group' given twice$
1 | -settings . status | ^weir-fleet: settings \.: Is a directory$
1 | -settings zero status | ^weir-fleet: settings zero: a zero byte is no text$
1 | -settings unknown status | ^weir-fleet: unknown:3: unknown setting 'grup'; did you mean 'group'\?$
1 | -settings none status | ^weir-fleet: none:1: '-group' requires a value: GROUP$
1 | -settings many status | ^weir-fleet: many:1: a setting is a word and a value$
1 | -settings half status | ^weir-fleet: '-nkey' and '-seed' belong together: the public key and the file of the private one$
1 | -settings settings -group a/b status | ^weir-fleet: 'a/b' cannot name a group: letters, digits, '-' and '_', up to 64$
1 | -settings settings -cert x status | ^weir-fleet: '-cert' and '-key' belong together: a certificate and its private key$
1 | -settings settings -nkey x -seed y -creds z status | ^weir-fleet: '-nkey' and '-creds' cannot be combined$
1 | -settings settings -group edge -host a..b agent | ^weir-fleet: agent: 'a\.\.b' cannot name a host: letters, digits, '-' and '_', and dots between them; say -host$
1 | -settings settings -group edge -host a -state /nonexistent/state agent | ^weir-fleet: agent: state /nonexistent/state: No such file or directory$
1 | -settings settings -host a agent | ^weir-fleet: agent: which group\? say 'group GROUP', here or in the settings$
1 | $nowhere -replicas 0 push good.conf | ^weir-fleet: '0' cannot be a number of replicas: 1 to 5$
1 | $nowhere -replicas 6 push good.conf | ^weir-fleet: '6' cannot be a number of replicas: 1 to 5$
1 | $nowhere -replicas 3x push good.conf | ^weir-fleet: '3x' cannot be a number of replicas: 1 to 5$
1 | $nowhere -replicas -1 push good.conf | ^weir-fleet: '-1' cannot be a number of replicas: 1 to 5$
1 | $nowhere push | ^weir-fleet: push: required: FILE$
1 | $nowhere push good.conf group a.b | ^weir-fleet: 'a\.b' is not the name of a group$
1 | $nowhere push good.conf group | ^weir-fleet: 'group' requires a value: GROUP$
1 | $nowhere push good.conf group a group b | ^weir-fleet: 'group' given twice$
1 | $nowhere push good.conf revision 3 | ^weir-fleet: unknown word 'revision'
1 | $nowhere push good.conf canary 0 for 5s | ^weir-fleet: '0' is not a number from 1 to 64$
1 | $nowhere push good.conf canary 65 for 5s | ^weir-fleet: '65' is not a number from 1 to 64$
1 | $nowhere push good.conf canary -1 for 5s | ^weir-fleet: '-1' is not a number from 1 to 64$
1 | $nowhere push good.conf canary 1 | ^weir-fleet: push: 'canary' requires 'for TIME': write canary 1 for 60s$
1 | $nowhere push good.conf for 5s | ^weir-fleet: push: 'for' and 'drops' require 'canary'$
1 | $nowhere push good.conf canary 1 for 5 | ^weir-fleet: time '5' has no unit; write 5s$
1 | $nowhere push good.conf canary 1 for 500ms | ^weir-fleet: a canary takes 1s to 1h, not 500ms$
1 | $nowhere push good.conf canary 1 for 61m | ^weir-fleet: a canary takes 1s to 1h, not 61m$
1 | $nowhere push good.conf canary 1 for 5s drops 101% | ^weir-fleet: '101%' is not a percentage, such as 0\.5%$
1 | $nowhere push good.conf canary 1 for 5s drops x | ^weir-fleet: 'x' is not a percentage
1 | $nowhere push nosuch.conf | ^weir-fleet: push: nosuch.conf: cannot read: No such file or directory$
1 | $nowhere push bad.conf | ^weir-fleet: push: bad\.conf:1:15: limit add: unknown word 'bugdet'
1 | $nowhere push other.conf | ^weir-fleet: push: other\.conf:2: 'include' names files of one host; what is pushed has to stand alone$
1 | $nowhere push latin.conf | ^weir-fleet: push: latin\.conf:1:.*invalid UTF-8
1 | $nowhere push /dev/null | ^weir-fleet: push: /dev/null: the file is empty; use a comment for an empty configuration$
1 | $nowhere show revision 1.5 | ^weir-fleet: '1\.5' is not a number from 1 to
3 | $nowhere push good.conf | ^weir-fleet: push: nats://127\.0\.0\.1:1: No server available for connection$
3 | $nowhere push good.conf canary 2 for 1m drops 0.5% | No server
3 | $nowhere status | ^weir-fleet: status: .*No server
3 | $nowhere log | ^weir-fleet: log: .*No server
3 | $nowhere show revision 3 | ^weir-fleet: show: .*No server
3 | $nowhere rollback | ^weir-fleet: rollback: .*No server
1 | $nowhere -nkey UA -seed nosuch status | ^weir-fleet: -seed nosuch: No such file or directory$
1 | $nowhere -creds nosuch status | ^weir-fleet: -creds nosuch: No such file or directory$
1 | $nowhere -ca nosuch status | ^weir-fleet: -ca nosuch: No such file or directory$
1 | $nowhere -ca settings -cert nosuch -key nosuch status | ^weir-fleet: -cert nosuch: No such file or directory$
LINES

next -- push status log show rollback agent -server -json !group
next -server -- '!<FILE>' '!push'
next -settings -- '<FILE>' '!push'
next -server x -- push !group
next push -- '<FILE>' !group
next push x -- group canary for drops !revision
next push x canary -- !group
next push x canary 1 -- for
next show -- group revision !canary
sourced() { bash -c 'source "$1" && complete -p weir-fleet' - "$top/userspace/weir.bash"; }
like "$(sourced)" ' -F _weir weir-fleet$' "bash completes weir-fleet, too"
finish
