#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# attribute.t: an attribute that is added to a copy takes its entry in the specification, one row,
# one member of the model, and the man page. Everything else follows: parsing, its range, schema,
# help and completion here. Messages, text and JSON of all rows are compared by tests/fuzz/fuzz_file.c,
# their refusals tested by tests/unit/tool_ack.c.
. "$(dirname "$0")/lib.sh"
python3 -c 'import yaml' 2>/dev/null || skip_all "python3-yaml is not installed"
mkdir -p copy/module copy/Documentation/netlink
cp -r "$top/userspace" copy/ && cp -r "$top"/module/{uapi,count,limit,main.c,error.h} copy/module/
cp -r "$top/Documentation/netlink/specs" copy/Documentation/netlink/ && cp "$top/Documentation/weir-limit.8" copy/Documentation/
rm -f copy/userspace/{,*/}*.[od] copy/userspace/weir copy/userspace/.defines
cp -r copy before

# insert FILE BEFORE LINE...: in front of the first line with BEFORE
insert() {
	local file=$1 before=$2
	shift 2
	printf '%s\n' "$@" >lines
	awk -v before="$before" '!done && index($0, before) { while ((getline line < "lines") > 0) print line; done = 1 } { print }' \
		"copy/$file" >new && cmp -s new "copy/$file" && diag "$file has no $before"
	cat new >"copy/$file"
}
python3 - <<'PY'
path = "copy/Documentation/netlink/specs/weir.yaml"
with open(path, encoding="utf-8") as file:
    text = file.read()
entry = """      -
        name: weight
        type: u32
        doc: How much it weighs.
        checks:
          min: 2
          max: 9
"""
place = "  -\n    name: exempt\n"
assert text.count(place) == 1
with open(path, "w", encoding="utf-8") as file:
    file.write(text.replace(place, entry + place))
PY
insert userspace/lang/fields.c '{ "before", &weir_type_name' \
	'	{ "weight", &weir_type_uint, ON_LIMIT, LIMIT(WEIGHT, weight), HAS(WEIGHT), .help = "how much it weighs" },'
insert userspace/model.h 'uint8_t per[2];' '	uint32_t weight;'
insert Documentation/weir-limit.8 '.It Cm before Ar NAME' '.It Cm weight Ar N' 'How much it weighs.'
# The header is generated, too, by the kernel's own generator.
sed 's/^\t__WEIR_A_LIMIT_MAX,/\tWEIR_A_LIMIT_WEIGHT,\n&/' before/module/uapi/linux/weir.h >copy/module/uapi/linux/weir.h

is "$(diff -rq before copy | sort | awk '{ print $2 }' | paste -sd' ')" \
	"before/Documentation/netlink/specs/weir.yaml before/Documentation/weir-limit.8 before/module/uapi/linux/weir.h before/userspace/lang/fields.c before/userspace/model.h" \
	"four places and a generated one"
is "$(diff -r before/userspace copy/userspace | grep -c '^>')" 2 "two lines of C: a row and a member"

make -s -C copy/userspace spec && make -s -C copy/userspace WERROR=1 weir >log 2>&1
ok $? "the copy builds" || diag "$(<log)"
weir=copy/userspace/weir
says <<'LINES'
0 | -check limit add web budget 1/s to ff00::/8 weight 9 |
1 | limit add web budget 1/s weight 10 | ^weir: limit add: weight: 10 is out of range 2..9$
1 | limit add web budget 1/s weihgt 3 | did you mean 'weight'\?$
1 | limit add web budget 1/s weight | 'weight' requires a value: N$
0 | -check limit set web weight 3 |
LINES
run limit add help
like "$out" $'\n''  weight   N                how much it weighs'$'\n' "help"
run -complete limit add web budget 1/s
like "$out" $'\n''weight'$'\n' "completion"
is "$("$weir" -schema | jq -c '."$defs".limit.properties.weight')" '{"type":"integer","minimum":2,"maximum":9,"title":"weight","x-attribute":"weight"}' "JSON schema"
finish
