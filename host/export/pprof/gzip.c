/* Compresses to an output through zlib. */
#include "host/export/pprof/gzip.h"

#include <errno.h>

#include "host/base/output_kind.h"

#define WINDOW_BITS_GZIP (15 + 16) /* zlib: a gzip header */
#define OS_UNIX 3 /* RFC 1952, 2.3.1 */
#define MEMORY_LEVEL 8 /* zlib's default */

static void compress_all(struct gzip *gzip, int flush)
{
    char room[16384];

    do {
        gzip->stream.next_out = (Bytef *)room;
        gzip->stream.avail_out = sizeof room;
        deflate(&gzip->stream, flush);
        output_bytes(gzip->out, room, sizeof room - gzip->stream.avail_out);
    } while (gzip->stream.avail_out == 0);
}

static int take_plain(void *context, const char *bytes, size_t count)
{
    struct gzip *gzip = context;

    gzip->stream.next_in = (const Bytef *)bytes;
    gzip->stream.avail_in = (uInt)count; /* a buffer of an output at most */
    compress_all(gzip, Z_NO_FLUSH);
    return gzip->out->error;
}

int gzip_init(struct gzip *gzip, struct output *out)
{
    static char mark[] = OUTPUT_MARK_GZIP;

    gzip->out = out;
    gzip->header = (gz_header){.comment = (Bytef *)mark, .os = OS_UNIX};
    output_init(&gzip->plain, -1);
    gzip->plain.sink = take_plain;
    gzip->plain.context = gzip;
    return deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS_GZIP,
                        MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK &&
                   deflateSetHeader(&gzip->stream, &gzip->header) == Z_OK
               ? 0
               : -ENOMEM;
}

void gzip_free(struct gzip *gzip)
{
    deflateEnd(&gzip->stream);
}

void gzip_finish(struct gzip *gzip)
{
    output_flush(&gzip->plain);
    gzip->stream.next_in = NULL;
    gzip->stream.avail_in = 0;
    compress_all(gzip, Z_FINISH);
}
