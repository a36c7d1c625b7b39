/* hr export hrperf: hiresperf's log, so that its parsing scripts run.
 *
 * The log is nothing but records, one a sample: the CPU as a 32-bit number, then 64-bit values: the
 * time in nanoseconds and what six counters (five in older logs) stood at.  Which counters is
 * fixed; one that no event of the trace serves is 0.  Everything is little-endian.
 */
#include <string.h>
#include <strings.h>

#include "host/base/error.h"
#include "host/export/common/export.h"
#include "host/scan/row_team.h"

#define SLOTS 6u
#define NAMES_MAX 6u

/* hiresperf's counters in the order of its records, and the events that serve them, best first. */
static const struct slot {
    const char *name;
    bool recent; /* logs of 52 and 56 bytes a record do not have it */
    const char *events[NAMES_MAX];
} slots[SLOTS] = {
    {"stall_mem", false, {"CYCLE_ACTIVITY.STALLS_MEM_ANY", "stalled-cycles-backend"}},
    {"inst_retire", false, {"instructions", "INST_RETIRED.ANY", "INST_RETIRED.ANY_P"}},
    {"stalls_sb", true, {"EXE_ACTIVITY.BOUND_ON_STORES", "RESOURCE_STALLS.SB"}},
    {"cpu_unhalt", false, {"cycles", "cpu-cycles", "CPU_CLK_UNHALTED.THREAD", "ref-cycles"}},
    {"llc_misses",
     false,
     {"LLC-misses", "cache-misses", "LLC-load-misses", "LONGEST_LAT_CACHE.MISS",
      "MEM_LOAD_RETIRED.L3_MISS"}},
    {"sw_prefetch", false, {"SW_PREFETCH_ACCESS.ANY", "LLC-prefetches"}},
};

struct hrperf {
    struct export *e;
    struct row_team *team;
    uint32_t bytes; /* of a record */
    int events[SLOTS]; /* -1: none */
};

/* Names differ in case and in what separates their parts. */
static bool same_name(const char *event, const char *wanted)
{
    size_t bytes = strlen(wanted);

    for (size_t i = 0; i < bytes; i++) {
        char c = event[i] == ':' && wanted[i] == '.' ? '.' : event[i];

        if (strncasecmp(&c, &wanted[i], 1) != 0)
            return false;
    }
    return event[bytes] == 0 || event[bytes] == ':';
}

static int find_event(const struct trace_info *info, const struct slot *slot)
{
    char room[16];

    for (uint32_t n = 0; n < NAMES_MAX && slot->events[n] != NULL; n++)
        for (uint32_t i = 0; i < info->event_count; i++)
            if (same_name(trace_info_event_name(info, i, room), slot->events[n]))
                return (int)i;
    return -1;
}

static bool has_slot(const struct hrperf *h, uint32_t slot)
{
    return h->bytes == EXPORT_HRPERF_BYTES || !slots[slot].recent;
}

static void choose_events(struct hrperf *h)
{
    char missing[256] = "";

    for (uint32_t i = 0; i < SLOTS; i++) {
        h->events[i] = find_event(&h->e->info, &slots[i]);
        if (h->events[i] < 0 && has_slot(h, i)) {
            strcat(missing, missing[0] != 0 ? ", " : "");
            strcat(missing, slots[i].name);
        }
    }
    if (missing[0] != 0)
        error_print("hrperf: the export has 0 for %s, because the trace has no such event",
                    missing);
}

/* Words: CPU, time, the slots. */
static void put_record(void *owner, struct output *out, const uint64_t *words,
                       const char * /*bytes*/)
{
    const struct hrperf *h = owner;
    uint64_t ns = trace_info_time_ns(&h->e->info, words[1]);
    uint32_t cpu = (uint32_t)words[0];
    uint8_t record[EXPORT_HRPERF_BYTES] = {0};
    size_t at = sizeof cpu;

    memcpy(record, &cpu, sizeof cpu);
    if (h->bytes == EXPORT_HRPERF_ALIGNED_BYTES)
        at = sizeof(uint64_t);
    memcpy(record + at, &ns, sizeof ns);
    at += sizeof ns;
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (!has_slot(h, i))
            continue;
        memcpy(record + at, &words[2 + i], sizeof words[2 + i]);
        at += sizeof words[2 + i];
    }
    output_bytes(out, (const char *)record, at);
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct hrperf *h = context;

    for (uint32_t n = 0; n < samples->count; n++) {
        uint64_t *words;

        row_team_batch(h->team, 2 + SLOTS, 0, EXPORT_HRPERF_BYTES);
        words = row_team_row(h->team, 2 + SLOTS);
        words[0] = samples->chunk->cpu;
        words[1] = samples->slots[n].time;
        for (uint32_t i = 0; i < SLOTS; i++)
            words[2 + i] = h->events[i] >= 0 ? samples->slots[n].counters[h->events[i]] : 0;
    }
    return row_team_error(h->team);
}

static int run(struct export *e)
{
    struct hrperf h = {.e = e, .bytes = e->options->record_bytes};
    const struct trace_visitor visitor = {.context = &h, .samples = take_samples};
    int error;

    choose_events(&h);
    h.team = row_team_new(&e->output, &e->scan, put_record, &h);
    error = h.team != NULL ? export_walk(e, &visitor) : -ENOMEM;
    row_team_free(h.team);
    return error;
}

/* Records of a size that there is, each with the number of a CPU in front. */
static bool looks_alike(const uint8_t *bytes, size_t count, uint64_t file_bytes)
{
    static const size_t sizes[] = {EXPORT_HRPERF_BYTES, EXPORT_HRPERF_ALIGNED_BYTES,
                                   EXPORT_HRPERF_PACKED_BYTES};

    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
        bool all = file_bytes % sizes[n] == 0;
        uint32_t cpu;

        for (size_t at = 0; all && at + sizes[n] <= count; at += sizes[n]) {
            memcpy(&cpu, bytes + at, sizeof cpu);
            all = cpu <= UINT16_MAX;
        }
        if (all)
            return true;
    }
    return false;
}

const struct export_format export_hrperf = {
    .name = "hrperf",
    .extension = "hrperf.bin",
    .summary = "hiresperf's log, for its parsing scripts",
    .opener = "hiresperf's parsing scripts",
    .looks_alike = looks_alike,
    .run = run,
};
