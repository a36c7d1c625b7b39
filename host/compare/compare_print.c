/* The table of hr compare. */
#include "host/compare/compare_print.h"

#include <math.h>
#include <string.h>

#include "host/draw/columns.h"

/* "1,234" or "1.204 ms", with a sign if it is a change. */
static char *quantity(char text[TEXT_QUANTITY_BYTES + 1], bool time, bool sign, double value)
{
    char *at = text;

    if (sign && value != 0)
        *at++ = value > 0 ? '+' : '-';
    if (time)
        text_time(at, fabs(value));
    else
        text_count(at, (uint64_t)llround(fabs(value)));
    return text;
}

char *compare_share(char text[TEXT_QUANTITY_BYTES], const struct trial_difference *d, double change)
{
    double percent = 100 * change / d->means[0];

    if (change == 0)
        return strcpy(text, "0 %");
    if (d->means[0] == 0)
        return strcpy(text, "from 0");
    if (!isfinite(percent))
        return strcpy(text, "unknown");
    snprintf(text, TEXT_QUANTITY_BYTES, "%+.*f %%", fabs(percent) < 0.1 ? 5 : 2, percent);
    return text;
}

static void print_program(FILE *out, const struct compare *c, int side)
{
    const struct trial *trial = &c->trials[side];
    char safe[1024];

    fprintf(out, "# %s:", side == 0 ? "before" : "after ");
    if (c->names[side] != NULL)
        fprintf(out, " %s:", text_escape(safe, sizeof safe, c->names[side]));
    for (size_t i = 0; i < trial->program_count; i++)
        fprintf(out, " %s", text_escape(safe, sizeof safe, trial->program[i]));
    fprintf(out, "\n");
}

static void print_head(FILE *out, const struct compare *c)
{
    char text[COMPARE_WORDS_BYTES], safe[COMPARE_WORDS_BYTES];
    size_t length = compare_length_difference(c);

    print_program(out, c, 0);
    print_program(out, c, 1);
    if (c->exact)
        fprintf(out, "# %u run%s of each in virtual time: the differences are exact\n", c->done,
                c->done == 1 ? "" : "s");
    else
        fprintf(out, "# %u run%s of each, in random order\n", c->done, c->done == 1 ? "" : "s");
    if (length != 0)
        fprintf(out,
                "# the commands differ in length by %zu byte%s, which moves the stack and so can "
                "change counts a little\n",
                length, length == 1 ? "" : "s");
    if (compare_disagreement(c, text)[0] != 0)
        fprintf(out, "# not the same: %s\n", text_escape(safe, sizeof safe, text));
}

/* The interval in percent: "-0.12 % to +0.50 %". */
static void interval(char *text, size_t room, const struct trial_difference *d)
{
    char low[TEXT_QUANTITY_BYTES], high[TEXT_QUANTITY_BYTES];

    if (isinf(d->low))
        snprintf(text, room, "unknown");
    else
        snprintf(text, room, "%s to %s", compare_share(low, d, d->low),
                 compare_share(high, d, d->high));
}

static void print_row(FILE *out, const struct compare *c, const struct compare_row *row)
{
    const struct trial_difference *d = &row->difference;
    char before[TEXT_QUANTITY_BYTES + 1], after[TEXT_QUANTITY_BYTES + 1];
    char change[TEXT_QUANTITY_BYTES + 1], share[TEXT_QUANTITY_BYTES + 1];
    char name[64], between[2 * TEXT_QUANTITY_BYTES + 8], least[TEXT_QUANTITY_BYTES] = "unknown";
    char runs[TEXT_QUANTITY_BYTES];

    text_escape(name, sizeof name - 1, row->name);
    if (!row->time && (row->source == HR_SOURCE_STUB || row->source == HR_SOURCE_NONE))
        strcat(name, "*");
    compare_share(share, d, d->change);
    if (!c->exact && !trial_difference_is_certain(d))
        strcat(share, "?");
    fprintf(out, "%-18s %16s %16s %14s %11s", name, quantity(before, row->time, false, d->means[0]),
            quantity(after, row->time, false, d->means[1]),
            quantity(change, row->time, true, d->change), share);
    if (!c->exact) {
        interval(between, sizeof between, d);
        if (!isinf(d->least))
            snprintf(least, sizeof least, "%.2g %%",
                     d->means[0] != 0 ? 100 * d->least / d->means[0] : 0);
        text_count(runs, trial_difference_runs(d, COMPARE_SHARE));
        fprintf(out, "  %24s %9s %9s", between, least, isinf(d->least) ? least : runs);
    }
    fprintf(out, "\n");
}

static void print_rows(FILE *out, const struct compare *c, const struct compare_shown *shown)
{
    bool marked = false, uncertain = false;

    fprintf(out, "%-18s %16s %16s %14s", "total", "before", "after", "change");
    if (!c->exact)
        fprintf(out, " %11s  %24s %9s %9s", "", "95 % interval", "can show", "1 % takes");
    fprintf(out, "\n");
    for (uint32_t i = 0; i < shown->count; i++) {
        const struct compare_row *row = &shown->rows[i];

        print_row(out, c, row);
        marked |= row->source == HR_SOURCE_STUB || row->source == HR_SOURCE_NONE;
        uncertain |= !c->exact && !trial_difference_is_certain(&row->difference);
    }
    if (marked)
        fprintf(out, "* not measured: these are no counts\n");
    if (c->exact)
        return;
    if (c->done == 1)
        fprintf(out, "# one run of each says nothing about chance; --repeat 10 does\n");
    else if (uncertain)
        fprintf(out,
                "# ?: no more than chance.  Four times out of five, %u runs of each show a change "
                "as large as 'can show', and as many as '1 %% takes' one of 1 %%\n",
                c->done);
}

static void print_function(FILE *out, const struct compare *c, const struct compare_function *f,
                           double total)
{
    const struct trial_difference *d = &f->difference;
    char change[TEXT_QUANTITY_BYTES + 1], share[TEXT_QUANTITY_BYTES + 1];
    char chance[TEXT_QUANTITY_BYTES + 4] = "", name[COLUMNS_CELL_BYTES], object[256];

    compare_share(share, d, d->change);
    if (!f->in[0] || !f->in[1])
        strcpy(share, f->in[1] ? "new" : "gone");
    if (!trial_difference_is_certain(d))
        strcat(share, "?");
    if (c->functions.sampled || !c->exact) {
        char amount[TEXT_QUANTITY_BYTES + 1];

        snprintf(chance, sizeof chance, "+-%s",
                 isinf(d->low) ? "?" : quantity(amount, false, false, (d->high - d->low) / 2));
    }
    fprintf(out, "%16s %14s  %11s %8.3f%%  %s  %s\n", quantity(change, false, true, d->change),
            chance, share, total > 0 ? 100 * d->change / total : 0,
            text_escape(name, sizeof name, f->name), text_escape(object, sizeof object, f->object));
}

static void print_functions(FILE *out, const struct compare *c, unsigned long limit)
{
    const struct compare_functions *all = &c->functions;
    unsigned long shown = 0;
    double total = 0;
    char safe[80];

    for (size_t i = 0; i < all->count; i++)
        total += all->all[i].difference.means[0];
    fprintf(out, "\n# %s by function: %zu of %zu changed%s\n",
            text_escape(safe, sizeof safe, all->event), all->changed, all->count,
            !all->sampled               ? ""
            : c->done == 1 && !c->exact ? " by more than what samples leave open"
            : c->exact ? " by more than chance (samples estimate them; --mode exact counts)"
                       : " by more than chance");
    for (size_t i = 0; i < all->changed && (limit == 0 || shown < limit); i++, shown++) {
        if (shown == 0)
            fprintf(out, "%16s %14s  %11s %9s  %s\n", "change",
                    all->sampled || !c->exact ? "chance" : "", "of its own", "of all", "function");
        print_function(out, c, &all->all[i], total);
    }
    if (all->changed > shown)
        fprintf(out, "# %zu more; --limit 0 shows all\n", all->changed - (size_t)shown);
}

void compare_print(FILE *out, const struct compare *c, const struct compare_shown *shown)
{
    print_head(out, c);
    print_rows(out, c, shown);
    print_functions(out, c, shown->limit);
}
