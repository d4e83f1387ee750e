#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# uml-build.sh [-n] bench|kasan: build User-Mode Linux from Debian's newest kernel
# source, if not built yet: .cache/uml/VERSION-CONFIGURATION/{linux,...}.
#   bench  the kernel of bench-native; .cache/uml/kernel links to it, to build modules
#          for it (make modules KDIR=.cache/uml/kernel ARCH=um)
#   kasan  the guest kernel uml-kasan, with the checks of 6.12-kasan at native speed:
#          .cache/kernels/uml-kasan for guest.sh, kernel-build.sh and run.sh
#	-n  build nothing: exit 1 if something had to be built
# Prints the folder. Exit 4 if the source is missing.
set -u
here=$(cd "$(dirname "$0")" && pwd -P) && uml=${here%/tests/vm}/.cache/uml || exit 1
dry=''
[ "${1:-}" != -n ] || { dry=1; shift; }
case ${1:-} in
bench) options=("$here/uml.options") ;;
kasan) options=("$here"/debug/{base,kasan,uml}.options) ;;
*) echo "usage: uml-build.sh [-n] bench|kasan" >&2; exit 1 ;;
esac
[ -n "$dry" ] || "$here/fetch.sh" uml >&2 || exit 4
[ -e "$uml/source/version" ] || exit 4
exec 9>"$uml/.lock-$1" && flock ${dry:+-n} 9 || exit 1

# The folder's name has a hash of everything the kernel is built from.
version=$(<"$uml/source/version")
key=$({ awk -f "$here/options.awk" "${options[@]}" && cat "$here/uml.patch" && gcc --version; } | sha256sum | cut -c 1-8)
dir=$uml/$version-$key new=$uml/.$version-$key.new

# The last setting of each option that is not =n.
wanted() { awk -F= '/^CONFIG_/ { last[$1] = $0 } END { for (name in last) if (last[name] !~ /=n$/) print last[name] }' "$@"; }

build() {
	local lacks
	trap 'rm -rf "$new"' EXIT
	rm -rf "$new"
	echo "uml: building $version ($1), which takes five to ten minutes" >&2
	# patch and kbuild replace files, so hard links serve as a copy
	if ! {
		cp -al "$uml/source/linux" "$new" && patch -d "$new" -p1 <"$here/uml.patch" &&
			awk -f "$here/options.awk" "${options[@]}" >"$new/wanted.config" &&
			make -C "$new" ARCH=um KCONFIG_ALLCONFIG="$new/wanted.config" allnoconfig &&
			make -C "$new" ARCH=um -j"$(nproc)" linux modules &&
			make -C "$new" ARCH=um INSTALL_MOD_PATH="$new/root" modules_install
	} >"$uml/log" 2>&1 </dev/null; then
		tail -n 20 "$uml/log" >&2
		return 1
	fi
	# =y instead of =m is fine.
	lacks=$(wanted "$new/wanted.config" | grep -vxFf "$new/.config" | grep -vxFf <(sed -n 's/=y$/=m/p' "$new/.config"))
	[ -z "$lacks" ] || { printf 'uml: this source cannot have:\n%s\n' "$lacks" >&2; return 1; }
	mv -T "$new" "$dir"
}

if [ ! -x "$dir/linux" ]; then
	[ -z "$dry" ] || exit 1
	build "$1" || exit 1
fi
case $1 in
bench) ln -sfn "${dir##*/}" "$uml/kernel" ;;
kasan)
	kernel=${here%/tests/vm}/.cache/kernels/uml-kasan
	mkdir -p "$kernel" && ln -sfn "$(realpath --relative-to="$kernel" "$dir")" "$kernel/kdir" && ln -sfn kdir/linux "$kernel/linux" &&
		ln -sfn kdir/root/lib "$kernel/lib" && cp "$here/debug/uml.guest" "$kernel/guest" &&
		cp "$dir/include/config/kernel.release" "$kernel/version" || exit 1
	;;
esac
echo "$dir"
