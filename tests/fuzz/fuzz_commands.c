/* Fuzzes the commands that read traces, with traces that lie and whose checksums are right.
 *
 * libFuzzer changes inputs by tests/fuzz/mutate_trace.h.  Without it every input is read as it is,
 * and then so many liars made of it.
 */
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <string.h>
#include <unistd.h>

#include "host/base/commands.h"
#include "host/scan/trace_scan.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_trace.h"

#define BYTES_MAX (4u << 20)
#define LIARS 10u
#define WORDS_MAX 8

static char path[64]; /* of the trace */
static char target[64]; /* of what is written */

static const struct reading {
    int (*run)(int argc, char **argv);
    const char *words[WORDS_MAX];
} always[] =
    {
        {check_command, {"hr check"}},
        {stat_command, {"hr stat"}},
        {timeline_command, {"hr timeline"}},
},
  sometimes[] = {
      {stat_command, {"hr stat", "--json", "--jobs", "3"}},
      {stat_command, {"hr stat", "--from", "20us", "--to", "60us"}},
      {stat_command, {"hr stat", "--machine"}},
      {timeline_command, {"hr timeline", "--per", "thread", "--format", "json"}},
      {timeline_command, {"hr timeline", "--format", "csv", "--from", "10us"}},
      {report_command, {"hr report", "--jobs", "3", "--by", "thread,cpu,mark,line"}},
      {report_command, {"hr report", "--stacks", "--min", "0"}},
      {report_command, {"hr report", "--callers", "main"}},
      {report_command, {"hr report", "--regions"}},
      {report_command, {"hr report", "--marks"}},
      {annotate_command, {"hr annotate", "main"}},
      {hist_command, {"hr hist"}},
      {noise_command, {"hr noise"}},
      {memory_command, {"hr memory"}},
      {memory_command, {"hr memory", "--by", "look", "-f", "json"}},
      {latency_command, {"hr latency", "--counters"}},
      {latency_command, {"hr latency", "--function", "outer", "--worst", "9"}},
      {latency_command, {"hr latency", "--slowest", "9"}},
      {dump_command, {"hr dump"}},
      {dump_command, {"hr dump", "--format", "records"}},
      {diff_command, {"hr diff", path}},
      {plot_command, {"hr plot", "-p", "timeline", "-o", "-"}},
      {plot_command, {"hr plot", "-p", "intervals", "-o", "-"}},
      {plot_command, {"hr plot", "-p", "functions", "-o", "-"}},
      {plot_command, {"hr plot", "-p", "calls", "-o", "-"}},
      {view_command, {"hr view", "-o", "-"}},
      {export_command, {"hr export", "csv", "-o", "-"}},
      {export_command, {"hr export", "folded", "-o", "-"}},
      {export_command, {"hr export", "firefox", "-o", "-"}},
      {export_command, {"hr export", "pprof", "-o", "-"}},
      {export_command, {"hr export", "perfetto", "-o", "-"}},
      {export_command, {"hr export", "hrperf", "-o", "-"}},
      {export_command, {"hr export", "perf", "--force", "-o", target}},
      {export_command, {"hr export", "sqlite", "--force", "-o", target}},
};

static void clean_up(void)
{
    unlink(path);
    unlink(target);
}

/* What is said is not looked at; a trace's programs are looked for nowhere. */
static void begin(void)
{
    const char *directory = getenv("TMPDIR");
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (path[0] != 0)
        return;
    snprintf(path, sizeof path, "%.32s/fuzz-%d.bin", directory != NULL ? directory : "/tmp",
             (int)getpid());
    snprintf(target, sizeof target, "%.32s/fuzz-%d.out", directory != NULL ? directory : "/tmp",
             (int)getpid());
    __sanitizer_set_report_fd((void *)(intptr_t)dup(STDERR_FILENO)); /* run() moves the other */
    atexit(clean_up);
    setenv("DEBUGINFOD_URLS", "", 1);
    fuzz_check(null >= 0 && dup2(null, STDOUT_FILENO) == STDOUT_FILENO);
}

static void run(const struct reading *command)
{
    char *words[WORDS_MAX + 2];
    int count = 0, errors = dup(STDERR_FILENO);

    for (; count < WORDS_MAX && command->words[count] != NULL; count++)
        words[count] = (char *)(uintptr_t)command->words[count];
    words[count++] = path;
    words[count] = NULL;
    dup2(STDOUT_FILENO, STDERR_FILENO);
    optind = 0;
    command->run(count, words);
    fflush(stdout);
    dup2(errors, STDERR_FILENO);
    close(errors);
}

struct seen {
    const struct trace_scan *scan;
    uint32_t event_count;
    bool began;
    uint64_t samples;
    uint64_t first, last; /* of the chunk, as its header says */
    bool outside; /* samples of the chunk were */
};

static int see_chunk(void *context, const struct trace_chunk *chunk, bool continues)
{
    struct seen *seen = context;

    (void)continues;
    fuzz_check(!seen->began || seen->event_count == seen->scan->info.event_count);
    seen->event_count = seen->scan->info.event_count;
    seen->began = true;
    seen->first = chunk->header.time_first;
    seen->last = chunk->header.time_last;
    return 0;
}

static int see_samples(void *context, const struct trace_samples *samples)
{
    struct seen *seen = context;

    fuzz_check(seen->began && samples->event_count == seen->event_count);
    fuzz_check(samples->count > 0 && samples->count <= TRACE_RUN_SAMPLES_MAX);
    seen->samples += samples->count;
    for (uint32_t i = 0; i < samples->count; i++)
        seen->outside |=
            samples->slots[i].time < seen->first || samples->slots[i].time > seen->last;
    return 0;
}

/* A trace that is called complete keeps what format.md promises. */
static void check_promises(void)
{
    struct trace_scan scan;
    struct seen seen = {.scan = &scan};
    const struct trace_visitor visitor = {
        .context = &seen, .stacks = TRACE_SCAN_ROOTS, .chunk = see_chunk, .samples = see_samples};
    uint64_t said = 0;

    if (trace_scan_open(&scan, path) != 0)
        return;
    fuzz_check(trace_scan_run(&scan, &visitor) == 0);
    for (size_t i = 0; i < scan.info.stream_count; i++)
        said += scan.info.streams[i].samples;
    if (trace_audit_complete(&scan.audit))
        fuzz_check(!seen.outside && seen.samples == scan.audit.samples && seen.samples == said);
    trace_scan_close(&scan);
}

static void read_trace(const uint8_t *data, size_t size)
{
    uint32_t choice = size != 0 ? crc32c(0, data, size) : 0;
    int fd;

    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    check_promises();
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        run(&always[i]);
    for (size_t i = 0; i < 2; i++)
        run(&sometimes[(choice + i * 7) % (sizeof sometimes / sizeof sometimes[0])]);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
    return mutate_trace(data, size, max, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *given = getenv("HR_FUZZ_LIARS");
    uint32_t liars = given != NULL ? (uint32_t)strtoul(given, NULL, 10) : LIARS;
    uint8_t *copy;

    begin();
    read_trace(data, size);
    if (LLVMFuzzerMutate != NULL || size > BYTES_MAX / 2)
        return 0;
    copy = malloc(BYTES_MAX);
    fuzz_check(copy != NULL);
    for (uint32_t i = 0; i < liars; i++) {
        memcpy(copy, data, size);
        read_trace(copy, mutate_trace(copy, size, BYTES_MAX, i));
    }
    free(copy);
    return 0;
}
