/* Names the values of the format's enumerations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/trace/trace_info.h"
#include "lib/boot/modes.h"

#define WORD(table, value) ((value) < sizeof(table) / sizeof((table)[0]) ? (table)[value] : NULL)

static const char *word(const char *found)
{
    return found != NULL ? found : "unknown";
}

const char *trace_info_source(enum hr_source source)
{
    static const char *const words[] = {
        [HR_SOURCE_NONE] = "none", [HR_SOURCE_PMU] = "pmu", [HR_SOURCE_ICOUNT] = "icount",
        [HR_SOURCE_STUB] = "stub", [HR_SOURCE_MSR] = "msr", [HR_SOURCE_EMULATOR] = "emulator",
    };

    return word(WORD(words, (uint32_t)source));
}

const char *trace_info_source_words(const struct trace_info *info, uint32_t event)
{
    switch (info->events[event].meta.source) {
    case HR_SOURCE_PMU:
        return "";
    case HR_SOURCE_ICOUNT:
        return info->sampling.flags & HR_SAMPLING_INEXACT
                   ? "from virtual time, inexact on several CPUs"
                   : "exact, from virtual time";
    case HR_SOURCE_STUB:
        return "stub: fixed ratio of instructions, not a measurement";
    case HR_SOURCE_MSR:
        return "a register of the CPU, in ring 0 too";
    case HR_SOURCE_EMULATOR:
        return "exact, counted by the emulator";
    case HR_SOURCE_NONE:
        return "no source: not counted";
    default:
        return "source unknown to this version";
    }
}

const char *trace_info_weight_word(const struct trace_info *info)
{
    return info->has_exact ? "instructions" : "samples";
}

const char *trace_info_exact_problem(const struct trace_info *info,
                                     const struct selection *selection)
{
    if (info->sampling.mode != HR_MODE_EXACT)
        return NULL;
    if (!info->has_exact)
        return "what the emulator counted is missing; the trace has totals only";
    if (selection->from_ns != 0 || selection->to_ns != UINT64_MAX)
        return "mode exact counts over the whole run; leave out --from and --to";
    return NULL;
}

const char *trace_info_event_name(const struct trace_info *info, uint32_t event, char room[16])
{
    if (info->events[event].name[0] != 0)
        return info->events[event].name;
    snprintf(room, 16, "event%u", event % 100);
    return room;
}

char *trace_info_event_column(const struct trace_info *info, uint32_t event,
                              char text[TRACE_INFO_COLUMN_BYTES])
{
    bool stub = info->events[event].meta.source == HR_SOURCE_STUB;
    char room[16];

    snprintf(text, TRACE_INFO_COLUMN_BYTES, "%.64s%s", trace_info_event_name(info, event, room),
             stub ? "(stub)" : "");
    return text;
}

const char *trace_info_event_word(const struct trace_info *info, uint32_t event, char room[64])
{
    char number[16];
    size_t bytes;

    snprintf(room, 64, "%.63s", trace_info_event_name(info, event, number));
    bytes = strlen(room);
    if (bytes > 2 && strcmp(room + bytes - 2, ":u") == 0)
        room[bytes - 2] = 0;
    return room;
}

const char *trace_info_mode(uint32_t mode)
{
    return word(modes_name(mode));
}

const char *trace_info_clock_method(uint32_t method)
{
    static const char *const words[] = {
        [HR_CLOCK_VIRTUAL] = "virtual time", [HR_CLOCK_CPUID_15H] = "CPUID 15H",
        [HR_CLOCK_CPUID_16H] = "CPUID 16H",  [HR_CLOCK_HYPERVISOR] = "hypervisor leaf",
        [HR_CLOCK_KVMCLOCK] = "kvmclock",    [HR_CLOCK_CALIBRATED] = "calibrated",
    };

    return word(WORD(words, method));
}

const char *trace_info_loss_words(const struct trace_info *info, uint64_t lost)
{
    uint64_t dropped = strtoull(trace_info_text(info, "run.dropped_samples", "0"), NULL, 10);

    if (dropped == 0)
        return "the ring was full";
    return dropped < lost ? "the ring or the buffer was full" : "the buffer was full";
}

const char *trace_info_host_reason(uint32_t reason)
{
    static const char *const words[] = {
        [HR_HOST_COMPLETE] = "complete",
        [HR_HOST_TIMEOUT] = "stopped by the timeout",
        [HR_HOST_INTERRUPTED] = "interrupted",
        [HR_HOST_GUEST_DIED] = "the guest ended without an END chunk",
        [HR_HOST_GUEST_PANIC] = "the guest kernel panicked",
        [HR_HOST_BAD_STREAM] = "the guest sent what is not a trace",
    };

    return word(WORD(words, reason));
}

int trace_info_find_event(const struct trace_info *info, const char *name)
{
    char room[16];

    for (uint32_t i = 0; i < info->event_count; i++) {
        const char *event = trace_info_event_name(info, i, room);
        size_t bytes = strcspn(event, ":");

        if (strcmp(event, name) == 0 || (strlen(name) == bytes && strncmp(event, name, bytes) == 0))
            return (int)i;
    }
    return -1;
}

const char *trace_info_event_names(const struct trace_info *info, char room[TRACE_INFO_NAMES_BYTES])
{
    char number[16];
    size_t used = 0;

    room[0] = 0;
    for (uint32_t i = 0; i < info->event_count; i++)
        used += (size_t)snprintf(room + used, TRACE_INFO_NAMES_BYTES - used, ", %s",
                                 trace_info_event_name(info, i, number));
    return room;
}
