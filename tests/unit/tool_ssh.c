// SPDX-License-Identifier: GPL-2.0-or-later
/* Which limits meet the caller's own ssh connection, and what spares it. */
#include "ssh.h"
#include "tool_words.h"
#include "value.h"

static struct weir_ssh ssh;

static void check_all(const char *const *texts, size_t count, bool meets)
{
	struct weir_limit limit;
	char line[256];
	size_t i;

	for (i = 0; i < count; i++) {
		snprintf(line, sizeof(line), "web budget 1/s %s", texts[i]);
		check(!read_words(&weir_limit_fields, WEIR_ON_ADD, line, true, &limit), "%s: %s",
		      line, err.text);
		check(weir_ssh_meets(&ssh, &limit) == meets, "%s", texts[i]);
	}
}

static void test_meets(void **state)
{
	static const char *const met[] = {
		"", "family ipv4", "from 198.51.100.0/24", "proto tcp",
		"to 192.0.2.0/24 proto tcp dport 22", "proto tcp dport 1-1024",
		"not from 10.0.0.0/8", "not proto udp", "not syn", "not frag",
		"dev eth0", "not dev eth0", "mark 7", "from 0.0.0.0/0",
		"proto tcp sport 50000-60000", "not to 2001:db8::/32",
	};
	static const char *const missed[] = {
		"family ipv6", "from 198.51.100.0/30", "proto udp",
		"to 192.0.3.0/24", "proto tcp dport 443", "syn", "frag",
		"not from 198.51.100.0/24", "not proto tcp",
		"proto tcp not dport 22", "from 2001:db8::/32",
		"to 192.0.2.0/24 proto tcp dport 23-65535",
	};

	assert_true(weir_ssh_parse("198.51.100.7 50123 192.0.2.1 22", &ssh));
	check_all(met, sizeof(met) / sizeof(met[0]), true);
	check_all(missed, sizeof(missed) / sizeof(missed[0]), false);
}

static void test_link_local(void **state)
{
	static const char *const met[] = { "dev eth1", "from fe80::/10" };
	static const char *const missed[] = { "dev eth0", "not dev eth1" };

	assert_true(weir_ssh_parse("fe80::7%eth1 50123 fe80::1%eth1 22", &ssh));
	assert_string_equal(ssh.dev, "eth1");
	check_all(met, 2, true);
	check_all(missed, 2, false);
}

static void test_spared(void **state)
{
	struct weir_exempt exempt = { 0 };
	struct weir_args args = { .err = &err };

	assert_true(weir_ssh_parse("198.51.100.7 50123 192.0.2.1 22", &ssh));
	weir_parse_prefix(NULL, &args, "198.51.100.0/24", &exempt.prefix);
	assert_true(weir_ssh_spared(&ssh, &exempt, "web"));
	strcpy(exempt.limit, "dns");
	assert_false(weir_ssh_spared(&ssh, &exempt, "web"));
	strcpy(exempt.limit, "web");
	assert_true(weir_ssh_spared(&ssh, &exempt, "web"));
	/* it may arrive elsewhere */
	strcpy(exempt.dev, "eth0");
	assert_false(weir_ssh_spared(&ssh, &exempt, "web"));
	exempt.dev[0] = '\0';
	weir_parse_prefix(NULL, &args, "198.51.100.8/31", &exempt.prefix);
	assert_false(weir_ssh_spared(&ssh, &exempt, "web"));
}

static void test_parse(void **state)
{
	static const char *const bad[] = {
		"", "198.51.100.7", "198.51.100.7 1 2", "a 1 b 2",
		"198.51.100.7 x 192.0.2.1 22", "UNKNOWN 65535 UNKNOWN 65535",
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(!weir_ssh_parse(bad[i], &ssh), "%s", bad[i]);
	setenv("SSH_CONNECTION", "2001:db8::7 50123 2001:db8::1 22", 1);
	assert_true(weir_ssh_find(&ssh));
	assert_int_equal(ssh.host_port, 22);
}

UNIT_MAIN("tool_ssh", T(test_meets), T(test_link_local), T(test_spared), T(test_parse))
