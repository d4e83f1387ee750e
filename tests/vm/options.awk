# SPDX-License-Identifier: GPL-2.0-or-later
# options.awk: files of kernel options NAME[=VALUE], by default =y, as kconfig reads them
{ sub(/#.*/, ""); for (i = 1; i <= NF; i++) print "CONFIG_" $i ($i ~ /=/ ? "" : "=y") }
