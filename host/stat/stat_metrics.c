/* Computes metrics from the totals of a trace. */
#include "host/stat/stat_metrics.h"

#include <stdlib.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/metrics/metrics_show.h"

static int show(const struct summary *s, const struct metrics_figures *f, bool json)
{
    char safe[1024];
    json_t *all;

    if (!json) {
        printf("\n Microtome: %s\n\n",
               text_escape(safe, sizeof safe,
                           trace_info_text(&s->info, "program.args", "unknown program")));
        metrics_show(stdout, f);
        putchar('\n');
        return HR_EXIT_OK;
    }
    all = metrics_show_json(f);
    if (all == NULL)
        return error_exit(HR_EXIT_FAILED, "out of memory; end other programs");
    json_dumpf(all, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(all);
    return HR_EXIT_OK;
}

static int choose(const struct summary *s, const struct metrics *m, const char *list, bool json)
{
    double counts[HR_EVENTS_MAX];
    uint32_t chosen[METRICS_MAX];
    struct run_failure failure = {0};
    char reason[METRICS_REASON_BYTES], safe[1024];
    int count = metrics_choose(m, list, true, chosen, &failure);
    bool whole;

    if (count < 0)
        return error_exit(HR_EXIT_FAILED, "%s", failure.text);
    if (count == 0) {
        metrics_explain(&s->info, reason);
        return error_exit(HR_EXIT_FAILED, "--metrics: %s: %s",
                          text_escape(safe, sizeof safe, s->path), reason);
    }
    for (uint32_t i = 0; i < s->info.event_count; i++)
        counts[i] = (double)summary_event_total(s, i, &whole);
    return show(
        s,
        &(struct metrics_figures){m, chosen, (uint32_t)count, counts, (double)s->duration_ns / 1e9},
        json);
}

int stat_metrics(const struct summary *summary, const char *list, bool json)
{
    struct metrics *m = metrics_of_trace(&summary->info);
    int status = m != NULL ? choose(summary, m, list, json)
                           : error_exit(HR_EXIT_FAILED, "out of memory; end other programs");

    free(m);
    return status;
}
