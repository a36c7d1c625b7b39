/* Writes the records of a perf.data file. */
#include "host/export/perf/perf_records.h"

#include <linux/perf_event.h>

#define FINISHED_ROUND 68u /* perf's own: all before may be sorted */
#define NAME_BYTES 4096u
#define FIXED_WORDS 8u /* of a sample, up to its number of counters */

struct trailer { /* of all records but samples: sample_id_all of TID, TIME, CPU, IDENTIFIER */
    uint32_t pid, tid;
    uint64_t ns;
    uint32_t cpu, reserved;
    uint64_t id;
};

static uint64_t head(uint32_t type, uint32_t misc, size_t bytes)
{
    return type | (uint64_t)misc << 32 | (uint64_t)bytes << 48;
}

static void put(struct perf_records *records, const void *bytes, size_t count)
{
    row_team_bytes(records->team, bytes, count);
    records->bytes += count;
}

static uint64_t pair(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

/* A record of words with the trailer after them; words[0] is filled here. */
static void put_words(struct perf_records *records, uint32_t type, uint32_t misc, uint64_t *words,
                      size_t count, const struct perf_place *place)
{
    struct trailer trailer = {.pid = place->tid != 0 ? place->pid : 0,
                              .tid = place->tid,
                              .ns = place->ns,
                              .cpu = place->cpu,
                              .id = place->id};

    words[0] = head(type, misc, count * sizeof words[0] + sizeof trailer);
    put(records, words, count * sizeof words[0]);
    put(records, &trailer, sizeof trailer);
    if (place->ns > records->latest_ns)
        records->latest_ns = place->ns;
}

/* Copies a text padded with zeros to whole words; cuts it at NAME_BYTES.  How many words. */
static size_t put_text(uint64_t *words, const char *text)
{
    size_t bytes = strnlen(text, NAME_BYTES - 1);
    size_t count = bytes / 8 + 1;

    words[count - 1] = 0;
    memcpy(words, text, bytes);
    return count;
}

static bool is_kernel(uint64_t address)
{
    return address >> 63 != 0;
}

/* A call chain, innermost first, with a marker where it enters the program or the kernel.  Callers
 * are given by the last byte of their call: perf looks names up exactly there. */
static size_t put_chain(uint64_t *words, const struct perf_sample *sample)
{
    uint64_t addresses[PERF_RECORDS_FRAMES_MAX];
    uint32_t count =
        stacks_addresses(sample->stacks, sample->stack, addresses, PERF_RECORDS_FRAMES_MAX);
    bool kernel = sample->kernel;
    size_t used = 0;

    words[++used] = (uint64_t)(kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
    words[++used] = sample->ip;
    for (uint32_t i = 0; i < count; i++) {
        if (is_kernel(addresses[i] - 1) != kernel) {
            kernel = !kernel;
            words[++used] = (uint64_t)(kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
        }
        words[++used] = addresses[i] - 1;
    }
    words[0] = used;
    return used + 1;
}

void perf_records_sample(struct perf_records *records, const struct perf_sample *sample)
{
    uint64_t words[FIXED_WORDS + 2 * (1 + HR_EVENTS_MAX) + 3 + 2 * PERF_RECORDS_FRAMES_MAX];
    const struct perf_place *place = &sample->place;
    size_t used = FIXED_WORDS;

    words[1] = place->id;
    words[2] = sample->ip;
    words[3] = pair(place->pid, place->tid);
    words[4] = place->ns;
    words[5] = place->cpu;
    words[6] = 1; /* the first member's period: samples */
    words[7] = sample->members;
    for (uint32_t i = 0; i < sample->members; i++) {
        words[used++] = sample->values[i];
        words[used++] = place->id + i;
    }
    if (sample->stacks != NULL)
        used += put_chain(words + used, sample);
    words[0] =
        head(PERF_RECORD_SAMPLE, sample->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
             used * sizeof words[0]);
    put(records, words, used * sizeof words[0]);
    if (place->ns > records->latest_ns)
        records->latest_ns = place->ns;
}

void perf_records_map(struct perf_records *records, const struct perf_place *place,
                      const struct trace_map *map, const char *path)
{
    uint64_t words[10 + NAME_BYTES / 8] = {0};
    uint8_t build_id_bytes = map->meta.build_id_bytes <= 20 ? (uint8_t)map->meta.build_id_bytes : 0;
    uint32_t misc = PERF_RECORD_MISC_USER;

    words[1] = pair(place->pid, place->pid);
    words[2] = map->meta.start;
    words[3] = map->meta.end - map->meta.start;
    words[4] = map->meta.file_offset;
    if (build_id_bytes != 0) {
        words[5] = build_id_bytes;
        memcpy((char *)&words[5] + 4, map->build_id, build_id_bytes);
        misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
    }
    if ((map->meta.flags & HR_MAP_KERNEL) != 0) {
        misc = (misc & ~(uint32_t)PERF_RECORD_MISC_CPUMODE_MASK) | PERF_RECORD_MISC_KERNEL;
        words[1] = pair(UINT32_MAX, 0);
        words[4] = 0;
    }
    words[8] = pair(5, 2); /* PROT_READ | PROT_EXEC, MAP_PRIVATE */
    put_words(records, PERF_RECORD_MMAP2, misc, words, 9 + put_text(words + 9, path), place);
}

void perf_records_name(struct perf_records *records, const struct perf_place *place,
                       const char *name, bool exec)
{
    uint64_t words[4] = {0};

    words[1] = pair(place->pid, place->tid);
    memcpy(words + 2, name, strnlen(name, 15)); /* as the kernel cuts them */
    put_words(records, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, words, 4, place);
}

static void put_task(struct perf_records *records, uint32_t type, const struct perf_place *place,
                     uint32_t parent_pid, uint32_t parent_tid)
{
    uint64_t words[4];

    words[1] = pair(place->pid, parent_pid);
    words[2] = pair(place->tid, parent_tid);
    words[3] = place->ns;
    put_words(records, type, 0, words, 4, place);
}

void perf_records_begin(struct perf_records *records, const struct perf_place *place,
                        uint32_t parent_pid, uint32_t parent_tid)
{
    put_task(records, PERF_RECORD_FORK, place, parent_pid, parent_tid);
}

void perf_records_exit(struct perf_records *records, const struct perf_place *place)
{
    put_task(records, PERF_RECORD_EXIT, place, place->pid, place->pid);
}

void perf_records_lost(struct perf_records *records, const struct perf_place *place, uint64_t count)
{
    uint64_t words[3] = {0, place->id, count};

    put_words(records, PERF_RECORD_LOST, 0, words, 3, place);
}

void perf_records_switch(struct perf_records *records, const struct perf_place *place,
                         uint32_t other_pid, uint32_t other, bool left, bool preempted)
{
    uint64_t words[2] = {0, pair(other != 0 ? other_pid : 0, other)};
    uint32_t misc = left ? PERF_RECORD_MISC_SWITCH_OUT : 0;

    if (left && preempted)
        misc |= PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    put_words(records, PERF_RECORD_SWITCH_CPU_WIDE, misc, words, 2, place);
}

void perf_records_round(struct perf_records *records)
{
    uint64_t word = head(FINISHED_ROUND, 0, sizeof word);

    put(records, &word, sizeof word);
}
