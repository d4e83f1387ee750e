#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# btf.sh KERNEL KO KDIR: give the module KO its BTF, from that of its kernel, whose headers are in
# KDIR: /sys/kernel/btf/vmlinux, a vmlinux, or a vmlinuz of x86. kbuild does it where the headers
# contain a vmlinux; Debian's of 6.1 do not, nor resolve_btfids: so this writes .BTF_ids, too. It
# holds one set: its size (1), flags, the number of its function, flags of that, each 32 bits and
# little-endian.
set -e
PATH=$PATH:/usr/sbin:/sbin
! objdump -h "$2" | grep -q '\.BTF ' || exit 0
# With BTF of another build, also of the same version, the module would not load.
build=$(sed -n 's/^#define UTS_VERSION "\(.*\)"$/\1/p' "$3"/include/generated/*.h)
case $1 in /sys/*) uname -v ;; *) cat "$1" ;; esac | grep -aqF "$build"
new=$2.btf ids=$2.ids base=$1
trap 'rm -f "$new" "$ids" "$2.base" "$2.payload"' EXIT
# Documentation/arch/x86/boot.rst of the kernel says where the compressed one is; its size follows it.
if [ "$(od -An -c -j 514 -N 4 "$1" | tr -d ' ')" = HdrS ]; then
	base=$2.base
	# shellcheck disable=SC2046 # three numbers
	set -- "$1" "$2" $(od -An -tu1 -j 497 -N 1 "$1") $(od -An -tu4 -j 584 -N 8 "$1")
	tail -c "+$((($3 + 1) * 512 + $4 + 1))" "$1" | head -c $(($5 - 4)) >"$2.payload"
	xz -dcqq "$2.payload" >"$base" || zstd -dcq "$2.payload" >"$base"
fi
cp "$2" "$new"
"${PAHOLE:-pahole}" -J --btf_gen_floats --lang_exclude=rust --btf_base "$base" "$new"
id=$(bpftool -B "$base" btf dump file "$new" | sed -n "s/^\[\([0-9]*\)\] FUNC 'weir_xdp_refuses'.*/\1/p")
objcopy -O binary --only-section=.BTF_ids "$new" "$ids"
[ "$id" ] && [ "$(wc -c <"$ids")" = 16 ]

# put OFFSET NUMBER: write a word of .BTF_ids
put() {
	# shellcheck disable=SC2059 # the bytes are the format
	printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $(($2 & 255)) $(($2 >> 8 & 255)) $(($2 >> 16 & 255)) $(($2 >> 24)))" |
		dd of="$ids" conv=notrunc bs=1 seek="$1" status=none
}
put 0 1
put 8 "$id"
objcopy --update-section .BTF_ids="$ids" "$new"
mv "$new" "$2"
