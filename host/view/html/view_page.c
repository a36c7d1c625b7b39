/* Puts the parts of the page together. */
#include "host/view/html/view_page.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>

#include "host/base/output_kind.h"
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

/* A part as an element that holds text: compressed, in base64. */
static int put_part(struct output *out, const char *name, const uint8_t *bytes, size_t count)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(COMPRESSION_LEVEL);
    size_t room = compressor != NULL ? libdeflate_zlib_compress_bound(compressor, count) : 0;
    uint8_t *small = room != 0 ? malloc(room) : NULL;

    if (small == NULL) {
        libdeflate_free_compressor(compressor);
        return -ENOMEM;
    }
    count = libdeflate_zlib_compress(compressor, bytes, count, small, room);
    output_text(out, "<script type=\"text/plain\" id=\"data-");
    output_text(out, name);
    output_text(out, "\">");
    put_base64(out, small, count);
    output_text(out, "</script>\n");
    free(small);
    libdeflate_free_compressor(compressor);
    return count != 0 ? 0 : -ENOMEM;
}

int view_page_read(struct reader *reader, struct view_model *model, json_t **facts)
{
    json_t *summary;
    int error = view_facts_summary(reader->path, &summary);

    *facts = NULL;
    if (error != 0)
        return error;
    *facts = json_pack("{s:o}", "summary", summary);
    return view_model_read(model, reader);
}

int view_page_write(struct output *out, struct view_model *model, json_t *facts)
{
    int error = 0;

    output_bytes(out, view_asset, (size_t)(view_asset_end - view_asset));
    for (uint32_t part = 0; part < VIEW_PARTS && error == 0; part++) {
        uint8_t *bytes = NULL;
        size_t count = 0;

        error = view_model_pack(model, part, part == VIEW_FACTS ? facts : NULL, &bytes, &count);
        if (error == 0)
            error = put_part(out, view_part_names[part], bytes, count);
        free(bytes);
    }
    output_text(out, "</body></html>\n");
    return error;
}

int view_page_write_part(struct output *out, const char *name, const uint8_t *bytes, size_t count)
{
    int error;

    output_bytes(out, view_asset, (size_t)(view_asset_end - view_asset));
    error = put_part(out, name, bytes, count);
    output_text(out, "</body></html>\n");
    return error;
}
