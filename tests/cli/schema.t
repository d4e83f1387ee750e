#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016 # programs for jq
# schema.t: weir -schema prints a valid schema, which is also a file; weir(8) explains each of its keys,
# the words of the text output and the attributes that have other names; a change within a version
# that breaks programs is found
. "$(dirname "$0")/lib.sh"
page=$top/Documentation/weir.8
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
awk '/^\.Sh /{ on = $2 == "JSON" } on && /^\.It Sy key Ta Sy unit/ { table = 1 } table && on && $1 == ".It" && $2 == "Li" { print $3 }' \
	"$page" | sort >"$tmp/told"
[ -s "$tmp/keys" ] && diff "$tmp/keys" "$tmp/told" >"$tmp/diff"
ok $? "weir(8) has each key once, and no other" || diag "$(<"$tmp/diff")"

# of PROPERTY: key and PROPERTY of all that have it
of() { jq -r --arg of "$1" '.. | objects | select(has("properties")) | .properties | to_entries[] | select(.value[$of]) | "\(.key) \(.value[$of])"' "$tmp/schema" | sort -u; }
of title | while read -r key title; do
	name=${title//[ -]/_} name=${name%:}
	case $key in "$name" | "${name}_ms" | "${name}_packets") continue ;; esac
	grep -E "^\.It Li $key Ta .*\\\\\(dq([^\\\\]* )?$title( [^\\\\]*)?\\\\\(dq" "$page" >/dev/null || echo "$key: $title"
done >"$tmp/unquoted"
is "$(<"$tmp/unquoted")" "" "... and each word of the text output that is not the key"
is "$(of x-attribute | cut -d' ' -f2 | tr _ - | sort -u | comm -23 - <(sed -nE 's/^ +(-$|- )?name: //p; s/^ +- *name: //p' "$top/Documentation/netlink/specs/weir.yaml" | sort -u) | xargs)" "" \
	"an attribute is one of the specification"
of x-attribute | while read -r key attribute; do
	case $key in "$attribute" | "${attribute}_packets" | "${attribute%s}_count" | "${attribute%es}_count" | "${attribute%_ns}_ms") ;; *) echo "$key ${attribute//_/-}" ;; esac
done | sort >"$tmp/others"
awk '/^\.It Sy key Ta Sy attribute/ { on = 1; next } /^\.El/ { on = 0 } on { sub(/,$/, "", $5); print $3, $5 }' "$page" | sort >"$tmp/told"
diff "$tmp/told" "$tmp/others" >"$tmp/diff"
ok $? "weir(8) has each key that is not its attribute, and no other" || diag "$(<"$tmp/diff")"

# changed FILTER: what the check of a changed schema finds
changed() {
	jq "$1" "$tmp/schema" >"$tmp/new"
	python3 "$top/tests/cli/schema_keeps.py" "$tmp/schema" "$tmp/new"
	echo $?
}
limit='."$defs".limit.properties'
is "$(changed "$limit.fresh = {type: \"string\"} | $limit.action.enum += [\"fresh\"]")" 0 "keys and values may be added in a version"
is "$(changed "del($limit.action)")" $'/limit: no action\n1' "... not removed"
is "$(changed "$limit.ways.type = \"string\"")" $'/limit/ways: type integer is string\n1' "... nor get another type"
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
