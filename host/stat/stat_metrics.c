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

int stat_metrics(const struct summary *s, const char *list, bool json)
{
    struct metrics_choice choice;
    struct run_failure failure = {0};
    double counts[HR_EVENTS_MAX];
    bool whole;
    int status;

    for (uint32_t i = 0; i < s->info.event_count; i++)
        counts[i] = (double)summary_event_total(s, i, &whole);
    if (metrics_choose_of(&choice, &s->info, list, true, &failure) == 0)
        status = show(s,
                      &(struct metrics_figures){choice.metrics, choice.chosen, choice.count, counts,
                                                (double)s->duration_ns / 1e9},
                      json);
    else
        status = error_exit(HR_EXIT_FAILED, "%s", failure.text);
    free(choice.metrics);
    return status;
}
