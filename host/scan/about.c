/* Gathers the META, END and HOST chunks of a trace without decoding its samples. */
#include "host/scan/about.h"

#include "host/trace/trace_file.h"
#include "host/trace/trace_index.h"

/* Reads from the data how many events samples have, unless the metadata have said it. */
static bool wanted(const struct trace_info *info, uint32_t type)
{
    return type == HR_CHUNK_META || type == HR_CHUNK_END || type == HR_CHUNK_HOST ||
           (type == HR_CHUNK_DATA && !info->knows_events);
}

static int take(struct trace_info *info, const struct trace_chunk *chunk)
{
    int error = 0;

    if (wanted(info, chunk->header.type) && chunk->header.type == HR_CHUNK_DATA)
        trace_info_learn_events(info, chunk);
    else if (wanted(info, chunk->header.type))
        trace_info_chunk(info, chunk, &error);
    return error;
}

static int read_all(struct trace_info *info, struct trace_file *file)
{
    struct trace_chunk chunk;
    int step, error = 0;

    while (error == 0 && (step = trace_file_next(file, &chunk)) != TRACE_STEP_END) {
        if (step < 0)
            return step;
        if (step == TRACE_STEP_CHUNK)
            error = take(info, &chunk);
    }
    return error;
}

static int read_indexed(struct trace_info *info, struct trace_file *file,
                        const struct trace_index *index)
{
    struct trace_chunk chunk;
    int error = 0;

    for (size_t i = 0; i < index->count && error == 0; i++) {
        int step;

        if (!wanted(info, index->entries[i].type))
            continue;
        trace_file_seek(file, index->entries[i].offset);
        step = trace_file_next(file, &chunk);
        if (step < 0)
            return step;
        if (step == TRACE_STEP_CHUNK)
            error = take(info, &chunk);
    }
    return error;
}

int about_read(struct trace_info *info, const char *path)
{
    struct trace_index index;
    struct trace_file file;
    int error = trace_file_open(&file, path);

    if (error != 0)
        return error;
    info->names = trace_names_new(&file);
    if (trace_index_load(&index, file.fd) == 0) {
        error = read_indexed(info, &file, &index);
        trace_index_free(&index);
    } else {
        error = read_all(info, &file);
    }
    trace_file_close(&file);
    return error;
}
