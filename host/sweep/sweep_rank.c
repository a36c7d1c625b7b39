/* hr sweep rank: which events explain another one along the axis. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/nearest.h"
#include "host/base/text.h"
#include "host/sweep/sweep_fit.h"
#include "host/sweep/sweep_show.h"

#define ROWS_TABLE 20u
#define PARTS_LEAST (4 * SWEEP_FOLDS)

struct candidate {
    const struct sweep_measured *event;
    double correlation;
    double quality; /* of a model with this event alone */
};

struct ranking {
    const struct sweep_data *data;
    const struct sweep_measured *target;
    size_t parts; /* that are whole */
    struct candidate *all; /* owned */
    const double **series; /* owned */
    size_t count;
    struct sweep_fit fit;
};

static int compare(const void *a, const void *b)
{
    double x = fabs(((const struct candidate *)a)->correlation);
    double y = fabs(((const struct candidate *)b)->correlation);

    return x > y ? -1 : x < y;
}

static int gather(struct ranking *r)
{
    r->parts = sweep_whole_parts(r->data);
    r->all = calloc(r->data->event_count, sizeof r->all[0]);
    r->series = calloc(r->data->event_count, sizeof r->series[0]);
    if (r->all == NULL || r->series == NULL)
        return -ENOMEM;
    for (size_t i = 0; i + 1 < r->data->event_count; i++) {
        const struct sweep_measured *e = &r->data->events[i];

        if (e == r->target || !sweep_data_counted(e))
            continue;
        r->all[r->count++] =
            (struct candidate){e, sweep_correlation(r->target->series, e->series, r->parts),
                               sweep_fit_alone(r->target->series, e->series, r->parts)};
    }
    qsort(r->all, r->count, sizeof r->all[0], compare);
    for (size_t i = 0; i < r->count; i++)
        r->series[i] = r->all[i].event->series;
    return sweep_fit(r->target->series, r->series, r->count, r->parts, &r->fit);
}

static void print_model(const struct ranking *r)
{
    char name[80];

    printf("# together: each one added to those before it\n%-40s %12s %14s\n", "event", "explained",
           "weight");
    for (size_t i = 0; i < r->fit.count; i++)
        printf("%-40s %10.1f %% %14.4g\n",
               text_escape(name, sizeof name, r->all[r->fit.chosen[i]].event->name),
               100 * r->fit.quality[i], r->fit.weights[i]);
    if (r->fit.count == 0)
        printf("no event does\n");
}

static void print_alone(const struct ranking *r)
{
    char name[80];

    printf("\n# alone\n%-40s %12s %14s %14s\n", "event", "explained", "correlation", "chance");
    for (size_t i = 0; i < r->count && i < ROWS_TABLE; i++)
        printf("%-40s %10.1f %% %14.3f %14.2g\n",
               text_escape(name, sizeof name, r->all[i].event->name),
               100 * fmax(r->all[i].quality, 0), r->all[i].correlation,
               sweep_significance(r->all[i].correlation, r->parts));
    if (r->count > ROWS_TABLE)
        printf("and %zu more; --format csv shows all\n", r->count - ROWS_TABLE);
}

static void print_csv(const struct ranking *r)
{
    char name[80];

    printf("event,correlation,chance,explained_alone,points,step,explained,weight\n");
    for (size_t i = 0; i < r->count; i++) {
        printf("%s,%.9g,%.9g,%.9g,%zu,", text_escape(name, sizeof name, r->all[i].event->name),
               r->all[i].correlation, sweep_significance(r->all[i].correlation, r->parts),
               r->all[i].quality, r->parts);
        for (size_t s = 0; s < r->fit.count; s++)
            if (r->fit.chosen[s] == i)
                printf("%zu,%.9g,%.9g\n", s + 1, r->fit.quality[s], r->fit.weights[s]);
        for (size_t s = 0, found = 0; s <= r->fit.count; s++)
            if (s < r->fit.count)
                found += r->fit.chosen[s] == i;
            else if (found == 0)
                printf(",,\n");
    }
}

static int find_target(struct ranking *r, const char *name)
{
    struct nearest nearest;
    char names[256];

    r->target = sweep_data_find(r->data, name);
    if (r->target != NULL && sweep_data_counted(r->target))
        return HR_EXIT_OK;
    if (r->target != NULL)
        return error_exit(HR_EXIT_FAILED, "event %s was always 0 or was not measured", name);
    nearest_init(&nearest, name);
    for (size_t i = 0; i < r->data->event_count; i++)
        nearest_offer(&nearest, r->data->events[i].name);
    return error_exit(HR_EXIT_USAGE, "--explain %s: the sweep has no such event%s%s", name,
                      nearest.count != 0 ? "; near are " : "",
                      nearest_list(&nearest, names, sizeof names));
}

int sweep_rank(const struct sweep_data *data, const char *target, enum sweep_format format)
{
    struct ranking r = {.data = data};
    int status = find_target(&r, target);
    char name[80];

    if (status != HR_EXIT_OK)
        return status;
    if (sweep_whole_parts(data) < PARTS_LEAST)
        return error_exit(HR_EXIT_FAILED,
                          "the program is too short: it has %zu parts of instructions; sweep with "
                          "more (--bins) and with a shorter interval (-i)",
                          sweep_whole_parts(data));
    if (gather(&r) != 0)
        status = error_exit(HR_EXIT_FAILED, "out of memory; end other programs");
    else if (format == SWEEP_CSV)
        print_csv(&r);
    else {
        printf("# what explains %s, over %zu parts of the program\n",
               text_escape(name, sizeof name, r.target->name), r.parts);
        print_model(&r);
        print_alone(&r);
    }
    free(r.all);
    free(r.series);
    return status == HR_EXIT_OK && fflush(stdout) != 0 ? HR_EXIT_FAILED : status;
}
