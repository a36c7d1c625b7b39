/* Builds the golden traces: their samples and records. */
#include "tests/golden/golden.h"

#include <stdlib.h>
#include <string.h>

#include "lib/crc32c.h"
#include "lib/trace/trace_writer.h"
#include "tests/golden/golden_accesses.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/golden_probes.h"
#include "tests/golden/golden_stacks.h"

static struct trace_slot golden_sample(uint32_t i)
{
    struct trace_slot s = {
        .time = GOLDEN_START_TIME + 1000 * i + (i * 7) % 5,
        .ip = 0x401000 + (i * 37) % 1000,
        .tid = i < 40 ? 1 : 2,
        .cost_ticks = (uint16_t)(30 + i % 3),
        .flags = i % 50 == 49 ? HR_SAMPLE_LATE : 0,
    };

    if (i % 30 == 11) /* far away: needs a wide run */
        s.ip = 0x7ffff7a00000 + i;
    for (uint32_t e = 0; e < HR_EVENTS_MAX; e++)
        s.counters[e] = 800ull * i / (e + 1) + (i * i) % (e + 2);
    return s;
}

static void put_samples_of(struct golden_file *f, struct trace_slot (*sample)(uint32_t i),
                           uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const struct trace_slot slot = sample(i);

        if (trace_writer_sample(&f->data, &slot) != 0)
            abort();
    }
}

static void put_samples(struct golden_file *f, uint32_t from, uint32_t to)
{
    put_samples_of(f, golden_sample, from, to);
}

static void put_thread_records(struct trace_writer *w)
{
    const struct hr_rec_switch change = {.time = GOLDEN_START_TIME + 39500,
                                         .from_tid = 1,
                                         .to_tid = 2,
                                         .reason = HR_SWITCH_BLOCK,
                                         .waker_tid = 3};
    const struct hr_rec_syscall call = {.time = GOLDEN_START_TIME + 39600,
                                        .result = 5,
                                        .duration_ticks = 44,
                                        .tid = 2,
                                        .number = 1};
    const struct hr_rec_output output = {
        .time = GOLDEN_START_TIME + 39600, .offset = 10, .bytes = 5, .stream = 1};

    golden_file_put(w, HR_REC_SWITCH, change.time, &change, sizeof change, NULL);
    golden_file_put(w, HR_REC_SYSCALL, call.time, &call, sizeof call, NULL);
    golden_file_put(w, HR_REC_OUTPUT, output.time, &output, sizeof output, NULL);
}

static void put_last_records(struct trace_writer *w)
{
    const struct hr_rec_lost lost = {.time_first = GOLDEN_START_TIME + 80000,
                                     .time_last = GOLDEN_START_TIME + 83000,
                                     .count = 4};
    const struct hr_rec_gap gap = {.time_first = GOLDEN_START_TIME + 83000,
                                   .time_last = GOLDEN_START_TIME + 90000,
                                   .reason = HR_GAP_SLEEP,
                                   .tid = 2};
    const struct hr_rec_mark mark = {.time = GOLDEN_START_TIME + 91000, .tid = 2};
    const struct hr_rec_fault fault = {.time = GOLDEN_START_TIME + 92000,
                                       .ip = 0x401234,
                                       .address = 0x10,
                                       .vector = 14,
                                       .error = 6,
                                       .signal = 11,
                                       .tid = 2};

    if (trace_writer_lost(w, &lost) != 0)
        abort();
    golden_file_put(w, HR_REC_GAP, gap.time_last, &gap, sizeof gap, NULL);
    golden_file_put(w, HR_REC_MARK, mark.time, &mark, sizeof mark, "phase two");
    golden_file_put(w, HR_REC_FAULT, fault.time, &fault, sizeof fault, NULL);
}

/* Sampling off: what every trace has. */
static size_t build_off(uint8_t *out)
{
    struct golden_file *f = golden_file_new(out, 0);

    golden_file_meta(f, HR_MODE_OFF);
    golden_file_end(f);
    return golden_file_close(f);
}

/* Two chunks of samples with every record type between them. */
static size_t build_samples(uint8_t *out, uint32_t event_count)
{
    struct golden_file *f = golden_file_new(out, event_count);

    golden_file_meta(f, HR_MODE_TIMER);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_samples(f, 0, 40);
    put_thread_records(&f->data);
    put_samples(f, 40, 60);
    golden_file_seal(f, &f->data);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_samples(f, 60, 80);
    put_last_records(&f->data);
    golden_file_seal(f, &f->data);
    golden_file_end(f);
    return golden_file_close(f);
}

static size_t build_events0(uint8_t *out)
{
    return build_samples(out, 0);
}

static size_t build_events5(uint8_t *out)
{
    return build_samples(out, 5);
}

static size_t build_events13(uint8_t *out)
{
    return build_samples(out, 13);
}

/* Samples as counter overflows and the program's own calls make them. */
static struct trace_slot trigger_sample(uint32_t i)
{
    struct trace_slot s = golden_sample(i);

    s.flags = i % 10 == 3 ? HR_SAMPLE_POLLED : i % 10 == 7 ? HR_SAMPLE_KERNEL : 0;
    if (i == 30)
        s.flags = HR_SAMPLE_RESUMED;
    return s;
}

/* Three passes: 5 and 6 events, then 100; buckets 5, 6 and 22. */
static void put_region(struct trace_writer *w, uint16_t event)
{
    uint64_t buckets[23] = {[5] = 1, [6] = 1, [22] = 1};
    const struct hr_rec_region region = {
        .passes = 3,
        .sum = 111,
        .min = 5,
        .max = 100,
        .event = event,
        .bucket_count = sizeof buckets / sizeof buckets[0],
        .name_bytes = 5,
        .threads = 1,
    };
    char tail[sizeof buckets + 5];

    memcpy(tail, buckets, sizeof buckets);
    memcpy(tail + sizeof buckets, "parse", 5);
    if (trace_writer_record(w, HR_REC_REGION, TRACE_NO_TIME, &region, sizeof region, tail,
                            sizeof tail) != 0)
        abort();
}

/* What version 1.1 added: periods, regions, interrupts, flags of samples. */
static size_t build_triggers(uint8_t *out)
{
    const struct hr_rec_period period = {.time = GOLDEN_START_TIME + 19500, .period = 640};
    const struct hr_rec_gap gap = {.time_first = GOLDEN_START_TIME + 29100,
                                   .time_last = GOLDEN_START_TIME + 29900,
                                   .reason = HR_GAP_WAIT,
                                   .tid = 1};
    const struct hr_rec_nmi nmi = {.samples = 36, .spurious = 2, .unknown = 1, .cpu = 1};
    struct golden_file *f = golden_file_new(out, 2);

    golden_file_meta(f, HR_MODE_OVERFLOW);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_samples_of(f, trigger_sample, 0, 20);
    golden_file_put(&f->data, HR_REC_PERIOD, period.time, &period, sizeof period, NULL);
    put_samples_of(f, trigger_sample, 20, 30);
    golden_file_put(&f->data, HR_REC_GAP, gap.time_last, &gap, sizeof gap, NULL);
    put_samples_of(f, trigger_sample, 30, 40);
    golden_file_seal(f, &f->data);
    golden_file_end_records(f);
    put_region(&f->meta, HR_REGION_TICKS);
    put_region(&f->meta, 1);
    golden_file_put(&f->meta, HR_REC_NMI, TRACE_NO_TIME, &nmi, sizeof nmi, NULL);
    golden_file_seal(f, &f->meta);
    return golden_file_close(f);
}

/* What version 1.4 added: a register as an event's source, what happened to the CPUs. */
static size_t build_machine(uint8_t *out)
{
    const struct hr_rec_machine_cpu cpu = {
        .tsc = 3000000000,
        .aperf = 3900000000,
        .mperf = 2990000000,
        .aperf_before = 4000000,
        .mperf_before = 3000000,
        .aperf_after = 3600000,
        .mperf_after = 3000000,
        .smi_before = 17,
        .smi_after = 19,
        .thermal_before = 0x88330000,
        .thermal_after = 0x88110002,
        .package_before = 0x88300000,
        .package_after = 0x88100000,
        .apic_id = 2,
        .microcode = 0xf4,
        .flags = HR_MACHINE_APERF | HR_MACHINE_SMI | HR_MACHINE_THERMAL | HR_MACHINE_PACKAGE |
                 HR_MACHINE_LOGS,
        .cpu = 1,
        .core_kind = 0x40,
    };
    struct golden_file *f = golden_file_new(out, 2);

    f->source = HR_SOURCE_MSR;
    golden_file_meta(f, HR_MODE_TIMER);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_samples(f, 0, 10);
    golden_file_seal(f, &f->data);
    golden_file_end_records(f);
    golden_file_put(&f->meta, HR_REC_MACHINE_CPU, TRACE_NO_TIME, &cpu, sizeof cpu, NULL);
    golden_file_seal(f, &f->meta);
    return golden_file_close(f);
}

/* What version 1.5 added: counts of the emulator at addresses, in two threads. */
static size_t build_exact(uint8_t *out)
{
    static const char first[] = "\x80\x20\x01\x05"
                                "\x03\x07\x85\x01\x02\x01";
    static const char second[] = "\x83\xa0\x80\x02\x01\x7f";
    const struct hr_meta_event event = {
        .index = 1, .source = HR_SOURCE_EMULATOR, .width_bits = 64, .flags = HR_EVENT_USER};
    const struct hr_meta_event taken = {
        .index = 2, .source = HR_SOURCE_EMULATOR, .width_bits = 64, .flags = HR_EVENT_USER};
    const struct hr_host_exact exact = {
        .instructions = 265, .homeless = 3, .lost_faults = 2, .event_count = 3};
    const struct hr_host_exact_counts counts[] = {{.tid = 1001, .count = 2},
                                                  {.tid = 1002, .count = 1}};
    struct golden_file *f = golden_file_new(out, 1);

    f->source = HR_SOURCE_ICOUNT;
    golden_file_meta(f, HR_MODE_EXACT);
    golden_file_end(f);
    trace_writer_begin(&f->other, HR_CHUNK_HOST);
    golden_file_put(&f->other, HR_META_EVENT, TRACE_NO_TIME, &event, sizeof event, "branches:u");
    golden_file_put(&f->other, HR_META_EVENT, TRACE_NO_TIME, &taken, sizeof taken,
                    "taken-branches:u");
    golden_file_put(&f->other, HR_HOST_EXACT, TRACE_NO_TIME, &exact, sizeof exact, NULL);
    golden_file_put(&f->other, HR_HOST_EXACT_COUNTS, TRACE_NO_TIME, &counts[0], sizeof counts[0],
                    first);
    golden_file_put(&f->other, HR_HOST_EXACT_COUNTS, TRACE_NO_TIME, &counts[1], sizeof counts[1],
                    second);
    golden_file_seal(f, &f->other);
    return golden_file_close(f);
}

/* What version 1.6 added: the host's files that the program read. */
static size_t build_files(uint8_t *out)
{
    static const char left_out[] = "files.left_out\0002";
    const struct hr_host_file files[] = {
        {.bytes = 6, .modified = 1700000000123456789, .hash = 0x85944171f73967e8},
        {.bytes = 1ull << 40, .modified = 1, .flags = HR_FILE_NO_HASH},
        {.bytes = 0, .modified = 0, .flags = HR_FILE_CHANGED},
    };
    const struct hr_rec_gap gap = {.time_first = GOLDEN_START_TIME,
                                   .time_last = GOLDEN_START_TIME + 70,
                                   .reason = HR_GAP_FILES,
                                   .tid = 1001};
    struct golden_file *f = golden_file_new(out, 1);

    golden_file_meta(f, HR_MODE_TIMER);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    golden_file_put(&f->data, HR_REC_GAP, GOLDEN_START_TIME, &gap, sizeof gap, NULL);
    put_samples(f, 0, 10);
    golden_file_seal(f, &f->data);
    golden_file_end(f);
    trace_writer_begin(&f->other, HR_CHUNK_HOST);
    golden_file_put(&f->other, HR_HOST_FILE, TRACE_NO_TIME, &files[0], sizeof files[0],
                    "/etc/hostname");
    golden_file_put(&f->other, HR_HOST_FILE, TRACE_NO_TIME, &files[1], sizeof files[1],
                    "/srv/big \xc2\xb5");
    golden_file_put(&f->other, HR_HOST_FILE, TRACE_NO_TIME, &files[2], sizeof files[2],
                    "/var/log/new");
    golden_file_put(&f->other, HR_META_INFO, TRACE_NO_TIME, left_out, sizeof left_out, NULL);
    golden_file_seal(f, &f->other);
    return golden_file_close(f);
}

static void put_process(struct golden_file *f, const struct hr_rec_process *process,
                        const char *path)
{
    golden_file_put(&f->meta, HR_REC_PROCESS, process->time, process, sizeof *process, path);
}

static void put_process_map(struct golden_file *f, uint32_t pid, uint64_t time, uint64_t start,
                            const char *path)
{
    const struct hr_rec_process_map map = {
        .time = time,
        .pid = pid,
        .map = {.start = start,
                .end = start + 0x1000,
                .file_offset = 0x2000,
                .flags = HR_MAP_READ | HR_MAP_EXEC,
                .path_bytes = (uint16_t)strlen(path)},
    };

    golden_file_put(&f->meta, HR_REC_PROCESS_MAP, time, &map, sizeof map, path);
}

/* A program that forks: tid 1001 is the child, which runs another program with a thread, tid 1003;
 * its child, 1002, remains what it was, and is killed. */
static struct trace_slot processes_sample(uint32_t i)
{
    static const uint32_t tids[] = {1000, 1001, 1001, 1003, 1002};
    struct trace_slot s = golden_sample(i);

    s.tid = tids[i / 10 % 5];
    s.ip = 0x401000 + i % 10 * 0x10;
    return s;
}

static size_t build_processes(uint8_t *out)
{
    const uint64_t start = GOLDEN_START_TIME;
    const struct hr_rec_process records[] = {
        {start + 9000, HR_PROCESS_START, 1001, 1000, 1000, 0, 0},
        {start + 15000, HR_PROCESS_START, 1002, 1001, 1001, 0, 0},
        {start + 20000, HR_PROCESS_EXEC, 1001, 0, 0, 0, 0},
        {start + 50500, HR_PROCESS_EXIT, 1002, 0, 0, 9, 0},
        {start + 51000, HR_PROCESS_EXIT, 1001, 0, 0, 3 << 8, 0},
    };
    const struct hr_rec_thread thread = {start + 29000, 1003, 1001};
    struct golden_file *f = golden_file_new(out, 2);

    golden_file_meta(f, HR_MODE_TIMER);
    trace_writer_begin(&f->meta, HR_CHUNK_META);
    put_process(f, &records[0], "/bin/first");
    put_process(f, &records[1], "/bin/first");
    put_process(f, &records[2], "/bin/second");
    put_process_map(f, 1001, start + 20000, 0x401000, "/bin/second");
    golden_file_put(&f->meta, HR_REC_THREAD, thread.time, &thread, sizeof thread, NULL);
    put_process_map(f, 1000, start + 30000, 0x7f0000000000, "/lib/\xc3\xa9.so");
    golden_file_seal(f, &f->meta);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_samples_of(f, processes_sample, 0, 50);
    golden_file_seal(f, &f->data);
    trace_writer_begin(&f->meta, HR_CHUNK_META);
    put_process(f, &records[3], NULL);
    put_process(f, &records[4], NULL);
    golden_file_seal(f, &f->meta);
    golden_file_end(f);
    return golden_file_close(f);
}

static void put_unknown_chunk(struct golden_file *f)
{
    trace_writer_begin(&f->other, (enum hr_chunk_type)77);
    golden_file_put(&f->other, 1, GOLDEN_START_TIME, "a record of an unknown chunk", 28, NULL);
    golden_file_seal(f, &f->other);
}

/* As a later minor version may write: unknown records and chunks, longer bodies and headers. */
static size_t build_newer(uint8_t *out)
{
    struct golden_file *f = golden_file_new(out, 2);
    struct hr_file_header header;
    const struct hr_rec_gap gap = {.time_first = GOLDEN_START_TIME,
                                   .time_last = GOLDEN_START_TIME + 1};

    memcpy(&header, out, sizeof header);
    header.version_minor = HR_VERSION_MINOR + 1;
    header.header_bytes = 80;
    header.reserved[0] = 0x12345678;
    header.crc = crc32c(0, &header, offsetof(struct hr_file_header, crc));
    memcpy(out, &header, sizeof header);
    memset(out + sizeof header, 0xee, 16);
    f->bytes += 16;
    golden_file_meta(f, HR_MODE_TIMER);
    put_unknown_chunk(f);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    golden_file_put(&f->data, 250, GOLDEN_START_TIME, "unknown", 7, NULL);
    put_samples(f, 0, 10);
    golden_file_put(&f->data, HR_REC_GAP, GOLDEN_START_TIME, &gap, sizeof gap, "and new fields");
    put_samples(f, 10, 20);
    golden_file_seal(f, &f->data);
    golden_file_end(f);
    return golden_file_close(f);
}

const struct golden golden_table[] = {
    {"off", 0, 0, build_off, golden_sample, NULL},
    {"events0", 0, 80, build_events0, golden_sample, NULL},
    {"events5", 5, 80, build_events5, golden_sample, NULL},
    {"events13", 13, 80, build_events13, golden_sample, NULL},
    {"triggers", 2, 40, build_triggers, trigger_sample, NULL},
    {"machine", 2, 10, build_machine, golden_sample, NULL},
    {"exact", 1, 0, build_exact, golden_sample, NULL},
    {"files", 1, 10, build_files, golden_sample, NULL},
    {"processes", 2, 50, build_processes, processes_sample, NULL},
    {"probes", GOLDEN_PROBES_EVENTS, GOLDEN_PROBES_SAMPLES, golden_probes_build,
     golden_probes_sample, NULL},
    {"calls", 0, 0, golden_probes_build_calls, golden_probes_sample, NULL},
    {"newer", 2, 20, build_newer, golden_sample, NULL},
    {"stacks", GOLDEN_STACKS_EVENTS, GOLDEN_STACKS_SAMPLES, golden_stacks_build_chains,
     golden_stacks_sample, golden_stacks_chain},
    {"copies", GOLDEN_STACKS_EVENTS, GOLDEN_STACKS_SAMPLES, golden_stacks_build_copies,
     golden_stacks_sample, golden_stacks_copy},
    {"names", GOLDEN_STACKS_EVENTS, GOLDEN_STACKS_SAMPLES, golden_stacks_build_python,
     golden_stacks_sample, golden_stacks_python},
    {"accesses", GOLDEN_ACCESSES_EVENTS, GOLDEN_ACCESSES_SAMPLES, golden_accesses_build,
     golden_accesses_sample, NULL},
    {NULL, 0, 0, NULL, NULL, NULL},
};
