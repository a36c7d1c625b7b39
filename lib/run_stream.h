/* Makes and checks what include/run_stream.h describes, for both sides.  Freestanding.
 *
 * The checks believe nothing: they look at bytes of a peer, which may be anybody.
 */
#ifndef LIB_RUN_STREAM_H
#define LIB_RUN_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/run_stream.h"

/* Whether a text of a hello is a name: NUL-terminated within RUN_STREAM_NAME_BYTES, not empty. */
bool run_stream_name_ok(const char *name);

/* A frame of `bytes` bytes, at most RUN_FRAME_BYTES_MAX. */
void run_stream_frame(struct run_frame *frame, enum run_stream_port port, uint64_t offset,
                      uint32_t bytes);

/* False: no frame.  True: every field is within its limits, offset + bytes does not overflow. */
bool run_stream_frame_ok(const struct run_frame *frame);

/* 0, or -EINVAL: a name that is none, or a token that is too long; token NULL: none. */
int run_stream_hello(struct run_hello *hello, const uint8_t id[16], const char *token,
                     const char *machine, const char *run);

/* RUN_WELCOME_OK, _STREAM (no hello), _VERSION or _NAME; the token is not looked at, but is a
 * NUL-terminated string afterwards.
 */
enum run_welcome_status run_stream_hello_check(const struct run_hello *hello);

/* In a time that does not depend on what they hold, both RUN_STREAM_NAME_BYTES long. */
bool run_stream_token_equal(const char *a, const char *b);

/* have NULL: nothing. */
void run_stream_welcome(struct run_welcome *welcome, enum run_welcome_status status,
                        const uint64_t have[RUN_STREAM_PORTS]);
bool run_stream_welcome_ok(const struct run_welcome *welcome);

void run_stream_ack(struct run_ack *ack, enum run_welcome_status status, uint64_t position);

/* `sent`: bytes of frames since the welcome; more than that cannot be acknowledged. */
bool run_stream_ack_ok(const struct run_ack *ack, uint64_t sent);

/* What a status means, for people: "the token is wrong or missing". */
const char *run_stream_status_text(uint32_t status);

/* Takes a stream of frames apart, in pieces of any size. */
struct run_parser {
    uint8_t header[sizeof(struct run_frame)];
    uint32_t used; /* bytes of the header so far */
    uint32_t left; /* bytes of data that the frame still has */
    struct run_frame frame;
};

enum run_piece_kind {
    RUN_PIECE_MORE, /* everything was taken */
    RUN_PIECE_DATA,
    RUN_PIECE_END, /* the frame of port RUN_STREAM_END */
    RUN_PIECE_BAD, /* no stream: nothing is taken any more */
};

struct run_piece {
    enum run_piece_kind kind;
    enum run_stream_port port;
    uint64_t offset; /* of the bytes in the port's own stream */
    const uint8_t *bytes; /* of the input */
    size_t count; /* may be 0: a sign of life */
};

/* Starts with a parser of zeros.  Returns how many bytes of the input the piece took. */
size_t run_parser_next(struct run_parser *parser, const void *bytes, size_t count,
                       struct run_piece *piece);

#endif
