#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# splice.sh [-l] FILE WORDS: put stdin between the comment lines "WORDS" and "end of WORDS" of FILE,
# in Markdown or reStructuredText. -l: as a literal block of reStructuredText.
set -u
literal=0
[ "$1" != -l ] || { literal=1 && shift; }
file=$1 words=$2
new=$(mktemp) && trap 'rm -f "$new"' EXIT || exit 1
awk -v words="$words" -v literal="$literal" '
	{ line = $0; gsub(/^(<!--|\.\.) +| +-->$/, "", line); comment = line != $0 }
	comment && line == "end of " words { skip = 0 }
	!skip
	comment && line == words {
		skip = found = 1
		if (literal) print "\n::\n"
		while ((getline text < "/dev/stdin") > 0) print literal && text != "" ? "  " text : text
		if (literal) print ""
	}
	END { exit !found || skip }' "$file" >"$new" || { echo "$file has no place for $words" >&2; exit 1; }
cat "$new" >"$file"
