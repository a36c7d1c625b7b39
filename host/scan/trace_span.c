/* Finds the end of a trace. */
#include "host/scan/trace_span.h"

#include "host/trace/trace_index.h"

static bool counts(uint16_t type)
{
    return type == HR_CHUNK_DATA || type == HR_CHUNK_END;
}

int trace_span_last(struct trace_scan *scan, uint64_t *last)
{
    uint64_t start = scan->file.position;
    struct trace_index index;
    struct trace_chunk chunk;
    int step;

    *last = 0;
    if (trace_index_load(&index, scan->file.fd) == 0) {
        for (size_t i = 0; i < index.count; i++)
            if (counts(index.entries[i].type) && index.entries[i].time_last > *last)
                *last = index.entries[i].time_last;
        trace_index_free(&index);
        return 0;
    }
    while ((step = trace_file_next(&scan->file, &chunk)) > TRACE_STEP_END)
        if (step == TRACE_STEP_CHUNK && counts(chunk.header.type) && chunk.header.time_last > *last)
            *last = chunk.header.time_last;
    if (step == TRACE_STEP_END)
        trace_file_seek(&scan->file, start);
    return step;
}
