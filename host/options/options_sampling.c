/* Parses and checks what triggers a sample. */
#include "host/options/options_sampling.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/option.h"
#include "host/base/units.h"
#include "lib/boot/modes.h"
#include "lib/trace/stack_kinds.h"

int options_set_interval(struct options *o, const char *text, struct run_failure *failure)
{
    if (units_parse_time(text, UNITS_NEEDED, &o->interval_ns) != 0)
        return run_fail(failure, "--interval %s: not a time with a unit; write 500ns, 1us or 2ms",
                        text);
    if (o->interval_ns < OPTIONS_INTERVAL_MIN_NS)
        return run_fail(failure, "--interval %s: the shortest is 500ns", text);
    if (o->interval_ns > 3600 * UNITS_SECOND)
        return run_fail(failure, "--interval %s: the longest is 1h", text);
    return 0;
}

int options_set_pages(struct options *o, const char *text, struct run_failure *failure)
{
    if (units_parse_time(text, UNITS_NEEDED, &o->pages_ns) != 0)
        return run_fail(failure, "--pages %s: not a time with a unit; write 100us, 1ms or 10ms",
                        text);
    if (o->pages_ns < OPTIONS_PAGES_MIN_NS || o->pages_ns > 3600 * UNITS_SECOND)
        return run_fail(failure, "--pages %s: the shortest is 10us, the longest 1h", text);
    return 0;
}

int options_set_mode(struct options *o, const char *text, struct run_failure *failure)
{
    int found;

    found = modes_find(text);
    if (found >= 0) {
        o->mode = (enum hr_mode)found;
        return 0;
    }
    return run_fail(failure,
                    "--mode %s: unknown; use timer, ipi, overflow, pebs, instructed, "
                    "exact, latency or off",
                    text);
}

int options_set_period(struct options *o, const char *text, struct run_failure *failure)
{
    if (option_number(text, 1, OPTIONS_PERIOD_MAX, &o->period) != 0)
        return run_fail(failure, "--count %s: not a number from 1 to 2^40", text);
    return 0;
}

int options_set_frequency(struct options *o, const char *text, struct run_failure *failure)
{
    if (option_number(text, 1, OPTIONS_FREQUENCY_MAX_HZ, &o->frequency_hz) != 0)
        return run_fail(failure, "--freq %s: not a number of samples a second from 1 to %u", text,
                        OPTIONS_FREQUENCY_MAX_HZ);
    return 0;
}

int options_set_overhead(struct options *o, const char *text, struct run_failure *failure)
{
    char *end;
    long percent = strtol(text, &end, 10);

    if (*end == '%')
        end++;
    if (!isdigit((unsigned char)text[0]) || *end != 0 || percent < 1 ||
        percent > (long)OPTIONS_OVERHEAD_MAX)
        return run_fail(failure, "--max-overhead %s: not a share of the time from 1%% to %u%%",
                        text, OPTIONS_OVERHEAD_MAX);
    o->max_overhead = (uint32_t)percent;
    return 0;
}

int options_set_counters_every(struct options *o, const char *text, struct run_failure *failure)
{
    uint64_t value;

    if (option_number(text, 1, OPTIONS_COUNTERS_EVERY_MAX, &value) != 0)
        return run_fail(failure, "--counters-every %s: not a number of samples from 1 to %u", text,
                        OPTIONS_COUNTERS_EVERY_MAX);
    o->counters_every = (uint32_t)value;
    return 0;
}

/* Returns the kind at the start of a text, up to its end or a comma; 0: none. */
static uint32_t stacks_kind(const char *text)
{
    char name[8];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ","), text);
    return stack_kinds_find(name);
}

bool options_stacks_follow(const char *word)
{
    /* perf's other kind is refused as a kind, not taken as a program */
    return word != NULL &&
           (stacks_kind(word) != 0 || strcmp(word, "lbr") == 0 || strncmp(word, "lbr,", 4) == 0);
}

/* Sets the limit after the comma, or the default. */
static int set_limit(struct options *o, const char *text, const char *limit,
                     struct run_failure *failure)
{
    bool frames = stack_kinds_chains(o->stacks.kind);
    uint64_t value = frames ? OPTIONS_STACK_FRAMES_DEFAULT : OPTIONS_STACK_BYTES_DEFAULT;
    int error = 0;

    if (limit != NULL)
        error = frames ? option_number(limit, 1, HR_STACK_FRAMES_MAX, &value)
                       : units_parse_bytes(limit, &value);
    if (!frames && value <= HR_STACK_BYTES_MAX)
        value = (value + 7) / 8 * 8;
    if (error != 0 || !stack_kinds_limit_ok(o->stacks.kind, value))
        return run_fail(failure, "--call-graph %s: not %s from 1 to %u", text,
                        frames ? "a number of frames" : "a size in bytes",
                        frames ? HR_STACK_FRAMES_MAX : HR_STACK_BYTES_MAX);
    o->stacks.limit = (uint32_t)value;
    return 0;
}

int options_set_stacks(struct options *o, const char *text, struct run_failure *failure)
{
    const char *comma;
    uint32_t kind;

    if (text == NULL)
        text = "fp";
    kind = stacks_kind(text);
    if (o->stacks.kind != kind && (o->stacks.kind == HR_STACK_PYTHON || kind == HR_STACK_PYTHON) &&
        o->stacks.kind != 0)
        return run_fail(failure,
                        "--call-graph: a sample has call stacks of one kind, and --python is one; "
                        "leave one of the two out");
    o->stacks.kind = kind;
    if (o->stacks.kind == 0)
        return run_fail(
            failure,
            "--call-graph %s: unknown; use fp, fp,FRAMES, dwarf, dwarf,BYTES, python or "
            "python,FRAMES",
            text);
    comma = strchr(text, ',');
    return set_limit(o, text, comma != NULL ? comma + 1 : NULL, failure);
}

int options_set_load_latency(struct options *o, const char *text, struct run_failure *failure)
{
    if (option_number(text, 3, OPTIONS_LOAD_LATENCY_MAX, &o->load_latency) != 0)
        return run_fail(failure, "--load-latency %s: not a number of cycles from 3 to %u", text,
                        OPTIONS_LOAD_LATENCY_MAX);
    return 0;
}

/* What only mode pebs has, and what it has not. */
static int finish_pebs(struct options *o, struct run_failure *failure)
{
    if (o->mode != HR_MODE_PEBS && (o->jitter || o->registers || o->load_latency != 0))
        return run_fail(failure, "--jitter, --regs and --load-latency are for --mode pebs");
    if (o->mode != HR_MODE_PEBS)
        return 0;
    if (o->frequency_hz != 0)
        return run_fail(failure, "--freq: mode pebs has fixed periods; give one with --count");
    if (o->period == 1)
        return run_fail(failure, "--count 1: the processor writes a record each 2 events at most; "
                                 "mode overflow can take every one");
    if (o->counters_every > 1)
        return run_fail(failure, "--counters-every: mode pebs reads no counters in samples");
    if (o->period == 0)
        o->period = OPTIONS_RECORD_PERIOD_DEFAULT;
    return 0;
}

int options_finish_precise(struct options *o, struct run_failure *failure)
{
    bool any = false;

    for (size_t i = 0; i < o->events.count; i++) {
        o->precise[i] = events_is_precise(o->events.names[i]);
        any |= o->precise[i];
        if (o->precise[i] && o->mode != HR_MODE_PEBS)
            return run_fail(failure, "event '%s': precise records are for --mode pebs",
                            o->events.names[i]);
    }
    if (o->mode != HR_MODE_PEBS || any)
        return 0;
    if (o->events.count == 0 || events_is_register(o->events.names[0]))
        return run_fail(failure, "--mode pebs needs an event that makes records; name one first, "
                                 "such as -e mem-loads");
    o->precise[0] = true;
    return 0;
}

int options_finish_sampling(struct options *o, struct run_failure *failure)
{
    bool overflow = o->period != 0 || o->frequency_hz != 0;

    if (o->period != 0 && o->frequency_hz != 0)
        return run_fail(failure,
                        "--count and --freq: a period is either fixed or adapted; give one");
    if (o->mode == OPTIONS_MODE_UNSET)
        o->mode = overflow ? HR_MODE_OVERFLOW : HR_MODE_TIMER;
    if (finish_pebs(o, failure) != 0)
        return -1;
    if (overflow && o->mode != HR_MODE_PEBS && o->mode != HR_MODE_OVERFLOW)
        return run_fail(failure,
                        "--count and --freq are for --mode overflow, --count for pebs, too; with "
                        "--mode %s leave them out",
                        modes_name(o->mode));
    if (o->mode == HR_MODE_OVERFLOW && !overflow)
        o->frequency_hz = OPTIONS_FREQUENCY_DEFAULT_HZ;
    if (o->interval_ns != 0 &&
        (o->mode == HR_MODE_OVERFLOW || o->mode == HR_MODE_PEBS || o->mode == HR_MODE_INSTRUCTED))
        return run_fail(failure,
                        "--interval is for --mode timer and ipi; with --mode %s leave it out",
                        modes_name(o->mode));
    if (o->interval_ns == 0)
        o->interval_ns = OPTIONS_INTERVAL_DEFAULT_NS;
    if (o->max_overhead == 0)
        o->max_overhead = OPTIONS_OVERHEAD_DEFAULT;
    if (o->counters_every == 0)
        o->counters_every = 1;
    if (o->stacks.kind != 0 && !modes_sample(o->mode) && !o->alloc)
        return run_fail(failure,
                        "--call-graph: --mode %s takes no samples that could have call stacks; "
                        "leave one of the two out",
                        modes_name(o->mode));
    if (o->paused && (!modes_sample(o->mode) || o->mode == HR_MODE_INSTRUCTED))
        return run_fail(failure,
                        "--paused: --mode %s has no trigger that could wait for hr_start(); leave "
                        "one of the two out",
                        modes_name(o->mode));
    return 0;
}
