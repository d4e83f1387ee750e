#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# uml-build.sh: build User-Mode Linux for two CPUs from Debian's newest kernel
# source, if that has not been done: .cache/uml/VERSION-CONFIGURATION/{linux,...}
# and the link .cache/uml/kernel to it, where modules are built for it (make
# modules KDIR=.cache/uml/kernel ARCH=um). Prints the folder. 4: nothing to
# build from.
set -u
here=$(cd "$(dirname "$0")" && pwd -P) && uml=${here%/tests/vm}/.cache/uml || exit 1
"$here/fetch.sh" uml >&2 || exit 4
mkdir -p "$uml" && exec 9>"$uml/.lock" && flock 9 || exit 1

# What the kernel is made of names it: source, configuration, patch, compiler.
version=$(<"$uml/source/version")
key=$({ cat "$here/uml.config" "$here/uml.patch" && gcc --version; } | sha256sum | cut -c 1-8)
dir=$uml/$version-$key
if [ ! -x "$dir/linux" ]; then
	new=$uml/.$version-$key.new
	trap 'rm -rf "$new"' EXIT
	rm -rf "$new"
	echo "uml: building $version, which takes about five minutes" >&2
	# patch and kbuild write new files, so links serve as a copy
	if ! {
		cp -al "$uml/source/linux" "$new" && patch -d "$new" -p1 <"$here/uml.patch" &&
			make -C "$new" ARCH=um KCONFIG_ALLCONFIG="$here/uml.config" allnoconfig &&
			make -C "$new" ARCH=um -j"$(nproc)" linux modules
	} >"$uml/log" 2>&1; then
		tail -n 20 "$uml/log" >&2
		exit 1
	fi
	while read -r line; do
		case $line in CONFIG_*=[my]) grep -qx "${line%=*}=[my]" "$new/.config" || echo "uml: this kernel has no $line" >&2 ;; esac
	done <"$here/uml.config"
	make -C "$new" ARCH=um INSTALL_MOD_PATH="$new/root" modules_install >>"$uml/log" 2>&1 || exit 1
	mv -T "$new" "$dir" || exit 1
fi
ln -sfn "${dir##*/}" "$uml/kernel"
echo "$dir"
