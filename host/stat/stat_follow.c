/* Reads a trace as it is written, for its summary. */
#include "host/stat/stat_follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/scan/growth.h"
#include "host/summary/summary_show.h"

struct following {
    struct summary_growing *growing;
    bool json;
};

static int take(void *context)
{
    const struct following *f = context;

    return summary_growing_read(f->growing);
}

/* Each object on a line of its own. */
static void show_json(FILE *out, const struct summary *summary)
{
    json_t *object = summary_json(summary);

    if (object != NULL && json_dumpf(object, out, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0)
        fputc('\n', out);
    json_decref(object);
}

static void show(void *context, FILE *out)
{
    const struct following *f = context;
    struct summary summary;

    if (summary_growing_now(f->growing, &summary) == 0) {
        if (f->json)
            show_json(out, &summary);
        else
            summary_show_for(out, &summary, STDOUT_FILENO);
    }
    summary_growing_forget(&summary);
}

static int follow(struct growth *growth, struct trace_scan *scan, const struct reader *reader,
                  struct following *f, struct summary *summary)
{
    const struct growth_work work = {.context = f, .read = take, .show = show};
    struct live live;
    int error;

    f->growing = summary_growing_new(scan, reader->path);
    if (f->growing == NULL)
        return -ENOMEM;
    live_init(&live, !f->json, reader->interval_ns);
    error = growth_follow(growth, scan, &live, &work);
    if (error == 0)
        error = summary_growing_finish(f->growing, summary);
    summary_growing_free(f->growing);
    return error;
}

int stat_follow(struct reader *reader, bool json, struct summary *summary)
{
    struct following f = {.json = json};
    struct trace_scan scan;
    struct growth growth;
    int error = growth_begin(&growth, &scan, reader);

    memset(summary, 0, sizeof *summary);
    trace_info_init(&summary->info);
    if (error == 0) {
        error = follow(&growth, &scan, reader, &f, summary);
        trace_scan_close(&scan);
    }
    growth_end(&growth);
    return error;
}
