/* Writes a small trace of each trigger, as from a machine with counters, for tests of the readers.
 *
 *   genviews [--elf FILE --kernel-ip HEX] KIND FILE
 *
 * Kinds are the names in `scenes` below.  With --elf, a tenth of the samples is in the kernel at
 * that address, and the load map says that FILE is the kernel.
 */
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <getopt.h>
#include <stdbool.h>

#include "host/trace/trace_regions.h"
#include "include/hr_abi.h"
#include "tests/tools/genmachine.h"
#include "tests/tools/tracesink.h"

#define CHUNK_BYTES (64u << 10)
#define EVENTS 2u
#define TICKS_PER_SECOND 2000000000u /* 2 GHz: one instruction takes two ticks here */
#define START_TICKS 1000000u
#define TICKS_PER_EVENT 2u
#define SAMPLES 2000u

struct scene {
    const char *name;
    struct hr_meta_sampling sampling;
    struct hr_meta_calibration calibration;
    struct hr_rec_nmi nmi;
    uint64_t first_ticks; /* between samples at the start; grows or shrinks to last_ticks */
    uint64_t last_ticks;
    bool program; /* the program itself took part: polled samples, pauses, marks, regions */
    bool forged; /* a region contradicts itself */
    const struct genmachine *machine;
};

static const struct scene scenes[] = {
    {.name = "overflow",
     .sampling = {.mode = HR_MODE_OVERFLOW, .period_events = 10000},
     .calibration = {.sample_ticks = 1600, .read_ticks = 120, .rdpmc_ticks = 48, .rounds = 1000},
     .nmi = {.samples = SAMPLES, .spurious = 3},
     .first_ticks = 20000,
     .last_ticks = 20000},
    {.name = "overflow-dense",
     .sampling = {.mode = HR_MODE_OVERFLOW, .period_events = 1000},
     .calibration = {.sample_ticks = 800, .read_ticks = 120, .rdpmc_ticks = 48, .rounds = 1000},
     .nmi = {.samples = SAMPLES},
     .first_ticks = 2000,
     .last_ticks = 2000},
    {.name = "frequency",
     .sampling = {.mode = HR_MODE_OVERFLOW, .period_events = 1000, .frequency_hz = 10000},
     .calibration = {.sample_ticks = 1600, .read_ticks = 120, .rdpmc_ticks = 48, .rounds = 1000},
     .nmi = {.samples = SAMPLES},
     .first_ticks = 2000,
     .last_ticks = 200000},
    {.name = "frequency-dense",
     .sampling = {.mode = HR_MODE_OVERFLOW, .period_events = 4000, .frequency_hz = 250000},
     .calibration = {.sample_ticks = 1600, .read_ticks = 120, .rdpmc_ticks = 48, .rounds = 1000},
     .first_ticks = 8000,
     .last_ticks = 8000},
    {.name = "machine-quiet",
     .sampling = {.mode = HR_MODE_TIMER, .interval_ticks = 20000},
     .first_ticks = 20000,
     .last_ticks = 20000,
     .machine = &genmachine_quiet},
    {.name = "machine-troubled",
     .sampling = {.mode = HR_MODE_TIMER, .interval_ticks = 20000},
     .first_ticks = 20000,
     .last_ticks = 20000,
     .machine = &genmachine_troubled},
    {.name = "ipi",
     .sampling = {.mode = HR_MODE_IPI, .interval_ticks = 20000},
     .calibration = {.sample_ticks = 900, .read_ticks = 120, .rdpmc_ticks = 48, .rounds = 1000},
     .first_ticks = 20000,
     .last_ticks = 20000},
    {.name = "trapped",
     .sampling = {.mode = HR_MODE_TIMER, .interval_ticks = 20000},
     .calibration = {.sample_ticks = 7000,
                     .read_ticks = 5000,
                     .rdpmc_ticks = 2400,
                     .rounds = 1000,
                     .late_ticks = 4200},
     .nmi = {.unknown = 2},
     .first_ticks = 20000,
     .last_ticks = 20000},
    {.name = "instructed",
     .sampling = {.mode = HR_MODE_INSTRUCTED, .flags = HR_SAMPLING_PAUSED},
     .calibration = {.read_ticks = 120, .rdpmc_ticks = 48, .rounds = 1000},
     .first_ticks = 30000,
     .last_ticks = 30000,
     .program = true},
    {.name = "regions",
     .sampling = {.mode = HR_MODE_TIMER, .interval_ticks = 20000},
     .calibration = {.sample_ticks = 900, .read_ticks = 120, .rdpmc_ticks = 48, .rounds = 1000},
     .first_ticks = 20000,
     .last_ticks = 20000,
     .program = true},
    {.name = "forged",
     .sampling = {.mode = HR_MODE_TIMER, .interval_ticks = 20000},
     .first_ticks = 20000,
     .last_ticks = 20000,
     .program = true,
     .forged = true},
};

struct kernel {
    const char *path;
    uint64_t ip; /* 0: no samples in the kernel */
    struct hr_meta_map map;
    uint8_t build_id[64];
};

static const struct scene *find_scene(const char *name)
{
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
        if (strcmp(scenes[i].name, name) == 0)
            return &scenes[i];
    fprintf(stderr, "genviews: unknown kind %s\n", name);
    exit(2);
}

static void open_kernel(struct kernel *kernel, const char *path)
{
    int fd = open(path, O_RDONLY);
    const void *build_id;
    GElf_Phdr text;
    ssize_t bytes;
    Elf *elf;

    kernel->path = realpath(path, NULL);
    if (fd < 0 || kernel->path == NULL)
        fail(path);
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    errno = ENOEXEC;
    if (elf == NULL || gelf_getphdr(elf, 0, &text) == NULL)
        fail(path);
    bytes = dwelf_elf_gnu_build_id(elf, &build_id);
    if (bytes <= 0 || bytes > (ssize_t)sizeof kernel->build_id)
        fail(path);
    memcpy(kernel->build_id, build_id, (size_t)bytes);
    kernel->map = (struct hr_meta_map){
        .start = text.p_vaddr,
        .end = text.p_vaddr + text.p_memsz,
        .file_offset = text.p_offset,
        .flags = HR_MAP_READ | HR_MAP_EXEC | HR_MAP_KERNEL,
        .build_id_bytes = (uint16_t)bytes,
        .path_bytes = (uint16_t)strlen(kernel->path),
    };
    elf_end(elf);
    close(fd);
}

static void put_meta(struct sink *sink, struct trace_writer *w, const struct scene *scene,
                     const struct kernel *kernel)
{
    static const char *const names[EVENTS] = {"instructions:u", "LLC-misses:u"};
    const struct hr_meta_clock clock = {TICKS_PER_SECOND, START_TICKS, 0, HR_CLOCK_CPUID_15H, 0};
    struct hr_meta_sampling sampling = scene->sampling;
    static uint8_t buffer[CHUNK_BYTES];
    uint8_t tail[64 + 4096];

    sampling.event_count = EVENTS;
    sampling.ring_slots = 65536;
    sampling.cpu_count = 1;
    meta_begin(w, buffer, sizeof buffer, &clock, &sampling);
    for (uint16_t i = 0; i < EVENTS; i++) {
        const struct hr_meta_event event = {
            .index = i, .source = HR_SOURCE_PMU, .width_bits = 48, .flags = HR_EVENT_USER};

        add_event(w, &event, names[i]);
    }
    add(w, HR_META_CALIBRATION, TRACE_NO_TIME, &scene->calibration, sizeof scene->calibration, NULL,
        0);
    add_text(w, "program.path", "generated");
    add_text(w, "program.args", "generated");
    if (scene->machine != NULL)
        genmachine_put_texts(w, scene->machine);
    if (kernel->path != NULL) {
        memcpy(tail, kernel->build_id, kernel->map.build_id_bytes);
        memcpy(tail + kernel->map.build_id_bytes, kernel->path, kernel->map.path_bytes);
        add(w, HR_META_MAP, TRACE_NO_TIME, &kernel->map, sizeof kernel->map, tail,
            (size_t)kernel->map.build_id_bytes + kernel->map.path_bytes);
    }
    put_chunk(sink, w);
}

/* All samples of an instructed run are the program's own, elsewhere every tenth. */
static bool polls(const struct scene *scene, uint32_t i)
{
    return scene->program && (scene->sampling.mode == HR_MODE_INSTRUCTED || i % 10 == 9);
}

/* Ten marks, and in the middle a pause of a millisecond with 10^6 instructions of no place. */
static void take_part(struct trace_writer *w, const struct scene *scene, struct trace_slot *slot,
                      uint32_t i)
{
    const struct hr_rec_mark mark = {.time = slot->time, .tid = slot->tid};
    char text[32];

    slot->flags = polls(scene, i) ? HR_SAMPLE_POLLED : 0;
    if (i % (SAMPLES / 10) == 0) {
        snprintf(text, sizeof text, "step %u", i / (SAMPLES / 10));
        add(w, HR_REC_MARK, mark.time, &mark, sizeof mark, text, strlen(text));
    }
    if (i == SAMPLES / 2) {
        slot->flags |= HR_SAMPLE_RESUMED;
        slot->time += TICKS_PER_SECOND / 1000;
        slot->counters[0] += TICKS_PER_SECOND / 1000 / TICKS_PER_EVENT;
    }
}

/* The period moves from the first to the last over the first quarter of the samples. */
static uint64_t ticks_between(const struct scene *scene, uint32_t i)
{
    uint64_t part = i < SAMPLES / 4 ? i : SAMPLES / 4;
    int64_t change = (int64_t)(scene->last_ticks - scene->first_ticks);

    if (scene->sampling.interval_ticks != 0 && polls(scene, i)) /* and the next is on the grid */
        return scene->first_ticks / 4;
    if (scene->sampling.interval_ticks != 0 && i != 0 && polls(scene, i - 1))
        return scene->first_ticks - scene->first_ticks / 4;
    return scene->first_ticks + (uint64_t)(change * (int64_t)part / (int64_t)(SAMPLES / 4));
}

static void put_period(struct trace_writer *w, const struct trace_slot *slot, uint64_t ticks)
{
    const struct hr_rec_period period = {.time = slot->time, .period = ticks / TICKS_PER_EVENT};

    add(w, HR_REC_PERIOD, period.time, &period, sizeof period, NULL, 0);
}

static void put_samples(struct sink *sink, const struct scene *scene, const struct kernel *kernel,
                        struct trace_slot *slot, struct hr_rec_stream *stream)
{
    static uint8_t buffer[CHUNK_BYTES];
    uint64_t ticks = scene->first_ticks;
    struct trace_writer w;

    trace_writer_init(&w, buffer, sizeof buffer, 0, EVENTS);
    trace_writer_begin(&w, HR_CHUNK_DATA);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        if (scene->sampling.mode == HR_MODE_OVERFLOW && ticks_between(scene, i) != ticks)
            put_period(&w, slot, ticks_between(scene, i));
        ticks = ticks_between(scene, i);
        slot->time += ticks;
        slot->ip = 0x401000 + i % 7 * 0x1000;
        slot->flags = 0;
        slot->cost_ticks = 120;
        slot->counters[0] += ticks / TICKS_PER_EVENT;
        slot->counters[1] += i % 3;
        if (scene->program)
            take_part(&w, scene, slot, i);
        if (kernel->ip != 0 && i % 10 == 0) {
            slot->ip = kernel->ip + i % 3;
            slot->flags |= HR_SAMPLE_KERNEL;
        }
        if (trace_writer_sample(&w, slot) != 0)
            fail("sample");
    }
    put_chunk(sink, &w);
    *stream = (struct hr_rec_stream){.samples = w.samples, .chunks = w.sequence, .cpu = 0};
}

/* A region with `passes` values from `from` on, `step` apart, in its histogram. */
static void put_region(struct trace_writer *w, const char *name, uint16_t event, uint64_t passes,
                       uint64_t from, uint64_t step, bool forged)
{
    uint8_t tail[HR_REGION_BUCKETS * 8 + 64];
    uint64_t buckets[HR_REGION_BUCKETS] = {0};
    struct hr_rec_region region = {
        .passes = passes,
        .min = from,
        .max = from + (passes - 1) * step,
        .event = event,
        .name_bytes = (uint16_t)strlen(name),
        .threads = 1,
    };

    for (uint64_t i = 0; i < passes; i++) {
        buckets[hr_abi_bucket(from + i * step)]++;
        region.sum += from + i * step;
    }
    region.bucket_count = (uint16_t)(hr_abi_bucket(region.max) + 1);
    region.passes += forged;
    memcpy(tail, buckets, region.bucket_count * sizeof buckets[0]);
    memcpy(tail + region.bucket_count * sizeof buckets[0], name, region.name_bytes);
    add(w, HR_REC_REGION, TRACE_NO_TIME, &region, sizeof region, tail,
        region.bucket_count * sizeof buckets[0] + region.name_bytes);
}

static void put_regions(struct trace_writer *w, bool forged)
{
    put_region(w, "parse", HR_REGION_TICKS, 1000, 2000, 2, forged);
    put_region(w, "parse", 0, 1000, 1000, 1, false);
    put_region(w, "parse", 1, 1000, 3, 0, false);
    put_region(w, "hash \x1b[31m", HR_REGION_TICKS, 10, 2000000, 20000, false);
    put_region(w, "hash \x1b[31m", 0, 10, 500, 0, false);
}

static void put_end(struct sink *sink, struct trace_writer *w, const struct scene *scene,
                    const struct trace_slot *slot, const struct hr_rec_stream *stream)
{
    const struct hr_rec_exit last = {
        .time = slot->time, .user_ticks = slot->time - START_TICKS, .kind = HR_EXIT_STATUS};

    trace_writer_begin(w, HR_CHUNK_END);
    add(w, HR_REC_EXIT, last.time, &last, sizeof last, NULL, 0);
    for (uint16_t i = 0; i < EVENTS; i++) {
        const struct hr_rec_total total = {.value = slot->counters[i], .index = i};

        add(w, HR_REC_TOTAL, TRACE_NO_TIME, &total, sizeof total, NULL, 0);
    }
    add(w, HR_REC_STREAM, TRACE_NO_TIME, stream, sizeof *stream, NULL, 0);
    add(w, HR_REC_NMI, TRACE_NO_TIME, &scene->nmi, sizeof scene->nmi, NULL, 0);
    if (scene->program)
        put_regions(w, scene->forged);
    if (scene->machine != NULL)
        genmachine_put_cpus(w, scene->machine);
    put_chunk(sink, w);
}

static void generate(struct sink *sink, const struct scene *scene, const struct kernel *kernel)
{
    struct trace_slot slot = {.time = START_TICKS, .tid = 1};
    struct hr_rec_stream stream;
    struct trace_writer w;

    put_meta(sink, &w, scene, kernel);
    put_samples(sink, scene, kernel, &slot, &stream);
    put_end(sink, &w, scene, &slot, &stream);
    put_collector_part(sink, &w);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"elf", required_argument, NULL, 'e'}, {"kernel-ip", required_argument, NULL, 'k'}, {0}};
    struct kernel kernel = {0};
    struct sink sink;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'e')
            open_kernel(&kernel, optarg);
        else if (option == 'k')
            kernel.ip = strtoull(optarg, NULL, 16);
        else
            return 2;
    }
    if (argc - optind != 2) {
        fputs("usage: genviews [--elf FILE --kernel-ip HEX] KIND FILE\n", stderr);
        return 2;
    }
    sink_begin(&sink, argv[optind + 1]);
    generate(&sink, find_scene(argv[optind]), &kernel);
    sink_close(&sink, argv[optind + 1]);
    return 0;
}
