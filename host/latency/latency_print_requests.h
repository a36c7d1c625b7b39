/* How `hr latency` shows requests. */
#pragma once

#include "host/latency/latency_print.h"
#include "host/latency/latency_requests.h"

/* Their distribution. */
void latency_print_requests(FILE *out, const struct latency_print *p, struct latency_requests *r);
void latency_print_requests_csv(struct output *out, const struct latency_print *p,
                                struct latency_requests *r);
void latency_print_requests_json(struct output *out, const struct latency_print *p,
                                 struct latency_requests *r);

/* The slowest ones, at most `limit` of those that are kept, as timelines. */
void latency_print_slowest(FILE *out, const struct latency_print *p, struct latency_requests *r,
                           uint32_t limit);
void latency_print_slowest_json(struct output *out, const struct latency_print *p,
                                struct latency_requests *r, uint32_t limit);
