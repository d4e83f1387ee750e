/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_IN6_H
#define SHIM_IN6_H

#include <asm/byteorder.h>
#include_next <linux/in6.h>

#ifndef htonl
#define htonl(x) __cpu_to_be32(x)
#define ntohl(x) __be32_to_cpu(x)
#define htons(x) __cpu_to_be16(x)
#define ntohs(x) __be16_to_cpu(x)
#endif

#endif
