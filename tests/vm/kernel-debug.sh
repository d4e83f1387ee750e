#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernel-debug.sh [-n] NAME...: build debug kernels for guests, from Debian's
# linux-source-6.12 (fetch.sh debug) and the configurations in debug/:
#   6.12-kasan   memory, locks, RCU, lifetimes, leaks, undefined behaviour; faults
#   6.12-kcsan   data races
# .cache/kernels/NAME is then laid out as by fetch.sh, for guest.sh, kernel-build.sh
# and run.sh. A kernel is built again if the version of its source, its
# configuration or the compiler has changed.
#	-n  build nothing: exit 1 if something had to be built
# Exit 4 if the source is missing.
set -u
here=$(cd "$(dirname "$0")" && pwd -P) && top=$(realpath "$here/../..") || exit 1
cache=$top/.cache/debug
source=$cache/source/linux
dry=''
[ "${1:-}" != -n ] || { dry=1; shift; }

say() { printf '# %s\n' "$*"; }

# Further arguments of make, one per line
words_of() {
	case $1 in kcsan) echo KCSAN_SANITIZE=n ;; esac
}

options_of() { awk -f "$here/options.awk" "$here/debug/base.options" "$here/debug/$1.options"; }

# A hash of what a kernel is built from
key() {
	local hash
	hash=$({ options_of "$1" && words_of "$1" && "$cc" --version; } | sha256sum) &&
		echo "$(<"$cache/source/version")-$1-${hash:0:12}"
}

# configure FLAVOUR DIR: configure; an option that the source lacks is an error
configure() {
	local want
	mkdir -p "$2" && options_of "$1" >"$2/wanted.config" &&
		make -s -C "$source" "O=$2" "CC=$cc" "KCONFIG_ALLCONFIG=$2/wanted.config" allnoconfig || return
	want=$(grep -E '^CONFIG_[A-Z0-9_]+=[^n]' "$2/wanted.config" | grep -vxFf "$2/.config")
	[ -z "$want" ] || { say "this source cannot have:" "$want"; return 1; }
}

# install FLAVOUR DIR NAME: install where guests look for it
install() {
	local flavour=$1 dir=$2 to=$cache/.$3.new
	rm -rf "$to" && mkdir -p "$to" &&
		make -s -C "$dir" "INSTALL_MOD_PATH=$to" modules_install &&
		rm -f "$to"/lib/modules/*/{build,source} &&
		strip -o "$to/vmlinux" "$dir/vmlinux" &&
		cp "$dir/include/config/kernel.release" "$to/version" &&
		rm -rf "$top/.cache/kernels/$3" && mv -T "$to" "$top/.cache/kernels/$3"
}

# The tree's Makefile has one absolute path, but the checkout may move.
relocate() {
	# shellcheck disable=SC2016 # expanded by make
	sed -i 's#^include /.*#include $(abspath $(dir $(lastword $(MAKEFILE_LIST)))../source/linux/Makefile)#' "$1/Makefile"
}

build() {
	local flavour=$1 name=$2 dir=$cache/$1 start=$SECONDS words
	mapfile -t words < <(words_of "$flavour")
	say "building $name, which takes a quarter of an hour on two cores (log: .cache/debug/$flavour.log)"
	rm -f "$dir/key"
	{
		configure "$flavour" "$dir" &&
			nice make -s -C "$source" "O=$dir" "CC=$cc" "-j$(nproc)" "${words[@]}" vmlinux modules &&
			install "$flavour" "$dir" "$name" && relocate "$dir" && key "$flavour" >"$dir/key"
	} >"$cache/$flavour.log" 2>&1 </dev/null ||
		{ tail -n 20 "$cache/$flavour.log"; say "$name does not build"; return 1; }
	say "$name took $((SECONDS - start)) s"
}

# gcc-12, as for the modules; KCSAN wants 11 or later.
cc=$(command -v gcc-12 || command -v gcc) || { say "no compiler"; exit 4; }
[ -e "$cache/source/version" ] || { say "the source of the debug kernels is not here; make test-debug downloads it"; exit 4; }
mkdir -p "$top/.cache/kernels" && exec 9>"$cache/.lock" && flock ${dry:+-n} 9 || exit 1
for name; do
	flavour=${name#6.12-}
	case $name in
	6.12-kasan | 6.12-kcsan) ;;
	*) say "no debug kernel is called $name (6.12-kasan, 6.12-kcsan)"; exit 1 ;;
	esac
	if [ ! -e "$top/.cache/kernels/$name/version" ] || [ "$(cat "$cache/$flavour/key" 2>/dev/null)" != "$(key "$flavour")" ]; then
		[ -z "$dry" ] || exit 1
		build "$flavour" "$name" || exit 1
	fi
	# The link breaks if .cache/kernels moves to another disk.
	[ -e "$top/.cache/kernels/$name/kdir" ] ||
		ln -sfn "$(realpath --relative-to="$top/.cache/kernels/$name" "$cache/$flavour")" "$top/.cache/kernels/$name/kdir" || exit 1
	cmp -s "$here/debug/$flavour.guest" "$top/.cache/kernels/$name/guest" ||
		cp "$here/debug/$flavour.guest" "$top/.cache/kernels/$name/guest" || exit 1
done
