/* What hr view --serve shows: a model of the trace and its page.
 *
 * While the trace is being written (host/scan/growth.h) both are made again when it has grown, so
 * rarely that it takes a small share of one CPU, and once more when its writer is done.  There is
 * one model at a time.  The caller excludes other uses of the model while it is read again.
 */
#pragma once

#include <sys/stat.h>

#include "host/view/model/view_model.h"

struct view_live {
    struct reader *reader; /* the caller's */
    struct view_model *model; /* likewise; empty after an error */
    int fd; /* the trace */
    struct stat trace; /* when it was last looked at before it was read */
    bool growing; /* it was being written then */
    int error; /* of the last reading, 0 or -errno */
    uint32_t version; /* the first one is 1 */
    uint64_t begin_ns, begin_cpu_ns; /* of the last reading */
    uint64_t due_ns; /* not read again before that */
    int page_fd;
    size_t page_bytes;
};

/* Looks at the trace.  The caller then reads the model and lets view_live_page make the page, which
 * takes `facts` over.  0 or -errno; view_live_close after any.  Never prints. */
int view_live_open(struct view_live *live, struct reader *reader, struct view_model *model);
int view_live_page(struct view_live *live, json_t *facts);
void view_live_close(struct view_live *live);

/* Whether it is time to read the trace again. */
bool view_live_is_due(const struct view_live *live);
/* Does so.  0 or -errno, also in live->error; then the trace is not growing for this command. */
int view_live_again(struct view_live *live);

/* Whether the trace still is what was read, except that it may have grown while it is written. */
bool view_live_is_current(const struct view_live *live);
