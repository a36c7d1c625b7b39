/* The stream of a run on a machine without a hypervisor: into memory, which the loader writes to
 * the stick, or over TCP to `hr collect --listen tcp:`.
 *
 * It is a sequence of frames: struct run_frame, then `bytes` bytes of the port's own stream.  The
 * contents of the ports are those of include/run_ports.h.  In memory a frame may continue in the
 * next range.
 *
 * Over TCP:
 *   machine -> collector   struct run_hello
 *   collector -> machine   struct run_welcome; RUN_WELCOME_OK: how much of each port it has on disk
 *   machine -> collector   frames, each port from there on
 *   collector -> machine   struct run_ack, now and then: everything up to `position` is on disk
 *   machine -> collector   a frame of port RUN_STREAM_END, without bytes: the end
 *   collector -> machine   struct run_ack with `status` RUN_WELCOME_DONE; both close
 * The machine keeps what is not acknowledged.  After a broken connection it sends its hello again:
 * the sizes of files are all that a collector, even a new one, must know to continue.
 * The trace reaches the disk in whole chunks, so the machine must be able to keep more than the
 * longest chunk that it makes, and what is sent between its parts.  A collector closes a connection
 * that is silent for long; a frame without bytes, at the current position of its port's stream, is
 * a sign of life.  All fields are little-endian.  Both sides check everything.
 */
#pragma once

#include <stdint.h>

#define RUN_STREAM_VERSION 1
#define RUN_STREAM_PORT 4817 /* TCP, unless told otherwise */
#define RUN_STREAM_NAME_BYTES 64 /* NUL included */

#define RUN_FRAME_MAGIC 0x52465248u /* "HRFR" */
#define RUN_HELLO_MAGIC 0x4c485248u /* "HRHL" */
#define RUN_WELCOME_MAGIC 0x43575248u /* "HRWC" */
#define RUN_ACK_MAGIC 0x4b415248u /* "HRAK" */

enum run_stream_port {
    RUN_STREAM_END = 0,
    RUN_STREAM_TRACE = 1,
    RUN_STREAM_STDOUT = 2,
    RUN_STREAM_STDERR = 3,
    RUN_STREAM_LOG = 4,
    RUN_STREAM_FILES = 5, /* include/run_ports.h: struct run_file_message */
    RUN_STREAM_PORTS = 6,
};

#define RUN_FRAME_BYTES_MAX (1u << 20) /* of data in one frame */

struct run_frame {
    uint32_t magic;
    uint16_t port; /* enum run_stream_port */
    uint16_t reserved;
    uint32_t bytes; /* of data that follow, at most RUN_FRAME_BYTES_MAX */
    uint32_t header_crc; /* CRC32C of this struct with header_crc 0 */
    uint64_t offset; /* position of these bytes in the port's own stream */
};
_Static_assert(sizeof(struct run_frame) == 24, "run_frame");

struct run_hello {
    uint32_t magic;
    uint32_t version; /* RUN_STREAM_VERSION */
    uint8_t id[16]; /* of the run, random */
    char token[RUN_STREAM_NAME_BYTES]; /* NUL-terminated, the rest 0 */
    char machine[RUN_STREAM_NAME_BYTES]; /* letters, digits, '-', '_', '.', not first a '.' */
    char run[RUN_STREAM_NAME_BYTES]; /* characters as for machine */
    uint32_t reserved;
    uint32_t crc; /* CRC32C of the bytes before it */
};
_Static_assert(sizeof(struct run_hello) == 224, "run_hello");

enum run_welcome_status {
    RUN_WELCOME_OK = 0,
    RUN_WELCOME_DONE = 1, /* the run is complete on disk */
    RUN_WELCOME_TOKEN = 2, /* the token is wrong or missing: do not retry */
    RUN_WELCOME_VERSION = 3, /* unknown version: do not retry */
    RUN_WELCOME_NAME = 4, /* a name that no file can have: do not retry */
    RUN_WELCOME_BUSY = 5, /* too many machines, or this run is already connected: retry later */
    RUN_WELCOME_LIMIT = 6, /* the run may write no more; what it sent is kept */
    RUN_WELCOME_DISK = 7, /* the collector's disk is full */
    RUN_WELCOME_STREAM = 8, /* the machine sent bytes that are not a stream */
};

struct run_welcome {
    uint32_t magic;
    uint32_t status; /* enum run_welcome_status */
    uint64_t have[RUN_STREAM_PORTS]; /* bytes of each port's stream that are on disk */
    uint32_t reserved;
    uint32_t crc; /* CRC32C of the bytes before it */
};
_Static_assert(sizeof(struct run_welcome) == 64, "run_welcome");

struct run_ack {
    uint32_t magic;
    uint32_t status; /* enum run_welcome_status; if not OK or DONE, the collector closes */
    uint64_t position; /* bytes of frames, headers included, since this connection's welcome */
};
_Static_assert(sizeof(struct run_ack) == 16, "run_ack");
