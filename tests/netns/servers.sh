# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # of lib.sh
# servers.sh: Debian's sshd and nginx with their clients, as tests/vm/fetch.sh unpacks them.
#
# A client at 192.0.2.2 and .3, through tx0, and the servers in $rx at 192.0.2.1; end_not_here first.

root=/run/servers/root

# servers: mount them at $root, whose changes go with the guest; give the client its addresses
servers() {
	local mac
	[ -e "$top/.cache/servers/packages" ] || skip_all "no servers are here; make setup downloads them"
	mkdir -p /run/servers/{root,up,work} && mountpoint -q "$root" ||
		mount -t overlay -o "lowerdir=$top/.cache/servers,upperdir=/run/servers/up,workdir=/run/servers/work" servers "$root" ||
		bail "no overlay"
	mkdir -p "$root"/{dev,proc,etc,tmp,root,run/sshd,var/log/nginx,var/lib/nginx,www} &&
		mount --bind /dev "$root/dev" && mount -t proc proc "$root/proc" || bail "no dev, no proc"
	printf '%s\n' root:x:0:0::/root:/bin/dash sshd:x:100:100::/run/sshd:/bin/false >"$root/etc/passwd"
	printf '%s\n' root:x:0: nogroup:x:100: >"$root/etc/group"
	ip_tx -batch - <<-WORDS
		addr add 192.0.2.2/24 dev tx0
		addr add 192.0.2.3/24 dev tx0
		neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 nud permanent dev tx0
	WORDS
	mac=$(ip_tx -json link show dev tx0 | json address)
	for n in 2 3; do ip_rx neigh add 192.0.2.$n lladdr "$mac" nud permanent dev rx0; done
	trap 'umount "$root/dev" "$root/proc"; cleanup' EXIT
}
server() { rx chroot "$root" "$@" & pids+=($!); }
client() { tx chroot "$root" "$@"; }
listens() { rx ss -Hltn "sport = $1" | grep -q .; }
