// SPDX-License-Identifier: GPL-2.0-only
/*
 * Theory of operation
 *
 * A table is a power of two of sets, indexed by a keyed hash of the source. A set is a
 * head and some entries; an entry holds a source and its count, usually in one cache line. The
 * hash also selects a home entry in the set. A lookup compares the home and its neighbour with
 * the whole source, and searches the tags in the head only if neither matches. All memory is
 * allocated when the table is made.
 *
 * A set has a floor: a count that is an upper bound of what any source without an entry in this
 * set was admitted, empty at first. When a source needs an entry and none is free or idle, a
 * live one is evicted and its count is joined into the floor, so the bound holds for the evicted
 * source. A source that takes an entry starts from a copy of the floor, because it may have been
 * evicted before. If the floor leaves it no room it is refused, takes no entry and evicts nobody.
 * So no source ever exceeds its budget in a window, however small the table is; a table that is
 * too small refuses early. Any victim is sound; the one with the smallest sum raises the floor
 * least.
 *
 * Serialisation
 *
 * The lock of an entry protects its source and its count. The lock of a set protects its head,
 * its floor and which source has which entry; an entry changes hands under both. Order: set, then
 * entry. Both are raw spinlocks, taken with BH off and held for a bounded number of cache lines,
 * with PREEMPT_RT too.
 *
 *   refuse	no lock: source, slot, total and one entry of the ring are read
 *		inside the seqcount of the entry
 *   charge	the lock of the entry, under which the source is compared again
 *   newcomer	the lock of the set, a second search if the set's version
 *		changed since the first, then the lock of the entry
 *
 * An entry found without the set's lock is a hint. That none was found is only true if, under
 * the set's lock, its version has not changed.
 *
 * An entry has its own time: a CPU whose clock is behind counts and refuses in the entry's slot.
 * Two counts are turned to the later of their slots before they are joined. Slots have 32 bits:
 * weir_table_age() frees idle entries before their stale slots alias.
 *
 * A table is found through the RCU pointer of the configuration, and is freed a grace period
 * after its removal from there. How one table takes over from another is at the top of resize.c.
 */
#include <linux/bitops.h>
#include <linux/bottom_half.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "count/window.h"
#include "table/counts.h"
#include "table/shared.h"

/* The most that the page allocator gives in one piece on any kernel. */
#define CHUNK_BYTES (4u << 20)

/* An entry and its neighbour are a pair of cache lines. */
#define PAIR_BYTES 128

#define ENTRIES_MIN 4

/*
 * The largest mean of a set's sources, in sixteenths, for 4 entries, 5 entries and so
 * on, at which fewer than one in a thousand finds no entry, their number being
 * Poisson distributed.
 */
static const u16 sources_per_set[] = {
	10, 17, 25, 34, 43, 53, 63, 74, 85, 96, 107, 119, 131, 143, 155, 167,
	179, 192, 204, 217, 230, 243, 256, 269, 282, 295, 308, 321, 334, 348,
	361, 375, 388, 402, 415, 429, 443, 456, 470, 484, 498, 511, 525, 539,
	553,
};

static_assert(ARRAY_SIZE(sources_per_set) == WEIR_ENTRIES_MAX - ENTRIES_MIN + 1);

/* The smallest number of sets that holds the sources, and their entries. */
static void table_size(struct weir_table *table)
{
	u32 most = sources_per_set[ARRAY_SIZE(sources_per_set) - 1];
	u64 sources = table->spec.sources * 16ull;
	unsigned int shift = 0;

	while (sources > (u64)most << shift)
		shift++;
	table->mask = BIT(shift) - 1;
	table->entries = ENTRIES_MIN;
	while (sources > (u64)sources_per_set[table->entries - ENTRIES_MIN] << shift)
		table->entries++;
	table->entries = ALIGN(table->entries, 2);
	table->quota = table->spec.blocks ? table->entries : table->entries / 2;
}

/* The entries of a log that fit one, two or four cache lines, with an entry's other members. */
static u8 log_entries(u64 budget, unsigned int words)
{
	u32 lines = 1, other = ALIGN(offsetof(struct weir_entry, word) + 4 * words, 8) / 4 + 2;

	while (16 * lines - other < budget)
		lines *= 2;
	return 16 * lines - other;
}

static struct weir_shape shape_of(const struct weir_meter_spec *spec, unsigned int words)
{
	if (spec->log)
		return weir_log_shape(spec->slots, log_entries(spec->budget, words));
	if (spec->rate)
		return weir_leak_shape(spec->slots, spec->rate);
	return weir_ring_shape(spec->slots, spec->lenient, weir_width_of(spec->budget));
}

/* @off: behind the counts of the meters before it. */
static struct weir_meter meter_of(const struct weir_meter_spec *spec, unsigned int words,
				  size_t off)
{
	struct weir_meter meter = {
		.shape = shape_of(spec, words),
		.window = spec->slot_ticks ? (u64)spec->slots * spec->slot_ticks -
			  spec->rounded : U64_MAX,
		.slot_ticks = spec->slot_ticks,
		.base = spec->base,
		.off = ALIGN(off, 8),
		.bytes = spec->bytes,
	};

	if (spec->slot_ticks && !spec->calendar_ms)
		weir_meter_divide(&meter, spec->slot_ticks);
	return meter;
}

static void table_counts(struct weir_table *table)
{
	const struct weir_table_spec *spec = &table->spec;
	struct weir_meter *meter = table->meter;
	unsigned int i;

	for (i = 0; i < WEIR_BUDGETS_MAX && spec->meter[i].budget; i++, meter++) {
		*meter = meter_of(&spec->meter[i], table->words, table->counts_size);
		table->counts_size = meter->off + meter->shape.size;
		table->stays |= weir_meter_stays(meter);
	}
	table->more = i - 1;
}

static void table_layout(struct weir_table *table)
{
	const struct weir_table_spec *spec = &table->spec;
	size_t end;

	table->words = weir_prefix_words(spec->prefix);
	table_counts(table);
	table->count_off = ALIGN(offsetof(struct weir_entry, word) + 4 * table->words, 8);
	table->entry_size = ALIGN(table->count_off + table->counts_size, 64);
	table->floor_off = offsetofend(struct weir_set, seen);
	end = table->floor_off + table->counts_size;
	if (spec->newcomers) {
		table->states_off = ALIGN(end, 8);
		end = table->states_off + sizeof(struct weir_states);
	}
	table->until_off = ALIGN(end, 4);
	table->entry_off = ALIGN(table->until_off + table->entries * sizeof(u32), PAIR_BYTES);
	table->stride = ALIGN(table->entry_off + table->entries * table->entry_size, PAIR_BYTES);
	table->chunk_shift = min(ilog2(CHUNK_BYTES / table->stride), fls(table->mask));
	table->chunk_mask = BIT(table->chunk_shift) - 1;
	table->chunks = (table->mask >> table->chunk_shift) + 1;
}

static size_t chunk_bytes(const struct weir_table *table)
{
	return PAGE_ALIGN((size_t)table->stride << table->chunk_shift);
}

/*
 * Contiguous pages are in the direct map, under huge pages: one TLB miss a packet.
 * If memory is fragmented, vmalloc serves.
 */
static void *chunk_alloc(size_t bytes, gfp_t gfp)
{
	void *chunk = alloc_pages_exact(bytes, gfp | __GFP_ZERO |
					__GFP_NORETRY);

	return chunk ?: __vmalloc(bytes, gfp | __GFP_ZERO |
				  __GFP_RETRY_MAYFAIL);
}

static void chunk_free(void *chunk, size_t bytes)
{
	if (is_vmalloc_addr(chunk))
		vfree(chunk);
	else if (chunk)
		free_pages_exact(chunk, bytes);
}

static void set_init(const struct weir_table *table, struct weir_set *set, u64 tick)
{
	struct weir_count *floor = weir_set_floor(table, set);
	const struct weir_meter *meter = table->meter;
	struct weir_entry *entry;
	unsigned int i;

	raw_spin_lock_init(&set->lock);
	set->seen_end = weir_table_slot(table, tick);
	set->looks = table->entries;
	for (i = 0; i <= table->more; i++, meter++)
		weir_count_init(&meter->shape, weir_count_of(meter, floor),
				weir_meter_slot(meter, tick));
	for (i = 0; i < table->entries; i++) {
		entry = weir_set_entry(table, set, i);
		raw_spin_lock_init(&entry->lock);
		seqcount_init(&entry->seq);
		entry->scope = WEIR_SCOPE_INVALID;
	}
}

/* Free a table, or NULL, that no packet can find: a grace period after its removal. May sleep. */
void weir_table_free(struct weir_table *table)
{
	u32 i;

	if (!table)
		return;
	for (i = 0; i < WEIR_BUDGETS_MAX; i++)
		weir_calendar_stop(&table->calendar[i]);
	for (i = 0; i < table->chunks; i++) {
		chunk_free(table->chunk[i], chunk_bytes(table));
		cond_resched();
	}
	if (table->held)
		atomic64_sub(table->bytes, table->held);
	free_percpu(table->batches);
	kvfree(table);
}

/*
 * Begin the periods of calendars, or have those that began follow another zone. The caller
 * keeps other changes out; may sleep.
 */
void weir_table_anchor(struct weir_table *table, const struct weir_zone *zone)
{
	unsigned int i;

	for (i = 0; i <= table->more; i++)
		if (table->spec.meter[i].calendar_ms)
			weir_calendar_anchor(&table->calendar[i], table->spec.meter[i].calendar_ms,
					     zone, &table->meter[i].base);
}

/* When the current period of a meter ends, in seconds since 1970; 0 if it has no calendar. */
time64_t weir_table_renews(const struct weir_table *table, unsigned int i)
{
	/* Pairs with the timer. */
	return READ_ONCE(table->calendar[i].end);
}

static bool has_batches(const struct weir_table_spec *spec)
{
	/* A log has no room to spare. Where slots do not tick, an idle CPU's is lost for good. */
	return !spec->meter[1].budget && !spec->meter[0].log && spec->meter[0].slot_ticks &&
	       !spec->meter[0].calendar_ms && (!spec->prefix.len4 || !spec->prefix.len6);
}

/* All of a table but its memory. */
void weir_table_plan(struct weir_table *table, const struct weir_table_spec *spec)
{
	*table = (struct weir_table) { .spec = *spec };
	table_size(table);
	table_layout(table);
	table->bytes = (u64)chunk_bytes(table) * table->chunks +
		       struct_size(table, chunk, table->chunks) +
		       has_batches(spec) * nr_cpu_ids *
		       sizeof(*table->batches);
}

/* Bytes of memory that a table will take, in total. */
u64 weir_table_need(const struct weir_table_spec *spec)
{
	struct weir_table layout;

	weir_table_plan(&layout, spec);
	return layout.bytes;
}

/*
 * A failed allocation would wake the OOM killer: leave an eighth of the available
 * memory.
 */
bool weir_memory_holds(u64 bytes)
{
	u64 available = max(si_mem_available(), 0L);

	return bytes >> PAGE_SHIFT <= available - available / 8;
}

/* Empty a table that no packet meets. Process context, may sleep. */
void weir_table_init(const struct weir_table *table, u64 tick)
{
	u32 i;

	for (i = 0; i <= table->mask; i++) {
		set_init(table, weir_set(table, i), tick);
		if (!(i & 1023))
			cond_resched();
	}
}

/* Make an empty table, or ERR_PTR(-ENOMEM). Process context, may sleep. */
struct weir_table *weir_table_alloc(const struct weir_table_spec *spec, u64 tick)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;
	struct weir_table layout, *table;
	u32 i;

	weir_table_plan(&layout, spec);
	if (!weir_memory_holds(layout.bytes))
		return ERR_PTR(-ENOMEM);

	table = kvzalloc(struct_size(table, chunk, layout.chunks), gfp);
	if (!table)
		return ERR_PTR(-ENOMEM);
	*table = layout;
	for (i = 0; i <= table->more; i++)
		if (spec->meter[i].calendar_ms)
			table->meter[i].calendar = &table->calendar[i];
	if (has_batches(spec)) {
		table->batches = alloc_percpu_gfp(struct weir_batches, gfp);
		if (!table->batches)
			goto err;
	}
	for (i = 0; i < table->chunks; i++) {
		table->chunk[i] = chunk_alloc(chunk_bytes(table), gfp);
		if (!table->chunk[i])
			goto err;
		cond_resched();
	}
	weir_table_init(table, tick);
	return table;
err:
	weir_table_free(table);
	return ERR_PTR(-ENOMEM);
}

/* Add the table's memory to @held, which outlives it, until it is freed. */
void weir_table_account(struct weir_table *table, atomic64_t *held)
{
	table->held = held;
	atomic64_add(table->bytes, held);
}

/* Do the counts of a meter hold a budget? */
bool weir_table_holds(const struct weir_table *table, unsigned int i, u64 budget)
{
	return budget <= weir_shape_max(&table->meter[i].shape);
}

u64 weir_table_bytes(const struct weir_table *table)
{
	return table->bytes;
}

u32 weir_table_sets(const struct weir_table *table)
{
	return table->mask + 1;
}

/* The most sources that a table can hold. */
u32 weir_table_entries(const struct weir_table *table)
{
	return weir_table_sets(table) * table->entries;
}

/* The blocks of which fewer than one in a thousand finds no room. */
u32 weir_table_blocks_most(const struct weir_table *table)
{
	unsigned int entries = max_t(unsigned int, table->quota, ENTRIES_MIN);

	return (u64)sources_per_set[entries - ENTRIES_MIN] * weir_table_sets(table) / 16;
}

/* Bytes that a source takes: its entry and a part of the set's head, rounded up. */
u32 weir_table_source_bytes(const struct weir_table *table)
{
	return DIV_ROUND_UP(table->stride, table->entries);
}
