// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * newcomers: simulate spoofed floods that a guest cannot send. The module's own hook, in user
 * space on the shim of the unit tests, gets the packets of a few minutes of virtual time: from
 * sources that were there before, from clients that arrive during the flood, and from the flood.
 * Prints what became of them.
 */
#include <linux/in.h>
#include <linux/jiffies.h>
#include <linux/skbuff.h>
#include <linux/user_namespace.h>

#include <stdint.h>
#include <stdio.h>

#include "chance.h"
#include "hook_edit.h"

#define ARRIVE	(10 * HZ)	/* by then all that are to be known have come */
#define SET	(11 * HZ)	/* the limit gets its newcomers' budget, or is added with it */
#define BEFORE	(45 * HZ)	/* the flood begins */
#define DURATION (60 * HZ)	/* of the flood */
#define CLIENTS	20		/* that arrive a second during most of it */

#define SPEAKERS	8192	/* send 2 packets a second */
#define IDLERS		8192	/* send a packet in ten seconds */
#define HOSTS_MAX	(SPEAKERS + IDLERS + CLIENTS * 30)
#define HOST_FIRST	0x80000000	/* address of the first host; the floods' are below */

/* Clients send SYN at these seconds, until one is admitted. */
static const u8 syn_at[] = { 0, 1, 3, 7 };

enum kind { SPEAKER, IDLER, CLIENT, KINDS };

static struct host {
	enum kind kind;
	u32 born;		/* tick */
	u16 sent;		/* packets of a client, at most SYNs until it is connected */
	bool connected;
	struct host *next;	/* that sends at the same tick */
} hosts[HOSTS_MAX], *due[BEFORE + DURATION];

struct flood {
	const char *name;
	u32 rate;		/* packets a second */
	enum { UNIQUE, RANDOM, TWICE, POOL } addresses;
	u32 pool;
};

static const struct flood floods[] = {
	{ "100k/s, never repeated", 100000, UNIQUE, 0 },
	{ "1M/s, never repeated", 1000000, UNIQUE, 0 },
	{ "1M/s, any of 2^32", 1000000, RANDOM, 0 },
	{ "100k/s, each sent twice", 100000, TWICE, 0 },
	{ "100k/s, a pool of 16,384", 100000, POOL, 16384 },
	{ "100k/s, a pool of 65,536", 100000, POOL, 65536 },
};

static const struct setting {
	u32 sources, newcomers, flood, known_ms;
	u32 speed;		/* packets a second of a connected client */
	u32 floods;		/* a bit for each */
	bool added;		/* with its newcomers' budget, which is not set later */
} settings[] = {
	{ 20480, 0, 0, 0, 2, 0x03, false },
	{ 20480, 2000, 100000, 10000, 2, 0x3b, false },
	{ 20480, 2000, 1000000, 10000, 2, 0x06, false },
	{ 20480, 2000, 100000, 10000, 2, 0x31, true },
	{ 16384, 2000, 100000, 10000, 2, 0x39, false },
	{ 8192, 2000, 100000, 10000, 2, 0x31, false },
	{ 20480, 2000, 100000, 10000, 20, 0x01, false },
	{ 20480, 2000, 100000, 1000, 20, 0x39, false },
};

static struct chance random_state;
static struct net net = { .user_ns = &init_user_ns };
static struct weir_net wn = { .net = &net };
static struct net_device dev = { .name = "eth0", .ifindex = 1 };

static struct result {
	u64 sent[KINDS], lost[KINDS];	/* during the flood; of clients, once connected */
	u64 clients, connected[ARRAY_SIZE(syn_at)], flood, passed;
} result;

void weir_event_source(struct weir_net *wn, const struct weir_limit *limit,
		       const struct weir_source *source)
{
}

void weir_event_pressure(struct weir_net *wn, const struct weir_limit *limit, u64 tick)
{
}

/* Is a packet from an IPv4 address admitted? */
static bool admitted(u32 address)
{
	struct iphdr header = {
		.version = 4, .ihl = 5, .tot_len = htons(sizeof(header)),
		.protocol = IPPROTO_ICMP, .saddr = htonl(address),
	};
	struct sk_buff skb = { .dev = &dev, .network = &header, .len = sizeof(header),
			       .transport = sizeof(header) };
	struct nf_hook_state state = { .pf = AF_INET, .in = &dev };
	bool accept;

	if (!shim_hooks)
		return true;
	/* A network card distributes its queues by a hash of the address. */
	shim_cpu = address * 2654435761u >> 30;
	local_bh_disable();
	rcu_read_lock();
	accept = shim_hooks->hook(shim_hooks->priv, &skb, &state) == NF_ACCEPT;
	rcu_read_unlock();
	local_bh_enable();
	return accept;
}

static void host_wait(struct host *host, u32 ticks)
{
	u32 tick = shim_jiffies + ticks;

	if (tick >= ARRAY_SIZE(due))
		return;
	host->next = due[tick];
	due[tick] = host;
}

static void client_send(struct host *host, bool accept, u32 speed)
{
	if (host->connected) {
		result.sent[CLIENT]++;
		result.lost[CLIENT] += !accept;
		/* It leaves after a quarter of a minute. */
		if (++host->sent < 15 * speed)
			host_wait(host, HZ / speed);
	} else if (accept) {
		result.connected[host->sent]++;
		host->connected = true;
		host->sent = 0;
		/* The handshake's second packet comes after a round trip. */
		host_wait(host, HZ / 20);
	} else if (++host->sent < ARRAY_SIZE(syn_at)) {
		host_wait(host, host->born + syn_at[host->sent] * HZ - shim_jiffies);
	}
}

static void host_send(struct host *host, u32 speed)
{
	bool accept = admitted(HOST_FIRST + (host - hosts));

	if (host->kind == CLIENT) {
		client_send(host, accept, speed);
		return;
	}
	if (shim_jiffies >= BEFORE) {
		result.sent[host->kind]++;
		result.lost[host->kind] += !accept;
	}
	host_wait(host, host->kind == SPEAKER ? HZ / 2 : 10 * HZ);
}

/* The address of the flood's packet number n. */
static u32 flood_address(const struct flood *flood, u64 n)
{
	u64 half = flood->rate / 2;

	switch (flood->addresses) {
	case POOL:
		n = chance_below(&random_state, flood->pool);
		break;
	case RANDOM:
		return chance(&random_state);
	case TWICE:
		/* Odd packets are those of a second before. */
		n = n & 1 && n / 2 >= half ? n / 2 - half : n / 2 + (n & 1) * BIT_ULL(24);
		break;
	case UNIQUE:
		break;
	}
	/* One-to-one */
	return (u32)(n + 1) * 2654435761u & (HOST_FIRST - 1);
}

static void tick_run(const struct flood *flood, const struct setting *setting)
{
	u32 left = shim_jiffies < BEFORE ? 0 : flood->rate / HZ, count = 0, i;
	static struct host *sender[HOSTS_MAX];
	struct host *host;

	for (host = due[shim_jiffies]; host; host = host->next)
		sender[count++] = host;
	while (count + left) {
		if (chance_below(&random_state, count + left) >= count) {
			result.passed += admitted(flood_address(flood, result.flood++));
			left--;
			continue;
		}
		i = chance_below(&random_state, count);
		host = sender[i];
		sender[i] = sender[--count];
		host_send(host, setting->speed);
	}
}

static void hosts_begin(void)
{
	u32 clients = HOSTS_MAX - SPEAKERS - IDLERS, first = BEFORE + 5 * HZ, i;
	struct host *host;

	memset(due, 0, sizeof(due));
	for (i = 0; i < HOSTS_MAX; i++) {
		host = &hosts[i];
		*host = (struct host) { .kind = i < SPEAKERS ? SPEAKER : i < SPEAKERS + IDLERS ? IDLER : CLIENT };
		host->born = host->kind == CLIENT ?
			     first + (i - SPEAKERS - IDLERS) * HZ / CLIENTS :
			     1 + chance_below(&random_state, ARRIVE);
		host_wait(host, host->born - shim_jiffies);
	}
	result = (struct result) { .clients = clients };
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void print_result(const char *name)
{
	u64 connected = result.connected[0];
	unsigned int i;

	printf("%-25s", name);
	for (i = 0; i < CLIENT; i++)
		printf(" %7.2f %%", percent(result.lost[i], result.sent[i]));
	for (i = 1; i < ARRAY_SIZE(syn_at); i++) {
		connected += result.connected[i];
		printf(" %5.1f %%", percent(connected, result.clients));
	}
	printf(" %6.1f %% %9llu %5.1f MiB\n", percent(result.lost[CLIENT], result.sent[CLIENT]),
	       (unsigned long long)result.passed * HZ / DURATION,
	       atomic64_read(&wn.bytes) / 1048576.0);
	fflush(stdout);
}

static int run(const struct flood *flood, const struct setting *setting)
{
	struct weir_limit_config words = edit_words("l", setting->speed * 10);
	struct weir_error error = { };

	words.sources = setting->sources;
	random_state.state = 1;
	shim_jiffies = 0;
	wn.key = (hsiphash_key_t) { { chance(&random_state), chance(&random_state) } };
	if (!setting->added && edit_add(&wn, &words, NULL, &error))
		return -1;
	hosts_begin();
	for (shim_jiffies = 1; shim_jiffies < SET; shim_jiffies++)
		tick_run(flood, setting);
	words.newcomers.budget = setting->newcomers;
	words.newcomers.window_ms = 1000;
	words.newcomers.flood = setting->flood;
	words.newcomers.known_ms = setting->known_ms;
	if (setting->added ? edit_add(&wn, &words, NULL, &error) : edit_set(&wn, &words, &error))
		return -1;
	for (; shim_jiffies < BEFORE + DURATION; shim_jiffies++)
		tick_run(flood, setting);
	print_result(flood->name);
	return edit_flush(&wn, true);
}

static void heading(const struct setting *setting)
{
	printf("\nlimit add l budget %u/1s sources %u", setting->speed * 10, setting->sources);
	if (setting->newcomers)
		printf("%s newcomers %u/1s flood %uk/s known %us", setting->added ? "" : "; limit set l",
		       setting->newcomers, setting->flood / 1000, setting->known_ms / 1000);
	if (setting->speed != settings[0].speed)
		printf("; clients send %u/s", setting->speed);
	putchar('\n');
}

int main(void)
{
	unsigned int i, j;

	wn.stats = alloc_percpu_gfp(struct weir_stats, GFP_KERNEL);
	mutex_init(&wn.lock);
	printf("%-25s%20s%24s%9s%10s\n%-25s%10s%10s%8s%8s%8s%9s%10s%10s\n", "",
	       "known sources lost", "connected within", "clients", "flood", "flood", "speak",
	       "idle", "1 s", "3 s", "7 s", "lost", "passed/s", "memory");
	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		heading(&settings[i]);
		for (j = 0; j < ARRAY_SIZE(floods); j++)
			if (settings[i].floods & BIT(j) && run(&floods[j], &settings[i]))
				return 1;
	}
	return 0;
}
