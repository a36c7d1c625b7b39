/* Puts the parts of the page together. */
#include "host/view/html/view_page.h"

#include <errno.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>

#include "host/base/output_kind.h"
#include "host/scan/trace_parallel.h"
#include "host/view/html/view_asset.h"
#include "host/view/model/view_facts.h"

#define COMPRESSION_LEVEL 6

bool view_page_is_built(void)
{
    return view_asset_end - view_asset > (ptrdiff_t)sizeof OUTPUT_MARK_PAGE;
}

static void put_base64(struct output *out, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        uint32_t word = (uint32_t)bytes[i] << 16;
        char four[4];

        word |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        word |= left > 2 ? bytes[i + 2] : 0;
        four[0] = digits[word >> 18];
        four[1] = digits[word >> 12 & 63];
        four[2] = left > 1 ? digits[word >> 6 & 63] : '=';
        four[3] = left > 2 ? digits[word & 63] : '=';
        output_bytes(out, four, sizeof four);
    }
}

struct part { /* of the page: compressed bytes */
    uint8_t *bytes; /* owned */
    size_t count;
    int error;
};

static void compress(struct part *part, const uint8_t *bytes, size_t count)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(COMPRESSION_LEVEL);
    size_t room = compressor != NULL ? libdeflate_zlib_compress_bound(compressor, count) : 0;

    part->bytes = room != 0 ? malloc(room) : NULL;
    if (part->bytes != NULL)
        part->count = libdeflate_zlib_compress(compressor, bytes, count, part->bytes, room);
    part->error = part->count != 0 ? 0 : -ENOMEM;
    libdeflate_free_compressor(compressor);
}

/* An element that holds text: the bytes in base64. */
static void put_part(struct output *out, const char *name, const struct part *part)
{
    output_text(out, "<script type=\"text/plain\" id=\"data-");
    output_text(out, name);
    output_text(out, "\">");
    put_base64(out, part->bytes, part->count);
    output_text(out, "</script>\n");
}

struct packing { /* all parts, by two threads */
    struct view_model *model;
    json_t *facts;
    struct part parts[VIEW_PARTS];
    uint32_t next; /* part that no thread has; atomic */
};

static void *pack(void *context)
{
    struct packing *p = context;
    uint32_t part;

    while ((part = __atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED)) < VIEW_PARTS) {
        json_t *facts = part == VIEW_FACTS ? p->facts : NULL;
        uint8_t *bytes = NULL;
        size_t count = 0;

        p->parts[part].error = view_model_pack(p->model, part, facts, &bytes, &count);
        if (p->parts[part].error == 0)
            compress(&p->parts[part], bytes, count);
        free(bytes);
    }
    return NULL;
}

/* The bins are half of the work, so a third thread would have nothing to do. */
static void pack_all(struct packing *p)
{
    const struct trace_scan *scan = &p->model->scan;
    bool several = trace_parallel_jobs(scan->jobs, scan->file.file_bytes) > 1;
    pthread_t thread;

    several = several && pthread_create(&thread, NULL, pack, p) == 0;
    pack(p);
    if (several)
        pthread_join(thread, NULL);
}

int view_page_read(struct reader *reader, struct view_model *model, json_t **facts)
{
    json_t *summary;
    int error = view_facts_summary(reader, &summary);

    *facts = NULL;
    if (error != 0)
        return error;
    *facts = json_pack("{s:o}", "summary", summary);
    return view_model_read(model, reader);
}

int view_page_write(struct output *out, struct view_model *model, json_t *facts)
{
    struct packing packing = {.model = model, .facts = facts};
    int error = 0;

    pack_all(&packing);
    output_bytes(out, view_asset, (size_t)(view_asset_end - view_asset));
    for (uint32_t i = 0; i < VIEW_PARTS; i++) {
        if (error == 0)
            error = packing.parts[i].error;
        if (error == 0)
            put_part(out, view_part_names[i], &packing.parts[i]);
        free(packing.parts[i].bytes);
    }
    output_text(out, "</body></html>\n");
    return error;
}

int view_page_write_part(struct output *out, const char *name, const uint8_t *bytes, size_t count)
{
    struct part part = {0};

    compress(&part, bytes, count);
    output_bytes(out, view_asset, (size_t)(view_asset_end - view_asset));
    if (part.error == 0)
        put_part(out, name, &part);
    free(part.bytes);
    output_text(out, "</body></html>\n");
    return part.error;
}
