#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weir save -state and weir restore: their words, and which files are restored. The files are
# written by state_file.py, from what design.rst says of them.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
make=$top/tests/cli/state_file.py
config='limit add web budget 5/h
exempt add 192.0.2.1 until +1 hour
exempt add 192.0.2.2 until +5 minutes
exempt add 192.0.2.3
block add 192.0.2.4 until +2 hours'
# saved FILE AGE [other-boot]: a state with these ends, seen from when it was saved
saved() {
	local line end
	while read -r line; do
		end=${line#* until }
		[ "$end" = "$line" ] || line="${line%until *}until $(date -u -d "$end $2 seconds ago" +%FT%TZ)"
		echo "$line"
	done <<<"$config" | "$make" make "$@"
}
saved good 0
{ cat - <(yes '# 4567 9' | head -n 2000000) | "$make" make large; } <<<'limit add web budget 5/h'

says <<-'WORDS'
	1 | save -state | ^weir: save: '-state' requires a value: FILE$
	1 | save file -state other | ^weir: save: 'file' and '-state' cannot be combined$
	1 | save -state other file | ^weir: save: unknown word 'file'
	1 | save -state one -state two | ^weir: save: '-state' given twice$
	1 | save -state '' | ^weir: save: -state: a file's name cannot be empty$
	1 | restore | ^weir: restore: required: FILE$
	1 | restore good other | ^weir: restore: unexpected argument 'other'$
	1 | restore '' | ^weir: restore: a file's name cannot be empty$
	1 | restore nosuch | ^weir: restore: nosuch: cannot open: No such file or directory$
	1 | restore . | ^weir: restore: \.: a directory$
	1 | restore /dev/null | ^weir: restore: /dev/null: no regular file$
	1 | -file good | ^weir: good:
WORDS
run -check restore good
is "$status $err" "0 " "-check of a good file"
like "$out" "^saved 20[0-9-]*T[0-9:]*Z age [0-9.]+(ms|s) limits 1 exempts 3 blocked prefixes 1 sources 2\$" "... says what it has"
run -check -j restore good
python3 - "$("$weir" -schema)" "$out" <<-'PYTHON' 2>err
	import json, sys, jsonschema
	jsonschema.validate(json.loads(sys.argv[2]), json.loads(sys.argv[1]))
	told = json.loads(sys.argv[2])[0]
	assert (told["limit_count"], told["exempt_count"], told["blocked_prefix_count"], told["source_count"]) == (1, 3, 1, 2), told
PYTHON
ok $? "... and as JSON, which the schema allows" || diag "$out" "$(tail -n 1 err)"
echo 'restore good' >lines
run -check -batch lines
is "$status $err" "0 " "... in a batch, too"
mkfifo pipe
run -check restore pipe
is "$status $err" "1 weir: restore: pipe: no regular file" "a pipe without a writer is not waited for"
run -check restore large
is "$status $err" "0 " "a configuration of more than 16 MiB"
# what passed since then
# aged FILE: of a file, "age exempts blocked"
aged() {
	"$weir" -check -j restore "$1" | sed 's/.*"age_ms":\([0-9]*\).*"exempt_count":\([0-9]*\).*"blocked_prefix_count":\([0-9]*\).*/\1 \2 \3/'
}
saved old 600
like "$(aged old)" "^60....$|^60.... 2 1$" "ten minutes later an exemption for five has ended"
saved old 7300 other-boot
like "$(aged old)" "^73..... 1 0$" "... and two hours later, after a reboot, the block and that for an hour"
saved future -600 other-boot
is "$(aged future)" "0 3 1" "a clock that went back ages by nothing"

# who may read it
for mode in 604 640 620 602 666 700 400; do
	chmod "$mode" good
	run -check restore good
	case $mode in
	?00) is "$status $err" "0 " "mode $mode" ;;
	*) like "$status $err" "^1 weir: restore: good: others may (read|change) it \(mode $mode\): it has a secret key; chmod 600 if you trust it still\$" "mode $mode is refused" ;;
	esac
done
chmod 600 good
if [ "$(id -u)" = 0 ]; then
	cp -p good owned && chown 12345 owned
	run -check restore owned
	is "$status $err" "1 weir: restore: owned: owned by neither root nor the caller, but uid 12345" "a file of somebody else is refused"
fi
ln -s good link
run -check restore link
is "$status $err" "0 " "a link to a file"

# refuses PATTERN NAME: with file bad
refuses() {
	chmod 600 bad
	run restore bad
	like "$status $err" "^1 weir: restore: bad: $1\$" "$2"
}
: >bad
refuses "truncated at offset 0" "an empty file"
head -c 12 /dev/zero >bad
refuses "not what 'weir save -state' writes \(for a configuration use -file\): no magic number at offset 0" "another file"
cp good bad && printf '\1' | dd of=bad bs=1 seek=12 conv=notrunc status=none
refuses "format version 1 at offset 12, but this weir reads only 2" "an older version"
printf '\3' | dd of=bad bs=1 seek=12 conv=notrunc status=none
refuses "format version 3 at offset 12, but this weir reads only 2" "a newer version"
cp good bad && printf '\1\2\3\4' | dd of=bad bs=1 seek=8 conv=notrunc status=none
refuses "saved on a host with another byte order, as said at offset 8" "another byte order"
cp good bad && echo >>bad
refuses "more data behind the end at offset $(stat -c %s good)" "data behind the end"

# Truncated at each border, and beside it; the file that is as long as it should be is good.
cut=0 size=$(stat -c %s good)
while read -r offset kind length; do
	for at in $((offset)) $((offset + 1)) $((offset + 12)) $((offset + 12 + length / 2)) $((offset + 12 + length - 1)); do
		head -c "$at" good >bad
		chmod 600 bad
		run restore bad
		[ "$status $err" = "1 weir: restore: bad: truncated at offset $at" ] || { cut=$((cut + 1)) && diag "record $kind at $at: $status $err"; }
	done
done < <("$make" list good)
is "$cut" 0 "truncated at each record's border, and within: refused, with the offset"

# each byte, by a bit and whole
python3 - "$weir" good bad "$size" >flips <<-'PYTHON'
	import os, re, resource, subprocess, sys
	weir, good, bad, size = sys.argv[1:]
	data = open(good, "rb").read()
	resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
	refused = re.compile(r"weir: restore: bad: .* at offset (\d+)(, but .*)?\n")
	for at in range(len(data)):
	    for bit in (1 << at % 8, 0xff):
	        with open(os.open(bad, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
	            file.write(data[:at] + bytes([data[at] ^ bit]) + data[at + 1:])
	        done = subprocess.run([weir, "restore", bad], stderr=subprocess.PIPE, text=True, check=False)
	        said = refused.fullmatch(done.stderr)
	        if done.returncode != 1 or not said or int(said[1]) > len(data):
	            print(f"offset {at} ^ {bit}: {done.returncode} {done.stderr}")
PYTHON
is "$(<flips)" "" "each byte that is changed: refused, with an offset"

# Whole, with valid checksums, and yet not what save writes
# odd NAME PATTERN CODE: a file of the records that the Python CODE leaves in @records
odd() {
	python3 - "$make" bad "$3" <<-'PYTHON'
		import importlib.util, os, sys
		spec = importlib.util.spec_from_file_location("state_file", sys.argv[1])
		s = importlib.util.module_from_spec(spec)
		spec.loader.exec_module(s)
		more = {}
		config = s.record(s.CONFIG, b"limit add web budget 5/h\n")
		limit, clock = s.attr("LIMIT", b"web\0"), s.attr("CLOCK_NS", bytes(8))
		head = s.head(0, "boot")
		records = [head, config]
		exec(sys.argv[3])
		with open(os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
		    file.write(s.state(records, **more))
	PYTHON
	refuses "$2" "$1"
}
wrong='damaged: a record of another type than expected'
odd "no records" "$wrong at offset 16" 'records = []'
odd "no configuration" "$wrong at offset 116" 'records = [head]'
odd "a configuration first" "$wrong at offset 16" 'records = [config, head]'
odd "two heads" "$wrong at offset 116" 'records = [head, head, config]'
odd "a configuration twice" "$wrong at offset 153" 'records = [head, config, config]'
odd "a record of no known type" "$wrong at offset 153" 'records += [s.record(9, b"")]'
odd "a head of another length" "a head of another length at offset 16" 'records = [s.record(s.HEAD, head[12:-1]), config]'
odd "a head without a tick" "an invalid head at offset 16" 'records = [s.record(s.HEAD, bytes(88)), config]'
odd "a configuration with a NUL byte" "a configuration that is no text at offset 116" 'records = [head, s.record(s.CONFIG, b"# \0\n")]'
odd "an empty configuration" "a configuration that is no text at offset 116" 'records = [head, s.record(s.CONFIG, b"")]'
odd "a message that is too long" "damaged: a record that is too long at offset 153" 'records += [s.record(s.MESSAGE, bytes(65537))]'
odd "a message of no bytes" "no message of the module at offset 153" 'records += [s.record(s.MESSAGE, b"")]'
odd "a message of another length" "no message of the module at offset 153" 'records += [s.record(s.MESSAGE, s.message(limit, clock) + b"1234")]'
odd "a message without a limit" "no message of the module at offset 153" 'records += [s.record(s.MESSAGE, s.message(clock))]'
odd "a message without a time" "no message of the module at offset 153" 'records += [s.record(s.MESSAGE, s.message(limit))]'
odd "a limit's name without an end" "no message of the module at offset 153" 'records += [s.record(s.MESSAGE, s.message(s.attr("LIMIT", b"web!"), clock))]'
odd "a time of four bytes" "no message of the module at offset 153" 'records += [s.record(s.MESSAGE, s.message(limit, s.attr("CLOCK_NS", bytes(4))))]'
odd "a magic that a text mode has changed" "not what 'weir save -state' writes \(for a configuration use -file\): no magic number at offset 0" 'more["magic"] = s.MAGIC.replace(b"\r\n", b"\n ")'

printf '%s\n' 'limit add web budget 5/h' 'limit add dns bugdet 5/h' | "$make" make bad
run -check restore bad
is "$status $err" "1 weir: bad:2:15: limit add: unknown word 'bugdet'; did you mean 'budget'?
  limit add dns bugdet 5/h
                ^~~~~~
weir: restore: the state in bad was not restored" "a configuration that this weir does not understand"
echo 'include /etc/passwd' | "$make" make bad
run -check restore bad
like "$status $err" "^1 weir: bad:1:[0-9:]* 'include' is for a file" "a saved configuration includes no file"

# The module is not needed to refuse, but to restore.
like "$("$weir" restore good 2>&1)" "^weir: restore: (permission denied|limits, exemptions)|^weir: (the kernel module cannot be loaded|cannot reach)" "a good file asks for the module"
finish
