/* Prints values of metrics. */
#include "host/metrics/metrics_show.h"

#include <math.h>
#include <string.h>

#define NAME_COLUMNS 24

const char *metrics_show_value(char text[METRICS_SHOW_BYTES], double value)
{
    double size = fabs(value);

    if (isnan(value))
        snprintf(text, METRICS_SHOW_BYTES, "-");
    else if (size >= 99999.5)
        snprintf(text, METRICS_SHOW_BYTES, "%.1e", value);
    else
        snprintf(text, METRICS_SHOW_BYTES, "%.*f",
                 size >= 999.5   ? 0
                 : size >= 9.995 ? 1
                                 : 2,
                 value);
    return text;
}

const char *metrics_show_title(char text[METRICS_SHOW_TITLE_BYTES], const struct metric *metric)
{
    bool percent = strcmp(metric->unit, "%") == 0;

    snprintf(text, METRICS_SHOW_TITLE_BYTES, "%s%s", metric->name, percent ? " %" : "");
    return text;
}

static bool is_chosen(const struct metrics_figures *f, const char *name)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (strcmp(f->metrics->set.all[f->chosen[i]]->name, name) == 0)
            return true;
    return false;
}

static bool show_one(FILE *out, const struct metrics_figures *f, uint32_t metric, bool part)
{
    const struct metric *m = f->metrics->set.all[metric];
    bool marked = metrics_is_marked(f->metrics, metric, f->counts, f->seconds);
    char value[METRICS_SHOW_BYTES];

    fprintf(out, "%s%-*s %8s %-5s%s %s\n", part ? "    " : "  ", NAME_COLUMNS - (part ? 4 : 2),
            m->name,
            metrics_show_value(value, metrics_value(f->metrics, metric, f->counts, f->seconds)),
            m->unit, marked ? "!" : " ", m->description);
    return marked;
}

/* An emulator can have the events of top-down analysis, and count none. */
static bool retires_nothing(const struct metrics_figures *f)
{
    int metric = metrics_table_metric(&f->metrics->set, "retiring");

    return metric >= 0 && is_chosen(f, "retiring") &&
           metrics_value(f->metrics, (uint32_t)metric, f->counts, f->seconds) == 0;
}

void metrics_show(FILE *out, const struct metrics_figures *f)
{
    bool marked = false;

    for (uint32_t i = 0; i < f->count; i++) {
        const struct metric *m = f->metrics->set.all[f->chosen[i]];
        bool part = m->parent != NULL && is_chosen(f, m->parent);

        marked |= show_one(out, f, f->chosen[i], part);
    }
    if (marked)
        fputs("\n  !: beyond the vendor's threshold, so worth a look\n", out);
    if (retires_nothing(f))
        fputs(
            "\n  retiring is 0, which no program is: this machine does not count these events, so\n"
            "  the shares of slots mean nothing\n",
            out);
}

static json_t *json_value(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *one_json(const struct metrics_figures *f, uint32_t metric)
{
    const struct metric *m = f->metrics->set.all[metric];

    return json_pack("{s:s, s:o, s:s, s:s?, s:b, s:s, s:s}", "name", m->name, "value",
                     json_value(metrics_value(f->metrics, metric, f->counts, f->seconds)), "unit",
                     m->unit, "parent", m->parent, "marked",
                     metrics_is_marked(f->metrics, metric, f->counts, f->seconds), "formula",
                     m->formula, "description", m->description);
}

json_t *metrics_show_json(const struct metrics_figures *f)
{
    json_t *shown = json_array(), *refused = json_array();

    for (uint32_t i = 0; i < f->count; i++)
        json_array_append_new(shown, one_json(f, f->chosen[i]));
    for (uint32_t i = 0; i < f->metrics->set.count; i++)
        if (f->metrics->all[i].reason[0] != 0)
            json_array_append_new(refused,
                                  json_pack("{s:s, s:s}", "name", f->metrics->set.all[i]->name,
                                            "reason", f->metrics->all[i].reason));
    return json_pack("{s:o, s:o}", "metrics", shown, "refused", refused);
}
