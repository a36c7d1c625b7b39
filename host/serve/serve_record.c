/* Says in the trace which files the program read: path, size, time and hash. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/monotonic.h"
#include "host/object/object_cache.h"
#include "host/serve/serve.h"
#include "host/trace/trace_files.h"
#include "lib/trace/trace_writer.h"

#define CHUNK_BYTES (256u << 10)
#define LEFT_OUT_KEY "files.left_out"

struct record {
    char *path; /* absolute, in the guest */
    uint32_t node;
    struct hr_host_file file;
};

struct records {
    struct record *all;
    size_t count;
    size_t left_out; /* files beyond TRACE_FILES_MAX */
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct record *)a)->path, ((const struct record *)b)->path);
}

static int add(const struct serve *s, struct records *r, uint32_t number)
{
    const struct serve_node *node = &s->nodes.all[number];
    char path[PATH_MAX];
    char *absolute;
    int error = serve_nodes_path(&s->nodes, number, path);

    if (error != 0)
        return error;
    if (asprintf(&absolute, "/%s", path) < 0)
        return -ENOMEM;
    r->all[r->count++] = (struct record){
        .path = absolute,
        .node = number,
        .file = {.bytes = node->file.bytes, .modified = node->file.modified},
    };
    return 0;
}

static int gather(const struct serve *s, struct records *r)
{
    size_t count = 0;
    int error = 0;

    for (size_t i = 0; i < s->nodes.count; i++)
        count += s->nodes.all[i].read;
    r->left_out = count > TRACE_FILES_MAX ? count - TRACE_FILES_MAX : 0;
    count -= r->left_out;
    r->all = calloc(count + 1, sizeof *r->all);
    if (r->all == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < s->nodes.count && r->count < count && error == 0; i++)
        if (s->nodes.all[i].read)
            error = add(s, r, (uint32_t)i);
    qsort(r->all, r->count, sizeof *r->all, compare);
    return error;
}

/* Returns whether the file is still the one that was told. */
static bool hash(struct serve *s, struct record *record, uint64_t limit_ns)
{
    bool stale = s->nodes.all[record->node].stale;
    int error = stale ? -ESTALE : serve_prepare(s, SERVE_TASK_HASH, record->node);

    if (error == 0)
        error = serve_perform(s, limit_ns, -1);
    if (error == 0)
        record->file.hash = s->task->hash;
    else
        record->file.flags = error == -ESTALE ? HR_FILE_CHANGED : HR_FILE_NO_HASH;
    if (s->task != NULL)
        serve_task_close(s->task);
    return error == 0;
}

static void hash_all(struct serve *s, struct records *r, uint64_t limit_ns)
{
    uint64_t end_ns = monotonic_ns() + limit_ns;
    struct object_cache cache;
    char path[2 * PATH_MAX];

    object_cache_begin(&cache);
    for (size_t i = 0; i < r->count; i++) {
        uint64_t now_ns = monotonic_ns();

        snprintf(path, sizeof path, "%s%s", s->root_path[1] != 0 ? s->root_path : "",
                 r->all[i].path);
        if (hash(s, &r->all[i], now_ns < end_ns ? end_ns - now_ns : 0) && object_cache_wants(path))
            object_cache_keep(&cache, path);
    }
    object_cache_end(&cache);
}

/* Writes the record into the chunk, after the chunk into the trace if it is full. */
static int put(struct trace_writer *writer, struct collector *collector, uint8_t type,
               const void *body, size_t bytes, const char *tail)
{
    uint32_t tail_bytes = (uint32_t)strlen(tail);
    int error;

    if (trace_writer_record(writer, type, TRACE_NO_TIME, body, (uint32_t)bytes, tail, tail_bytes) ==
        0)
        return 0;
    error = collect_add(collector, writer->buffer, trace_writer_finish(writer));
    trace_writer_begin(writer, HR_CHUNK_HOST);
    (void)trace_writer_record(writer, type, TRACE_NO_TIME, body, (uint32_t)bytes, tail, tail_bytes);
    return error;
}

static int write_all(const struct records *r, struct collector *collector)
{
    uint8_t *chunk = malloc(CHUNK_BYTES);
    struct trace_writer writer;
    char info[sizeof LEFT_OUT_KEY + 24] = LEFT_OUT_KEY; /* key NUL value NUL */
    int error = 0, digits;

    if (chunk == NULL)
        return -ENOMEM;
    trace_writer_init(&writer, chunk, CHUNK_BYTES, HR_CPU_NONE, 0);
    trace_writer_begin(&writer, HR_CHUNK_HOST);
    for (size_t i = 0; i < r->count && error == 0; i++)
        error = put(&writer, collector, HR_HOST_FILE, &r->all[i].file, sizeof r->all[i].file,
                    r->all[i].path);
    digits = snprintf(info + sizeof LEFT_OUT_KEY, 24, "%zu", r->left_out);
    if (error == 0 && r->left_out != 0)
        error = put(&writer, collector, HR_META_INFO, info,
                    sizeof LEFT_OUT_KEY + (size_t)digits + 1, "");
    if (error == 0)
        error = collect_add(collector, chunk, trace_writer_finish(&writer));
    free(chunk);
    return error;
}

int serve_record(struct serve *s, struct collector *collector, uint64_t limit_ns)
{
    struct records records = {.all = NULL};
    int error = s->root >= 0 ? gather(s, &records) : 0;

    if (error == 0 && records.count != 0) {
        hash_all(s, &records, limit_ns);
        error = write_all(&records, collector);
    }
    for (size_t i = 0; i < records.count; i++)
        free(records.all[i].path);
    free(records.all);
    return error;
}
