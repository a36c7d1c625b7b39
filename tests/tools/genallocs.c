/* Writes a trace of allocations, for tests of its readers: genallocs OBJECTS FILE.
 *
 * One thread allocates so many objects of 16 to 271 bytes, 512 bytes apart, from four places in
 * turn.  Then, so often that each happens for one object in ten: it frees what was never allocated;
 * frees an object; frees it once more; allocates at its address again. */
#include <inttypes.h>
#include <stdbool.h>

#include "tests/tools/tracesink.h"

#define CHUNK_BYTES 65536u
#define START_TICKS 1000000u
#define TID 1000u
#define SITES 4u
#define FIRST 0x10000000ull
#define APART 512u

static struct {
    struct sink sink;
    struct trace_writer meta, data;
    uint8_t meta_buffer[CHUNK_BYTES], data_buffer[CHUNK_BYTES];
    uint64_t time;
} g;

static void put_functions(void)
{
    static const char tail[] = "malloc/bin/generated";
    const struct hr_meta_probes probes = {1, 1, HR_ALLOCATION_VALUES, 0};
    const struct hr_meta_probe_points head = {0, 1};
    const struct hr_probe_point point = {0x401000, 0, 0};
    const struct hr_meta_probe_function function = {.address = 0x401000,
                                                    .bytes = 200,
                                                    .kind = HR_PROBE_PLACE,
                                                    .flags = HR_PROBE_ALLOCATES,
                                                    .name_bytes = 6,
                                                    .path_bytes = sizeof tail - 1 - 6};

    add(&g.meta, HR_META_PROBES, TRACE_NO_TIME, &probes, sizeof probes, NULL, 0);
    add(&g.meta, HR_META_PROBE_FUNCTION, TRACE_NO_TIME, &function, sizeof function, tail,
        sizeof tail - 1);
    add(&g.meta, HR_META_PROBE_POINTS, TRACE_NO_TIME, &head, sizeof head, &point, sizeof point);
}

static void begin(const char *path)
{
    const struct hr_meta_clock clock = {1000000000, START_TICKS, 0, HR_CLOCK_VIRTUAL, 0};
    const struct hr_meta_sampling sampling = {.mode = HR_MODE_OFF,
                                              .flags = HR_SAMPLING_EMULATED,
                                              .event_count = 1,
                                              .ring_slots = 65536,
                                              .cpu_count = 1};
    const struct hr_meta_event event = {
        .source = HR_SOURCE_ICOUNT, .width_bits = 64, .flags = HR_EVENT_USER};

    sink_begin(&g.sink, path);
    meta_begin(&g.meta, g.meta_buffer, CHUNK_BYTES, &clock, &sampling);
    add_event(&g.meta, &event, "instructions:u");
    put_functions();
    add_text(&g.meta, "alloc", "calls");
    put_chunk(&g.sink, &g.meta);
    trace_writer_init(&g.data, g.data_buffer, CHUNK_BYTES, 0, 1);
    trace_writer_probes(&g.data, HR_ALLOCATION_VALUES);
}

static void put_call(uint64_t address, uint64_t bytes, uint64_t old, uint32_t site)
{
    struct trace_slot slot = {
        .time = START_TICKS + ++g.time * 100, .ip = 0x7fff0000, .tid = TID, .kind = HR_REC_PROBES};
    uint64_t *values = slot.counters + 1;

    slot.counters[0] = g.time * 100;
    values[HR_ALLOCATION_ADDRESS] = address;
    values[HR_ALLOCATION_BYTES] = bytes;
    values[HR_ALLOCATION_OLD] = old;
    values[HR_ALLOCATION_CALLER] = 0x402000 + 16 * site;
    trace_slot_set_point(&slot, 0, HR_PROBE_REACHED);
    if (g.data.used == 0)
        trace_writer_begin(&g.data, HR_CHUNK_DATA);
    if (trace_writer_probe(&g.data, &slot) == 0)
        return;
    put_chunk(&g.sink, &g.data);
    trace_writer_begin(&g.data, HR_CHUNK_DATA);
    if (trace_writer_probe(&g.data, &slot) != 0)
        fail("hit");
}

static uint64_t size_of(uint64_t object)
{
    return 16 + object % 256;
}

static void put_calls(uint64_t objects)
{
    for (uint64_t i = 0; i < objects; i++)
        put_call(FIRST + i * APART, size_of(i), 0, i % SITES);
    for (uint64_t i = 0; i < objects; i += 10) {
        uint64_t address = FIRST + i * APART;

        put_call(0, 0, address + 8, SITES); /* never allocated */
        put_call(0, 0, address, SITES);
        put_call(0, 0, address, SITES); /* twice */
        put_call(address, size_of(i), 0, SITES);
    }
}

static void finish(const char *path)
{
    const struct hr_rec_exit end = {.time = START_TICKS + (g.time + 1) * 100,
                                    .user_ticks = (g.time + 1) * 100,
                                    .kind = HR_EXIT_STATUS};
    const struct hr_rec_total total = {.value = end.user_ticks};

    if (trace_writer_dirty(&g.data))
        put_chunk(&g.sink, &g.data);
    trace_writer_begin(&g.meta, HR_CHUNK_END);
    add(&g.meta, HR_REC_EXIT, end.time, &end, sizeof end, NULL, 0);
    add(&g.meta, HR_REC_TOTAL, TRACE_NO_TIME, &total, sizeof total, NULL, 0);
    add_streams(&g.sink, &g.meta);
    put_chunk(&g.sink, &g.meta);
    put_collector_part(&g.sink, &g.meta);
    sink_close(&g.sink, path);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: genallocs OBJECTS FILE\n");
        return 2;
    }
    begin(argv[2]);
    put_calls(strtoull(argv[1], NULL, 10));
    finish(argv[2]);
    return 0;
}
