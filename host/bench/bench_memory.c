/* Runs membench and prints its figures; keeps those of a machine that is not emulated. */
#include "host/bench/bench_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/launch/launch_find.h"
#include "host/machine/machine_peak.h"
#include "host/run/run_child.h"
#include "host/summary/summary.h"
#include "host/trial/trial.h"

#define SIZES_MAX 64u
#define ARGUMENTS_MAX 32
#define OWN_BYTES \
    (UINT64_C(128) << 20) /* of the guest's memory for the kernel and the program itself */

struct row {
    uint64_t size;
    struct machine_peak figures; /* 0: not measured */
};

struct bench {
    struct trial_folder folder;
    struct summary summary;
    uint32_t count;
    struct row rows[SIZES_MAX];
};

static int run(struct bench *b, const struct bench_options *o, struct run_failure *failure)
{
    char *arguments[ARGUMENTS_MAX] = {(char *)"hr", (char *)"run", (char *)"-q"};
    char program[PATH_MAX], size[32], memory[32], reason[RUN_CHILD_REASON_BYTES];
    size_t count = 3;
    int status;

    if (launch_find_part("membench", NULL, NULL, program, failure) != 0)
        return -1;
    snprintf(size, sizeof size, "%" PRIu64, o->size);
    snprintf(memory, sizeof memory, "%" PRIu64 "M", (2 * o->size + OWN_BYTES) >> 20);
    run_child_option(arguments, &count, "-o", b->folder.trace);
    run_child_option(arguments, &count, "--mem", memory);
    run_child_option(arguments, &count, "--accel", o->accel);
    run_child_option(arguments, &count, "--qemu", o->qemu);
    run_child_option(arguments, &count, "--cpu", o->cpu);
    run_child_option(arguments, &count, "--pin", o->pin);
    run_child_option(arguments, &count, "--mode", "off");
    run_child_option(arguments, &count, "--event", "none");
    run_child_option(arguments, &count, program, size);
    status = run_child(arguments, b->folder.output, b->folder.errors, failure);
    if (status == 0 && summary_from_file(b->folder.trace, &b->summary) == 0)
        return 0;
    if (status < 0)
        return -1;
    return run_fail(failure, "the run ended with status %d: %s", status,
                    run_child_reason(b->folder.errors, reason));
}

static struct row *row_of(struct bench *b, uint64_t size)
{
    if (b->count != 0 && b->rows[b->count - 1].size == size)
        return &b->rows[b->count - 1];
    if (b->count == SIZES_MAX)
        return NULL;
    b->rows[b->count].size = size;
    return &b->rows[b->count++];
}

/* The program's lines: KIND SIZE BYTES NANOSECONDS.  What comes from the guest may be anything. */
static int read_rows(struct bench *b, struct run_failure *failure)
{
    FILE *file = fopen(b->folder.output, "re");
    uint64_t size, amount, ns;
    char kind[8];

    if (file == NULL)
        return run_fail(failure, "%s: %s", b->folder.output, strerror(errno));
    while (fscanf(file, "%7s %" SCNu64 " %" SCNu64 " %" SCNu64, kind, &size, &amount, &ns) == 4) {
        struct row *row = row_of(b, size);
        double per_us = ns != 0 ? (double)amount * 1000 / (double)ns : 0;

        if (row == NULL)
            break;
        if (strcmp(kind, "read") == 0)
            row->figures.read_per_us = per_us;
        else if (strcmp(kind, "write") == 0)
            row->figures.write_per_us = per_us;
        else if (strcmp(kind, "copy") == 0)
            row->figures.copy_per_us = per_us;
        else if (strcmp(kind, "chase") == 0 && amount != 0)
            row->figures.latency_ns = (double)ns / (double)amount;
    }
    fclose(file);
    return b->count != 0 ? 0 : run_fail(failure, "the program printed no figures");
}

static void print_table(const struct bench *b)
{
    char safe[256];

    printf("# memory of one CPU, %s\n%10s %12s %12s %12s %12s\n",
           text_escape(safe, sizeof safe,
                       trace_info_text(&b->summary.info, "machine.model", "unknown")),
           "size", "read MB/s", "write MB/s", "copy MB/s", "latency ns");
    for (uint32_t i = 0; i < b->count; i++)
        printf("%6" PRIu64 " KiB %12.0f %12.0f %12.0f %12.1f\n", b->rows[i].size >> 10,
               b->rows[i].figures.read_per_us, b->rows[i].figures.write_per_us,
               b->rows[i].figures.copy_per_us, b->rows[i].figures.latency_ns);
}

static void print_rows(const struct bench *b, bool json, bool emulated)
{
    static const char *const csv = "%s%" PRIu64 ",%.1f,%.1f,%.1f,%.2f\n";
    static const char *const object =
        "%s\n{\"size\":%" PRIu64 ",\"read_bytes_per_us\":%.1f,\"write_bytes_per_us\":%.1f,"
        "\"copy_bytes_per_us\":%.1f,\"latency_ns\":%.2f}";

    if (json)
        printf("{\"emulated\":%s,\"sizes\":[", emulated ? "true" : "false");
    else
        puts("size,read_bytes_per_us,write_bytes_per_us,copy_bytes_per_us,latency_ns");
    for (uint32_t i = 0; i < b->count; i++)
        printf(json ? object : csv, json && i != 0 ? "," : "", b->rows[i].size,
               b->rows[i].figures.read_per_us, b->rows[i].figures.write_per_us,
               b->rows[i].figures.copy_per_us, b->rows[i].figures.latency_ns);
    if (json)
        puts("\n]}");
}

/* The figures of the largest size; an emulator's say nothing about a machine, and those of caches
 * nothing about its memory. */
static void keep(const struct bench *b, bool emulated)
{
    const struct row *largest = &b->rows[b->count - 1];
    int error;

    if (emulated) {
        error_print("the run was emulated: these figures are the emulator's, and no peak is kept");
        return;
    }
    if (largest->size < BENCH_SIZE_DEFAULT) {
        error_print("no peak is kept: with less than --size 256M these are the caches' figures");
        return;
    }
    error = machine_peak_store(&b->summary.info, &largest->figures);
    if (error != 0)
        error_print("the peak was not kept: %s", error == -ENODATA
                                                     ? "the machine does not name its processor"
                                                     : strerror(-error));
}

static int present(const struct bench *b, enum bench_format format)
{
    bool emulated = (b->summary.info.sampling.flags & HR_SAMPLING_EMULATED) != 0;

    if (format == BENCH_TABLE)
        print_table(b);
    else
        print_rows(b, format == BENCH_JSON, emulated);
    if (fflush(stdout) != 0 || ferror(stdout) != 0)
        return error_exit(RUN_EXIT_FAILED,
                          "standard output: %s; free some space or write elsewhere",
                          strerror(errno));
    keep(b, emulated);
    return HR_EXIT_OK;
}

int bench_memory(const struct bench_options *options)
{
    static struct bench b;
    struct run_failure failure = {0};
    int status = HR_EXIT_OK;

    if (trial_folder_make(&b.folder, "bench", &failure) == 0 && run(&b, options, &failure) == 0 &&
        read_rows(&b, &failure) == 0)
        status = present(&b, options->format);
    summary_free(&b.summary);
    trial_folder_remove(&b.folder);
    if (failure.exit_status == 0)
        return status;
    error_print("bench memory: %s", failure.text);
    return failure.exit_status;
}
