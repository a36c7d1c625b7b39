/* hr sweep rank: which events explain another one along the axis. */
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/nearest.h"
#include "host/base/text.h"
#include "host/scan/reader_output.h"
#include "host/sweep/show/sweep_correlation.h"
#include "host/sweep/show/sweep_fit.h"
#include "host/sweep/show/sweep_show.h"

#define ROWS_TABLE 20u
#define PARTS_LEAST ((size_t)4 * SWEEP_FOLDS)

struct candidate {
    const struct sweep_measured *event;
    double correlation;
    double quality; /* of a model with this event alone */
    size_t alike; /* other events that counted as it did */
};

struct ranking {
    const struct sweep_data *data;
    const struct sweep_measured *target;
    char **without; /* patterns of events that are not to explain it */
    size_t without_count;
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

static bool is_without(const struct ranking *r, const char *name)
{
    for (size_t i = 0; i < r->without_count; i++)
        if (fnmatch(r->without[i], name, FNM_CASEFOLD) == 0)
            return true;
    return false;
}

static bool is_known(struct ranking *r, const struct sweep_measured *e)
{
    for (size_t i = 0; i < r->count; i++)
        if (sweep_data_alike(r->all[i].event, e, r->parts)) {
            r->all[i].alike++;
            return true;
        }
    return false;
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

        if (e == r->target || !sweep_data_counted(e) || is_without(r, e->name) || is_known(r, e))
            continue;
        r->all[r->count++] = (struct candidate){
            .event = e,
            .correlation = trial_correlation(r->target->series, e->series, r->parts),
            .quality = sweep_fit_alone(r->target->series, e->series, r->parts)};
    }
    qsort(r->all, r->count, sizeof r->all[0], compare);
    for (size_t i = 0; i < r->count; i++)
        r->series[i] = r->all[i].event->series;
    return sweep_fit(r->target->series, r->series, r->count, r->parts, &r->fit);
}

static void print_name(const struct candidate *c)
{
    char name[80], text[120];

    text_escape(name, sizeof name, c->event->name);
    snprintf(text, sizeof text, c->alike != 0 ? "%s and %zu alike" : "%s", name, c->alike);
    printf("%-56s", text);
}

static void print_model(const struct ranking *r)
{
    printf("# together: each one added to those before it\n%-56s %12s %12s\n", "event", "explained",
           "weight");
    for (size_t i = 0; i < r->fit.count; i++) {
        print_name(&r->all[r->fit.chosen[i]]);
        printf(" %10.1f %% %12.4g\n", 100 * r->fit.quality[i], r->fit.weights[i]);
    }
    if (r->fit.count == 0)
        printf("no event does\n");
}

static void print_alone(const struct ranking *r)
{
    char room[16];

    printf("\n# alone\n%-56s %12s %12s %10s\n", "event", "explained", "correlation", "chance");
    for (size_t i = 0; i < r->count && i < ROWS_TABLE; i++) {
        const struct candidate *c = &r->all[i];

        print_name(c);
        printf(" %10.1f %% %12.3f %10s\n", 100 * fmax(c->quality, 0), c->correlation,
               sweep_correlation_chance(c->correlation, r->parts, room));
    }
    if (r->count > ROWS_TABLE)
        printf("and %zu more; --format csv shows all\n", r->count - ROWS_TABLE);
}

/* The place of a candidate in the model, from 1; 0: it is not in it. */
static size_t step_of(const struct ranking *r, size_t candidate)
{
    for (size_t step = 0; step < r->fit.count; step++)
        if (r->fit.chosen[step] == candidate)
            return step + 1;
    return 0;
}

static void put_csv(const struct ranking *r, struct output *out)
{
    output_text(out,
                "event,alike,correlation,chance,explained_alone,points,step,explained,weight\n");
    for (size_t i = 0; i < r->count; i++) {
        const struct candidate *c = &r->all[i];
        size_t step = step_of(r, i);

        output_csv_print(out, "%s,%lu,%g,%g,%g,%lu,", c->event->name, c->alike, c->correlation,
                         trial_significance(c->correlation, r->parts), c->quality, r->parts);
        if (step != 0)
            output_csv_print(out, "%lu,%g,%g\n", step, r->fit.quality[step - 1],
                             r->fit.weights[step - 1]);
        else
            output_text(out, ",,\n");
    }
}

static void put_json(const struct ranking *r, struct output *out)
{
    output_json_print(out, "{\"event\":%s,\"points\":%lu,\"candidates\":[", r->target->name,
                      r->parts);
    for (size_t i = 0; i < r->count; i++) {
        const struct candidate *c = &r->all[i];
        size_t step = step_of(r, i);

        output_text(out, i != 0 ? ",\n" : "\n");
        output_json_print(out,
                          "{\"event\":%s,\"alike\":%lu,\"correlation\":%g,\"chance\":%g,"
                          "\"explained_alone\":%g",
                          c->event->name, c->alike, c->correlation,
                          trial_significance(c->correlation, r->parts), c->quality);
        if (step != 0)
            output_json_print(out, ",\"step\":%lu,\"explained\":%g,\"weight\":%g", step,
                              r->fit.quality[step - 1], r->fit.weights[step - 1]);
        output_char(out, '}');
    }
    output_text(out, "\n]}\n");
}

static int print_rows(const struct ranking *r, enum sweep_format format)
{
    struct output *out = reader_output_open();

    (format == SWEEP_CSV ? put_csv : put_json)(r, out);
    return reader_output_close(out);
}

static int print_table(const struct ranking *r)
{
    char name[80];

    printf("# what explains %s, over %zu parts of the program\n",
           text_escape(name, sizeof name, r->target->name), r->parts);
    print_model(r);
    print_alone(r);
    return fflush(stdout) == 0 ? HR_EXIT_OK : HR_EXIT_FAILED;
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

int sweep_rank(const struct sweep_data *data, const char *target, char **without,
               size_t without_count, enum sweep_format format)
{
    struct ranking r = {.data = data, .without = without, .without_count = without_count};
    int status = find_target(&r, target);

    if (status != HR_EXIT_OK)
        return status;
    if (sweep_whole_parts(data) < PARTS_LEAST)
        return error_exit(HR_EXIT_FAILED,
                          "the program is too short: it has %zu parts of instructions; sweep with "
                          "more (--bins) and with a shorter interval (-i)",
                          sweep_whole_parts(data));
    if (gather(&r) != 0)
        status = error_exit(HR_EXIT_FAILED, "out of memory; end other programs");
    else
        status = format == SWEEP_TABLE ? print_table(&r) : print_rows(&r, format);
    free(r.all);
    free(r.series);
    return status;
}
