/* Speaks the protocol of a run with one machine. */
#include <string.h>

#include "host/collect/stream_connection.h"

static void send_bytes(struct connection *c, const void *bytes, size_t count)
{
    memcpy(c->out + c->out_bytes, bytes, count);
    c->out_bytes += count;
}

static void send_welcome(struct connection *c, enum run_welcome_status status, const uint64_t *have)
{
    struct run_welcome welcome;

    run_stream_welcome(&welcome, status, have);
    send_bytes(c, &welcome, sizeof welcome);
}

static void send_ack(struct connection *c, enum run_welcome_status status)
{
    struct run_ack ack;

    c->acked = c->has_part ? c->whole : c->position;
    run_stream_ack(&ack, status, c->acked);
    send_bytes(c, &ack, sizeof ack);
}

static void refuse(struct connection *c, enum run_welcome_status status, const char *why)
{
    send_welcome(c, status, NULL);
    c->state = CONNECTION_CLOSING;
    c->status = status;
    c->why = why;
}

/* Ends the connection after the welcome: flushes the received data and acknowledges it with the
 * reason. */
static void end(struct connection *c, enum run_welcome_status status, const char *why)
{
    if (status != RUN_WELCOME_DISK && stream_run_flush(c->run) != RUN_WELCOME_OK)
        status = RUN_WELCOME_DISK;
    if (status == RUN_WELCOME_DISK) { /* the next welcome will say how much is on disk */
        c->has_part = true;
        c->whole = c->acked;
    }
    send_ack(c, status);
    c->state = CONNECTION_CLOSING;
    c->status = status;
    c->why = why;
}

static void take_hello(struct connection *c, const char *token, const uint8_t *bytes, size_t count)
{
    size_t room = sizeof c->hello - c->hello_bytes;
    size_t taken = count < room ? count : room;
    enum run_welcome_status status;

    memcpy((uint8_t *)&c->hello + c->hello_bytes, bytes, taken);
    c->hello_bytes += taken;
    /* This much of a hello suffices to detect a stranger. */
    if (c->hello_bytes >= offsetof(struct run_hello, version) &&
        c->hello.magic != RUN_HELLO_MAGIC) {
        refuse(c, RUN_WELCOME_STREAM, "it does not speak the protocol");
        return;
    }
    if (c->hello_bytes >= offsetof(struct run_hello, id) &&
        c->hello.version != RUN_STREAM_VERSION) {
        refuse(c, RUN_WELCOME_VERSION, "it speaks another version of the protocol");
        return;
    }
    if (c->hello_bytes < sizeof c->hello)
        return;
    status = run_stream_hello_check(&c->hello);
    if (status == RUN_WELCOME_OK && !run_stream_token_equal(c->hello.token, token))
        status = RUN_WELCOME_TOKEN;
    if (status == RUN_WELCOME_OK && taken < count)
        status = RUN_WELCOME_STREAM;
    if (status == RUN_WELCOME_OK)
        c->state = CONNECTION_OPENING;
    else
        refuse(c, status,
               status == RUN_WELCOME_STREAM ? "its hello is damaged"
                                            : run_stream_status_text(status));
}

/* Called after bytes of the trace were added, up to the stream's position c->position.  If a chunk
 * ends among them, everything before its end is whole. */
static void mark_whole(struct connection *c, uint64_t begin)
{
    uint64_t have = c->run->have[RUN_STREAM_TRACE];
    uint64_t whole = stream_run_whole(c->run);

    c->has_part = whole < have;
    if (c->has_part && whole >= begin)
        c->whole = c->position - (have - whole);
}

/* c->position is already after the piece. */
static void take_data(struct connection *c, struct run_piece *piece)
{
    uint64_t have = c->run->have[piece->port];
    enum run_welcome_status status;

    if (piece->offset > have) {
        end(c, RUN_WELCOME_STREAM, "it left out a part of its stream");
        return;
    }
    if (piece->count <= have - piece->offset)
        return; /* known already */
    piece->bytes += have - piece->offset;
    piece->count -= have - piece->offset;
    status = stream_run_write(c->run, piece->port, piece->bytes, piece->count);
    if (status != RUN_WELCOME_OK) {
        c->position -= piece->count - (c->run->have[piece->port] - have);
        if (piece->port == RUN_STREAM_TRACE && status != RUN_WELCOME_DISK)
            mark_whole(c, have);
        end(c, status, NULL);
    } else if (piece->port == RUN_STREAM_TRACE) {
        mark_whole(c, have);
    }
}

static void take_frames(struct connection *c, const uint8_t *bytes, size_t count)
{
    while (c->state == CONNECTION_FRAMES) {
        struct run_piece piece;
        size_t taken = run_parser_next(&c->parser, bytes, count, &piece);

        bytes += taken;
        count -= taken;
        c->position += taken;
        switch (piece.kind) {
        case RUN_PIECE_MORE:
            return;
        case RUN_PIECE_DATA:
            take_data(c, &piece);
            break;
        case RUN_PIECE_END:
            c->state = CONNECTION_FINISHING;
            break;
        case RUN_PIECE_BAD:
            end(c, RUN_WELCOME_STREAM, "it sent what is no frame");
            break;
        }
    }
}

void stream_connection_take(struct connection *c, const char *token, const void *bytes,
                            size_t count)
{
    if (c->state == CONNECTION_HELLO)
        take_hello(c, token, bytes, count);
    else if (c->state == CONNECTION_FRAMES)
        take_frames(c, bytes, count);
}

void stream_connection_opened(struct connection *c, struct stream_run *run,
                              enum run_welcome_status status)
{
    if (status != RUN_WELCOME_OK) {
        refuse(c, status, NULL);
        return;
    }
    c->run = run;
    send_welcome(c, status, run->have);
    c->state = CONNECTION_FRAMES;
}

void stream_connection_finished(struct connection *c, enum run_welcome_status status)
{
    c->has_part = status != RUN_WELCOME_OK;
    if (c->has_part)
        c->whole = c->acked;
    c->status = status == RUN_WELCOME_OK ? RUN_WELCOME_DONE : status;
    send_ack(c, c->status);
    c->run = NULL;
    c->state = CONNECTION_CLOSING;
}

uint64_t stream_connection_unacked(const struct connection *c)
{
    if (c->state != CONNECTION_FRAMES)
        return 0;
    return (c->has_part ? c->whole : c->position) - c->acked;
}

void stream_connection_ack(struct connection *c)
{
    if (c->state != CONNECTION_FRAMES || c->out_bytes > 0)
        return;
    if (stream_run_flush(c->run) != RUN_WELCOME_OK)
        end(c, RUN_WELCOME_DISK, NULL);
    else if (stream_connection_unacked(c) > 0)
        send_ack(c, RUN_WELCOME_OK);
}

void stream_connection_sent(struct connection *c, size_t count)
{
    c->out_bytes -= count;
    memmove(c->out, c->out + count, c->out_bytes);
}
