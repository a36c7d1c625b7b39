/* Parts of the page's data for a span of time, read from the trace when they are asked for. */
#pragma once

#include "host/view/model/view_model.h"

struct view_span_ns {
    uint64_t from; /* since the program's start */
    uint64_t to; /* inclusive */
};

/* Bins of the span, from its start on, and its samples unless there are too many: two groups of
 * columns, before the first one its length as u32.  0 or -errno; *bytes is the caller's. */
int view_window_samples(struct view_model *model, const char *path, struct view_span_ns span,
                        uint8_t **bytes, size_t *count);

/* What was counted in the span, as one block: a group of columns.  0 or -errno. */
int view_window_profile(struct view_model *model, const char *path, struct view_span_ns span,
                        uint8_t **bytes, size_t *count);
