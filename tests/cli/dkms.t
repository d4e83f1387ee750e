#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dkms.t: DKMS builds the module for 6.1 and 6.12, signs, installs and removes it. Runs
# in a mount namespace that hides this machine's DKMS tree, sources and modules.
# shellcheck source=../tap.sh
. "$(dirname "$0")/../tap.sh"
PATH=$PATH:/usr/sbin:/sbin
command -v dkms >/dev/null || skip_all "no dkms here"
if [ -z "${WEIR_DKMS:-}" ]; then
	unshare -m true 2>/dev/null || skip_all "no right to a mount namespace"
	WEIR_DKMS=1 exec unshare -m "$0"
fi
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
name=weir/$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$top/dkms.conf")
mkdir -p /var/lib/dkms /lib/modules /boot
for hidden in /var/lib/dkms /usr/src /lib/modules /boot; do
	mount -t tmpfs tmpfs "$hidden" || skip_all "nothing can be mounted over $hidden"
done
source=/usr/src/${name/\//-}
mkdir "$source" bin && (cd "$top" && cp -r Kbuild Makefile dkms.conf module userspace "$source")
# The headers name the compiler that built the kernel; another one works too.
for cc in gcc-12 x86_64-linux-gnu-gcc-12; do ln -s "$top/tests/vm/cc" "bin/$cc"; done
REAL_CC=$(command -v gcc-12 || command -v gcc)
export REAL_CC CC_UNKNOWN

# image KERNEL: the image of a kernel that does not run yet. Debian's headers of 6.1 have no BTF.
image() {
	objcopy --only-section=.BTF "$top/.cache/kernels/$1/vmlinux" btf && zstd -1q --rm btf &&
		python3 -c '
import struct, sys
payload = open("btf.zst", "rb").read() + bytes(4)
head = bytearray(1024)
head[497], head[514:518] = 1, b"HdrS"
struct.pack_into("<II", head, 584, 0, len(payload))
head[700:700 + len(sys.argv[1])] = sys.argv[1].encode()
sys.stdout.buffer.write(head + payload)' "$(sed -n 's/^#define UTS_VERSION "\(.*\)"$/\1/p' "$top/.cache/kernels/$1/kdir/include/generated/"*.h)"
}

holds "dkms knows the module" quietly dkms add "$name"
for kernel in 6.1 6.12; do
	version=$(cat "$top/.cache/kernels/$kernel/version") || continue # the runner reports it
	CC_UNKNOWN=$tmp/unknown-$kernel
	mkdir "/lib/modules/$version" && touch "/lib/modules/$version/modules."{order,builtin}
	ln -s "$(realpath "$top/.cache/kernels/$kernel/kdir")" "/lib/modules/$version/build"
	[ -e "/lib/modules/$version/build/vmlinux" ] || image "$kernel" >"/boot/vmlinuz-$version"
	PATH=$tmp/bin:$PATH dkms install -k "$version" "$name" >log 2>&1
	ok $? "$kernel: the module is built and installed" || diag "$(tail -n 20 log; tail -n 20 "/var/lib/dkms/$name/build/make.log")"
	module=$(find "/lib/modules/$version/updates/dkms" -name 'weir.ko*')
	is "$(modinfo -F vermagic "$module" | cut -d ' ' -f 1)" "$version" "... for this kernel"
	[ -n "$(modinfo -F sig_id "$module")" ] && [ -n "$(modinfo -F signer "$module")" ]
	ok $? "... and signed"
	holds "... and has BTF" quietly grep -q '\.BTF_ids' <(objdump -h "$module")
done
holds "dkms removes the module" quietly dkms remove "$name" --all
is "$(find /lib/modules -name 'weir*')" "" "... and leaves no file"
finish
