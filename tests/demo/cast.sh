# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # sourced
# cast.sh: the senders and limits of the demo.

# NAME PACKETS WINDOW (seconds) MATCH
NEWCOMERS=100				# a second, and as many second tries
LIMITS=("dns 100 1 proto udp dport 53" "syn 5 1 proto tcp syn newcomers $NEWCOMERS/s known 1s")
HONEST=16 HONEST_RATE=50		# hosts; packets a second of each
FLOOD_RATE=10000			# a hundred times the budget
SPOOFED=16000000 SPOOFED_RATE=40000	# sources at random; packets a second of all
CALLER_RATE=2				# connection attempts a second of the two callers
FLOOD_MS=3000
BEFORE_MS=2500				# that one of them calls before: the limit learns, and knows it

HOST=192.0.2.1
HONEST_FROM=10.1.0.1		# the first of them
FLOOD_FROM=10.6.6.6
KNOWN_FROM=10.2.0.1		# calls before and during the flood
NEW_FROM=10.3.0.1		# calls a second after it began
SPOOFED_FROM=11.0.0.0		# the first of them
