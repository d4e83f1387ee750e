#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# schema.t: weir -schema prints a valid schema, and weir(8) explains each of its keys
. "$(dirname "$0")/lib.sh"
"$weir" -schema >"$tmp/schema"
python3 -c 'import json, sys, jsonschema
jsonschema.Draft202012Validator.check_schema(json.load(open(sys.argv[1])))' "$tmp/schema" 2>"$tmp/err"
ok $? "weir -schema prints a valid JSON schema" || diag "$(tail -n 3 "$tmp/err")"
twice=$(jq -r '.. | objects | select(has("properties")) | .properties | to_entries[] | .key + " " + (.value.type // "string")' "$tmp/schema" |
	sort -u | cut -d' ' -f1 | uniq -d)
is "$twice" "" "a key has the same type wherever it stands"
jq -e '.["$defs"].limit.properties.match.properties.not.properties |
	.syn.type == "boolean" and .from.type == "array" and (has("not") | not)' "$tmp/schema" >/dev/null
jq -r '.. | objects | select(has("properties")) | .properties | keys[]' "$tmp/schema" | sort -u >"$tmp/keys"
awk '/^\.Sh /{ on = $2 == "JSON" } on && $1 == ".It" && $2 == "Li" { print $3 }' \
	"$top/Documentation/weir.8" | sort >"$tmp/told"
[ -s "$tmp/keys" ] && diff "$tmp/keys" "$tmp/told" >"$tmp/diff"
ok $? "weir(8) has each key once, and no other" || diag "$(<"$tmp/diff")"
finish
