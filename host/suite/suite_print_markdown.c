/* A comment for a pull request: what changed, by how much, in which function.
 *
 * Texts of traces and results are put between backticks, with what would end them replaced, so that
 * a name cannot be a link, a picture, or the name of a user.
 */
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/diff/diff_print.h"
#include "host/suite/suite_pages.h"
#include "host/suite/suite_print.h"
#include "host/suite/suite_spread.h"

#define CODE_BYTES (2 * DIFF_FACTS_BYTES)

/* A text as code, and as code of a table's cell. */
static void put_code(FILE *out, const char *text)
{
    char code[CODE_BYTES];

    fputs(text_code(code, sizeof code, text, false), out);
}

static void put_cell(FILE *out, const char *text)
{
    char code[CODE_BYTES];

    fputs(text_code(code, sizeof code, text, true), out);
}

/* The address of a benchmark's page. */
static void put_address(const struct suite_print *p, const char *name, const char *ending)
{
    const char *hole = strstr(p->link, "{}");

    if (hole == NULL)
        fprintf(p->out, "(%s)", p->link);
    else
        fprintf(p->out, "(%.*s%s%s%s)", (int)(hole - p->link), p->link, name, ending, hole + 2);
}

static void put_name(const struct suite_print *p, const struct suite_pair *pair)
{
    if (p->link == NULL || pair->after == NULL || pair->after->problem != NULL ||
        (p->pages && !pair->has_page)) {
        put_code(p->out, pair->name);
        return;
    }
    fputc('[', p->out);
    put_code(p->out, pair->name);
    fputc(']', p->out);
    put_address(p, pair->name, "");
}

/* Whether a limit is of an event in all. */
static bool is_of(const struct suite_pair *pair, const struct suite_verdict *v, size_t event)
{
    return v->limit != NULL && v->limit->function == NULL &&
           suite_outcome_event(pair->after, v->limit->event) == (int)event;
}

/* The strongest answer about an event in all: above, then unknown. */
static enum suite_answer answer_of(const struct suite_pair *pair, size_t event)
{
    enum suite_answer found = SUITE_WITHIN;

    for (size_t i = 0; i < pair->after->limits.count; i++) {
        const struct suite_verdict *v = &pair->verdicts[i];

        if (is_of(pair, v, event) &&
            (v->answer == SUITE_ABOVE || (v->answer == SUITE_UNKNOWN && found != SUITE_ABOVE)))
            found = v->answer;
    }
    return found;
}

static void put_limits(FILE *out, const struct suite_pair *pair, size_t event)
{
    const char *between = "";

    for (size_t i = 0; i < pair->after->limits.count; i++) {
        if (!is_of(pair, &pair->verdicts[i], event))
            continue;
        fputs(between, out);
        put_cell(out, pair->verdicts[i].limit->text);
        between = ", ";
    }
}

static const char *mark(enum suite_answer answer)
{
    return answer == SUITE_ABOVE ? "❌ " : answer == SUITE_UNKNOWN ? "❔ " : "";
}

static void put_change(FILE *out, const struct diff_change *change, const char *note)
{
    char before[TEXT_QUANTITY_BYTES] = "", after[TEXT_QUANTITY_BYTES] = "";
    char size[TEXT_QUANTITY_BYTES + 1] = "", relative[TEXT_QUANTITY_BYTES];

    if (change->in_before)
        text_count(before, change->before);
    if (change->in_after)
        text_count(after, change->after);
    if (change->in_before && change->in_after)
        diff_change_text(size, change);
    fprintf(out, " %s | %s | %s | %s%s%s%s |", before, after, size,
            diff_relative_text(relative, change), note[0] != 0 ? "<br><sub>" : "", note,
            note[0] != 0 ? "</sub>" : "");
}

static void put_event(const struct suite_print *p, const struct suite_pair *pair, size_t event)
{
    struct diff_change change = suite_pair_change(pair, event);
    char word[SUITE_WORD_BYTES], note[SUITE_SPREAD_BYTES];

    fprintf(p->out, "| %s", mark(answer_of(pair, event)));
    put_name(p, pair);
    if (pair->has_diff) {
        fputs(" ([diff]", p->out);
        put_address(p, pair->name, SUITE_PAGES_DIFF);
        fputc(')', p->out);
    }
    fprintf(p->out, " | ");
    put_cell(p->out, suite_event_word(&pair->after->events[event], word));
    fprintf(p->out, " |");
    put_change(p->out, &change, suite_spread_words(pair, event, note));
    fputc(' ', p->out);
    put_limits(p->out, pair, event);
    fputs(" |\n", p->out);
}

/* Whether a benchmark belongs to what a reviewer looks at first. */
static bool is_news(const struct suite_print *p, const struct suite_pair *pair)
{
    for (size_t i = 0; i < pair->after->limits.count; i++)
        if (pair->verdicts[i].limit != NULL && pair->verdicts[i].answer == SUITE_ABOVE)
            return true;
    return pair->changed || p->comparison->before == NULL || pair->before == NULL;
}

/* Returns how many benchmarks belong to the news, or do not. */
static size_t count_events(const struct suite_print *p, bool news)
{
    const struct suite_comparison *c = p->comparison;
    size_t count = 0;

    for (size_t i = 0; i < c->pair_count; i++)
        count += c->pairs[i].after != NULL && c->pairs[i].after->problem == NULL &&
                 is_news(p, &c->pairs[i]) == news;
    return count;
}

static void put_events(const struct suite_print *p, bool news)
{
    const struct suite_comparison *c = p->comparison;

    fputs("\n| benchmark | event | before | after | change | | limit |\n"
          "|:--|:--|--:|--:|--:|--:|:--|\n",
          p->out);
    for (size_t i = 0; i < c->pair_count; i++) {
        const struct suite_pair *pair = &c->pairs[i];

        if (pair->after == NULL || pair->after->problem != NULL || is_news(p, pair) != news)
            continue;
        for (size_t e = 0; e < pair->after->event_count; e++)
            if (suite_print_shows(pair->after, e))
                put_event(p, pair, e);
    }
}

/* Limits that are exceeded in functions, those without an answer, and programs that failed. */
static void put_notes(const struct suite_print *p)
{
    const struct suite_comparison *c = p->comparison;
    char text[SUITE_SENTENCE_BYTES];

    for (size_t i = 0; i < c->pair_count; i++) {
        const struct suite_pair *pair = &c->pairs[i];

        if (pair->after != NULL && pair->after->problem != NULL) {
            fputs("- ❔ ", p->out);
            put_code(p->out, pair->name);
            fputs(" failed: ", p->out);
            put_code(p->out, pair->after->problem);
            fputc('\n', p->out);
        }
        for (size_t v = 0; pair->after != NULL && v < pair->after->limits.count; v++) {
            const struct suite_verdict *one = &pair->verdicts[v];

            if (one->limit == NULL || mark(one->answer)[0] == 0)
                continue;
            fprintf(p->out, "- %s", mark(one->answer));
            put_name(p, pair);
            fputs(": ", p->out);
            put_code(p->out, suite_print_sentence(one, text));
            fputc('\n', p->out);
        }
    }
}

static void put_functions(const struct suite_print *p, const struct suite_pair *pair)
{
    struct diff_change *changes;
    long count = suite_pair_functions(pair, 0, &changes);

    if (count > 0)
        fputs("\n| function | before | after | change | |\n|:--|--:|--:|--:|--:|\n", p->out);
    for (long i = 0; i < count && i < SUITE_FUNCTIONS_SHOWN; i++) {
        fputs("| ", p->out);
        put_cell(p->out, changes[i].name);
        if (changes[i].object[0] != 0) {
            fputc(' ', p->out);
            put_cell(p->out, changes[i].object);
        }
        fputs(" |", p->out);
        put_change(p->out, &changes[i], "");
        fputc('\n', p->out);
    }
    if (count > SUITE_FUNCTIONS_SHOWN)
        fprintf(p->out, "\n%ld more function%s changed.\n", count - SUITE_FUNCTIONS_SHOWN,
                count == SUITE_FUNCTIONS_SHOWN + 1 ? "" : "s");
    free(changes);
}

/* Events that the first table does not show. */
static void put_other_events(const struct suite_print *p, const struct suite_pair *pair)
{
    char word[SUITE_WORD_BYTES], relative[TEXT_QUANTITY_BYTES], size[TEXT_QUANTITY_BYTES + 1];
    const char *between = "\nAlso: ";

    for (size_t e = 0; e < pair->after->event_count; e++) {
        struct diff_change change = suite_pair_change(pair, e);

        if (suite_print_shows(pair->after, e) || change.before == change.after)
            continue;
        fputs(between, p->out);
        put_code(p->out, suite_event_word(&pair->after->events[e], word));
        fprintf(p->out, " %s (%s)", diff_change_text(size, &change),
                diff_relative_text(relative, &change));
        between = ", ";
    }
    if (between[0] == ',')
        fputs(".\n", p->out);
}

static void put_details(const struct suite_print *p, const struct suite_pair *pair)
{
    if (pair->after == NULL || !pair->changed)
        return;
    fprintf(p->out, "\n<details%s><summary><code>%s</code>: in which functions</summary>\n",
            p->comparison->changed == 1 ? " open" : "", pair->name);
    put_functions(p, pair);
    put_other_events(p, pair);
    if (pair->same_program)
        fputs("\nBoth sides ran the same program file, so something else changed.\n", p->out);
    if (pair->facts[0] != 0) {
        fputs("\nNot the same, and may have changed the counts: ", p->out);
        put_code(p->out, pair->facts);
        fputs("\n", p->out);
    }
    fputs("\n</details>\n", p->out);
}

static void put_gone(const struct suite_print *p)
{
    const struct suite_comparison *c = p->comparison;
    const char *between = "\nIn the base alone: ";

    for (size_t i = 0; i < c->pair_count; i++) {
        if (c->pairs[i].after != NULL)
            continue;
        fputs(between, p->out);
        put_code(p->out, c->pairs[i].name);
        between = ", ";
    }
    if (between[0] == ',')
        fputs(".\n", p->out);
}

/* Whether all counts are the emulator's. */
static bool is_exact(const struct suite_results *r)
{
    for (size_t i = 0; i < r->outcome_count; i++)
        if (r->outcomes[i].event_count != 0 &&
            (!r->outcomes[i].exact || strcmp(r->outcomes[i].events[0].source, "icount") != 0))
            return false;
    return true;
}

void suite_print_markdown(const struct suite_print *p)
{
    const struct suite_comparison *c = p->comparison;
    char text[SUITE_SENTENCE_BYTES];
    int status = suite_comparison_status(c);

    /* A script finds its comment by the first line. */
    fprintf(p->out, "<!-- microtome-suite -->\n### %s ",
            status == 0   ? "✅"
            : status == 1 ? "❌"
                          : "❔");
    put_code(p->out, c->after->suite);
    fprintf(p->out, ": %s\n\n", suite_print_summary(c, text));
    put_notes(p);
    if (count_events(p, true) != 0)
        put_events(p, true);
    for (size_t i = 0; i < c->pair_count; i++)
        put_details(p, &c->pairs[i]);
    put_gone(p);
    if (count_events(p, false) != 0) {
        fprintf(p->out, "\n<details><summary>%zu unchanged</summary>\n", count_events(p, false));
        put_events(p, false);
        fputs("\n</details>\n", p->out);
    }
    fprintf(p->out, "\n%s by Microtome.\n",
            is_exact(c->after) ? "Counted exactly, the same on every machine," : "Counted");
}
