#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# alone.t: what a shared limit admits while it is alone, and when it is joined; that ends by itself, and
# no change loses a count
. "$(dirname "$0")/lib.sh"
. "$here/python.sh"
begin

# join NAME MS
join() {
	python3 - "$@" <<-PYTHON
		import sys
		sys.path.insert(0, "$here")
		from wire import Wire
		answer = Wire().ask("limit-join", {"name": sys.argv[1], "joined-ms": int(sys.argv[2])})
		print(answer.msg or "")
		sys.exit(bool(answer.error))
	PYTHON
}
state() { weir -json limit show "$1" | json alone_now; }
measured() { weir metrics | sed -n 's/^weir_limit_alone.* //p'; }
alone() { [ "$(state "$1")" = true ]; }

weir limit add web budget 8/1h alone 3 shared from 198.51.100.0/24 >/dev/null
weir monitor limit web >"$tmp/events" &
pids+=($!)
wait_for 60 grep -q '^limit present web' "$tmp/events" || bail "no events"
like "$(weir limit show web)" "^web budget 8/h .*alone 3 shared .* alone now$" "a new limit is alone, and says so"
is "$(weir -json limit show web | json budgets.alone)" 3 "... with its amount, in JSON"
is "$(through 198.51.100.1)" 3 "... and admits so much"
like "$(weir source get 198.51.100.1)" "count 3 of 3 left 0" "... which sources show"
is "$(measured)" 1 "... and metrics that it is"
join web 60000 >/dev/null || bail "cannot join"
is "$(state web)" "" "when it is joined it is not"
is "$(through 198.51.100.1)" 5 "... and a source has the rest of the budget"
is "$(measured)" 0 "... and metrics tell"
is "$(through 198.51.100.2)" 8 "... or the whole"
join web 0 >/dev/null
is "$(state web):$(through 198.51.100.1):$(through 198.51.100.3)" true:0:3 "alone again, counts have stayed"
join web 60000 >/dev/null
is "$(through 198.51.100.1):$(through 198.51.100.3)" 0:5 "... and joined again, too"
join web 1 >/dev/null
wait_for 60 alone web
ok $? "when the time is over it is alone by itself"
is "$(through 198.51.100.4)" 3 "... and admits so"
told() { [ "$(sed -n 's/^limit \([a-z]*\) web .*/\1/p' "$tmp/events" | xargs)" = "present joined alone joined alone" ]; }
wait_for 60 told
ok $? "each turn is an event, a renewal none" || diag "$(<"$tmp/events")"
weir monitor limits exempts >"$tmp/all" &
pids+=($!)
wait_for 60 grep -q '^limit present web' "$tmp/all" || bail "no events"
join web 1000 >/dev/null
weir exempt add 192.0.2.9 for 1s
ends() { grep -oE '^(limit alone|exempt removed)' "$tmp/all" | paste -sd,; }
ended() { [[ $(ends) == *,* ]]; }
wait_for 60 ended
is "$(ends)" "limit alone,exempt removed" "... and does not wait for ends of exemptions, which are gathered" || diag "$(<"$tmp/all")"

# Changes while it is joined, and while it is alone
join web 60000 >/dev/null
weir limit set web budget 9/1h >/dev/null
is "$(state web):$(through 198.51.100.4)" :6 "another budget leaves it joined"
weir limit rename web www >/dev/null
is "$(state www)" "" "... and another name"
weir limit set www budget 9/1h slots 5 >/dev/null
is "$(state www):$(through 198.51.100.4)" :0 "... and another table, which takes the counts"
join www 0 >/dev/null
weir limit set www budget 9/1h slots 9 sources 128 >/dev/null
is "$(state www):$(through 198.51.100.5)" true:3 "... and alone likewise"
join www 60000 >/dev/null
is "$(through 198.51.100.5)" 6 "... where counts are wide enough for more"
weir limit set www budget 9/1h alone 70000 2>/dev/null
is "$?" 2 "alone it has no more than the budget"
join www 0 >/dev/null
weir limit set www budget 100000/1h alone 5 >/dev/null
is "$(through 198.51.100.6)" 5 "a larger budget while alone"
join www 60000 >/dev/null
weir source charge 198.51.100.6 limit www packets 99995 >/dev/null
is "$?:$(through 198.51.100.6)" 0:0 "... is there when it is joined"
weir limit set www budget 9/1h alone none >/dev/null
join www 0 >/dev/null
is "$(state www):$(through 198.51.100.7):$(weir save | grep -c alone)" :9:0 "with none it is never alone"
weir limit set www budget 9/1h alone 2 >/dev/null
is "$(weir -check -j limit set www budget 9k/1h bytes | jq '.[0].budgets[0].alone'):$(weir -check -j limit set www budget 9/1d | jq '.[0].budgets[0].alone')" null:null "another unit or window ends it"
is "$(state www):$(through 198.51.100.8)" true:2 "given to a limit that is not joined, it is in force"
weir limit set www unshared >/dev/null
is "$(state www):$(through 198.51.100.8):$(weir save | grep -c alone)" :7:0 "unshared, it has none"
like "$(join www 1000)" "do not share this limit" "what is not shared cannot be joined"
weir limit set www shared budget 9/1h alone 9 >/dev/null
is "$(state www):$(through 198.51.100.9)" true:9 "the largest amount is the budget"

# Files
weir limit add many budget 10/1h alone 1 budget 20/1d bytes lenient budget 9/1h bytes alone 9 budget 5/total alone 2 shared from 203.0.113.0/24 >/dev/null
weir save >"$tmp/saved"
like "$(<"$tmp/saved")" "many budget 10/h slots [0-9]+ alone 1 budget 20/d bytes slots [0-9]+ lenient budget 9/h bytes slots [0-9]+ alone 9 budget 5/total slots 1 alone 2 " "amounts are saved, each with its budget"
is "$(weir diff "$tmp/saved" | wc -l)" 0 "... and a file that has them is no difference"
sed 's/ alone 1 / alone 4 /; s/ alone 9 shared from 198/ shared from 198/' "$tmp/saved" >"$tmp/other"
like "$(weir diff "$tmp/other")" '[+]limit add many budget 10/h slots [0-9]+ alone 4 ' "a difference is said"
weir -file "$tmp/other" >/dev/null
is "$(weir diff "$tmp/other" | wc -l)" 0 "... and undone"
weir -file "$tmp/saved" >/dev/null
is "$(weir diff "$tmp/saved" | wc -l):$(through 198.51.100.9)" 0:0 "a file brings them back, and counts stay"
join www 60000 >/dev/null
weir -file "$tmp/saved" >/dev/null
weir limit add last budget 1/10ms slots 1 alone 1 shared per 0 before many >/dev/null
is "$(state www)" "" "what is in the file again, or next to it, is joined as before"
weir limit set many only budget 72057594037927936/month bytes calendar alone 72057594037927936 >/dev/null
is "$?" 0 "the largest budget, and as much alone"
weir limit flush >/dev/null
weir limit add www budget 8/1h alone 3 shared >/dev/null
is "$(state www)" true "what is removed and added is alone"
finish
