/* Files on demand: what travels over the port RUN_PORT_SERVE.
 *
 * The guest sends one struct run_serve_request, with `bytes` bytes after a RUN_SERVE_LOOKUP; the
 * host sends one struct run_serve_answer, with `bytes` bytes after it.  The guest sends nothing
 * until it has the answer.  The host serves only what the user can read: directories, regular files
 * and symbolic links; nothing below /proc, /sys and /dev.  The guest follows links itself: a name
 * never contains a slash and is neither "." nor "..".
 *
 * The host numbers the nodes that it has told of.  Node RUN_SERVE_ROOT is the root directory.  A
 * number stays valid for the whole run, and what it stands for stays its name at that time: if the
 * file at that path is another one, or has changed, since the host first told of it, answers say
 * ESTALE.
 */
#pragma once

#include <stdint.h>

#define RUN_PORT_SERVE "org.microtome.serve"

#define RUN_SERVE_ROOT 1u
#define RUN_SERVE_BYTES_MAX 65536u /* after one answer */
#define RUN_SERVE_NAME_MAX 255u
#define RUN_SERVE_TARGET_MAX 4095u /* bytes of a symbolic link's text */

enum run_serve_type {
    RUN_SERVE_LOOKUP = 1, /* the name of `bytes` bytes that follows, in the directory `node`: a
                             struct run_serve_node with the link's text */
    RUN_SERVE_LIST = 2, /* what is in the directory `node`, from `offset` (at first 0) on: as many
                           struct run_serve_node as fit, in the order of their names' bytes; the
                           answer's `next` is the next offset, 0 at the end */
    RUN_SERVE_READ = 3, /* contents of the regular file `node` from `offset` on: at most `bytes`
                           bytes, fewer only at the file's end */
};

struct run_serve_request {
    uint32_t type; /* enum run_serve_type */
    uint32_t bytes;
    uint64_t node;
    uint64_t offset;
    uint64_t number; /* of this request, from 1; the answer repeats it */
};
_Static_assert(sizeof(struct run_serve_request) == 32, "run_serve_request");

struct run_serve_answer {
    uint32_t error; /* Linux's errno; 0: none.  With an error nothing follows */
    uint32_t bytes; /* after this struct */
    uint64_t number;
    uint64_t next; /* of RUN_SERVE_LIST; otherwise 0 */
};
_Static_assert(sizeof(struct run_serve_answer) == 24, "run_serve_answer");

/* A name's file.  `name_bytes` bytes of name and `target_bytes` bytes of a link's text follow, then
 * zeros up to a multiple of 8 bytes. */
struct run_serve_node {
    uint64_t node;
    uint64_t bytes; /* its size: 0 for directories */
    uint64_t modified, changed; /* nanoseconds since 1970 */
    uint32_t mode; /* S_IFDIR, S_IFREG or S_IFLNK and permissions, in which the owner's bits say
                      what the user may do */
    uint16_t name_bytes; /* 0 in the answer to RUN_SERVE_LOOKUP */
    uint16_t target_bytes; /* 0 unless it is a symbolic link */
};
_Static_assert(sizeof(struct run_serve_node) == 40, "run_serve_node");
