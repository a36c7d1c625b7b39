/* The tables of one thread in `hr export firefox`: what it uses of the stacks, functions and names
 * of the whole trace. */
#pragma once

#include "host/export/firefox/firefox_tables.h"

struct firefox {
    struct export *e;
    struct output *out;
    struct firefox_tables tables;
    uint32_t *stacks, *functions,
        *names; /* numbers in the thread being written, or UNUSED; owned */
    uint32_t stack_count, function_count, name_count; /* that it uses */
};

void firefox_put_ms(struct output *out, uint64_t ns);
void firefox_comma(struct output *out, uint32_t i); /* before all items but the first one */

/* Writes the samples and markers of a thread, and all that they refer to. */
void firefox_thread_put(struct firefox *f, const struct firefox_sample *samples,
                        uint32_t sample_count, const struct firefox_marker *markers,
                        uint32_t marker_count);
