/* Builds the golden trace of precise samples: what version 1.12 added. */
#include "tests/golden/golden_accesses.h"

#include <stdlib.h>
#include <string.h>

#include "tests/golden/golden_file.h"

#define PERIOD 100u

/* Two events make records, one of 100 at a time, one of 50; the third only counts. */
struct trace_slot golden_accesses_sample(uint32_t i)
{
    return (struct trace_slot){
        .time = GOLDEN_START_TIME + 1000 * i,
        .ip = 0x401000 + i % 7 * 4,
        .tid = 1 + i / 50,
        .flags = HR_SAMPLE_NO_COUNTERS,
        .counters = {PERIOD * (i - i / 4 + 1), PERIOD / 2 * (i / 4), 0},
    };
}

/* Loads that stride through memory, from each source; each fourth record is a store's; one made by
 * both events, and one by an instruction without an access. */
struct hr_access golden_accesses_access(uint32_t i)
{
    static const uint64_t sources[] = {0x1, 0x4, 0xa, 0x21};
    struct hr_access access = {.events = i % 4 == 3 ? 2 : 1};

    for (uint32_t r = 0; r < HR_ACCESS_REGISTERS; r++)
        access.registers[r] = r == 0 ? 0x246 : r % 3 == 0 ? 0x7ffe00000000 + i * r : r;
    if (i == 70)
        access.events = 3;
    if (i == 71)
        return access;
    access.address = i % 4 == 3 ? 0x7ffffffe0000 - 8 * i : 0x602000 + 64 * i;
    access.source = i % 4 == 3 ? i / 4 % 2 : sources[i / 10 % 4];
    access.latency = i % 4 == 3 ? 0 : i / 10 % 4 == 1 ? 14 : i / 10 % 4 == 2 ? 214 : 4;
    return access;
}

static void put_accesses(struct golden_file *f, uint32_t from, uint32_t to)
{
    union {
        struct trace_slot slot;
        uint8_t bytes[512];
    } room;

    for (uint32_t i = from; i < to; i++) {
        const struct hr_access access = golden_accesses_access(i);

        room.slot = golden_accesses_sample(i);
        memcpy(room.bytes + offsetof(struct trace_slot, counters[GOLDEN_ACCESSES_EVENTS]), &access,
               sizeof access);
        if (trace_writer_sample(&f->data, &room.slot) != 0)
            abort();
    }
}

size_t golden_accesses_build(uint8_t *out)
{
    const struct hr_meta_accesses meta = {
        .periods = {PERIOD, PERIOD / 2},
        .sources = HR_SOURCES_INTEL,
        .flags = HR_ACCESSES_REGISTERS,
        .latency_least = 3,
    };
    const struct hr_rec_mark mark = {.time = GOLDEN_START_TIME + 33500, .tid = 1};
    struct golden_file *f = golden_file_new(out, GOLDEN_ACCESSES_EVENTS);
    struct trace_accesses *memory = calloc(1, sizeof *memory);

    if (memory == NULL)
        abort();
    golden_file_meta(f, HR_MODE_PEBS);
    trace_writer_begin(&f->meta, HR_CHUNK_META);
    golden_file_put(&f->meta, HR_META_ACCESSES, TRACE_NO_TIME, &meta, sizeof meta, NULL);
    golden_file_seal(f, &f->meta);
    trace_writer_accesses(&f->data, memory, true);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_accesses(f, 0, 34);
    golden_file_put(&f->data, HR_REC_MARK, mark.time, &mark, sizeof mark, "half");
    put_accesses(f, 34, 60);
    golden_file_seal(f, &f->data);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_accesses(f, 60, GOLDEN_ACCESSES_SAMPLES);
    golden_file_seal(f, &f->data);
    golden_file_end(f);
    free(memory);
    return golden_file_close(f);
}
