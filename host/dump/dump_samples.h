/* Samples and hits of probes as lines of hr dump, and what all its lines are made of. */
#pragma once

#include "host/dump/dump.h"

/* Write " NAME=VALUE", and a text of so many bytes, which may end before, with its closing quote.
 */
void dump_value(struct output *out, const char *name, uint64_t value, bool hex);
void dump_escaped(struct output *out, const char *key, const void *bytes, size_t count);

/* Callbacks of a visitor. */
int dump_put_samples(void *context, const struct trace_samples *samples);
int dump_put_waits(void *context, const struct trace_samples *samples);
int dump_put_hits(void *context, const struct trace_hits *hits);
