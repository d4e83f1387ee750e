#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fresh.sh [-t TARGET]... [bookworm|trixie]...: on minimal Debian systems that have only git and
# make, check that a clean clone of HEAD sets itself up: make each TARGET (such as "T=netns/smoke
# test"; default: demo, twice) and print how long it took. The log is .cache/fresh/SUITE.log.
set -u
top=$(cd "$(dirname "$0")/.." && pwd -P) && cd "$top" || exit 1
# Runs in its own mount and PID namespaces, so its mounts disappear with it
inside() {
	local root=$1 target=$2
	# Tests unshare the mount namespace, so / must be a mount point.
	mount --bind "$root" "$root" && mount -t proc proc "$root/proc" && mount -t sysfs -o ro sys "$root/sys" &&
		mount --rbind /dev "$root/dev" && mount -t tmpfs shm "$root/dev/shm" || return
	cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null
	# shellcheck disable=SC2086 # a target and its variables
	exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" \
		http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" make -C /root/weir $target
}

if [ "${1:-}" = --inside ]; then
	shift
	inside "$@"
	exit 1
fi

targets=()
while getopts t: opt; do
	case $opt in
	t) targets+=("$OPTARG") ;;
	*) exit 1 ;;
	esac
done
shift $((OPTIND - 1))
[ ${#targets[@]} -gt 0 ] || targets=(demo demo)
[ $# -gt 0 ] || set -- bookworm trixie
say() { printf 'fresh: %s\n' "$*"; }

if [ "$(id -u)" != 0 ]; then
	exec sudo "$0" "${targets[@]/#/-t}" "$@"
fi
command -v mmdebstrap >/dev/null ||
	DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends -y mmdebstrap >/dev/null 2>&1 ||
	{ say "mmdebstrap cannot be had."; exit 1; }

fresh() {
	local suite=$1 dir=$top/.cache/fresh/$1 log=$top/.cache/fresh/$1.log target start
	mkdir -p "${dir%/*}" && rm -rf --one-file-system "$dir" || return
	say "$suite: making a minimal system"
	tests/vm/fetch.sh --sources "$suite" | mmdebstrap --quiet --variant=minbase --include=git,make "$suite" "$dir" - >"$log" 2>&1 ||
		{ say "$suite: a minimal system cannot be made: $(grep -m 1 '^E:' "$log")"; return 1; }
	# Reach the mirror the way this machine does.
	apt-config dump | grep -E 'Check-Valid-Until|::[Pp]roxy|::Retries' >"$dir/etc/apt/apt.conf.d/90host"
	git clone -q --no-local . "$dir/root/weir" || return
	for target in "${targets[@]}"; do
		start=$EPOCHREALTIME
		unshare --mount --pid --kill-child "$0" --inside "$dir" "$target" </dev/null >>"$log" 2>&1 || {
			say "$suite: make $target failed; the end of $log:"
			tail -n 30 "$log"
			return 1
		}
		say "$suite: make $target took $(awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $start }") s"
	done
	rm -rf --one-file-system "$dir"
}

status=0
for suite; do fresh "$suite" || status=1; done
exit "$status"
