#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# crowdsec.sh add|del ADDRESS SECONDS REASON JSON: have crowdsec-custom-bouncer block by weir.
# It is called for each decision; /etc/crowdsec/bouncers/crowdsec-custom-bouncer.yaml.local
# names it as its bin_path. The limit "crowdsec", which it makes, has no other blocks. A decision on
# a range blocks the prefix; those on countries are refused, and the bouncer logs why. Have the limit in
# /etc/weir.d, too, as systemctl reload weir ends it otherwise; if it has gone, restart the bouncer.
case $1 in
add)
	weir limit show crowdsec >/dev/null 2>&1 || weir -exist limit add crowdsec blocks 50000 per 32,128
	exec weir -exist source block "$2" limit crowdsec for "$3s"
	;;
del) exec weir -exist source release "$2" limit crowdsec ;;
*) echo "usage: $0 add|del ADDRESS SECONDS REASON JSON" >&2 && exit 1 ;;
esac
