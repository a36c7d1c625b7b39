/* hr sweep view: a page of a sweep for the browser. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/json.h"
#include "host/base/output.h"
#include "host/base/output_file.h"
#include "host/sweep/show/sweep_asset.h"
#include "host/sweep/show/sweep_correlation.h"
#include "host/sweep/show/sweep_show.h"

#define CHANCES 1000u /* steps of a correlation */
#define DIGITS 7

static json_t *numbers(const double *values, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

/* How likely correlations of 0, 0.001 ... 1 are without a reason, as decimal logarithms. */
static json_t *chances(size_t parts)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i <= CHANCES; i++) {
        double chance = trial_significance((double)i / CHANCES, parts);

        json_array_append_new(list, json_real(chance > 0 ? log10(chance) : -400));
    }
    return list;
}

/* The event's place in the matrix, -1: it has none. */
static int place_of(const struct sweep_correlation *p, const struct sweep_measured *event)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->events[i] == event)
            return (int)i;
    return -1;
}

static json_t *event_json(const struct sweep_correlation *p, const struct sweep_measured *e)
{
    int place = place_of(p, e);

    return json_pack("{s:o, s:o, s:s, s:f, s:f, s:f, s:f, s:I, s:I, s:i, s:I, s:o}", "name",
                     json_text(e->name), "description", json_text(e->description), "source",
                     e->source, "mean", e->spread.mean, "low", e->spread.low, "high",
                     e->spread.high, "deviation", e->spread.deviation, "runs",
                     (json_int_t)e->spread.count, "outliers", (json_int_t)e->spread.outliers,
                     "place", place, "alike", place >= 0 ? (json_int_t)p->equal[place] : 0,
                     "series", numbers(e->series, place >= 0 ? p->parts : 0));
}

static json_t *page_json(const struct sweep_correlation *p)
{
    const struct sweep_data *d = p->data;
    json_t *events = json_array(), *notes = json_array();

    for (size_t i = 0; i < d->event_count; i++)
        if (d->events[i].spread.count != 0)
            json_array_append_new(events, event_json(p, &d->events[i]));
    for (size_t i = 0; i < d->note_count; i++)
        json_array_append_new(
            notes, json_pack("[o, o]", json_text(d->notes[i].trace), json_text(d->notes[i].text)));
    return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:o}", "program",
                     json_text(d->program), "processor", json_text(d->processor), "repeat",
                     (json_int_t)d->repeat, "planned", (json_int_t)d->planned_runs, "least",
                     (json_int_t)d->least_runs, "runs", (json_int_t)d->runs, "parts",
                     (json_int_t)p->parts, "left_out", (json_int_t)p->left_out, "width",
                     d->bins > 1 ? d->starts[1] : 0, "chances", chances(p->parts), "events", events,
                     "notes", notes);
}

/* No text in it is an end tag. */
static void put_json(struct output *out, const char *text)
{
    for (const char *end; (end = strchr(text, '<')) != NULL; text = end + 1) {
        output_bytes(out, text, (size_t)(end - text));
        output_text(out, "\\u003c");
    }
    output_text(out, text);
}

static int write_page(const struct sweep_correlation *p, int fd)
{
    json_t *json = page_json(p);
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(DIGITS));
    struct output *out = malloc(sizeof *out);
    int error = -ENOMEM;

    if (text != NULL && out != NULL) {
        output_init(out, fd);
        output_bytes(out, sweep_asset, (size_t)(sweep_asset_end - sweep_asset));
        output_text(out, "<script type=\"application/json\" id=\"data\">");
        put_json(out, text);
        output_text(out, "</script>\n</body></html>\n");
        error = output_flush(out);
    }
    free(out);
    free(text);
    json_decref(json);
    return error;
}

int sweep_view(const struct sweep_data *data, const char *path)
{
    const struct output_file_wish wish = {.kind = OUTPUT_PAGE};
    static struct sweep_correlation p;
    struct run_failure failure = {0};
    struct output_file file;
    int error = sweep_correlation_make(&p, data);
    bool open = error == 0 && output_file_open(&file, path, &wish, &failure) == 0;

    if (open)
        error = write_page(&p, file.fd);
    sweep_correlation_free(&p);
    if (error != 0)
        run_fail(&failure, "cannot write '%s': %s", path, strerror(-error));
    if (open && output_file_finish(&file, error == 0, &failure) == 0 && error == 0)
        return HR_EXIT_OK;
    return error_exit(HR_EXIT_FAILED, "%s", failure.text);
}
