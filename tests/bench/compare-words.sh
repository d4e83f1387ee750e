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

# The floods: a fifth of 100,000 packets a second, and of what belongs to it
FLOODS=(new pool burst)
FLOOD_MS=24000
BURST_MS=12000
KNOWN_MS=12000
SPEAKERS=1000
SPEAK_RATE=5		# each
IDLERS=500
IDLE_SECONDS=10		# between two packets of one
CLIENTS=1000
CLIENT_RATE=66		# that arrive a second, except with the burst
NEWCOMERS=400		# packets a second
KNOWN_SIZE=$((SPEAKERS + IDLERS + 2 * NEWCOMERS * 16 / 15))
