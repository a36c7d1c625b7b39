/* Files on demand: serves the host's files, read-only, to the guest of a run
 * (docs/architecture/files.md, include/run_serve.h).
 *
 * The guest is not trusted.  It gets directories, regular files and symbolic links below the root,
 * which the user may read; no link is followed, nothing of the kernel's own file systems is opened,
 * and no FIFO and no device.  A file that does not answer in time gives EIO.  Never prints.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/collector/collect.h"
#include "host/serve/serve_nodes.h"
#include "host/serve/serve_open_files.h"
#include "host/serve/serve_task.h"
#include "include/run_serve.h"

#define SERVE_LIMIT_NS 30000000000ull /* for the host's answer about a file */

/* Nothing to serve; it may be stopped and closed. */
#define SERVE_CLOSED            \
    {                           \
        .root = -1, .hurry = -1 \
    }

struct serve {
    int root; /* the directory that is served; -1: the server is not open */
    char root_path[PATH_MAX]; /* absolute and without links */
    uint64_t limit_ns; /* SERVE_LIMIT_NS, unless a test has its own */
    serve_pread *pread; /* pread, unless a test has its own */
    struct serve_nodes nodes;
    struct serve_open_files open_files;
    struct serve_names *names; /* of the directory that is being listed; NULL: none */
    uint32_t names_node;
    struct serve_worker *worker;
    struct serve_task *task;
    int hurry; /* eventfd: readable when waits must be short */
    int port;
    bool running; /* there is a thread */
    pthread_t thread;
    /* results, once the thread has ended */
    const char *bad; /* what the guest sent that is no request, or NULL */
    uint32_t late; /* requests that were given up */
    char late_path[PATH_MAX]; /* the first of them, relative to the root */
};

/* An answer to a request, with what follows it. */
struct serve_reply {
    struct run_serve_answer answer;
    uint8_t bytes[RUN_SERVE_BYTES_MAX];
};

/* Opens the directory `root` for serving.  Returns 0 or -errno; -EINVAL: it belongs to a file
 * system of the kernel's own, -ENOSYS: this kernel lacks openat2.  The server can be closed in any
 * case. */
int serve_open_root(struct serve *s, const char *root);

/* Answers the requests of a socket in a thread until serve_stop; the socket becomes blocking and
 * remains the caller's.  Returns 0 or -errno. */
int serve_start(struct serve *s, int port);

/* Makes the thread wait for no file for longer than SERVE_GRACE_NS, because the run is to end. */
void serve_hurry(struct serve *s);

/* Ends the thread, if there is one, without waiting for a file. */
void serve_stop(struct serve *s);

/* Answers one request.  `name` is what follows a RUN_SERVE_LOOKUP: request->bytes bytes of
 * anything.  For the server's thread and tests. */
void serve_answer(struct serve *s, const struct run_serve_request *request, const void *name,
                  struct serve_reply *reply);

/* Adds records of the files that were read to the trace, as HOST chunks, after serve_stop and
 * before collect_close, and keeps those that symbols may be wanted of (host/object/object_cache.h).
 * Reads all of them once more; what cannot be read within `limit_ns` gets no hash.  Returns 0 or
 * -errno. */
int serve_record(struct serve *s, struct collector *collector, uint64_t limit_ns);

void serve_close(struct serve *s);

/* For the server's own files: make s->task a task for a node; have the worker do it.  Return 0 or
 * -errno; s->task is NULL when it was given up: see serve_worker_do. */
int serve_prepare(struct serve *s, enum serve_kind kind, uint32_t node);
int serve_perform(struct serve *s, uint64_t limit_ns, int interrupt);
