#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# setup.sh demo|fleet|test|all|debug|arm64|native...: prepare a Debian 12 or 13 machine for the make
# targets: install missing packages, download guest kernels or kernel sources
# (vm/fetch.sh). With NO_SETUP=1 it does nothing.
set -u
[ -z "${NO_SETUP:-}" ] || exit 0
here=$(cd "$(dirname "$0")" && pwd -P) || exit 1

say() { printf 'setup: %s\n' "$*"; }
die() { say "$*" >&2; exit 1; }

demo_packages='gcc libc6-dev make pkgconf libmnl-dev libjansson-dev zlib1g-dev libelf1 busybox-static kmod
	iproute2 nftables procps qemu-system-x86 xz-utils zstd'
test_packages="$demo_packages clang sparse shellcheck mandoc codespell jq zsh python3
	libcmocka-dev libclang-rt-dev libnats-dev libncurses-dev libpcap-dev nats-server tmux strace e2fsprogs python3-yaml python3-jsonschema python3-z3 iptables iputils-ping tzdata
	ethtool tcpdump tshark iperf3 bc libcap2-bin debhelper dh-dkms dkms lintian openssl pahole
	bpftool bpftrace linux-perf dropwatch libbpf-dev libxdp1 xdp-tools ulogd2 fail2ban crowdsec-custom-bouncer
	sphinx-common python3-sphinx furo python3-myst-parser"
all_packages="$test_packages bison flex gcc-arm-linux-gnueabihf apt-utils autopkgtest podman crun netavark conntrack socat"
debug_packages="$test_packages flex bison libelf-dev"
arm64_packages="$test_packages qemu-system-arm gcc-aarch64-linux-gnu libc6-dev-arm64-cross"

packages='' kernels=''
for group; do
	case $group in
	demo) packages="$packages $demo_packages" kernels="$kernels 6.12" ;;
	fleet) packages="$packages $demo_packages libnats-dev nats-server jq python3" kernels="$kernels 6.12" ;;
	test) packages="$packages $test_packages" kernels="$kernels 6.1 6.12 source herd captures prometheus jq" ;;
	all) packages="$packages $all_packages" kernels="$kernels 6.1 6.12 sid source herd captures prometheus jq pahole servers systemd uml 6.1-i386 6.1-armhf" ;;
	picture) packages="$packages $test_packages chromium" kernels="$kernels 6.12 prometheus jq" ;;
	debug) packages="$packages $debug_packages" kernels="$kernels debug" ;;
	arm64) packages="$packages $arm64_packages" kernels="$kernels 6.12-arm64" ;;
	native) packages="$packages $debug_packages time util-linux" kernels="$kernels uml" ;;
	*) die "there is no set-up called $group (demo, fleet, test, all, picture, debug, arm64, native)." ;;
	esac
done

words() { tr -s '[:space:]' '\n' <<<"$*" | grep . | sort -u; }

# A package is not missing if another one provides it.
missing() {
	dpkg-query -W -f '${db:Status-Abbrev}${Package} ${Provides}\n' |
		sed -nE 's/^ii //p' | tr -s ', ' '\n' | sort -u | comm -13 - <(words "$packages")
}

for tool in dpkg-query apt-get; do
	command -v "$tool" >/dev/null || die "this is no Debian; what is needed: $(words "$packages" | paste -sd ' ')"
done
todo=$(missing | paste -sd ' ')
if [ -n "$todo" ]; then
	sudo=()
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || die "these packages are missing, and there is neither root nor sudo to install them: $todo"
		sudo=(sudo)
	fi
	say "installing $todo"
	log=$(mktemp) && trap 'rm -f "$log"' EXIT || exit 1
	apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq -o Dpkg::Use-Pty=0)
	"${apt[@]}" update >"$log" 2>&1 || say "apt-get update: $(grep -m 1 '^[EW]:' "$log")"
	# shellcheck disable=SC2086 # a list
	"${apt[@]}" install --no-install-recommends -y $todo >"$log" 2>&1 </dev/null ||
		die "the packages $todo cannot be had: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")"
fi

mapfile -t kernels < <(words "$kernels")
"$here/vm/fetch.sh" "${kernels[@]}"
case $? in
0 | 3) exit 0 ;; # something optional is missing: its tests are skipped
*) exit 1 ;;
esac
