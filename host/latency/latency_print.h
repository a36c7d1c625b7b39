/* How `hr latency` shows its rows. */
#pragma once

#include <stdio.h>

#include "host/base/output.h"
#include "host/latency/latency_rows.h"
#include "host/latency/latency_tail.h"
#include "host/symbols/symbols.h"

struct latency_print {
    const struct trace_info *info;
    const struct latency_threads *threads;
    struct latency_rows *rows; /* in their order */
    const struct latency_tails *tails; /* of some of them */
    struct symbols *symbols; /* for names of locks */
    uint32_t limit; /* rows that are shown */
    bool full_names;
    unsigned int columns; /* of the terminal */
};

/* Notes on a trace of an instrumented program. */
void latency_print_calls(FILE *out, const struct latency_print *p);

void latency_print_table(FILE *out, const struct latency_print *p);
void latency_print_csv(struct output *out, const struct latency_print *p);
void latency_print_json(struct output *out, const struct latency_print *p);

/* Returns a function's name, demangled; raw otherwise (escape it).  The caller frees it; NULL: no
 * memory. */
char *latency_print_name(const struct latency_print *p, uint32_t function);

/* Writes shares of time: "on CPU 62%, locks 38%"; of requests, with what they were queued. */
void latency_print_spent(char *text, size_t room, const uint64_t *spent, uint64_t queued);
