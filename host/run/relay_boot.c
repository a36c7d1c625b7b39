/* Watches the progress of the guest's start. */
#include "host/run/relay_boot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/run_ports.h"
#include "lib/array.h"

#define NEVER UINT64_MAX
#define MILLISECOND 1000000ull
#define SECOND 1000000000ull
#define WARN_NS (10 * SECOND)
#define END_NS (120 * SECOND)
#define NS_PER_GIB SECOND

static const char *const steps[] = {RUN_STEPS};

void relay_boot_init(struct relay_boot *b, uint64_t memory_bytes, uint64_t now_ns)
{
    const char *limits = getenv("HR_BOOT_LIMITS");
    unsigned int warn_ms, end_ms;

    *b =
        (struct relay_boot){.start_ns = now_ns, .warn_ns = now_ns + WARN_NS, .patience_ns = END_NS};
    if (limits != NULL && sscanf(limits, "%u,%u", &warn_ms, &end_ms) == 2) {
        b->warn_ns = now_ns + warn_ms * MILLISECOND;
        b->patience_ns = end_ms * MILLISECOND;
    }
    b->end_ns = now_ns + b->patience_ns + (memory_bytes >> 30) * NS_PER_GIB;
}

/* Returns the step that a line names, from 1; 0: none. */
static unsigned int step_of(const char *name)
{
    for (unsigned int i = 0; i < ARRAY_COUNT(steps); i++) {
        size_t bytes = strlen(steps[i]);

        if (strncmp(name, steps[i], bytes) == 0 && name[bytes] == '\n')
            return i + 1;
    }
    return 0;
}

void relay_boot_hear(struct relay_boot *b, const char *console, uint64_t now_ns)
{
    const size_t bytes = sizeof RUN_STEP_LINE - 1;

    if (b->end_ns == NEVER)
        return;
    for (const char *at = console; (at = strstr(at, RUN_STEP_LINE)) != NULL; at += bytes) {
        unsigned int step = step_of(at + bytes);

        if (step <= b->step || (at > console && at[-1] != '\n'))
            continue;
        b->step = step;
        b->end_ns = now_ns + b->patience_ns;
    }
}

void relay_boot_finish(struct relay_boot *b)
{
    b->warn_ns = b->end_ns = NEVER;
}

uint64_t relay_boot_deadline(const struct relay_boot *b)
{
    return b->warn_ns < b->end_ns ? b->warn_ns : b->end_ns;
}

static void describe(const struct relay_boot *b, char text[64])
{
    if (b->step != 0)
        snprintf(text, 64, "stands in step '%s'", steps[b->step - 1]);
    else
        snprintf(text, 64, "has not reached the first step");
}

bool relay_boot_is_slow(struct relay_boot *b, uint64_t now_ns, char line[200])
{
    char where[64];

    if (now_ns < b->warn_ns)
        return false;
    describe(b, where);
    snprintf(line, 200, "the guest has been starting for %.3g s and %s",
             (double)(b->warn_ns - b->start_ns) / (double)SECOND, where);
    b->warn_ns = NEVER;
    return true;
}

bool relay_boot_is_stuck(struct relay_boot *b, uint64_t now_ns, struct run_failure *failure)
{
    char where[64];

    if (now_ns < b->end_ns)
        return false;
    describe(b, where);
    relay_boot_finish(b);
    run_fail(failure,
             "the guest %s of its start, made no progress for %.3g s and was ended; -v shows what "
             "it said",
             where, (double)b->patience_ns / (double)SECOND);
    return true;
}
