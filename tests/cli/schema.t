#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016 # programs for jq
# schema.t: weir -schema prints a valid schema, which is also a file; the pages explain each of its keys;
# a change within a version that breaks programs is found
. "$(dirname "$0")/lib.sh"
pages=("$top"/Documentation/weir{,-limit,-source}.8)
"$weir" -schema >"$tmp/schema"
python3 -c 'import json, sys, jsonschema
jsonschema.Draft202012Validator.check_schema(json.load(open(sys.argv[1])))' "$tmp/schema" 2>"$tmp/err"
ok $? "weir -schema prints a valid JSON schema" || diag "$(tail -n 3 "$tmp/err")"
"$weir" -p -schema | cmp -s - "$top/Documentation/weir.schema.json"
ok $? "Documentation/weir.schema.json is that" || diag "userspace/weir -p -schema >Documentation/weir.schema.json"
is "$("$weir" -j -Version | jq -c '.[0].schema_version')" "$(jq -r '."$id" | sub(".*:"; "")' "$tmp/schema")" "-Version has its version"
twice=$(jq -r '.. | objects | select(has("properties")) | .properties | to_entries[] | .key + " " + ((.value.type // if .value."$ref" then "object" else "string" end))' "$tmp/schema" |
	sort -u | cut -d' ' -f1 | uniq -d)
is "$twice" "" "a key has the same type wherever it stands"
jq -e '.["$defs"].match.properties.not.properties |
	.syn.type == "boolean" and .from.type == "array" and (has("not") | not)' "$tmp/schema" >/dev/null
ok $? "inverted conditions are apart"
jq -r '.. | objects | select(has("properties")) | .properties | keys[]' "$tmp/schema" | sort -u >"$tmp/keys"

# The names of the pages' items, with _ for blanks, and what these begin with
awk '/^\.It / {
		for (i = 2; i <= NF && $i != "Ta"; i++) {
			name = $i ~ /^([A-Z][a-z]|,)$/ ? "" : i == 2 || name == "" ? $i : name "_" $i
			print name
		}
	}' "${pages[@]}" | tr - _ | sort -u >"$tmp/items"
# A key is an item itself, without its unit, or as the word of the text output.
jq -r '.. | objects | select(has("properties")) | .properties | to_entries[] | .key + " " + (.value.title // "_" | gsub("[ -]"; "_"))' "$tmp/schema" |
	awk 'NR == FNR { item[$1]; next }
		{ bare = $1; sub(/_(ms|packets|count)$/, "", bare); sub(/:$/, "", $2) }
		{ told[$1] += $1 in item || bare in item || $2 in item }
		END { for (key in told) if (!told[key]) print key }' "$tmp/items" - >"$tmp/untold"
is "$(<"$tmp/untold")" "" "the pages explain each key"
is "$(sed -nE 's/^\.It Li (.*) Ta .*/\1/p' "${pages[0]}" | sed 's/ , /\n/g' | sort | comm -23 - "$tmp/keys")" "" "... and weir(8) no other"
is "$(jq -r '.. | objects | select(has("properties")) | .properties[]."x-attribute" // empty' "$tmp/schema" | tr _ - | sort -u | comm -23 - <(sed -nE 's/^ +(-$|- )?name: //p; s/^ +- *name: //p' "$top/Documentation/netlink/specs/weir.yaml" | sort -u) | xargs)" "" \
	"an attribute is one of the specification"

# changed FILTER: what the check of a changed schema finds
changed() {
	jq "$1" "$tmp/schema" >"$tmp/new"
	python3 "$top/tests/cli/schema_keeps.py" "$tmp/schema" "$tmp/new"
	echo $?
}
limit='."$defs".limit.properties'
is "$(changed "$limit.fresh = {type: \"string\"} | $limit.action.enum += [\"fresh\"]")" 0 "keys and values may be added in a version"
is "$(changed "del($limit.action)")" $'/limit: no action\n1' "... not removed"
is "$(changed "$limit.entries.type = \"string\"")" $'/limit/entries: type integer is string\n1' "... nor get another type"
is "$(changed "$limit.action.enum = [\"drop\"]")" $'/limit/action: no value observe\n1' "... or lose a value"
is "$(changed '."$defs".limit.required -= ["prefix4"]')" $'/limit: prefix4 is optional\n1' "... or become optional"
is "$(changed '."$defs".event.anyOf |= map(select(.properties.event.const != "lost"))')" $'/event: no event lost\n1' "... nor may an event go"
is "$(changed 'del(."$defs"."limit-show")')" $': no limit-show\n1' "... nor the output of a command"
is "$(changed "del($limit.action) | .\"\$id\" = \"urn:weir:json:2\"")" 0 "... but in a new version"
released=$(git -C "$top" describe --tags --abbrev=0 2>/dev/null)
if [ "$released" ] && git -C "$top" show "$released:Documentation/weir.schema.json" >"$tmp/old" 2>/dev/null; then
	python3 "$top/tests/cli/schema_keeps.py" "$tmp/old" "$tmp/schema" >"$tmp/out"
	ok $? "what $released promised is kept" || diag "$(<"$tmp/out")"
fi
finish
