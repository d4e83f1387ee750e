#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weir -confirm and weir confirm: their words, and what can be taken back
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
says <<'WORDS'
1 | -confirm | ^weir: '-confirm' requires a value: TIME$
1 | -confirm 60 limit flush | ^weir: -confirm: time '60' has no unit; write 60s$
1 | -confirm soon limit flush | ^weir: -confirm: invalid time 'soon'
1 | -confirm 60s | ^weir: '-confirm' requires a command; to keep what was changed: weir confirm$
1 | -confirm 999ms limit flush | ^weir: '-confirm' takes 1s to 1d, not 999ms$
1 | -confirm 0s limit flush | ^weir: '-confirm' takes 1s to 1d, not 0s$
1 | -confirm 24h1s limit flush | ^weir: '-confirm' takes 1s to 1d, not 24h1s$
1 | -confirm 99999999999999999999h limit flush | ^weir: (-confirm: invalid time|'-confirm' takes)
1 | -confirm 1s -confirm 2s limit flush | ^weir: '-confirm' given twice$
1 | -confirm 1s -file x -fallback y | ^weir: '-confirm' and '-fallback' cannot be combined$
1 | -confirm 1s -file x -resume y | ^weir: '-confirm' and '-resume' cannot be combined$
# the shortest and the longest
0 | -check -confirm 1s limit flush |
0 | -check -confirm 1d limit flush |
0 | -check -confirm=24h limit flush |
# what can be taken back
0 | -check -confirm 60s limit add web budget 1/s tcp syn |
0 | -check -confirm 60s limit set web budget 1/s |
0 | -check -confirm 60s limit del web |
0 | -check -confirm 60s limit rename web dns |
0 | -check -confirm 60s limit rezone |
0 | -check -confirm 60s source forget all |
0 | -check -confirm 60s source block 192.0.2.1 limit web for 1h |
0 | -check -confirm 60s source release 192.0.2.1 limit web |
0 | -check -confirm 60s exempt add 192.0.2.1 |
0 | -check -confirm 60s exempt del 192.0.2.1 |
0 | -check -confirm 60s exempt flush |
0 | -check -confirm 60s block del 192.0.2.1 |
0 | -check -confirm 60s block flush |
0 | -check -confirm 60s prefix-list add list 192.0.2.1 |
0 | -check -confirm 60s prefix-list set list 192.0.2.1 |
0 | -check -confirm 60s prefix-list del list |
# ... and what cannot
1 | -confirm 60s limit show | ^weir: limit show: there is nothing to take back: '-confirm' is for changes
1 | -check -confirm 60s limit show | nothing to take back
1 | -confirm 60s limit reset | nothing to take back
1 | -confirm 60s source show | nothing to take back
1 | -confirm 60s source charge 192.0.2.1 limit web | nothing to take back
1 | -confirm 60s stats | nothing to take back
1 | -confirm 60s save | nothing to take back
1 | -confirm 60s upgrade | nothing to take back
1 | -confirm 60s xdp show | nothing to take back
1 | -confirm 60s confirm | ^weir: confirm keep: there is nothing to take back
# without one
0 | confirm show | ^weir: note: no change waits to be confirmed; one whose time is over has been taken back$
2 | confirm | ^weir: confirm keep: no change waits to be confirmed; one whose time is over has been taken back$
2 | confirm keep | ^weir: confirm keep: no change waits to be confirmed; one whose time is over has been taken back$
2 | confirm revert | ^weir: confirm revert: no change waits to be confirmed; one whose time is over has been taken back$
2 | -check confirm | ^weir: confirm keep: no change waits to be confirmed; one whose time is over has been taken back$
1 | confirm now | ^weir: confirm: unknown word 'now'; expected one of: keep, revert, show$
1 | confirm keep it | ^weir: confirm keep: unexpected argument 'it'$
WORDS
run -j confirm show
is "$status $out" "0 []" "no change, as JSON"
finish
