/* How `hr latency` shows one function's invocations. */
#pragma once

#include "host/latency/latency_detail.h"
#include "host/latency/latency_print.h"

/* The longest invocations as timelines, each against the median one. */
void latency_print_worst(FILE *out, const struct latency_print *p, const struct latency_detail *d);
void latency_print_worst_json(struct output *out, const struct latency_print *p,
                              const struct latency_detail *d);

/* What goes with the duration. */
void latency_print_factors(FILE *out, const struct latency_print *p,
                           const struct latency_detail *d);
void latency_print_factors_csv(struct output *out, const struct latency_print *p,
                               const struct latency_detail *d);
void latency_print_factors_json(struct output *out, const struct latency_print *p,
                                const struct latency_detail *d);
