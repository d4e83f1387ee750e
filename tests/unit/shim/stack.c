// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts of the network stack that the hook needs, in user space. */

u64 shim_jiffies, (*shim_clock)(void);
time64_t shim_real_seconds;
unsigned int shim_looks;
struct user_namespace init_user_ns;

static struct hrtimer *timers;

static void timer_remove(struct hrtimer *timer)
{
	struct hrtimer **at;

	for (at = &timers; *at; at = &(*at)->next)
		if (*at == timer) {
			*at = timer->next;
			break;
		}
}

void hrtimer_cancel(struct hrtimer *timer)
{
	timer_remove(timer);
	timer->expires = S64_MAX;
}

void shim_timer_start(struct hrtimer *timer)
{
	timer_remove(timer);
	timer->next = timers;
	timers = timer;
}

void shim_timers_run(void)
{
	struct hrtimer *timer;

	for (timer = timers; timer; timer = timer->next)
		while (timer->expires <= shim_real_seconds)
			timer->function(timer);
}

bool dev_valid_name(const char *name)
{
	return *name && !strpbrk(name, "/: \t\n");
}

bool ipv6_ext_hdr(u8 next)
{
	return next == NEXTHDR_HOP || next == NEXTHDR_ROUTING ||
	       next == NEXTHDR_FRAGMENT || next == NEXTHDR_AUTH ||
	       next == NEXTHDR_NONE || next == NEXTHDR_DEST;
}

unsigned int ipv6_addr_type(const struct in6_addr *addr)
{
	return (ntohl(addr->s6_addr32[0]) & 0xffc00000) == 0xfe800000 ? IPV6_ADDR_LINKLOCAL : 0;
}

void ipv6_addr_prefix(struct in6_addr *prefix, const struct in6_addr *addr, int len)
{
	int i;

	for (i = 0; i < 16; i++, len -= 8)
		prefix->s6_addr[i] = len <= 0 ? 0 : addr->s6_addr[i] & (len < 8 ? 0xff00 >> len : 0xff);
}

bool ipv6_prefix_equal(const struct in6_addr *a, const struct in6_addr *b, unsigned int len)
{
	const u8 *x = (const u8 *)a, *y = (const u8 *)b;

	if (memcmp(x, y, len / 8))
		return false;
	return !(len % 8) || !((x[len / 8] ^ y[len / 8]) >> (8 - len % 8));
}

int ipv6_skip_exthdr(const struct sk_buff *skb, int start, u8 *next, __be16 *frag_off)
{
	struct ipv6_opt_hdr *ext, room;
	__be16 off, *offset;

	*frag_off = 0;
	while (ipv6_ext_hdr(*next)) {
		ext = *next == NEXTHDR_NONE ? NULL :
		      skb_header_pointer(skb, start, sizeof(room), &room);
		if (!ext)
			return -1;
		if (*next == NEXTHDR_FRAGMENT) {
			offset = skb_header_pointer(skb, start + 2, 2, &off);
			if (!offset)
				return -1;
			*frag_off = *offset;
			if (ntohs(*offset) & ~7)
				break;
			start += 8;
		} else {
			start += *next == NEXTHDR_AUTH ? ipv6_authlen(ext) : ipv6_optlen(ext);
		}
		*next = ext->nexthdr;
	}
	return start;
}
