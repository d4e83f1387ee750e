#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# build.t: the kernel that make builds the module for, and the place of the result.
# Runs in a mount namespace that hides this machine's modules and headers.
# shellcheck source=../tap.sh
. "$(dirname "$0")/../tap.sh"
if [ -z "${WEIR_BUILD:-}" ]; then
	unshare -m true 2>/dev/null || skip_all "no right to a mount namespace"
	WEIR_BUILD=1 exec unshare -m "$0"
fi
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/sbin:/sbin
here=$(uname -r)
mkdir -p /lib/modules
mount -t tmpfs tmpfs /lib/modules || skip_all "nothing can be mounted over /lib/modules"
unset KVER KDIR BUILD MAKEFLAGS

# A tree with a stub of the tool, and stubs of kernel headers that record their version.
mkdir tree tree/userspace && cp -r "$top"/{Makefile,Kbuild,module,debian} tree/ && cp "$top/userspace/weir.conf" tree/userspace/ && printf 'all:\n\t@: >weir\n' >tree/userspace/Makefile

# headers VERSION FOLDER: stub headers that claim to be VERSION
headers() {
	mkdir -p "$2/include/config" && echo "$1" >"$2/include/config/kernel.release"
	# shellcheck disable=SC2016 # make's
	echo 'modules: ; @echo "LLVM=$(LLVM)"; cat $(M)/Kbuild $(M)/module/main.c >/dev/null && cp include/config/kernel.release $(M)/weir.ko' >"$2/Makefile"
}
headers "$here" "/lib/modules/$here/build"
headers 6.6.6-other /lib/modules/6.6.6-other/build
headers 7.7.7-elsewhere "$tmp/headers"

# builds VERSION NAME ARGUMENT...: make should build for VERSION, in its folder
builds() {
	local version=$1 name=$2
	shift 2
	rm -rf tree/.cache tree/userspace/weir
	make -C tree "$@" >log 2>&1
	ok $? "$name" || diag "$(<log)"
	is "$(cd tree && grep -r . .cache --include=weir.ko)" ".cache/build/$version/weir.ko:$version" "... for $version, in a folder of its own"
	like "$(<log)" "weir: built .cache/build/$version/weir.ko for $version" "... and says so"
}
builds "$here" "make"
holds "... and builds the tool" [ -e tree/userspace/weir ]
builds 6.6.6-other "make KVER=" KVER=6.6.6-other
builds 7.7.7-elsewhere "make KDIR=" KDIR="$tmp/headers"
is "$(grep ^LLVM= log)" "LLVM=" "... with the default compiler"
echo CONFIG_CC_IS_CLANG=y >"$tmp/headers/include/config/auto.conf"
builds 7.7.7-elsewhere "a kernel that clang built" KDIR="$tmp/headers"
is "$(grep ^LLVM= log)" "LLVM=1" "... with clang"
builds 7.7.7-elsewhere "LLVM=" KDIR="$tmp/headers" LLVM=-14
is "$(grep ^LLVM= log)" "LLVM=-14" "... with the clang that is wanted"
builds 6.6.6-other "make KDIR= with an installed kernel" KDIR=/lib/modules/6.6.6-other/build
export KDIR=$tmp/headers
builds 7.7.7-elsewhere "KDIR in the environment"
unset KDIR
builds 6.6.6-other "make modules" modules KVER=6.6.6-other
holds "... does not build the tool" [ ! -e tree/userspace/weir ]

make -s -C tree KVER=6.6.6-gone >log 2>&1
ok $? "no headers: make builds the tool" || diag "$(<log)"
like "$(tail -n 1 log)" "^weir: no headers for kernel 6.6.6-gone at /lib/modules/6.6.6-gone/build; the module is not built " "... and ends with the message that the module is not built"
make -s -C tree install KVER=6.6.6-gone DESTDIR="$tmp/root" >log 2>&1
ok $? "... and installs it" || diag "$(<log)"
like "$(tail -n 1 log)" "^weir: no headers for kernel 6.6.6-gone .*; the module is not installed " "... and reports the missing headers"
make -s -C tree help >log
holds "make help fits 80 columns" [ "$(wc -L <log)" -le 80 ] || diag "$(<log)"
make -C tree modules KVER=6.6.6-gone >log 2>&1
is "$?" 2 "no headers: make modules fails"
like "$(<log)" "weir: no headers for kernel 6.6.6-gone .*apt-get install linux-headers-6.6.6-gone" "... and says what is missing"

# The running kernel is another build of the version that the headers are of.
mkdir -p "$tmp/headers/include/generated" && echo '#define UTS_VERSION "#1 SMP another"' >"$tmp/headers/include/generated/utsversion.h"
printf 'int a;' >a.c && gcc -g -c -o weir.ko a.c
cp weir.ko was.ko
for btf in /sys/kernel/btf/vmlinux was.ko; do
	tree/module/btf.sh "$btf" weir.ko "$tmp/headers" 2>log
	is "$?:$(<log)" "1:" "BTF of another build is not used: $btf"
	holds "... and the module stays without" cmp -s weir.ko was.ko
done

# With the headers of a kernel that gcc built, nothing is compiled.
kdir=$top/.cache/kernels/6.12/kdir
if [ -e "$kdir" ]; then
	rm -rf tree/.cache
	make -C tree modules KDIR="$kdir" CC=clang >log 2>&1
	like "$? $(<log)" "^2 .*weir: gcc built this kernel, in which a module built by clang faults; leave out CC=clang" \
		"CC=clang is refused for a kernel that gcc built"
	is "$(find tree/.cache -name '*.o')" "" "... and nothing is compiled"
else
	skip "no guest kernel 6.12 here" "CC=clang is refused for a kernel that gcc built"
fi
finish
