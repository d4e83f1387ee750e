#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# weir upgrade: its words, and which modules it refuses before it looks at anything else
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
says <<-'WORDS'
	1 | upgrade -old | ^weir: upgrade: '-old' requires a value: FILE$
	1 | upgrade -old one -old two | ^weir: upgrade: '-old' given twice$
	1 | upgrade -closed -closed | ^weir: upgrade: '-closed' given twice$
	1 | upgrade nosuch -open | ^weir: upgrade: unknown word '-open'; expected one of: -old, -closed$
	1 | upgrade -open | ^weir: upgrade: '-open' is no option here
	1 | upgrade one two | ^weir: upgrade: unknown word 'two'; expected one of: -old, -closed$
	1 | upgrade '' | ^weir: upgrade: a file's name cannot be empty$
	1 | upgrade nosuch | ^weir: upgrade: nosuch: cannot open: No such file or directory$
	1 | upgrade . | ^weir: upgrade: \.: no regular file$
	1 | upgrade /dev/null | ^weir: upgrade: /dev/null: no regular file$
	1 | -check upgrade /dev/null -closed | ^weir: upgrade: /dev/null: no regular file$
WORDS
if ! command -v objcopy >/dev/null || [ ! -x /sbin/modinfo ]; then skip_all "no objcopy or modinfo"; fi
echo text >text
run upgrade text
is "$status $err" "1 weir: upgrade: $tmp/text: not the module weir, or truncated" "a file that is no module"

# module RELEASE: as modinfo reads it
module() {
	printf 'name=weir\0version=9.9\0srcversion=ABC\0vermagic=%s SMP mod_unload \0' "$1" >info
	objcopy -I binary -O elf64-x86-64 --rename-section .data=.modinfo info module.ko
}
module 1.2.3
run upgrade module.ko
is "$status $err" "1 weir: upgrade: $tmp/module.ko: built for kernel 1.2.3, but this is $(uname -r)" "a module of another kernel"
module "$(uname -r)x"
run upgrade module.ko
is "$status" 1 "... or of one whose name only begins the same"
module "$(uname -r)"
run upgrade module.ko
if [ -e /sys/module/weir ]; then
	like "$status $err" "^2 weir: upgrade: the file of the loaded module .* was not found" "the old module's file"
else
	is "$status $err" "3 weir: no module is loaded; 'modprobe weir' loads the one that is installed" "nothing to replace"
fi
finish
