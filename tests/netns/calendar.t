#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# calendar.t: budgets of the minutes, hours, days, weeks and months of a time zone, while
# the clock is set: each end that comes to pass renews once, and a step back renews nothing
. "$(dirname "$0")/lib.sh"

# clock DATE: set the wall clock, and let the cached refusals expire, unless none are
cached=1
clock() {
	date -u -s "$1" >/dev/null || bail "the clock cannot be set"
	[ -z "$cached" ] || let_pass 1100
}
# renews LIMIT: when its period ends; ends LIMIT DATE: it ends then, perhaps in a moment
renews() { date -u -d "$(weir -json limit show "$1" | json renews)" '+%F %T'; }
ends_at() { [ "$(renews "$1")" = "$2" ]; }
ends() {
	wait_for 60 ends_at "$1" "$2"
	is "$(renews "$1")" "$2" "$3"
}
date=$(date -u +%s)
began=$(cut -d. -f1 /proc/uptime)
clock "2027-12-30 23:59:30"
begin_with <<-WORDS
	limit add minute budget 3/minute calendar from 198.18.1.0/24
	limit add hour budget 3/hour calendar from 198.18.2.0/24
	limit add day budget 3/day calendar from 198.18.3.0/24
	limit add week budget 3/week calendar from 198.18.4.0/24
	limit add month budget 3/month calendar from 198.18.5.0/24
	limit add berlin budget 3/day calendar tz Europe/Berlin from 198.18.6.0/24
	limit add hours budget 3/hour calendar tz Europe/Berlin from 198.18.8.0/24
	limit add india budget 3/day calendar tz +05:30 from 198.18.7.0/24
WORDS
like "$(weir limit show month)" "^month budget 3/month .*slots 1 .*calendar.* renews 2028-01-01T00:00:00Z at most 9 " \
	"limit show: when it ends, and the most in 30 days"
like "$(weir limit show berlin)" "calendar tz Europe/Berlin.* renews 2027-12-31T23:00:00Z at most 9 " "... in a time zone, with a day of 23 hours"
is "$(weir -json limit show hours | json most)" 6 "... of which no hour is shorter"
weir save "$tmp/saved" && weir -file "$tmp/saved" && weir save "$tmp/again" && cmp "$tmp/saved" "$tmp/again"
ok $? "what is saved can be read"

# used LIMIT NUMBER: its source is admitted so often, of five
declare -A source=([minute]=198.18.1.1 [hour]=198.18.2.1 [day]=198.18.3.1 [week]=198.18.4.1
	[month]=198.18.5.1 [berlin]=198.18.6.1 [india]=198.18.7.1 [hours]=198.18.8.1)
used() { admits "$2" "$3: $1" -s "${source[$1]}" -c 5; }
for limit in minute hour day week month berlin india; do used $limit 3 "the budget"; done
for limit in minute hour day week month berlin india; do used $limit 0 "... once"; done
like "$(weir source get 198.18.3.1 limit day)" "limited .*for [0-9.]+s" "source get tells until when"

# A Friday; then New Year's day, a Saturday; then a Monday.
clock "2027-12-31 00:00:10"
ends day "2028-01-01 00:00:00" "a day has ended"
for limit in minute hour day; do used $limit 3 "the next day"; done
for limit in week month berlin; do used $limit 0 "the next day"; done
used india 0 "the same day in India"
clock "2027-12-31 18:30:00"
ends india "2028-01-01 18:30:00" "midnight in India"
used india 3 "after it"
used day 0 "after it"
# While drops are traced, no refusal is cached.
trace_start weir_drop
cached=
clock "2028-01-01 00:00:00"
ends month "2028-02-01 00:00:00" "a year has ended"
for limit in day month berlin; do used $limit 3 "the next year"; done
used week 0 "the next year"
clock "2028-01-03 00:00:00"
ends week "2028-01-10 00:00:00" "a week has ended"
used week 3 "on Monday"

# A leap day, after a clock that leaves out two months: one renewal.
clock "2028-02-28 12:00:00"
ends month "2028-03-01 00:00:00" "February of a leap year"
used month 3 "after two ends at once"
used month 0 "... once"
clock "2028-02-29 12:00:00"
ends day "2028-03-01 00:00:00" "a leap day"
used day 3 "a leap day"
used month 0 "a leap day"
clock "2028-03-01 00:00:01"
ends month "2028-04-01 00:00:00" "March"
used month 3 "in March"

# Daylight saving: days of 23 and of 25 hours.
clock "2028-03-25 22:59:00"
like "$(for limit in hours berlin; do weir limit set $limit tz Europe/Berlin; done)" "berlin .* renews 2028-03-25T23:00:00Z" "in the zone that is told"
used berlin 3 "on the day before"
like "$(weir -check limit set berlin tz Asia/Tokyo 2>&1)" "note: limit 'berlin' keeps its counts until the period ends in zone Asia/Tokyo; 'source forget all limit berlin' resets them" "another zone"
clock "2028-03-25 23:00:01"
ends berlin "2028-03-26 22:00:00" "a day of 23 hours"
used berlin 3 "on it"
clock "2028-03-26 00:59:50"
ends hours "2028-03-26 01:00:00" "the hour before the change"
used hours 3 "in it"
clock "2028-03-26 01:00:00"
ends hours "2028-03-26 02:00:00" "from 03:00 on"
used hours 3 "in it"
used berlin 0 "after the change"
clock "2028-03-26 00:30:00"
for limit in berlin hours; do used $limit 0 "back before the change"; done
clock "2028-03-26 21:59:50"
used berlin 0 "at its end"
clock "2028-03-26 22:00:00"
ends berlin "2028-03-27 22:00:00" "the day after it"
used berlin 3 "on it: nine in less than 24 hours"
clock "2028-10-28 12:00:00"
for limit in berlin hours; do weir limit set $limit tz Europe/Berlin >/dev/null; done
clock "2028-10-28 22:00:00"
ends berlin "2028-10-29 23:00:00" "a day of 25 hours"
used berlin 3 "on it"
clock "2028-10-29 00:30:00"
ends hours "2028-10-29 02:00:00" "an hour that is repeated"
used hours 3 "in it"
clock "2028-10-29 01:30:00"
for limit in berlin hours; do used $limit 0 "when it is repeated"; done
clock "2028-10-29 00:10:00"
for limit in berlin hours; do used $limit 0 "back before the change"; done
clock "2028-10-29 02:00:00"
ends hours "2028-10-29 03:00:00" "the hour after it"
used hours 3 "in it"
clock "2028-10-29 22:59:00"
used berlin 0 "at its end"
clock "2028-10-29 23:00:00"
ends berlin "2028-10-30 23:00:00" "the day after it"
used berlin 3 "on it"

# Whatever is changed, an end is crossed once: before it, on it, and after the clock was set back
# over it; also by a table that takes over.
changes=("exempt add 203.0.113.9" "exempt del 203.0.113.9" "source forget 198.18.3.9" "limit set day comment one"
	"limit set day sources 100" "limit set day budget 3/day budget 9G/day bytes calendar" "limit set day sources 200 budget 3/day"
	"limit set hour budget 4/hour")
change_all() {
	for change in "${changes[@]}"; do
		# shellcheck disable=SC2086 # words
		weir $change >/dev/null 2>&1
	done
}
used day 3 "today"
clock "2028-10-30 23:59:58"
while ! ends_at day "2028-11-01 00:00:00" && [ "$(date -u +%s)" -lt "$(date -u -d "2028-10-31 00:01" +%s)" ]; do change_all; done
change_all
ends day "2028-11-01 00:00:00" "an end among changes"
used day 3 "... renews"
change_all
used day 0 "... once"
clock "2028-10-30 23:59:50"
change_all
clock "2028-10-31 00:00:01"
change_all
used day 0 "... and not again if the clock is set back over it"

# Set to 2035 and back: one renewal, and no other until the day comes or the limit is another one.
clock "2035-06-15 12:00:00"
ends day "2035-06-16 00:00:00" "a clock far ahead"
used day 3 "renewed"
clock "2028-10-30 12:00:00"
used day 0 "a clock set back"
change_all
clock "2028-11-02 12:00:00"
is "$(renews day)" "2035-06-16 00:00:00" "the period lasts"
used day 0 "... for as long"
weir limit del day && weir limit add day budget 3/day calendar from 198.18.3.0/24 >/dev/null
ends day "2028-11-03 00:00:00" "a new limit keeps the calendar again"
used day 3 "in its first day"
clock "2028-11-03 00:00:00"
ends day "2028-11-04 00:00:00" "after the end that comes to pass"
used day 3 "in the next"

# From fixed and back: counts stay.
weir limit set day budget 5/day fixed >/dev/null
used day 2 "of three, a fixed budget of five"
weir limit set day budget 6/day calendar >/dev/null
used day 1 "of five, a calendar's of six"
is "$(weir -json limit show berlin | json tz)" Europe/Berlin "the zone has a name"
weir limit set berlin strict >/dev/null
is "$(weir -json limit show berlin | json tz)" "" "... and goes with the calendar"

# Years without a leap day: the clock is set back to one, then far ahead, and back over an end.
clock "2027-02-28 12:00:00"
weir limit del month && weir limit add month budget 3/month calendar from 198.18.5.0/24 >/dev/null
ends month "2027-03-01 00:00:00" "a February of 28 days"
used month 3 "in it"
clock "2027-03-01 00:00:00"
ends month "2027-04-01 00:00:00" "March after it"
used month 3 "in it"
clock "2100-02-28 12:00:00"
ends month "2100-03-01 00:00:00" "the February of 2100"
used month 3 "in it"
clock "2100-03-01 00:00:00"
ends month "2100-04-01 00:00:00" "March after it"
used month 3 "in it"
clock "2100-02-28 12:00:00"
used month 0 "back in February"

# The kernel knows one change ahead; rezone tells it of the next, and renews nothing.
clock "2028-01-15 12:00:00"
weir limit flush
config <<-WORDS
	limit add berlin budget 3/day calendar tz Europe/Berlin from 198.18.6.0/24
	limit add tokyo budget 3/day calendar tz Asia/Tokyo from 198.18.9.0/24
	limit add india budget 3/day calendar tz +05:30 from 198.18.7.0/24
	limit add day budget 3/day calendar from 198.18.3.0/24
WORDS
other='' && space other
weir -n "$other" limit add berlin budget 3/day calendar tz Europe/Berlin to 192.0.2.0/24 >/dev/null
weir -j monitor limits >"$tmp/events" &
pids+=($!)
# changes LIMIT...: these were changed, and no other
changes() { [ "$(jq -r 'select(.change == "changed").limit' "$tmp/events" | xargs)" = "$*" ]; }
wait_for 60 grep -q '"limit":"day"' "$tmp/events" || bail "no monitor"
is "$(weir limit rezone 2>&1; echo $?) $(weir -json limit rezone)" "0 []" "rezone: no zone differs"
clock "2028-06-15 12:00:00"
ends berlin "2028-06-15 22:00:00" "the kernel's change"
used berlin 3 "after it"
is "$(weir -check -json limit rezone | jq -c 'map(.limit)')" '["berlin"]' "rezone -check: what would change"
is "$(weir -json limit rezone | jq -c 'map([.limit, .tz])')" '[["berlin","Europe/Berlin"]]' "rezone: what changed, after it"
is "$(weir limit rezone) $(weir -json source get 198.18.6.1 limit berlin | json count)" " 3" "... once, and the counts stay"
used berlin 0 "... and nothing is renewed"
clock "2028-11-15 12:00:00"
ends berlin "2028-11-15 23:00:00" "a change that rezone told of"
used berlin 3 "after it"
clock "2028-11-15 22:00:01"
used berlin 0 "before midnight"
clock "2028-11-15 23:00:00"
ends berlin "2028-11-16 23:00:00" "at midnight"
used berlin 3 "at midnight"
rx=$other ends berlin "2028-11-16 22:00:00" "... without rezone, as in another namespace, an hour early"
rx=$other weir limit rezone >/dev/null
rx=$other ends berlin "2028-11-16 23:00:00" "... until rezone there"
clock "2029-06-15 22:30:00"
ends berlin "2029-06-15 23:00:00" "a zone that is out of date"
used berlin 3 "in its day"
weir limit rezone >/dev/null
ends berlin "2029-06-16 22:00:00" "rezone half an hour after midnight"
used berlin 0 "... does not make up for it"

# Another tzdata: Berlin is elsewhere; Tokyo is not known, or is
# in_asia COMMANDS: rezone with it
in_asia() { unshare -m sh -c "cd /usr/share/zoneinfo && mount --bind Asia/Kolkata Europe/Berlin && $1 && exec weir limit rezone" 2>&1; }
is "$(in_asia "mount --bind '$tmp' Asia" || echo $?)" "weir: limit rezone: limit 'tokyo': unknown time zone 'Asia/Tokyo'; write +02:00, or a name as in /usr/share/zoneinfo/: Europe/Berlin
2" "rezone: a zone that is not known any more"
ends berlin "2029-06-16 22:00:00" "... and no other zone changes"
# A device with GRO, which another test may have made, is warned of.
like $'\n'"$(in_asia true)" $'\nberlin budget 3/d' "rezone: a zone that has another offset"
ends berlin "2029-06-16 18:30:00" "... which counts at once"
used berlin 0 "... and renews nothing"
weir limit set day comment "the last" >/dev/null
holds "an event for each change, and none without" wait_for 60 changes berlin berlin berlin day || diag "$(<"$tmp/events")"
quiet

# What a calendar cannot have changes nothing.
weir save "$tmp/saved"
refused() {
	local status=$1 why=$2 text
	shift 2
	text=$(weir limit add no "$@" 2>&1 >/dev/null)
	is $? "$status" "refused: $*"
	like "$text" "$why" "... with the reason"
}
refused 1 "minutes, hours, days, weeks" budget 5/2d calendar
refused 1 "minutes, hours, days, weeks" budget 5/total calendar
refused 1 "leave slots out" budget 5/day calendar slots 2
refused 1 "say calendar, too" budget 5/day tz +02:00
refused 1 "unknown time zone 'Europe/Atlantis'" budget 5/day calendar tz Europe/Atlantis
weir save "$tmp/again" && cmp "$tmp/saved" "$tmp/again"
ok $? "... and the configuration is as it was"
clock "@$((date + $(cut -d. -f1 /proc/uptime) - began))"
finish
