/* Prints changes: totals, then places. */
#include "host/diff/diff_print.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "host/base/terminal.h"
#include "host/base/text.h"
#include "host/diff/diff_facts.h"
#include "host/diff/diff_files.h"
#include "host/draw/columns.h"
#include "host/trace/source_notes.h"

#define NUMBERS_WIDTH 41u /* before a place's name */
#define CHANCE_WIDTH 14u
#define NAME_WIDTH 32u /* of a place, where there is no terminal to fit */
#define NAME_LEAST 16u
#define OBJECT_WIDTH 16u

struct diff_layout {
    unsigned int name, object; /* columns of them; object 0: it is not shown */
    bool terminal; /* texts are cut to that */
    bool full; /* but not names */
};

char *diff_change_text(char *out, const struct diff_change *change)
{
    out[0] = change->after > change->before ? '+' : '-';
    text_count(change->after != change->before ? out + 1 : out, diff_size(change));
    return out;
}

char *diff_relative_text(char *out, const struct diff_change *change)
{
    double percent = 100 * ((double)change->after - (double)change->before) /
                     (double)(change->before != 0 ? change->before : 1);

    if (!change->in_before || !change->in_after)
        return strcpy(out, change->in_after ? "new" : change->in_before ? "gone" : "");
    if (change->before == 0)
        return strcpy(out, change->after != 0 ? "from 0" : "0 %");
    snprintf(out, TEXT_QUANTITY_BYTES, "%+.*f %%", fabs(percent) < 0.1 && percent != 0 ? 5 : 2,
             percent);
    return percent == 0 ? strcpy(out, "0 %") : out;
}

static int add_source(struct diff_facts *facts, const struct trace_info *info, int event)
{
    return diff_facts_add(facts, "source of the counts",
                          trace_info_source(info->events[event].meta.source));
}

/* What else is not the same, so that a change may not be the program's: "" when all is. */
static const char *differences(char words[DIFF_FACTS_BYTES], const struct diff *diff)
{
    const struct trace_info *a = &diff->a->scan.info, *b = &diff->b->scan.info;
    struct diff_facts before, after = {0};

    words[0] = 0;
    if (diff_facts_gather(&before, a) == 0 && diff_facts_gather(&after, b) == 0 &&
        (diff->event < 0 ||
         (add_source(&before, a, diff->event) == 0 && add_source(&after, b, diff->event_b) == 0)))
        diff_facts_compare(&before, &after, words);
    diff_facts_free(&before);
    diff_facts_free(&after);
    return words;
}

static void print_events_apart(FILE *out, const struct diff_side *of, const struct diff_side *other,
                               const char *where)
{
    char room[16], other_room[64], safe[256];

    for (uint32_t i = 0; i < of->scan.info.event_count; i++) {
        const char *name = trace_info_event_name(&of->scan.info, i, room);

        snprintf(other_room, sizeof other_room, "%s", name);
        if (trace_info_find_event(&other->scan.info, other_room) < 0)
            fprintf(out, "# only in %s: event %s\n", where, text_escape(safe, sizeof safe, name));
    }
}

static void print_head(FILE *out, const struct diff *diff)
{
    const struct diff_side *sides[] = {diff->a, diff->b};
    char words[DIFF_FACTS_BYTES], path[1024], program[1024];

    for (int i = 0; i < 2; i++)
        fprintf(out, "# %s: %s: %s\n", i == 0 ? "before" : "after",
                text_escape(path, sizeof path, sides[i]->path),
                text_escape(program, sizeof program,
                            trace_info_text(&sides[i]->scan.info, "program.args", "unknown")));
    if (differences(words, diff)[0] != 0)
        fprintf(out, "# not the same: %s\n", words);
    print_events_apart(out, diff->a, diff->b, "before");
    print_events_apart(out, diff->b, diff->a, "after");
    diff_files_print(out, &diff->a->scan.info.files, &diff->b->scan.info.files);
}

static void print_change(FILE *out, const char *name, const struct diff_change *change)
{
    char before[TEXT_QUANTITY_BYTES], after[TEXT_QUANTITY_BYTES];
    char size[TEXT_QUANTITY_BYTES + 1], relative[TEXT_QUANTITY_BYTES];

    fprintf(out, "%-18s %16s %16s %14s %10s\n", name, text_count(before, change->before),
            text_count(after, change->after), diff_change_text(size, change),
            diff_relative_text(relative, change));
}

/* The total of an event of A, if B has it, too. */
static bool event_total(const struct diff *diff, uint32_t event, struct diff_change *change)
{
    char room[16], name[64];
    int other;

    snprintf(name, sizeof name, "%s", trace_info_event_name(&diff->a->scan.info, event, room));
    other = trace_info_find_event(&diff->b->scan.info, name);
    if (other < 0)
        return false;
    *change = (struct diff_change){.object = "", .in_before = true, .in_after = true};
    change->before = diff_side_total(diff->a, event);
    change->after = diff_side_total(diff->b, (uint32_t)other);
    return true;
}

static void print_totals(FILE *out, const struct diff *diff)
{
    struct diff_change change = {.in_before = true, .in_after = true};
    char room[64], safe[256], name[64];

    fprintf(out, "%-18s %16s %16s %14s\n", "total", "before", "after", "change");
    for (uint32_t i = 0; i < diff->a->scan.info.event_count; i++) {
        bool marked = diff->a->scan.info.events[i].meta.source != HR_SOURCE_PMU;

        if (!event_total(diff, i, &change))
            continue;
        snprintf(
            name, sizeof name, "%.40s%s",
            text_escape(safe, sizeof safe, trace_info_event_word(&diff->a->scan.info, i, room)),
            marked ? "*" : "");
        print_change(out, name, &change);
    }
    change.before = diff->a->all.samples;
    change.after = diff->b->all.samples;
    if (!diff->a->scan.info.has_exact && !diff->b->scan.info.has_exact)
        print_change(out, "samples", &change);
}

static bool is_shown(const struct diff_change *place, const struct diff_limit *least)
{
    return place->before != place->after && (!least->given || diff_exceeds(place, least));
}

/* Names have what numbers leave of a terminal's line, and objects a part of it where it is long. */
static struct diff_layout lay_out(const struct diff *diff, bool full_names)
{
    unsigned int columns = terminal_columns(STDOUT_FILENO, 0);
    unsigned int taken = NUMBERS_WIDTH + (diff_is_sampled(diff) ? CHANCE_WIDTH : 0);
    struct diff_layout layout = {.name = NAME_WIDTH, .terminal = columns != 0, .full = full_names};

    if (columns == 0)
        return layout;
    layout.name = columns > taken + NAME_LEAST ? columns - taken : NAME_LEAST;
    if (layout.name >= NAME_WIDTH + 2 + OBJECT_WIDTH) {
        layout.object = OBJECT_WIDTH;
        layout.name -= 2 + OBJECT_WIDTH;
    }
    return layout;
}

static void fit(char *name, char *object, const struct diff *diff, const struct diff_layout *layout)
{
    columns_cut(object, layout->object);
    if (layout->full)
        return;
    if (diff->a->by == DIFF_BY_FUNCTION)
        columns_cut_function(name, layout->name);
    else
        columns_cut(name, layout->name);
}

/* What chance may have done is dim, and what it is of its own has a question mark. */
static void print_place(FILE *out, const struct diff *diff, const struct diff_change *place,
                        double total, const struct diff_layout *layout)
{
    char size[TEXT_QUANTITY_BYTES + 1], relative[TEXT_QUANTITY_BYTES];
    char name[COLUMNS_CELL_BYTES], object[256] = "";
    char chance[TEXT_QUANTITY_BYTES + 3] = "";
    bool certain = diff_is_certain(diff, place);
    bool dim = !certain && out == stdout && terminal_colours(STDOUT_FILENO);

    strcat(diff_relative_text(relative, place), certain ? "" : "?");
    if (diff_is_sampled(diff)) {
        strcpy(chance, "+-");
        text_count(chance + 2, (uint64_t)ceil(diff_chance(diff, place)));
    }
    text_escape(name, sizeof name, place->name[0] != 0 ? place->name : place->object);
    if (place->name[0] != 0)
        text_escape(object, sizeof object, place->object);
    if (layout->terminal)
        fit(name, object, diff, layout);
    fprintf(out, "%s%16s%*s  %11s %8.3f%%  %-*s%s%s%s\n", dim ? COLOUR_DIM : "",
            diff_change_text(size, place), diff_is_sampled(diff) ? (int)CHANCE_WIDTH : 0, chance,
            relative, total > 0 ? 100 * ((double)place->after - (double)place->before) / total : 0,
            object[0] != 0 ? (int)layout->name : 0, name,
            layout->terminal && object[0] == 0 ? "" : "  ", object, dim ? COLOUR_OFF : "");
}

static const char *const kinds[] = {
    [DIFF_BY_FUNCTION] = "function", [DIFF_BY_LIBRARY] = "library", [DIFF_BY_LINE] = "line"};

static void print_place_titles(FILE *out, const struct diff *diff)
{
    const char *kind = kinds[diff->a->by];
    bool sampled = diff_is_sampled(diff);
    char safe[256], room[64];

    fprintf(out, "\n# %s%s, by %s\n%16s%*s  %11s %9s  %s\n",
            diff->event < 0 ? "samples"
                            : text_escape(safe, sizeof safe,
                                          trace_info_event_word(&diff->a->scan.info,
                                                                (uint32_t)diff->event, room)),
            sampled ? " up to each sample" : ", exact", kind, "change",
            sampled ? (int)CHANCE_WIDTH : 0, sampled ? "chance" : "", "of its own", "of all", kind);
}

void diff_print(FILE *out, const struct diff *diff, const struct diff_limit *least,
                unsigned long limit, bool full_names)
{
    const struct diff_layout layout = lay_out(diff, full_names);
    struct diff_change total = diff_total(diff);
    unsigned long shown = 0, left_out = 0, uncertain = 0;

    print_head(out, diff);
    print_totals(out, diff);
    source_notes_print(out, &diff->a->scan.info, SOURCE_NOTES_ALL, "* ");
    for (uint32_t i = 0; i < diff->place_count; i++) {
        const struct diff_change *place = &diff->places[i];

        if (!is_shown(place, least))
            continue;
        if (limit != 0 && !diff_is_certain(diff, place)) {
            uncertain++;
        } else if (limit != 0 && shown == limit) {
            left_out++;
        } else {
            if (shown++ == 0)
                print_place_titles(out, diff);
            print_place(out, diff, place, (double)total.before, &layout);
        }
    }
    if (shown == 0)
        fprintf(out, "\nno %s changed%s%s\n", kinds[diff->a->by],
                least->given ? " by more than --min" : "",
                uncertain != 0 ? " by more than chance explains" : "");
    if (left_out != 0)
        fprintf(out, "# %lu more; --limit 0 shows all\n", left_out);
    if (uncertain != 0)
        fprintf(out,
                "# %lu more, each changed by what chance of sampling explains; --limit 0 shows "
                "them, --mode exact tells\n",
                uncertain);
}

/* One row of a change in csv: kind is "total" or "place". */
static void put_csv(struct output *out, const char *kind, const char *event, const char *name,
                    const struct diff_change *change, uint64_t chance)
{
    output_csv_print(out, "%s,%s,%s,%s,%lu,%lu,", kind, event, name, change->object, change->before,
                     change->after);
    output_csv_print(out, change->after < change->before ? "-%lu,%lu\n" : "%lu,%lu\n",
                     diff_size(change), chance);
}

static void put_json(struct output *out, const char *kind, const char *event, const char *name,
                     const struct diff_change *change, uint64_t chance)
{
    output_json_print(out, "{\"kind\":%s,\"event\":%s,\"name\":%s,\"object\":%s,", kind, event,
                      name, change->object);
    output_json_print(out, "\"before\":%lu,\"after\":%lu,\"change\":", change->before,
                      change->after);
    output_json_print(
        out, change->after < change->before ? "-%lu,\"chance\":%lu}" : "%lu,\"chance\":%lu}",
        diff_size(change), chance);
}

static const char *event_text(const struct trace_info *info, uint32_t event, bool marked,
                              char room[TRACE_INFO_COLUMN_BYTES])
{
    return marked ? trace_info_event_column(info, event, room)
                  : trace_info_event_name(info, event, room);
}

static void each(struct output *out, const struct diff *diff, const struct diff_limit *least,
                 unsigned long limit, const char *between, bool marked,
                 void (*put)(struct output *out, const char *kind, const char *event,
                             const char *name, const struct diff_change *change, uint64_t chance))
{
    const struct trace_info *info = &diff->a->scan.info;
    struct diff_change change = {.object = ""};
    unsigned long shown = 0;
    char room[TRACE_INFO_COLUMN_BYTES];
    const char *event;

    for (uint32_t i = 0; i < info->event_count; i++) {
        if (!event_total(diff, i, &change))
            continue;
        put(out, "total", event_text(info, i, marked, room), "", &change, 0);
        output_text(out, between);
    }
    change.before = diff->a->all.samples;
    change.after = diff->b->all.samples;
    put(out, "total", "samples", "", &change, 0);
    event = diff->event < 0 ? "samples" : event_text(info, (uint32_t)diff->event, marked, room);
    for (uint32_t i = 0; i < diff->place_count && (limit == 0 || shown < limit); i++) {
        if (!is_shown(&diff->places[i], least))
            continue;
        output_text(out, between);
        put(out, "place", event, diff->places[i].name, &diff->places[i],
            (uint64_t)ceil(diff_chance(diff, &diff->places[i])));
        shown++;
    }
}

void diff_rows_csv(struct output *out, const struct diff *diff, const struct diff_limit *least,
                   unsigned long limit)
{
    output_text(out, "kind,event,name,object,before,after,change,chance\n");
    each(out, diff, least, limit, "", true, put_csv);
}

void diff_rows_json(struct output *out, const struct diff *diff, const struct diff_limit *least,
                    unsigned long limit)
{
    char words[DIFF_FACTS_BYTES];

    output_json_print(out, "{\"before\":%s,\"after\":%s,\"not_the_same\":%s,\"changes\":[\n",
                      diff->a->path, diff->b->path, differences(words, diff));
    each(out, diff, least, limit, ",\n", false, put_json);
    output_text(out, "\n]}\n");
}
