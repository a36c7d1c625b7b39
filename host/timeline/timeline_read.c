/* Reads a trace into bins. */
#include "host/scan/trace_span.h"
#include "host/timeline/timeline_bins.h"

struct reading {
    struct timeline *timeline;
    const struct trace_scan *scan;
    const struct timeline_wish *wish;
};

/* The bins are laid out when the metadata has been read, which comes before all data. */
static int take_chunk(void *context, const struct trace_chunk *chunk, bool continues)
{
    const struct reading *r = context;
    int error = 0;

    if (r->timeline->info == NULL)
        error = timeline_init(r->timeline, r->scan, r->wish->per, r->timeline->last,
                              r->wish->bin_ns, r->wish->bins);
    if (error == 0)
        timeline_chunk(r->timeline, chunk, continues);
    return error;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    timeline_samples(((const struct reading *)context)->timeline, samples);
    return 0;
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    const struct reading *r = context;

    if (r->timeline->info == NULL || chunk->header.type != HR_CHUNK_DATA)
        return 0;
    timeline_record(r->timeline, chunk, record);
    return r->wish->record != NULL ? r->wish->record(r->wish->context, chunk, record) : 0;
}

int timeline_read(struct timeline *t, struct trace_scan *scan, const struct timeline_wish *wish)
{
    struct reading r = {.timeline = t, .scan = scan, .wish = wish};
    const struct trace_visitor visitor = {
        .context = &r, .chunk = take_chunk, .samples = take_samples, .record = take_record};
    int result = trace_span_last(scan, &t->last);

    if (result == 0)
        result = trace_scan_run(scan, &visitor);
    if (result == 0 && t->info != NULL)
        timeline_finish(t);
    return result;
}
