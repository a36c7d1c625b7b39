/* Reads a span of a trace through its index, with the functions that the model knows. */
#include "host/view/model/view_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_VALUES_MAX (4u << 20) /* of one answer */
#define ONE_BLOCK 60u /* as a shift: all times are in block 0 */

struct window {
    struct view_model *model;
    struct trace_scan scan;
    struct view_bins bins;
    struct view_samples samples;
    struct view_blocks blocks;
    uint64_t start; /* ticks, of the bins */
    bool profile; /* blocks are filled, else bins and samples */
};

static int take_sample(struct window *w, const struct trace_samples *samples, uint32_t n,
                       uint32_t group)
{
    struct view_sample sample = {.group = group};
    const struct trace_slot *previous =
        view_samples_fill(&sample, samples, n, w->scan.info.clock.start_ticks);
    int error = 0;

    sample.node = view_tree_sample(&w->model->tree, &w->scan.stacks,
                                   trace_samples_stack(samples, n, HR_STACK_NONE),
                                   samples->slots[n].ip, &error);
    if (error != 0)
        return error;
    if (w->profile)
        return view_blocks_add(&w->blocks, 0, group, sample.node, 1, &samples->slots[n], previous);
    return view_samples_add(&w->samples, &sample, &samples->slots[n], previous);
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct window *w = context;
    uint32_t group;
    int error = 0;

    if (samples->event_count != w->model->blocks.event_count)
        return 0;
    group = view_blocks_group(&w->model->blocks, samples->chunk->cpu, samples->slots[0].tid);
    if (!w->profile)
        error = view_bins_add(&w->bins, samples, w->start);
    for (uint32_t n = 0; n < samples->count && error == 0; n++)
        error = take_sample(w, samples, n, group);
    return error;
}

static int read_span(struct window *w, const char *path, struct view_span_ns span)
{
    const struct trace_visitor visitor = {
        .context = w, .names = true, .samples = take_samples, .stacks = TRACE_SCAN_STACKS};
    int error = trace_scan_open(&w->scan, path);

    if (error != 0)
        return error;
    w->scan.selection.from_ns = span.from;
    w->scan.selection.to_ns = span.to;
    w->scan.symbols = w->model->scan.symbols;
    w->scan.jobs = w->model->scan.jobs;
    view_tree_forget(&w->model->tree);
    error = trace_scan_run(&w->scan, &visitor);
    view_tree_forget(&w->model->tree); /* its stacks end with this scan */
    trace_scan_close(&w->scan);
    return error;
}

static uint64_t ticks_of(const struct trace_info *info, uint64_t ns)
{
    unsigned __int128 ticks = (unsigned __int128)ns * info->clock.ticks_per_second / 1000000000u;

    return info->clock.start_ticks + (uint64_t)ticks;
}

/* Puts the samples after the bins. */
static int join(const struct window *w, uint8_t **bytes, size_t *count)
{
    struct view_columns bins, samples;
    uint8_t *first = NULL, *second = NULL;
    size_t first_bytes = 0, second_bytes = 0;
    uint32_t length;
    int error;

    view_columns_init(&bins);
    view_columns_init(&samples);
    view_bins_pack(&w->bins, &bins);
    view_samples_pack(&w->samples, &samples);
    error = view_columns_finish(&bins, &first, &first_bytes);
    if (error == 0)
        error = view_columns_finish(&samples, &second, &second_bytes);
    *count = sizeof length + first_bytes + second_bytes;
    *bytes = error == 0 ? malloc(*count) : NULL;
    if (*bytes != NULL) {
        length = (uint32_t)first_bytes;
        memcpy(*bytes, &length, sizeof length);
        memcpy(*bytes + sizeof length, first, first_bytes);
        memcpy(*bytes + sizeof length + first_bytes, second, second_bytes);
    }
    free(first);
    free(second);
    view_columns_free(&bins);
    view_columns_free(&samples);
    return *bytes != NULL ? 0 : -ENOMEM;
}

int view_window_samples(struct view_model *model, const char *path, struct view_span_ns span,
                        uint8_t **bytes, size_t *count)
{
    uint32_t events = model->blocks.event_count;
    struct window w = {.model = model, .start = ticks_of(&model->scan.info, span.from)};
    int error = view_bins_init(&w.bins, events, model->base, view_model_finest(model));

    view_samples_init(&w.samples, events, SAMPLES_VALUES_MAX / (6 + events));
    if (error == 0)
        error = read_span(&w, path, span);
    if (error == 0)
        error = join(&w, bytes, count);
    view_bins_free(&w.bins);
    view_samples_free(&w.samples);
    return error;
}

int view_window_profile(struct view_model *model, const char *path, struct view_span_ns span,
                        uint8_t **bytes, size_t *count)
{
    struct window w = {.model = model, .profile = true};
    struct view_columns columns;
    int error = view_blocks_init(&w.blocks, model->blocks.event_count, VIEW_BLOCKS_BITS);

    view_columns_init(&columns);
    w.blocks.shift = ONE_BLOCK;
    if (error == 0)
        error = read_span(&w, path, span);
    if (error == 0)
        error = view_blocks_pack(&w.blocks, &columns);
    if (error == 0)
        error = view_columns_finish(&columns, bytes, count);
    view_columns_free(&columns);
    view_blocks_free(&w.blocks);
    return error;
}
