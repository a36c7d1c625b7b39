/* Registers regions, and at the end of the run reads their sums out of the program's memory, adds
 * up the threads of one name and writes the records.
 */
#include "guest/trace/regions.h"
#include "guest/sample/sampling.h"

#include <errno.h>
#include <string.h>

#include "guest/base/layout.h"
#include "guest/base/log.h"
#include "guest/memory/heap.h"
#include "guest/vm/uaccess.h"
#include "guest/vm/vm_access.h"

struct region {
    uint32_t bytes;
    char name[HR_ABI_NAME_MAX];
};

struct place {
    struct vm_space *space; /* NULL: it has ended, and its sums are in gone[] */
    uint64_t aggregates; /* user address */
    uint32_t tid;
    uint32_t region;
};

static struct region regions[HR_ABI_REGIONS_MAX];
static uint32_t region_count;
static struct place places[REGIONS_PLACES_MAX];
static uint32_t place_count;
static struct hr_abi_aggregate *gone[HR_ABI_REGIONS_MAX]; /* by slot: sums of ended memory */

bool regions_any(void)
{
    return region_count != 0;
}

static int find_region(const char *name, uint32_t bytes)
{
    for (uint32_t i = 0; i < region_count; i++) {
        if (regions[i].bytes == bytes && memcmp(regions[i].name, name, bytes) == 0)
            return (int)i;
    }
    if (region_count == HR_ABI_REGIONS_MAX)
        return -ENOSPC;
    regions[region_count].bytes = bytes;
    memcpy(regions[region_count].name, name, bytes);
    return (int)region_count++;
}

static int regions_refuse(void)
{
    static bool reported;

    if (!reported)
        log_notice("more than %u regions, or %u of them counted by thread: those beyond are not in "
                   "the trace; hr_region_begin returns ENOSPC",
                   HR_ABI_REGIONS_MAX, REGIONS_PLACES_MAX);
    reported = true;
    return -ENOSPC;
}

int regions_register(struct cpu *cpu, const struct hr_abi_region *region)
{
    uint64_t bytes = sizeof(struct hr_abi_aggregate) * (1 + sampling.session.event_count);
    char name[HR_ABI_NAME_MAX];
    int found;

    if (region->count != 1 + sampling.session.event_count || region->name_bytes == 0 ||
        region->name_bytes > sizeof name)
        return -EINVAL;
    if (region->aggregates > USER_END - bytes ||
        copy_from_user(name, region->name, region->name_bytes))
        return -EFAULT;
    if (memchr(name, 0, region->name_bytes) !=
        NULL) /* readers would consider such a record damaged */
        return -EINVAL;
    if (place_count == REGIONS_PLACES_MAX)
        return regions_refuse();
    found = find_region(name, (uint32_t)region->name_bytes);
    if (found < 0)
        return regions_refuse();
    places[place_count++] = (struct place){.space = cpu->space,
                                           .aggregates = region->aggregates,
                                           .tid = cpu->tid,
                                           .region = (uint32_t)found};
    return 0;
}

/* Without a current thread: whichever CPU ends the run.  0, -EFAULT. */
static int regions_fetch(struct vm_space *space, struct hr_abi_aggregate *to, uint64_t from)
{
    uint8_t *out = (uint8_t *)to;
    uint64_t room, left = sizeof *to;
    void *at;

    for (; left; left -= room, from += room, out += room) {
        if (vm_access(space, from, VM_ACCESS_READ, &at, &room))
            return -EFAULT; /* the program has unmapped it */
        if (room > left)
            room = left;
        memcpy(out, at, room);
    }
    return 0;
}

/* Adds up all threads' sums of one region; `slot` 0 is time, then come the events. */
static void sum_up(uint32_t region, uint32_t slot, struct hr_abi_aggregate *sum)
{
    static struct hr_abi_aggregate one;

    memset(sum, 0, sizeof *sum);
    if (gone[region] != NULL)
        hr_abi_merge(sum, &gone[region][slot]);
    for (uint32_t i = 0; i < place_count; i++) {
        if (places[i].region == region && places[i].space != NULL &&
            regions_fetch(places[i].space, &one, places[i].aggregates + slot * sizeof one) == 0)
            hr_abi_merge(sum, &one);
    }
}

static void keep_sums(struct place *place)
{
    static struct hr_abi_aggregate one;
    uint32_t slots = 1 + sampling.session.event_count;
    struct hr_abi_aggregate **sums = &gone[place->region];

    if (*sums == NULL)
        *sums = heap_alloc(slots * sizeof **sums);
    for (uint32_t slot = 0; *sums != NULL && slot < slots; slot++)
        if (regions_fetch(place->space, &one, place->aggregates + slot * sizeof one) == 0)
            hr_abi_merge(&(*sums)[slot], &one);
    place->space = NULL;
}

void regions_space_ends(const struct vm_space *space)
{
    for (uint32_t i = 0; i < place_count; i++)
        if (places[i].space == space)
            keep_sums(&places[i]);
}

static uint16_t count_threads(uint32_t region)
{
    uint32_t threads = 0;

    for (uint32_t i = 0; i < place_count; i++) {
        uint32_t j = 0;
        if (places[i].region != region)
            continue;
        while (j < i && (places[j].region != region || places[j].tid != places[i].tid))
            j++;
        threads += j == i;
    }
    return threads < UINT16_MAX ? (uint16_t)threads : UINT16_MAX;
}

/* Returns 0, or the error of trace_writer_record. */
static int write_record(struct trace_writer *w, const struct region *region, uint32_t slot,
                        const struct hr_abi_aggregate *sum, uint16_t threads, uint32_t buckets)
{
    static uint8_t tail[sizeof sum->buckets + sizeof region->name];
    const struct hr_rec_region record = {
        .passes = sum->passes,
        .sum = sum->sum,
        .min = sum->min,
        .max = sum->max,
        .event = slot ? (uint16_t)(slot - 1) : HR_REGION_TICKS,
        .bucket_count = (uint16_t)buckets,
        .name_bytes = (uint16_t)region->bytes,
        .threads = threads,
    };

    memcpy(tail, sum->buckets, 8 * buckets);
    memcpy(tail + 8 * buckets, region->name, region->bytes);
    return trace_writer_record(w, HR_REC_REGION, TRACE_NO_TIME, &record, sizeof record, tail,
                               8 * buckets + region->bytes);
}

/* Returns the bytes that the records from `region` and `slot` on need without histograms. */
static uint32_t least_bytes(uint32_t region, uint32_t slot)
{
    uint32_t bytes = 0, slots = 1 + sampling.session.event_count;

    for (uint32_t i = region; i < region_count; i++) {
        bytes += (slots - slot) * (uint32_t)(sizeof(struct hr_record_header) +
                                             sizeof(struct hr_rec_region) + regions[i].bytes);
        slot = 0;
    }
    return bytes;
}

/* Returns the number of buckets to write: all up to the last one that is not 0 if there is room for
 * them and for the later records, otherwise none. */
static uint32_t affordable(const struct trace_writer *w, uint32_t region, uint32_t slot,
                           const struct hr_abi_aggregate *sum, uint32_t *shortened)
{
    uint32_t buckets = HR_ABI_BUCKETS;

    while (buckets && !sum->buckets[buckets - 1])
        buckets--;
    if (w->used + least_bytes(region, slot) + 8 * buckets <= w->capacity)
        return buckets;
    ++*shortened;
    return 0;
}

void regions_write(struct trace_writer *w)
{
    static struct hr_abi_aggregate sum;
    uint32_t shortened = 0, dropped = 0;

    for (uint32_t region = 0; region < region_count; region++) {
        uint16_t threads = count_threads(region);
        for (uint32_t slot = 0; slot <= sampling.session.event_count; slot++) {
            uint32_t buckets;

            sum_up(region, slot, &sum);
            buckets = affordable(w, region, slot, &sum, &shortened);
            if (write_record(w, &regions[region], slot, &sum, threads, buckets))
                dropped++;
        }
    }
    if (shortened)
        log_notice("the trace's end has no room for all regions: %u of %u records have no "
                   "histogram, %u are left out; use fewer regions or events",
                   shortened, region_count * (1 + sampling.session.event_count), dropped);
}
