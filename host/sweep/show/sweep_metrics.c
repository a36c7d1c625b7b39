/* hr sweep show --metrics: what the means of all runs come to, together. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/events/events.h"
#include "host/metrics/metrics_show.h"
#include "host/scan/reader_output.h"
#include "host/sweep/show/sweep_show.h"

/* Its encoding, by its name; 0: not known. */
static struct metrics_input input_of(const struct events_cpu *cpu, const struct sweep_measured *e)
{
    struct metrics_input input = {.name = e->name,
                                  .counted = strcmp(e->source, "pmu") == 0 && e->spread.count != 0};
    const char *suffix = strrchr(e->name, ':');
    struct events_encoding encoding;
    struct run_failure unasked = {0};

    if (events_resolve(cpu, e->name, &encoding, &unasked) == 0 && encoding.companion == 0) {
        input.select = encoding.select;
        input.rings = (uint32_t)(encoding.select >> 16 & 3);
    } else { /* the rings that -e means */
        input.rings = suffix != NULL && strcmp(suffix, ":uk") == 0  ? 3
                      : suffix != NULL && strcmp(suffix, ":k") == 0 ? 2
                                                                    : 1;
    }
    return input;
}

static double seconds_of(const struct sweep_data *d)
{
    double ns = 0;

    for (size_t i = 0; i < d->bins; i++)
        ns += d->times[i];
    return ns / 1e9;
}

static void put_csv(struct output *out, const struct metrics_figures *f)
{
    output_text(out, "metric,value,unit,parent,marked\n");
    for (uint32_t i = 0; i < f->count; i++) {
        const struct metric *m = f->metrics->set.all[f->chosen[i]];
        double value = metrics_value(f->metrics, f->chosen[i], f->counts, f->seconds);

        output_csv_print(out, "%s,", m->name);
        if (!isnan(value))
            output_real(out, value);
        output_csv_print(out, ",%s,%s,%d\n", m->unit, m->parent,
                         metrics_is_marked(f->metrics, f->chosen[i], f->counts, f->seconds));
    }
}

static int put(const struct sweep_data *d, const struct metrics_figures *f,
               enum sweep_format format)
{
    struct output *out;
    char program[256], processor[128];
    json_t *all;
    int error;

    if (format == SWEEP_TABLE) {
        printf("# %s, on %s\n# of the means of %llu runs\n\n",
               text_escape(program, sizeof program, d->program),
               text_escape(processor, sizeof processor, d->processor), (unsigned long long)d->runs);
        metrics_show(stdout, f);
        return fflush(stdout) == 0 ? HR_EXIT_OK : HR_EXIT_FAILED;
    }
    if (format == SWEEP_JSON) {
        all = metrics_show_json(f);
        error = all == NULL || json_dumpf(all, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9)) != 0;
        json_decref(all);
        putchar('\n');
        return error == 0 && fflush(stdout) == 0 ? HR_EXIT_OK : HR_EXIT_FAILED;
    }
    out = reader_output_open();
    put_csv(out, f);
    return reader_output_close(out);
}

static int show(const struct sweep_data *d, const struct events_cpu *cpu, const char *list,
                enum sweep_format format)
{
    struct metrics_input *inputs = calloc(d->event_count + 1, sizeof inputs[0]);
    double *means = calloc(d->event_count + 1, sizeof means[0]);
    struct metrics *m = NULL;
    struct run_failure failure = {0};
    uint32_t chosen[METRICS_MAX];
    int count = -1, status;

    for (size_t i = 0; inputs != NULL && means != NULL && i < d->event_count; i++) {
        inputs[i] = input_of(cpu, &d->events[i]);
        means[i] = d->events[i].spread.mean;
    }
    if (inputs != NULL && means != NULL)
        m = metrics_make(&(struct metrics_cpu){cpu->vendor, cpu->family, cpu->model}, inputs,
                         (uint32_t)d->event_count);
    if (m == NULL)
        run_fail(&failure, "out of memory; end other programs");
    else
        count = metrics_choose(m, list, true, chosen, &failure);
    if (count == 0)
        run_fail(&failure, "the events of the sweep make no metric; measure some with 'hr sweep -e "
                           "@tma1' or -e instructions,cycles");
    status =
        count > 0
            ? put(d, &(struct metrics_figures){m, chosen, (uint32_t)count, means, seconds_of(d)},
                  format)
            : error_exit(HR_EXIT_FAILED, "%s", failure.text);
    free(m);
    free(means);
    free(inputs);
    return status;
}

int sweep_metrics(const struct sweep_data *data, const char *list, enum sweep_format format)
{
    struct events_cpu cpu;

    if (data->cpu == NULL || events_cpu_parse(&cpu, data->cpu) != 0)
        return error_exit(HR_EXIT_FAILED, "the sweep does not say on which CPU it ran; repeat it");
    return show(data, &cpu, list, format);
}
