/* Writes the META chunk: machine, clock, events, sampling, calibration, load map. */
#include <stdbool.h>
#include <string.h>

#include "guest/base/image.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/memory/phys.h"
#include "guest/sample/sampling.h"
#include "guest/trace/machine.h"
#include "guest/trace/trace.h"
#include "guest/trace/trace_meta.h"
#include "guest/trace/trace_notes.h"
#include "guest/vm/vm.h"
#include "guest/vm/vm_fill.h"
#include "include/version.h"

#define NOTE_HEADER_BYTES 16 /* of kernel_build_id: three words and the name */
#define BUILD_ID_MAX 64

void trace_map_kernel(void)
{
    const uint8_t *id = kernel_build_id + NOTE_HEADER_BYTES;

    trace_map((uint64_t)kernel_start, (uint64_t)kernel_text_end, (uint64_t)kernel_file_offset,
              HR_MAP_READ | HR_MAP_EXEC | HR_MAP_KERNEL, id, (uint16_t)(kernel_build_id_end - id),
              manifest_text(&run.manifest, "kernel-path", "guest.elf"));
}

static void trace_meta_add(struct trace_writer *w, uint8_t type, const void *body, uint32_t bytes,
                           const void *tail, uint32_t tail_bytes)
{
    if (trace_writer_record(w, type, TRACE_NO_TIME, body, bytes, tail, tail_bytes))
        panic("metadata does not fit: too many arguments?");
}

static void trace_meta_info(struct trace_writer *w, const char *key, const char *value)
{
    trace_meta_add(w, HR_META_INFO, key, (uint32_t)strlen(key) + 1, value,
                   (uint32_t)strlen(value) + 1);
}

static void info_number(struct trace_writer *w, const char *key, uint64_t value)
{
    char text[24];

    format_text(text, sizeof text, "%lu", value);
    trace_meta_info(w, key, text);
}

static void say_machine(void *context, const char *key, const char *value)
{
    trace_meta_info(context, key, value);
}

/* Joins arguments by spaces; puts one that a shell would split or change in single quotes. */
static void info_arguments(struct trace_writer *w)
{
    static char text[8192];
    size_t position = 0, used = 0;
    const char *argument;
    const char *const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-+=./,:@%^";
    const char *const cut = " ...";

    while ((argument = manifest_next(&run.manifest, "arg", &position)) != NULL) {
        bool quote = !*argument;
        for (const char *c = argument; *c; c++)
            quote |= strchr(plain, *c) == NULL;
        /* each byte may become four; a space, two quotes and the mark of a cut may follow */
        if (used + 4 * strlen(argument) + 3 + strlen(cut) >= sizeof text) {
            memcpy(text + used, cut, strlen(cut));
            used += strlen(cut);
            break;
        }
        if (used)
            text[used++] = ' ';
        if (quote)
            text[used++] = '\'';
        for (const char *c = argument; *c; c++) {
            text[used++] = *c;
            if (*c == '\'') { /* end the quotes, an escaped one, begin again */
                memcpy(text + used, "\\''", 3);
                used += 3;
            }
        }
        if (quote)
            text[used++] = '\'';
    }
    text[used] = 0;
    trace_meta_info(w, "program.args", text);
}

/* The settings lie on the program's first stack, so their length moves it. */
static void info_environment(struct trace_writer *w)
{
    size_t position = 0;
    const char *setting;
    uint64_t bytes = 0;

    while ((setting = manifest_next(&run.manifest, "env", &position)) != NULL)
        bytes += strlen(setting) + 1;
    info_number(w, "program.environment_bytes", bytes);
}

/* Finds the kernel's own build-id: the note's description, after its header and the name "GNU". */
static void info_build_id(struct trace_writer *w)
{
    char text[2 * BUILD_ID_MAX + 1] = "";
    const uint8_t *id = kernel_build_id + NOTE_HEADER_BYTES;

    for (size_t i = 0; i < BUILD_ID_MAX && id + i < kernel_build_id_end; i++)
        format_text(text + 2 * i, 3, "%02x", id[i]);
    trace_meta_info(w, "kernel.build_id", text);
}

static const char *const triggers[] = {
    [HR_MODE_OFF] = "none",
    [HR_MODE_TIMER] = "local APIC timer",
    [HR_MODE_IPI] = "inter-processor interrupt",
    [HR_MODE_OVERFLOW] = "counter overflow",
    [HR_MODE_PEBS] = "records of the processor's (PEBS, IBS)",
    [HR_MODE_INSTRUCTED] = "the program",
    [HR_MODE_EXACT] = "none: every instruction is counted",
    [HR_MODE_LATENCY] = "hooks of the program's functions",
};

/* What the run was asked for, where the sampler does nothing. */
static uint32_t meta_mode(void)
{
    return run.exact ? HR_MODE_EXACT : run.latency ? HR_MODE_LATENCY : (uint32_t)sampling.mode;
}

/* Writes the default events that a machine without counters omits: all but the first. */
static void info_omitted(struct trace_writer *w)
{
    char text[HR_EVENTS_MAX * sizeof((struct pmu_event *)0)->name] = "";
    size_t position = 0, used = 0;
    const char *name;

    if (manifest_text(&run.manifest, "default-events", NULL) == NULL ||
        manifest_next(&run.events, "event", &position) == NULL)
        return;
    while ((name = manifest_next(&run.events, "event", &position)) != NULL) {
        format_text(text + used, sizeof text - used, "%s%s", used ? "," : "", name);
        used = strlen(text);
    }
    trace_meta_info(w, "events.omitted", text);
}

static void info_counters(struct trace_writer *w)
{
    const struct pmu_caps *caps = &run.pmu_caps;
    char text[64];

    trace_meta_info(w, "pmu.driver", run.pmu->name);
    if (!caps->needs_encodings) {
        info_omitted(w);
        return;
    }
    info_number(w, "pmu.version", caps->version);
    format_text(text, sizeof text, "%u general of %u bits, %u fixed of %u bits",
                caps->general_counters, caps->general_bits, caps->fixed_counters, caps->fixed_bits);
    trace_meta_info(w, "pmu.counters", text);
    format_text(text, sizeof text, "%x,%x", caps->general_mask, caps->fixed_mask);
    trace_meta_info(w, "pmu.masks", text);
}

static void info_run(struct trace_writer *w)
{
    const struct manifest *m = &run.manifest;

    trace_meta_info(w, "kernel.version", VERSION_TEXT);
    info_build_id(w);
    trace_meta_info(w, "program.path",
                    manifest_text(m, "program-path", manifest_text(m, "program", "")));
    info_arguments(w);
    info_environment(w);
    trace_meta_info(w, "program.build_id", manifest_text(m, "program-build-id", ""));
    trace_meta_info(w, "boot.entry", run.boot->entry == BOOT_ENTRY_PVH ? "pvh" : "uefi");
    trace_meta_info(w, "sampling.trigger", triggers[meta_mode()]);
    info_number(w, "sampling.max_overhead", run.asked.max_overhead);
    if (sampling.share_factor)
        info_number(w, "sampling.spacing_ticks", sampling.spacing_ticks);
    if (sampling.counters_rest)
        info_number(w, "sampling.counters_every", sampling.counters_rest + 1ull);
    info_counters(w);
    trace_meta_info(w, "run.virtual_time", run.clock.virtual_time ? "yes" : "no");
}

static void meta_sampling(struct trace_writer *w)
{
    bool exact = run.clock.virtual_time && run.shared;
    const struct hr_meta_sampling record = {
        .interval_ticks = sampling.mode == HR_MODE_TIMER || sampling.mode == HR_MODE_IPI
                              ? sampling.interval_ticks
                              : 0,
        .period_events = sampling.mode == HR_MODE_OVERFLOW || sampling.mode == HR_MODE_PEBS
                             ? sampling.period
                             : 0,
        .frequency_hz = (uint32_t)run.asked.frequency_hz,
        .mode = meta_mode(),
        .flags = (run.emulated ? HR_SAMPLING_EMULATED : 0u) |
                 (run.emulated && !exact ? HR_SAMPLING_INEXACT : 0u) |
                 (run.shared ? HR_SAMPLING_SHARED : 0u) |
                 (run.asked.paused ? HR_SAMPLING_PAUSED : 0u),
        .event_count = sampling.session.event_count,
        .ring_slots = run.ring_slots,
        .cpu_count = run.workload_cpus,
    };

    trace_meta_add(w, HR_META_SAMPLING, &record, sizeof record, NULL, 0);
}

static void meta_accesses(struct trace_writer *w)
{
    struct hr_meta_accesses record = {
        .sources = run.pmu_caps.record_sources,
        .flags = (sampling.session.registers ? HR_ACCESSES_REGISTERS : 0u) |
                 (sampling.jitter ? HR_ACCESSES_JITTER : 0u) |
                 (run.stacks.kind == HR_STACK_DWARF ? HR_ACCESSES_LATER : 0u),
        .latency_least = sampling.latency_least,
    };

    for (uint32_t i = 0; i < sampling.session.event_count; i++)
        record.periods[i] = sampling.session.events[i].record_period;
    trace_meta_add(w, HR_META_ACCESSES, &record, sizeof record, NULL, 0);
}

void trace_meta_write(struct trace_writer *w)
{
    const struct hr_meta_clock clock = {.ticks_per_second = run.clock.hz,
                                        .start_ticks = run.start_ticks,
                                        .start_unix_ns = run.start_unix_ns,
                                        .method = run.clock.method};

    trace_meta_add(w, HR_META_CLOCK, &clock, sizeof clock, NULL, 0);
    meta_sampling(w);
    if (run.allocations) {
        trace_meta_info(w, "alloc", "calls");
        info_number(w, "alloc.min_bytes", run.alloc_min);
        info_number(w, "alloc.every", run.alloc_every);
    }
    if (run.pages_ticks)
        info_number(w, "pages.interval_ns", run_ticks_to_ns(run.pages_ticks));
    if (vm_fill_small)
        trace_meta_info(w, "pages.split", "yes");
    if (sampling.precise)
        meta_accesses(w);
    if (run.stacks.kind)
        trace_meta_add(w, HR_META_STACKS, &run.stacks, sizeof run.stacks, NULL, 0);
    for (uint16_t i = 0; i < sampling.session.event_count; i++) {
        const struct pmu_event *event = &sampling.session.events[i];
        const struct hr_meta_event record = {.encoding = event->encoding,
                                             .encoding_ext = event->encoding_ext,
                                             .index = i,
                                             .source = event->source,
                                             .width_bits = event->width_bits,
                                             .flags = event->flags};
        trace_meta_add(w, HR_META_EVENT, &record, sizeof record, event->name,
                       (uint32_t)strlen(event->name));
    }
    trace_meta_add(w, HR_META_CALIBRATION, &sampling.calibration, sizeof sampling.calibration, NULL,
                   0);
    machine_describe(say_machine, w);
    info_run(w);
    trace_notes_write(w);
}

void trace_meta_end(struct trace_writer *w, const struct trace_dropped *dropped)
{
    uint64_t faults, copied;

    if (dropped->samples)
        info_number(w, "run.dropped_samples", dropped->samples);
    if (dropped->records)
        info_number(w, "run.dropped_records", dropped->records);
    vm_space_faults(&faults, &copied);
    info_number(w, "run.page_faults", faults);
    info_number(w, "run.pages_copied", copied);
    info_number(w, "run.memory_peak", phys_peak_bytes() - run.kernel_bytes);
}
