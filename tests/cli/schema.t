#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# schema.t: weir -schema prints a valid schema, and weir(8) explains each of its keys
. "$(dirname "$0")/lib.sh"
"$weir" -schema >"$tmp/schema"
python3 -c 'import json, sys, jsonschema
jsonschema.Draft202012Validator.check_schema(json.load(open(sys.argv[1])))' "$tmp/schema" 2>"$tmp/err"
ok $? "weir -schema prints a valid JSON schema" || diag "$(tail -n 3 "$tmp/err")"
jq -r '.. | objects | select(has("properties")) | .properties | keys[]' "$tmp/schema" | sort -u >"$tmp/keys"
awk '/^\.Sh /{ on = $2 == "JSON" } on && $1 == ".It" && $2 == "Li" { print $3 }' \
	"$top/Documentation/weir.8" | sort >"$tmp/told"
[ -s "$tmp/keys" ] && diff "$tmp/keys" "$tmp/told" >"$tmp/diff"
ok $? "weir(8) has each key once, and no other" || diag "$(<"$tmp/diff")"
finish
