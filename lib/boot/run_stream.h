/* Makes and checks the stream of include/run_stream.h, for both sides.  Freestanding.
 *
 * The checks trust nothing: the peer that sent the bytes may be anyone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/run_stream.h"

/* Returns whether a text of a hello is NUL-terminated within RUN_STREAM_NAME_BYTES and not empty.
 */
bool run_stream_name_ok(const char *name);

/* Fills the header of a frame with `bytes` bytes, at most RUN_FRAME_BYTES_MAX. */
void run_stream_frame(struct run_frame *frame, enum run_stream_port port, uint64_t offset,
                      uint32_t bytes);

/* Returns true if this is a frame, every field is in range, and offset + bytes does not overflow.
 */
bool run_stream_frame_ok(const struct run_frame *frame);

/* Fills *hello; token may be NULL for none.  Returns 0, or -EINVAL if a name is invalid or the
 * token is too long. */
int run_stream_hello(struct run_hello *hello, const uint8_t id[16], const char *token,
                     const char *machine, const char *run);

/* Returns RUN_WELCOME_OK, _STREAM (not a hello), _VERSION or _NAME.  Does not check the token, but
 * makes it a NUL-terminated string.
 */
enum run_welcome_status run_stream_hello_check(const struct run_hello *hello);

/* Compares two tokens of RUN_STREAM_NAME_BYTES each, in a time independent of their contents. */
bool run_stream_token_equal(const char *a, const char *b);

/* Fills *welcome; `have` may be NULL for all zero. */
void run_stream_welcome(struct run_welcome *welcome, enum run_welcome_status status,
                        const uint64_t have[RUN_STREAM_PORTS]);
bool run_stream_welcome_ok(const struct run_welcome *welcome);

void run_stream_ack(struct run_ack *ack, enum run_welcome_status status, uint64_t position);

/* `sent`: bytes of frames since the welcome; the peer cannot acknowledge more. */
bool run_stream_ack_ok(const struct run_ack *ack, uint64_t sent);

/* Returns the meaning of a status, for people: "the token is wrong or missing". */
const char *run_stream_status_text(uint32_t status);

/* Splits a stream of frames, which may arrive in pieces of any size. */
struct run_parser {
    uint8_t header[sizeof(struct run_frame)];
    uint32_t used; /* bytes of the header so far */
    uint32_t left; /* bytes of data left in the frame */
    struct run_frame frame;
};

enum run_piece_kind {
    RUN_PIECE_MORE, /* all input was taken */
    RUN_PIECE_DATA,
    RUN_PIECE_END, /* the frame of port RUN_STREAM_END */
    RUN_PIECE_BAD, /* not a stream: no more input is taken */
};

struct run_piece {
    enum run_piece_kind kind;
    enum run_stream_port port;
    uint64_t offset; /* position of the bytes in the port's own stream */
    const uint8_t *bytes; /* points into the input */
    size_t count; /* may be 0: the frame is a sign of life */
};

/* The parser must be all zeros at first.  Returns how many bytes of the input the piece took. */
size_t run_parser_next(struct run_parser *parser, const void *bytes, size_t count,
                       struct run_piece *piece);
