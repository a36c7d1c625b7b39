/* Prints distributions of invocations as a table for people. */
#include "host/latency/latency_print.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/draw/columns.h"
#include "host/latency/latency_find.h"
#include "host/latency/latency_print_waits.h"
#include "host/latency/latency_waits.h"

enum { CALLS, MEDIAN, P90, P99, P999, MAX, TOTAL, OWN, SPENT, NAME, KEY, CELLS };

struct layout {
    struct columns columns;
    unsigned int cell[CELLS];
};

char *latency_print_name(const struct latency_print *p, uint32_t function)
{
    return latency_find_label(&p->info->points, function);
}

static double ns(const struct latency_print *p, uint64_t ticks)
{
    return (double)trace_info_ns(p->info, ticks);
}

static void put_name(const struct latency_print *p, char *cell, uint32_t function)
{
    char *name = latency_print_name(p, function);

    text_escape(cell, COLUMNS_CELL_BYTES, name != NULL ? name : "");
    free(name);
}

static void lay_out(struct layout *l, const struct latency_print *p)
{
    static const struct {
        const char *title;
        unsigned int width, rank;
    } numbers[] = {
        [CALLS] = {"calls", 9, 0}, [MEDIAN] = {"median", 9, 0}, [P90] = {"p90", 9, 5},
        [P99] = {"p99", 9, 3},     [P999] = {"p99.9", 9, 0},    [MAX] = {"max", 9, 2},
        [TOTAL] = {"total", 9, 4}, [OWN] = {"own", 9, 6},
    };
    static const char *const keys[] = {"", "called by", "thread", "process"};

    memset(&l->columns, 0, sizeof l->columns);
    for (uint32_t i = 0; i <= OWN; i++)
        l->cell[i] =
            columns_add(&l->columns, numbers[i].title, numbers[i].width, true, numbers[i].rank);
    l->cell[NAME] = columns_add(&l->columns, "function", 24, false, 0);
    l->columns.all[l->cell[NAME]].function = true;
    if (p->rows->by != LATENCY_BY_FUNCTION)
        l->cell[KEY] = columns_add(&l->columns, keys[p->rows->by], 16, false, 0);
    l->cell[SPENT] = columns_add(&l->columns, "its time", 12, false, 1);
    l->columns.full_names = p->full_names;
    columns_fit(&l->columns, p->columns);
}

static char *cell(struct layout *l, unsigned int what)
{
    return l->columns.cells[l->cell[what]];
}

/* "on CPU 62%, locks 38%": what is less than half a percent is left out. */
void latency_print_spent(char *text, size_t room, const uint64_t *spent, uint64_t queued)
{
    double all = (double)queued, share;
    size_t used = 0;

    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        all += (double)spent[i];
    text[0] = 0;
    for (uint32_t i = 0; i < LATENCY_SPENT && all > 0 && used < room; i++) {
        share = 100 * (double)spent[i] / all;
        if (share >= 0.5)
            used += (size_t)snprintf(text + used, room - used, "%s%s %.0f%%", used != 0 ? ", " : "",
                                     latency_waits_words[i], share);
    }
    share = all > 0 ? 100 * (double)queued / all : 0;
    if (share >= 0.5 && used < room)
        snprintf(text + used, room - used, "%squeued %.0f%%", used != 0 ? ", " : "", share);
}

static void put_key(const struct latency_print *p, char *text, const struct latency_row *row)
{
    if (p->rows->by == LATENCY_BY_CALLER && row->key == TRACE_POINTS_NONE)
        snprintf(text, COLUMNS_CELL_BYTES, "[no probed function]");
    else if (p->rows->by == LATENCY_BY_CALLER)
        put_name(p, text, row->key);
    else
        snprintf(text, COLUMNS_CELL_BYTES, "%u", row->key);
}

static void put_row(const struct latency_print *p, struct layout *l, struct latency_row *row)
{
    static const double shares[] = {[MEDIAN] = 0.5, [P90] = 0.9, [P99] = 0.99, [P999] = 0.999};

    text_count(cell(l, CALLS), row->ticks.count);
    for (uint32_t i = MEDIAN; i <= P999; i++)
        text_time(cell(l, i), ns(p, latency_values_at(&row->ticks, shares[i])));
    text_time(cell(l, MAX), ns(p, row->ticks.largest));
    text_time(cell(l, TOTAL), ns(p, row->ticks.sum));
    text_time(cell(l, OWN), ns(p, row->own));
    put_name(p, cell(l, NAME), row->function);
    latency_print_spent(cell(l, SPENT), COLUMNS_CELL_BYTES, row->spent, 0);
    if (p->rows->by != LATENCY_BY_FUNCTION)
        put_key(p, cell(l, KEY), row);
}

static void put_event(struct layout *l, const char *name, struct latency_values *values)
{
    static const double shares[] = {[MEDIAN] = 0.5, [P90] = 0.9, [P99] = 0.99, [P999] = 0.999};

    for (uint32_t i = 0; i < l->columns.count; i++)
        l->columns.cells[i][0] = 0;
    for (uint32_t i = MEDIAN; i <= P999; i++)
        text_count(cell(l, i), latency_values_at(values, shares[i]));
    text_count(cell(l, MAX), values->largest);
    text_count(cell(l, TOTAL), values->sum);
    snprintf(cell(l, NAME), COLUMNS_CELL_BYTES, "  %s", name);
}

static void print_rows(FILE *out, const struct latency_print *p, struct layout *l)
{
    char name[64], escaped[256];

    columns_print_titles(out, &l->columns);
    for (uint32_t i = 0; i < p->limit; i++) {
        struct latency_row *row = p->rows->all[i];

        put_row(p, l, row);
        columns_print(out, &l->columns);
        for (uint32_t e = 0; row->counters != NULL && e < p->rows->event_count; e++) {
            put_event(l,
                      text_escape(escaped, sizeof escaped, trace_info_event_word(p->info, e, name)),
                      &row->counters[e]);
            columns_print(out, &l->columns);
        }
    }
    if (p->limit < p->rows->count)
        columns_note(out, p->columns, "%u more rows; --limit 0 shows all",
                     p->rows->count - p->limit);
}

static void print_notes(FILE *out, const struct latency_print *p)
{
    const struct latency_threads *t = p->threads;
    uint64_t left = 0, unknown = 0, inexact = 0;

    for (uint32_t i = 0; i < p->rows->count; i++) {
        left += p->rows->all[i]->left;
        unknown += p->rows->all[i]->unknown;
        inexact += !latency_values_exact(&p->rows->all[i]->ticks);
    }
    latency_print_calls(out, p);
    if (left != 0)
        columns_note(out, p->columns,
                     "%lu invocations were left without a return: by longjmp, an exception or the "
                     "end of a thread or of the program; they are not counted",
                     left);
    if (unknown != 0)
        columns_note(out, p->columns,
                     "of %lu invocations the end is not known: hits are missing, or the trace ends "
                     "before; they are not counted",
                     unknown);
    if (t->deep != 0)
        columns_note(out, p->columns, "%lu entries are deeper than %u open invocations of a thread",
                     t->deep, INVOCATIONS_MAX);
    if (t->strays != 0)
        columns_note(out, p->columns, "%lu returns have no entry in what was read", t->strays);
    if (t->unknown + t->refused + p->rows->refused != 0)
        columns_note(out, p->columns, "%lu hits could not be used",
                     t->unknown + t->refused + p->rows->refused);
    if (inexact != 0)
        columns_note(out, p->columns, "percentiles of %lu rows are rounded by up to 0.1 %%",
                     inexact);
}

/* What the calls with the worst tails wait for. */
static void print_tails(FILE *out, const struct latency_print *p)
{
    char name[256], key[COLUMNS_CELL_BYTES], what[COLUMNS_CELL_BYTES];

    for (uint32_t i = 0; i < p->tails->count; i++) {
        const struct latency_tail_row *tail = &p->tails->rows[i];
        char *function = latency_print_name(p, tail->row->function);

        text_escape(name, sizeof name, function != NULL ? function : "");
        free(function);
        if (p->rows->by != LATENCY_BY_FUNCTION)
            put_key(p, key, tail->row);
        snprintf(what, sizeof what,
                 p->rows->by == LATENCY_BY_FUNCTION ? "%s"
                 : p->rows->by == LATENCY_BY_CALLER ? "%s called by %.256s"
                 : p->rows->by == LATENCY_BY_THREAD ? "%s in thread %.256s"
                                                    : "%s in process %.256s",
                 name, key);
        latency_print_tail(out, p, &tail->tail, tail->row->function, what, "call");
    }
}

void latency_print_table(FILE *out, const struct latency_print *p)
{
    struct layout *l = malloc(sizeof *l);
    char hits[TEXT_QUANTITY_BYTES];

    if (l == NULL)
        return;
    fprintf(out, "# %s hits of %u probed functions and places%s\n",
            text_count(hits, p->threads->hits), trace_points_count(&p->info->points),
            p->info->clock.method == HR_CLOCK_VIRTUAL ? "; virtual time: durations are exact" : "");
    lay_out(l, p);
    print_rows(out, p, l);
    print_tails(out, p);
    print_notes(out, p);
    free(l);
}
