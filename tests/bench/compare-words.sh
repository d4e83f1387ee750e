# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # sourced
# compare-words.sh: the senders of compare.sh and their rates
LIMIT=20		# packets a second
FLOOD_SOURCES=16384	# a power of two
FLOOD_RATE=20000	# packets a second, of all
HONEST=1000
HONEST_RATE=10		# each
HEAVY_RATE=2000
SLOW_RATE=22
FILL_MS=2500
RUN_MS=6000
HZ=250
TIMES=(1/4 1 4)
NEEDED=$((FLOOD_SOURCES + HONEST + 2))

# times T: a size T times as large as needed
times() { echo $((NEEDED * ${1%/*} / $([ "${1#*/}" = "$1" ] && echo 1 || echo "${1#*/}"))); }
