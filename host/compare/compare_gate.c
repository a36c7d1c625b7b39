/* Decides whether what a program counts grew by more than a limit. */
#include "host/compare/compare_gate.h"

#include <math.h>
#include <string.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/compare/compare_print.h"

static const struct compare_row *gate_row(const struct compare_row *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, "instructions") == 0)
            return &rows[i];
    return &rows[0];
}

static bool exceeds(const struct trial_difference *d, double change, const struct diff_limit *limit)
{
    return change > 0 &&
           change > (limit->percent ? limit->value * d->means[0] / 100 : limit->value);
}

static uint64_t runs_for(const struct trial_difference *d, const struct diff_limit *limit)
{
    double off =
        fabs(d->change - (limit->percent ? limit->value * d->means[0] / 100 : limit->value));

    return d->means[0] > 0 ? trial_difference_runs(d, off / d->means[0]) : COMPARE_REPEAT_MAX;
}

/* A gate must not open because something could not be seen. */
static bool cannot_decide(const struct compare *c, const struct compare_row *row)
{
    const struct trial_totals *totals[] = {&c->runs[0][0].totals, &c->runs[1][0].totals};
    int events[] = {trial_totals_find(totals[0], row->name),
                    trial_totals_find(totals[1], row->name)};
    uint8_t sources[2] = {row->source, row->source};

    for (int i = 0; i < 2 && !row->time; i++) {
        sources[i] = events[i] >= 0 ? totals[i]->sources[events[i]] : HR_SOURCE_NONE;
        if (sources[i] == HR_SOURCE_STUB || sources[i] == HR_SOURCE_NONE) {
            error_print("%s was not measured (%s), so --fail-above cannot pass; choose another "
                        "--event",
                        row->name, trace_info_source(sources[i]));
            return true;
        }
    }
    if (sources[0] != sources[1]) {
        error_print("the counts come from different sources (%s, %s), so --fail-above cannot pass",
                    trace_info_source(sources[0]), trace_info_source(sources[1]));
        return true;
    }
    for (uint32_t i = 0; i < c->done; i++)
        if (c->runs[1][i].status != c->runs[0][0].status ||
            c->runs[0][i].status != c->runs[0][0].status) {
            error_print("the programs ended with different statuses, so --fail-above cannot pass");
            return true;
        }
    return false;
}

int compare_gate(const struct compare *c, const struct compare_row *rows, uint32_t count,
                 const struct diff_limit *limit)
{
    const struct compare_row *row = gate_row(rows, count);
    const struct trial_difference *d = &row->difference;
    char size[TEXT_QUANTITY_BYTES], share[TEXT_QUANTITY_BYTES], before[TEXT_QUANTITY_BYTES];
    char after[TEXT_QUANTITY_BYTES], low[TEXT_QUANTITY_BYTES], high[TEXT_QUANTITY_BYTES];

    if (cannot_decide(c, row))
        return HR_EXIT_USAGE;
    if (exceeds(d, d->low, limit))
        return error_exit(
            HR_EXIT_FAILED, "%s grew by %s (%s), from %s to %s: more than --fail-above %g%s",
            row->name, text_count(size, (uint64_t)llround(d->change)),
            compare_share(share, d, d->change), text_count(before, (uint64_t)llround(d->means[0])),
            text_count(after, (uint64_t)llround(d->means[1])), limit->value,
            limit->percent ? "%" : "");
    if (!exceeds(d, d->high, limit))
        return HR_EXIT_OK;
    if (c->done == 1)
        return error_exit(HR_EXIT_USAGE,
                          "%s: one run of each says nothing about chance, so "
                          "--fail-above cannot be decided; add --repeat 10",
                          row->name);
    return error_exit(
        HR_EXIT_USAGE,
        "%s changed by %s to %s, so --fail-above %g%s cannot be decided; --repeat %llu "
        "may do",
        row->name, compare_share(low, d, d->low), compare_share(high, d, d->high), limit->value,
        limit->percent ? "%" : "", (unsigned long long)runs_for(d, limit));
}
