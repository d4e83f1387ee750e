#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.sh NAME...: download and unpack what guests need, without installing anything on the machine.
# It is kept in ${XDG_CACHE_HOME:-~/.cache}/weir for all clones, to which .cache has links. NAME is
#   6.1 6.12 sid 6.12-rt   a Debian kernel: .cache/kernels/NAME/{version,vmlinux,lib/modules,kdir}
#   6.12-arm64     the same for arm64, with root, the programs of a small arm64 system
#   6.1-i386 6.1-armhf     the headers of a Debian kernel of 32 bit, to build for: .cache/kernels/NAME/{version,kdir}
#   source         checkpatch, the YNL client and the memory model, from the
#                  newest kernel source: .cache/source/{scripts,tools,Documentation}
#   pahole         sid's pahole: .cache/pahole/pahole
#   jq             trixie's jq, for Debian 12, whose jq takes ten times as long to start: .cache/jq/jq
#   captures       the capture files of Debian's tcpdump: .cache/captures/*.pcap
#   herd           herd7 and the libraries that it needs: .cache/herd/herd7
#   prometheus     promtool and prometheus: .cache/prometheus
#   servers        sshd, nginx, keepalived and bird, for tests in guests: .cache/servers
#   systemd        small systems with systemd, of Debian 12 and 13: .cache/systemd/SUITE
#   uml debug      the sources of User-Mode Linux (sid's) and the debug kernels (6.12):
#                  .cache/NAME/source/{version,linux}
# What is kept is not downloaded again, unless the function that unpacks it has changed; a clone that
# links to it first checks its sums. Partial results never have their final name.
# --sources SUITE prints the sources.list for SUITE.
# Exit 1 if a kernel 6.1 or 6.12 is not available, 3 if only something else.
# shellcheck disable=SC2015,SC2016,SC2317 # recipes are called by their names
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 1
store=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/weir
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

say() { printf 'setup: %s\n' "$*"; }

# The mirror that this machine uses; it has the other suites, too.
mirrors() {
	local code uri release
	# shellcheck source=/dev/null
	code=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	main='' security=''
	while read -r uri release; do
		case $release in
		"$code" | stable) main=${main:-${uri%/}} ;;
		"$code-security" | "$code/updates") security=${security:-${uri%/}} ;;
		esac
	done < <(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
		grep -v '^cdrom:' | sort -u)
	[ -n "$main" ] || { say "apt is configured with no Debian mirror of $code to take kernels from."; return 1; }
	security=${security:-$main-security}
}

sources() {
	local suite=$1 arch
	for arch in arm64 i386 armhf; do suite=${suite%-"$arch"}; done
	case $suite in *-source) echo "deb-src [signed-by=$keyring] $main ${suite%-source} main"; return ;; esac
	echo "deb [signed-by=$keyring] $main $suite main"
	# Headers to build for need not be the newest.
	case $1 in *-i386 | *-armhf | sid) return ;; esac
	echo "deb [signed-by=$keyring] $security $suite-security main"
}

# apt SUITE apt-get|apt-cache ARGS...: run with a separate package state for the suite;
# SUITE-arm64, -i386 and -armhf are for that architecture, besides this machine's packages
apt() {
	local d=$apt/$1 tool=$2 arch=amd64
	case $1 in *-arm64 | *-i386 | *-armhf) arch=${1##*-},amd64 ;; esac
	shift 2
	LC_ALL=C "$tool" -o Dir::Etc::sourcelist="$d/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::Etc::preferences=- -o Dir::Etc::preferencesparts="$d/none" -o APT::Default-Release= \
		-o Dir::State="$d" -o Dir::State::Lists="$d/lists" -o Dir::State::status="$d/status" \
		-o Dir::Cache="$d/cache" -o Acquire::Languages=none -o "APT::Architecture=${arch%,*}" \
		-o "APT::Architectures=$arch" -o APT::Sandbox::User= -o Acquire::Retries=3 "$@"
}

suite_init() {
	local s=$1 d=$apt/$1
	[ -e "$d/.updated" ] && return
	mkdir -p "$d/lists/partial" "$d/cache/archives/partial" "$d/none" && : >"$d/status" || return
	sources "$s" >"$d/sources.list"
	apt "$s" apt-get -qq update >"$d/log" 2>&1 && ! grep -q '^E:' "$d/log" && : >"$d/.updated"
}

# download SUITE DIR PACKAGE...: apt checks Debian's signature and the hashes
download() {
	local s=$1 dir=$2
	shift 2
	mkdir -p "$dir" && cd "$dir" && apt "$s" apt-get -qq download "$@" >>"$apt/$s/log" 2>&1
}

# The modules that tests use, of networks and a file system: a tenth of all.
wanted() {
	local d
	for d in ./lib/modules/'*' ./usr/lib/modules/'*'; do
		printf '%s\n' "$d/modules.*" "$d/vmlinuz" \
			"$d"/kernel/{net,lib,crypto,arch,mm,fs/{9p,netfs,fscache,overlayfs,ext4,jbd2}}/'*' \
			"$d"/kernel/drivers/{net,virtio,ptp,char/hw_random}/'*' \
			"$d"/kernel/{fs/mbcache,drivers/{char/virtio_console,block/{virtio_blk,loop}}}.ko'*'
	done
	echo './boot/vmlinuz-*'
}
unwanted() {
	printf '%s\n' '*/kernel/arch/*/'{kvm,events}/'*' \
		'*/drivers/net/'{can,dsa,ethernet,fddi,fjes,hamradio,hippi,hyperv,ieee802154,ipa,pcs,phy/[a-km-z],plip,thunderbolt,usb,wan,wireless,wwan,xen-netback}'*' \
		'*/kernel/net/'{6lowpan,appletalk,atm,ax25,bluetooth,caif,can,ceph,dccp,ieee802154,mac80211,mac802154,netrom,nfc,qrtr,rds,rose,rxrpc,smc,sunrpc,tipc,vmw_vsock,wireless,x25}/'*'
}

# unpack_vmlinuz FILE: print the ELF kernel in a bzImage, found by its header (see the
# kernel's Documentation/arch/x86/boot.rst); arm64's image is not compressed
unpack_vmlinuz() {
	local setup offset length
	if [ "$(od -An -c -j 56 -N 4 "$1" | tr -d ' ')" = ARMd ]; then
		cat "$1"
		return
	fi
	read -r setup < <(od -An -tu1 -j 497 -N 1 "$1")
	read -r offset length < <(od -An -tu4 -j 584 -N 8 "$1")
	tail -c "+$(((setup + 1) * 512 + offset + 1))" "$1" | head -c "$length" >"$1.payload"
	case $(od -An -tx1 -N 4 "$1.payload") in
	" fd 37"*) xz -dcq --single-stream "$1.payload" ;;
	" 28 b5"*) head -c -4 "$1.payload" | zstd -dcq ;;
	*) return 1 ;;
	esac
	# xz complains about the length field that follows the payload
	rm -f "$1.payload"
}

unpack_image() {
	local dir=$1 deb
	for deb in "$dir"/deb/linux-{image,modules,binary,base}-*.deb; do
		[ -e "$deb" ] || continue
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$dir" --wildcards -X <(unwanted) -T <(wanted) 2>"$dir/tar.log" ||
			grep -vE 'Not found in archive|previous errors' "$dir/tar.log" | grep . && return 1
	done
	rm -f "$dir/tar.log"
	[ -d "$dir/usr/lib/modules" ] && mkdir -p "$dir/lib" && mv "$dir/usr/lib/modules" "$dir/lib/"
	mv "$dir"/boot/vmlinuz-* "$dir/vmlinuz" 2>/dev/null || mv "$dir"/lib/modules/*/vmlinuz "$dir/vmlinuz" || return
	# An emulated guest needs seconds to decompress its kernel.
	unpack_vmlinuz "$dir/vmlinuz" >"$dir/vmlinux" && rm -f "$dir/vmlinuz" || return
	find "$dir/lib/modules" -name '*.ko.xz' -print0 | xargs -0 -r -n 64 -P 2 xz -d || return
	find "$dir/lib/modules" -name '*.ko.zst' -print0 | xargs -0 -r -n 64 -P 2 zstd -dq --rm || return
	find "$dir/lib/modules" -name '*.ko' -print0 | xargs -0 -n 64 -P 2 "${cross}strip" --strip-debug || return
	PATH=$PATH:/sbin:/usr/sbin depmod -b "$dir" "$2" 2>/dev/null
}

# Headers have one absolute path, and kbuild's tools may need a newer libc.
unpack_headers() {
	local dir=$1 ver=$2 suite=$3 deb tool d bits=64
	case $suite in *-i386 | *-armhf) bits=32 ;; esac
	for deb in "$dir"/deb/linux-{headers,kbuild}-*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir" ./usr/src ./usr/lib 2>/dev/null ||
			dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir" ./usr/src || return
	done
	rm -rf "$dir/usr/lib/modules"
	ln -s "usr/src/linux-headers-$ver" "$dir/kdir"
	sed -i -E 's#/usr/src/(linux-headers)#$(abspath $(dir $(lastword $(MAKEFILE_LIST)))/..)/\1#' "$dir/kdir/Makefile"
	rm -rf "$dir"/usr/lib/linux-kbuild-*/scripts/mod/modpost.real-{msb-*,*-$((96 - bits))} "$dir"/usr/lib/linux-kbuild-*/tools/objtool/objtool.real-powerpc
	find "$dir"/usr/lib/linux-kbuild-* -type f -perm -1 -size +5k -print0 |
		while IFS= read -r -d '' tool; do
			ldd "$tool" 2>&1 | grep -q 'not found' && printf '%s\0' "$tool"
		done >"$dir/foreign"
	if [ -s "$dir/foreign" ]; then
		download "$suite" "$dir/deb" libc6 libelf1t64 zlib1g libzstd1 || return
		for deb in "$dir"/deb/{libc6,libelf1t64,zlib1g,libzstd1}_*.deb; do
			dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir" --wildcards './usr/lib/x86_64-linux-gnu/*.so*' || return
		done
		while IFS= read -r -d '' tool; do
			mv "$tool" "$tool.elf" || return
			d=$(realpath --relative-to="${tool%/*}" "$dir/usr/lib/x86_64-linux-gnu")
			printf '#!/bin/sh\nd=${0%%/*}/%s\nexec "$d/ld-linux-x86-64.so.2" --argv0 "$0" --library-path "$d" "$0.elf" "$@"\n' "$d" >"$tool"
			chmod +x "$tool" || return
		done <"$dir/foreign"
	fi
	rm -f "$dir/foreign"
}

# userland DIR SUITE PACKAGES: unpack packages and their dependencies
userland() {
	local dir=$1 suite=$2 deb link
	rm -f "$apt/$suite"/cache/archives/*.deb # of another one
	# shellcheck disable=SC2086 # a list of package names
	apt "$suite" apt-get -qq -y --download-only --no-install-recommends install base-files $3 \
		>>"$apt/$suite/log" 2>&1 || return
	for link in bin lib lib64 sbin; do mkdir -p "$dir/usr/$link" && ln -s "usr/$link" "$dir/$link" || return; done
	for deb in "$apt/$suite"/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$dir" --keep-directory-symlink --exclude=./{etc,var,usr/share} --exclude='./usr/lib/*/perl/*' || return
	done
	rmdir "$dir"/* 2>/dev/null
	true
}

# The functions below put into the folder $dir what a NAME is.

systemd() {
	local suite packages='bash coreutils dash diffutils dpkg findutils grep init-system-helpers iproute2 kmod
		libc-bin libjansson4 libncursesw6 mawk perl-base sed systemd util-linux'
	for suite in bookworm trixie; do
		suite_init "$suite" && userland "$dir/$suite" "$suite" "$packages" &&
			(download "$suite" "$dir/$suite" dkms) && dpkg-deb --fsys-tarfile "$dir/$suite"/dkms_*.deb |
			tar -x -C "$dir/$suite" --keep-directory-symlink --exclude=./usr/share && rm "$dir/$suite"/dkms_*.deb || return
	done
}

servers() {
	suite_init bookworm &&
		userland "$dir" bookworm 'bird2 coreutils curl dash keepalived nginx-light openssh-client openssh-server'
}

kernel() {
	local name=$1 suite meta ver pkgs cross='' image=1
	case $name in
	6.1) suite=bookworm meta=linux-headers-amd64 ;;
	6.12) suite=bookworm meta=linux-headers-6.12-amd64 ;;
	6.12-rt) suite=bookworm meta=linux-headers-6.12-rt-amd64 ;;
	6.12-arm64) suite=bookworm-arm64 meta=linux-headers-6.12-arm64 cross=aarch64-linux-gnu- ;;
	6.1-i386) suite=bookworm-i386 meta=linux-headers-686-pae image='' ;;
	6.1-armhf) suite=bookworm-armhf meta=linux-headers-armmp image='' ;;
	sid) suite=sid meta=linux-headers-amd64 ;;
	*) say "no kernel is called $name (6.1, 6.12, 6.12-rt, 6.12-arm64, 6.1-i386, 6.1-armhf, sid)."; return 1 ;;
	esac
	suite_init "$suite" || return
	ver=$(apt "$suite" apt-cache depends "$meta" | sed -nE 's/.*Depends: linux-headers-([0-9].*)/\1/p' | head -n 1)
	[ -n "$ver" ] || { say "$suite has no $meta."; return 1; }
	# kbuild's tools run on this machine.
	pkgs="linux-headers-$ver $(apt "$suite" apt-cache depends "linux-headers-$ver" |
		sed -nE 's/.*Depends: (linux-headers-[^:]*-common.*)/\1/p; s/.*Depends: (linux-kbuild-[^:]*).*/\1:amd64/p' | sort -u | paste -sd ' ')"
	if [ -z "$image" ]; then
		true
	elif apt "$suite" apt-cache show "linux-modules-$ver" >/dev/null 2>&1; then
		pkgs="$pkgs linux-base-$ver linux-binary-$ver linux-modules-$ver"
	else
		pkgs="$pkgs linux-image-$ver"
	fi
	# shellcheck disable=SC2086 # a list of package names
	(download "$suite" "$dir/deb" $pkgs) || return
	# Programs that the tests run, and the tool's libraries
	[ -z "$cross" ] || userland "$dir/root" "$suite" 'bash busybox-static coreutils dash findutils grep iproute2
		iputils-ping jq kmod libjansson-dev libmnl-dev mawk nftables procps sed util-linux zlib1g-dev' || return
	{ [ -z "$image" ] || unpack_image "$dir" "$ver"; } && (unpack_headers "$dir" "$ver" "$suite") && echo "$ver" >"$dir/version" &&
		rm -rf "${dir:?}"/{deb,boot,usr/share}
}

# Prefer sid: older YNL clients cannot use the family.
source_bits() {
	local suite pkg v
	for suite in sid bookworm; do
		suite_init "$suite" || continue
		pkg=$(apt "$suite" apt-cache search --names-only '^linux-source-[0-9.]+$' | cut -d' ' -f1 | sort -V | tail -n 1)
		[ -n "$pkg" ] && (download "$suite" "$dir/deb" "$pkg") || continue
		v=linux-source-${pkg#linux-source-}
		dpkg-deb --fsys-tarfile "$dir"/deb/*.deb | tar -xO "./usr/src/$v.tar.xz" | xz -dc -T0 |
			tar -x -C "$dir" --strip-components=1 "$v"/scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch,coccinelle} \
				"$v"/tools/{net/ynl,memory-model,testing/selftests/{net/{lib.sh,lib,netfilter},kselftest}} "$v/Documentation/netlink" || continue
		rm -rf "$dir/deb"
		echo "$suite $pkg" >"$dir/version"
		return
	done
	return 1
}

captures() {
	local suite=bookworm-source
	suite_init "$suite" && (cd "$dir" && apt "$suite" apt-get -qq source --download-only tcpdump >/dev/null) &&
		tar -xf "$dir"/tcpdump_*.orig.tar.?z -C "$dir" --strip-components=2 --wildcards '*/tests/*.pcap' && rm -f "$dir"/tcpdump_*
}

# borrow PROGRAM SUITE PACKAGE...: a program of another suite, with the libraries that it needs
borrow() {
	local name=$1 suite=$2 deb args=''
	shift 2
	suite_init "$suite" && (download "$suite" "$dir/deb" "$@") || return
	for deb in "$dir"/deb/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$dir" --wildcards './usr/lib/x86_64-linux-gnu/*.so*' "./usr/bin/$name" "./usr/share/$1/herd" 2>/dev/null
	done
	[ -e "$dir/usr/bin/$name" ] || { say "$name does not unpack (is the disk full?)."; return 1; }
	rm -rf "$dir/deb" "$dir"/usr/lib/x86_64-linux-gnu/{gconv,audit}
	[ "$name" != herd7 ] || args=' -set-libdir "$d/../share/herdtools7/herd"'
	printf '%s\n' '#!/bin/sh' 'd=${0%/*}/usr/bin l=${0%/*}/usr/lib/x86_64-linux-gnu' \
		"exec \"\$l/ld-linux-x86-64.so.2\" --argv0 $name --library-path \"\$l\" \"\$d/$name\"$args \"\$@\"" >"$dir/$name"
	chmod +x "$dir/$name" && { "$dir/$name" --version || "$dir/$name" -version; } >/dev/null 2>&1
}

# promtool judges what weir metrics prints; prometheus serves the dashboard's queries.
prometheus() {
	suite_init bookworm && (download bookworm "$dir/deb" prometheus) && dpkg-deb --fsys-tarfile "$dir"/deb/prometheus_*.deb |
		tar -x -C "$dir" --strip-components=3 ./usr/bin/promtool ./usr/bin/prometheus && rm -rf "$dir/deb"
}

# tree SUITE REGEX: the newest kernel source of SUITE that matches, to build a kernel from. It is a
# third of the whole: for other architectures and drivers only the files that kbuild reads.
tree() {
	local suite=$1 pkg v
	suite_init "$suite" || return
	pkg=$(apt "$suite" apt-cache search --names-only "$2" | cut -d' ' -f1 | sort -V | tail -n 1)
	[ -n "$pkg" ] || { say "$suite has no kernel source ($2)."; return 1; }
	mkdir "$dir/linux" && (download "$suite" "$dir/deb" "$pkg") || return
	v=linux-source-${pkg#linux-source-}
	dpkg-deb --fsys-tarfile "$dir"/deb/*.deb | tar -xO "./usr/src/$v.tar.xz" | xz -dc -T0 |
		tar -x -C "$dir/linux" --strip-components=1 \
			--exclude="$v"/{Documentation,sound,arch/{a,c,h,l,m,n,o,p,r,s}'*'}/'*.[cSh]*' \
			--exclude="$v"/drivers/{gpu,media,staging,infiniband,scsi,accel,iio,net/ethernet,net/wireless}/'*.[ch]' \
			--exclude="$v"/arch/'[a-t]*'/boot --exclude="$v"/tools/{testing,perf} &&
		dpkg-deb -f "$dir"/deb/*.deb Version >"$dir/version" && rm -rf "$dir/deb"
}

# recipe NAME: set $link, where .cache has it, and $recipe, the function that makes it and its words
recipe() {
	link=$1
	case $1 in
	source) recipe=(source_bits) ;;
	# what makes the BTF of modules for sid's kernel
	pahole) recipe=(borrow pahole sid pahole libdwarves1 libbpf1 libdw1t64 libelf1t64 libc6 zlib1g libzstd1 liblzma5 libbz2-1.0) ;;
	jq) recipe=(borrow jq trixie jq libjq1 libonig5 libc6) ;;
	herd) recipe=(borrow herd7 sid herdtools7 libc6 libgmp10) ;;
	captures | prometheus | servers | systemd) recipe=("$1") ;;
	uml) link=uml/source recipe=(tree sid '^linux-source-[0-9.]+$') ;;
	debug) link=debug/source recipe=(tree bookworm '^linux-source-6\.12$') ;;
	*) link=kernels/$1 recipe=(kernel "$1") ;;
	esac
}

# whole DIR: are the files of DIR those that were unpacked?
whole() { (cd "$1" 2>/dev/null && sha256sum --quiet -c ../"${1##*/}.sums") >/dev/null 2>&1; }

# provide: download what $recipe makes, unless it is kept, and let $link lead to it
provide() {
	local name=${link//\//-} keep dir
	keep=$store/$name-$(declare -f download unpack_image wanted unwanted unpack_headers userland "${recipe[0]}" |
		cat - <(echo "${recipe[*]}") | sha256sum | cut -c 1-12)
	[ "$(readlink "$top/.cache/$link")" != "$keep" ] || [ ! -e "$keep" ] || return 0
	if ! whole "$keep"; then
		[ -d "$apt" ] || { apt=$(mktemp -d "$store/apt.XXXXXX") && mirrors; } || return
		say "downloading $name"
		dir=$apt/$name && mkdir -p "$dir" || return
		"${recipe[@]}" || { say "$name cannot be had: $(grep -h '^[EW]:' "$apt"/*/log 2>/dev/null | head -n 1)"; return 1; }
		(cd "$dir" && find . -type f -print0 | xargs -0 sha256sum) >"$dir.sums" && rm -rf "$keep" &&
			mv "$dir.sums" "$keep.sums" && mv -T "$dir" "$keep" || return
	fi
	mkdir -p "$(dirname "$top/.cache/$link")" && rm -rf "$top/.cache/$link" && ln -s "$keep" "$top/.cache/$link"
}

if [ "${1:-}" = --sources ]; then
	mirrors && sources "$2"
	exit
fi
apt='' # the state of apt, which is as large as a kernel and soon stale
mkdir -p "$store" || exit 1
trap 'rm -rf "$apt"' EXIT
trap 'exit 130' INT TERM
exec 9>"$store/.lock" && flock 9 || exit 1
status=0
for name; do
	[ "$name" != jq ] || [ "$(jq --version)" = jq-1.6 ] || continue
	recipe "$name"
	provide || case $name in
	6.1 | 6.12*) status=1 ;;
	*) status=$((status ? status : 3)) ;;
	esac
done
exit "$status"
