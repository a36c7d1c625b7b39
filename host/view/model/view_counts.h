/* Counts samples for the page: in bins, blocks and histograms, and one by one.
 *
 * Where several threads decode (host/scan/trace_ahead.h), a sample finds its place in the call tree
 * in the turn of its chunk.  After the turn, while others have theirs, the thread counts the
 * chunk's samples in bins and blocks of its own; then, in the order of the file, it adds these to
 * the model's, with histograms of the samples and, while they are few, the samples themselves.  So
 * the page does not depend on the number of threads.
 */
#pragma once

#include "host/scan/trace_scan.h"

struct view_counts;
struct view_model;

/* For one walk over the model's scan.  NULL without memory. */
struct view_counts *view_counts_new(struct view_model *model);
void view_counts_free(struct view_counts *counts);

/* Takes a run of samples with as many events as the model's; `group`: their CPU and thread.
 * 0 or -errno, perhaps that of a run before. */
int view_counts_take(struct view_counts *counts, const struct trace_samples *samples,
                     uint32_t group);

/* In a turn, or after the walk: waits until all is counted that was taken.  0 or -errno. */
int view_counts_settle(struct view_counts *counts);
