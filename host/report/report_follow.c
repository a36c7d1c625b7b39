/* Reads a trace as it is written, for its profile. */
#include "host/report/report_follow.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host/base/terminal.h"
#include "host/scan/growth.h"

struct following {
    struct report *report;
    struct profile_growing *growing; /* NULL: there is no data yet */
};

/* What the options ask for is known from what comes before all data. */
static int begin(struct following *f, bool has_stacks)
{
    struct report *r = f->report;

    report_want(r, has_stacks);
    if (!has_stacks && (r->wanted.tree || r->options->total))
        return report_refuse(r);
    f->growing = profile_growing_new(&r->profile, &r->scan, &r->wanted);
    r->has_profile = true;
    return f->growing != NULL ? 0 : -ENOMEM;
}

static int take(void *context)
{
    struct following *f = context;
    struct report *r = f->report;
    struct trace_head head = {0};
    int error = 0;

    if (f->growing == NULL) {
        error = trace_scan_head(&r->scan, &head);
        if (error == 0 && !head.data && r->scan.file.growing)
            return 0;
        if (error == 0)
            error = begin(f, head.stacks);
    }
    return error == 0 ? profile_growing_read(f->growing) : error;
}

static void show(void *context, FILE *out)
{
    struct following *f = context;
    struct report now = *f->report;
    struct profile *profile;

    if (f->growing == NULL || profile_growing_now(f->growing, now.options->total, &profile) != 0)
        return;
    now.profile = *profile;
    now.shown = report_shown_event(&now.scan.info, profile->event);
    now.pager.columns = terminal_columns(STDOUT_FILENO, PAGER_NO_TERMINAL);
    now.pager.colours = terminal_colours(STDOUT_FILENO);
    report_print_head(out, &now);
    if (now.options->view == REPORT_TREE)
        report_print_tree(out, &now, &now.profile.tree);
    else
        report_print_table(out, &now);
}

/* Stopped before there was data, there is still something to say. */
static int finish(struct following *f)
{
    struct report *r = f->report;
    int error = f->growing == NULL ? begin(f, r->scan.info.has_stacks) : 0;

    if (error == 0)
        error = profile_growing_finish(f->growing, (unsigned int)r->options->reader.jobs);
    return error == 0 ? report_sort(r) : error;
}

static int take_list(void *context)
{
    const struct following *f = context;

    return report_walk_list(f->report);
}

/* Regions are in the last chunk of a trace: the program's library writes them when it ends. */
static void show_list(void *context, FILE *out)
{
    struct following *f = context;
    struct report now = *f->report;
    bool waits = now.options->view == REPORT_WAITS;

    if (!waits || waits_now(&now.waits, &f->report->waits, &now.scan) == 0)
        report_print_list(out, &now, -1);
    if (waits)
        waits_free(&now.waits);
}

static int finish_any(struct following *f, bool list)
{
    struct report *r = f->report;

    if (!list)
        return finish(f);
    return r->options->view == REPORT_WAITS ? waits_end(&r->waits, &r->scan) : 0;
}

int report_follow(struct report *report, struct reader *reader)
{
    struct following f = {.report = report};
    bool list = report_is_list(report->options);
    const struct growth_work work = {
        .context = &f, .read = list ? take_list : take, .show = list ? show_list : show};
    struct growth growth;
    struct live live;
    int error = growth_begin(&growth, &report->scan, reader);

    if (error == 0 && report->options->view == REPORT_WAITS)
        error = waits_init(&report->waits);

    if (error == 0) {
        live_init(&live, reader->format == READER_TABLE, reader->interval_ns);
        error = growth_follow(&growth, &report->scan, &live, &work);
        if (error == 0)
            error = finish_any(&f, list);
        if (f.growing != NULL)
            profile_growing_free(f.growing);
    }
    growth_end(&growth);
    return error;
}
