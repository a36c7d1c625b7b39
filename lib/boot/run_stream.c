/* Makes, checks and parses the stream of a run. */
#include "lib/boot/run_stream.h"

#include <errno.h>
#include <string.h>

#include "lib/array.h"
#include "lib/crc32c.h"

static bool name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

/* Returns the length, or RUN_STREAM_NAME_BYTES if there is no NUL. */
static size_t text_bytes(const char *text)
{
    size_t bytes = 0;

    while (bytes < RUN_STREAM_NAME_BYTES && text[bytes] != 0)
        bytes++;
    return bytes;
}

bool run_stream_name_ok(const char *name)
{
    size_t bytes = text_bytes(name);

    if (bytes == 0 || bytes == RUN_STREAM_NAME_BYTES || name[0] == '.' || name[0] == '-')
        return false;
    for (size_t i = 0; i < bytes; i++)
        if (!name_character(name[i]))
            return false;
    return true;
}

static uint32_t frame_crc(const struct run_frame *frame)
{
    struct run_frame copy = *frame;

    copy.header_crc = 0;
    return crc32c(0, &copy, sizeof copy);
}

void run_stream_frame(struct run_frame *frame, enum run_stream_port port, uint64_t offset,
                      uint32_t bytes)
{
    *frame = (struct run_frame){
        .magic = RUN_FRAME_MAGIC, .port = (uint16_t)port, .bytes = bytes, .offset = offset};
    frame->header_crc = frame_crc(frame);
}

bool run_stream_frame_ok(const struct run_frame *frame)
{
    return frame->magic == RUN_FRAME_MAGIC && frame->header_crc == frame_crc(frame) &&
           frame->reserved == 0 && frame->port < RUN_STREAM_PORTS &&
           frame->bytes <= RUN_FRAME_BYTES_MAX && frame->offset <= UINT64_MAX - frame->bytes &&
           (frame->port != RUN_STREAM_END || frame->bytes == 0);
}

int run_stream_hello(struct run_hello *hello, const uint8_t id[16], const char *token,
                     const char *machine, const char *run)
{
    const char *const texts[] = {token != NULL ? token : "", machine, run};
    char *const fields[] = {hello->token, hello->machine, hello->run};

    memset(hello, 0, sizeof *hello);
    hello->magic = RUN_HELLO_MAGIC;
    hello->version = RUN_STREAM_VERSION;
    memcpy(hello->id, id, sizeof hello->id);
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        size_t bytes = text_bytes(texts[i]);

        if (bytes == RUN_STREAM_NAME_BYTES || (i > 0 && !run_stream_name_ok(texts[i])))
            return -EINVAL;
        memcpy(fields[i], texts[i], bytes);
    }
    hello->crc = crc32c(0, hello, offsetof(struct run_hello, crc));
    return 0;
}

enum run_welcome_status run_stream_hello_check(const struct run_hello *hello)
{
    if (hello->magic != RUN_HELLO_MAGIC)
        return RUN_WELCOME_STREAM;
    if (hello->version != RUN_STREAM_VERSION)
        return RUN_WELCOME_VERSION;
    if (hello->crc != crc32c(0, hello, offsetof(struct run_hello, crc)) ||
        text_bytes(hello->token) == RUN_STREAM_NAME_BYTES)
        return RUN_WELCOME_STREAM;
    if (!run_stream_name_ok(hello->machine) || !run_stream_name_ok(hello->run))
        return RUN_WELCOME_NAME;
    return RUN_WELCOME_OK;
}

bool run_stream_token_equal(const char *a, const char *b)
{
    volatile uint8_t difference = 0; /* so that the compiler does not leave the loop early */

    for (size_t i = 0; i < RUN_STREAM_NAME_BYTES; i++)
        difference = difference | (uint8_t)(a[i] ^ b[i]);
    return difference == 0;
}

void run_stream_welcome(struct run_welcome *welcome, enum run_welcome_status status,
                        const uint64_t have[RUN_STREAM_PORTS])
{
    *welcome = (struct run_welcome){.magic = RUN_WELCOME_MAGIC, .status = (uint32_t)status};
    if (have != NULL)
        memcpy(welcome->have, have, sizeof welcome->have);
    welcome->crc = crc32c(0, welcome, offsetof(struct run_welcome, crc));
}

bool run_stream_welcome_ok(const struct run_welcome *welcome)
{
    return welcome->magic == RUN_WELCOME_MAGIC &&
           welcome->crc == crc32c(0, welcome, offsetof(struct run_welcome, crc));
}

void run_stream_ack(struct run_ack *ack, enum run_welcome_status status, uint64_t position)
{
    *ack =
        (struct run_ack){.magic = RUN_ACK_MAGIC, .status = (uint32_t)status, .position = position};
}

bool run_stream_ack_ok(const struct run_ack *ack, uint64_t sent)
{
    return ack->magic == RUN_ACK_MAGIC && ack->position <= sent;
}

const char *run_stream_status_text(uint32_t status)
{
    static const char *const texts[] = {
        [RUN_WELCOME_OK] = "all is well",
        [RUN_WELCOME_DONE] = "the run is complete",
        [RUN_WELCOME_TOKEN] = "the token is wrong or missing",
        [RUN_WELCOME_VERSION] = "the other side speaks another version",
        [RUN_WELCOME_NAME] = "a name that no file can have",
        [RUN_WELCOME_BUSY] = "the collector is busy",
        [RUN_WELCOME_LIMIT] = "the run has reached the collector's limit",
        [RUN_WELCOME_DISK] = "the collector's disk is full",
        [RUN_WELCOME_STREAM] = "what was sent is no stream of a run",
    };

    return status < ARRAY_COUNT(texts) ? texts[status] : "an unknown status";
}

/* Takes the bytes that the header still lacks. */
static size_t take_header(struct run_parser *p, const uint8_t *bytes, size_t count)
{
    size_t wanted = sizeof p->header - p->used;
    size_t taken = count < wanted ? count : wanted;

    if (taken > 0)
        memcpy(p->header + p->used, bytes, taken);
    p->used += (uint32_t)taken;
    return taken;
}

size_t run_parser_next(struct run_parser *p, const void *bytes, size_t count,
                       struct run_piece *piece)
{
    const uint8_t *from = bytes;
    size_t taken = 0;

    *piece = (struct run_piece){.kind = RUN_PIECE_MORE};
    if (p->left == 0) {
        taken = take_header(p, from, count);
        if (p->used < sizeof p->header)
            return taken;
        memcpy(&p->frame, p->header, sizeof p->frame);
        if (!run_stream_frame_ok(&p->frame)) {
            piece->kind = RUN_PIECE_BAD; /* the header is kept, so that the next call fails, too */
            return 0;
        }
        p->used = 0;
        p->left = p->frame.bytes;
    }
    piece->count = count - taken < p->left ? count - taken : p->left;
    if (piece->count == 0 && p->left > 0)
        return taken;
    piece->kind = p->frame.port == RUN_STREAM_END ? RUN_PIECE_END : RUN_PIECE_DATA;
    piece->port = (enum run_stream_port)p->frame.port;
    piece->offset = p->frame.offset + (p->frame.bytes - p->left);
    piece->bytes = from + taken;
    p->left -= (uint32_t)piece->count;
    return taken + piece->count;
}
