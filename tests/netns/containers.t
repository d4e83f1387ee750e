#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# containers.t: Podman's containers on its bridge: published ports, what containers send, what they
# send to each other, limits inside one, and weir called in one
. "$(dirname "$0")/lib.sh"
for tool in podman iptables; do command -v "$tool" >/dev/null || skip_all "no $tool"; done
[ -x /bin/busybox ] || skip_all "no busybox"
begin
end_not_here
store=/var/lib/containers root=$tmp/root
mkdir -p "$store" "$root"/{bin,proc,sys,dev,etc,tmp,run,www,host}
mount -t tmpfs none "$store" || bail "no store"
cp /bin/busybox "$root/bin/"
for tool in sh ping httpd chroot; do ln -s busybox "$root/bin/$tool"; done
echo hello >"$root/www/hello"

# container NAME OPTION... -- COMMAND...: run one in the background
pod() { podman --log-level=error --cgroup-manager=cgroupfs --storage-driver=vfs "$@"; }
container() {
	local name=$1 options=()
	shift
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	pod run -d --cgroups=disabled --cap-add=net_raw --log-driver=none --name "$name" "${options[@]}" --rootfs "$root:O" "$@" >/dev/null 2>"$tmp/pod" ||
		bail "no container: $(<"$tmp/pod")"
}
address() { pod inspect -f '{{.NetworkSettings.IPAddress}}' "$1"; }
pid() { pod inspect -f '{{.State.Pid}}' "$1"; }
matched() { stat_of "$1" matched.packets; }
client() { ip netns exec "$tx" "$@"; }

container web -p 8080:80 -- /bin/httpd -f -p 80 -h /www
container other -- /bin/httpd -f -p 81 -h /www
web=$(address web) other=$(address other)
ip -n "$tx" addr add 192.0.2.2/24 dev tx0
ip -n "$tx" route add default via 192.0.2.1
answers() { [ "$(client curl -sS --max-time 20 http://192.0.2.1:8080/hello 2>"$tmp/curl")" = hello ]; }
wait_for 60 answers || bail "the container does not answer: $(<"$tmp/curl")"

# A published port is matched as it is sent to: before DNAT
config <<-FILE
	limit add published budget 20/1h proto tcp to 192.0.2.1 dport 8080
	limit add inside budget 20/1h proto tcp to $web dport 80
FILE
flood -P tcp -D 8080 -s 198.51.100.9 -c 50
is "$(matched published) $(stat_of published dropped.packets)" "50 30" "a published port: a limit on the host's address and port"
is "$(matched inside)" 0 "... one on the container's address and port is never met from outside"

# What a container sends is a packet of the host's bridge
config <<-'FILE'
	limit add from-outside budget 1000/1h proto icmp dev rx0
	limit add from-containers budget 3/1h proto icmp dev podman0
FILE
pod exec other /bin/ping -c 5 -W 1 192.0.2.2 >"$tmp/ping"
is "$(matched from-containers) $(stat_of from-containers dropped.packets)" "5 2" "a container's packets come from its bridge"
is "$(weir -j source show limit from-containers | jq -r '.[0].source')" "$other" "... each container is a source"
is "$(matched from-outside)" 3 "... the answers come from the device outside"

# Between containers of a bridge
modprobe br_netfilter || bail "no br_netfilter"
config <<<"limit add between budget 1000/1h proto icmp"
sysctl -qw net.bridge.bridge-nf-call-iptables=0
pod exec other /bin/ping -c 3 -W 1 "$web" >/dev/null
is "$(matched between)" 0 "what containers of one bridge send each other is not seen"
sysctl -qw net.bridge.bridge-nf-call-iptables=1
pod exec other /bin/ping -c 3 -W 1 "$web" >/dev/null
is "$(matched between)" 6 "... but with br_netfilter, once each"

# Inside: limits in the namespace of one container
weir limit flush
weir -q -n "$(pid web)" limit add inside budget 2/1h proto icmp >/dev/null
pod exec other /bin/ping -c 4 -W 1 "$web" >"$tmp/ping"
like "$(<"$tmp/ping")" "4 packets transmitted, 2 packets received" "a limit in a container's namespace, made from the host"
is "$(weir -j limit show)" "[]" "... is none of the host's"

# weir in a container without privileges, and without the module
inside() { pod run --rm --cgroups=disabled --log-driver=none -v /:/host:ro --rootfs "$root:O" /bin/chroot /host "$top/userspace/weir" limit show 2>&1; }
like "$(inside)" "^weir: .*CAP_NET_ADMIN" "weir in a container without privileges says what it lacks"
pod rm -fa -t 0 >/dev/null 2>&1
unload
like "$(inside)" "^weir: .*in a container on its host" "... and without the module, where that is loaded"
pod rm -fa -t 0 >/dev/null 2>&1
umount -l "$store"
ip link delete podman0
nft flush ruleset
finish
