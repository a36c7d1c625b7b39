/* Prints annotated code, instruction by instruction or line by line. */
#include "host/annotate/annotate_print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/metrics/metrics_show.h"

#define LINE_BYTES 2048
#define SOURCE_BYTES 400 /* of a source line that are shown */
#define WIDE_COLUMNS 72 /* a narrower terminal has no room for the counts */
#define METRIC_WIDTH 8
#define HOT_PERCENT 10.0
#define WARM_PERCENT 2.0

struct place { /* in source; file NULL: unknown */
    const char *file;
    uint32_t line;
    const char *inlined; /* the inlined function that the line is of; NULL: none */
};

static uint64_t weight_of(const struct annotate_view *view, uint64_t samples, uint64_t sum)
{
    return view->weight < 0 ? samples : sum;
}

static double share_of(const struct annotate_view *view, uint64_t samples, uint64_t sum)
{
    uint64_t all = weight_of(view, view->counts->total_samples, view->counts->total_sum);

    return all != 0 ? 100.0 * (double)weight_of(view, samples, sum) / (double)all : 0.0;
}

static bool is_narrow(const struct annotate_view *view)
{
    return view->columns != 0 && view->columns < WIDE_COLUMNS;
}

/* Cuts a line to a terminal's width: a character may have several bytes. */
static void cut(char *line, unsigned int columns)
{
    unsigned int shown = 0;

    for (char *c = line; columns != 0 && *c != 0; c++)
        if (((unsigned char)*c & 0xc0) != 0x80 && shown++ == columns) {
            *c = 0;
            return;
        }
}

static void put(FILE *out, const struct annotate_view *view, char *line, double share)
{
    const char *colour = share >= HOT_PERCENT ? "\033[1;31m" : "\033[33m";

    cut(line, view->columns);
    if (view->colours && share >= WARM_PERCENT)
        fprintf(out, "%s%s\033[0m\n", colour, line);
    else
        fprintf(out, "%s\n", line);
}

/* A column of each metric; `all` NULL: its titles. */
static int metric_columns(char *line, const struct annotate_view *view, const uint64_t *all)
{
    char title[METRICS_SHOW_TITLE_BYTES], value[METRICS_SHOW_BYTES];
    int used = 0;

    for (uint32_t i = 0; i < view->metrics->count; i++) {
        int width = (int)strlen(metrics_show_title(title, metrics_chosen(view->metrics, i)));

        if (all != NULL)
            metrics_show_value(value, metrics_chosen_value(view->metrics, i, all, -1));
        used += sprintf(line + used, " %*s", width < METRIC_WIDTH ? METRIC_WIDTH : width,
                        all != NULL ? value : title);
    }
    return used;
}

/* What stands before the text of a line: its share, and what was counted where there is room. */
static int columns_of(char *line, const struct annotate_view *view, uint64_t samples, uint64_t sum,
                      const uint64_t *all)
{
    int before;

    char count[TEXT_QUANTITY_BYTES];
    int used = samples == 0 ? sprintf(line, "%8s", "")
                            : sprintf(line, "%7.2f%%", share_of(view, samples, sum));

    if (is_narrow(view))
        return used;
    used += sprintf(line + used, " %12s", samples != 0 ? text_count(count, samples) : "");
    if (view->counts->event >= 0)
        used += sprintf(line + used, " %18s", samples != 0 ? text_count(count, sum) : "");
    before = used;
    used += metric_columns(line + used, view, all);
    if (samples == 0)
        memset(line + before, ' ', (size_t)(used - before));
    return used;
}

static void put_head_line(FILE *out, const struct annotate_view *view, const char *text)
{
    char line[LINE_BYTES];
    char name[80] = "", room[16];
    int used;

    if (view->counts->event >= 0)
        text_escape(name, 19,
                    trace_info_event_name(view->info, (uint32_t)view->counts->event, room));
    if (is_narrow(view))
        used = sprintf(line, "# %6s", "share");
    else
        used = sprintf(line, "# %6s %12s", "share", trace_info_weight_word(view->info));
    if (!is_narrow(view) && view->counts->event >= 0)
        used += sprintf(line + used, " %18s", name);
    if (!is_narrow(view))
        used += metric_columns(line + used, view, NULL);
    snprintf(line + used, sizeof line - (size_t)used, "  %s", text);
    put(out, view, line, 0);
}

static void print_head(FILE *out, const struct annotate_view *view)
{
    const struct annotate_counts *counts = view->counts;
    char line[LINE_BYTES], a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], safe[512], room[16];
    uint64_t all = weight_of(view, view->all_samples, view->all_sum);
    uint64_t end = counts->start + view->function_bytes;
    uint64_t own = weight_of(view, counts->total_samples, counts->total_sum);
    int used = snprintf(line, sizeof line, "# %s",
                        view->function != NULL ? text_escape(safe, sizeof safe, view->function)
                                               : "code without a name");

    if (view->object != NULL)
        used += snprintf(line + used, sizeof line - (size_t)used, " in %s",
                         text_escape(safe, sizeof safe, view->object));
    snprintf(line + used, sizeof line - (size_t)used, ", 0x%lx to 0x%lx",
             trace_spaces_shown(counts->start), trace_spaces_shown(end));
    put(out, view, line, 0);
    snprintf(line, sizeof line, "# %s %s; %.2f%% of all %s", text_count(a, counts->total_samples),
             trace_info_weight_word(view->info), all != 0 ? 100.0 * (double)own / (double)all : 0.0,
             view->weight < 0
                 ? trace_info_weight_word(view->info)
                 : text_escape(safe, sizeof safe,
                               trace_info_event_name(view->info, (uint32_t)view->weight, room)));
    put(out, view, line, 0);
    if (counts->event >= 0 && view->info->events[counts->event].meta.source != HR_SOURCE_PMU) {
        snprintf(line, sizeof line, "# %s: %s",
                 text_escape(safe, sizeof safe,
                             trace_info_event_name(view->info, (uint32_t)counts->event, room)),
                 trace_info_source_words(view->info, (uint32_t)counts->event));
        put(out, view, line, 0);
    }
    if (counts->end - counts->start < view->function_bytes) {
        snprintf(line, sizeof line, "# the first %s of its %s",
                 text_bytes(a, counts->end - counts->start), text_bytes(b, view->function_bytes));
        put(out, view, line, 0);
    }
}

static struct place place_of(const struct annotate_view *view, uint64_t address)
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];

    symbols_frames(view->symbols, address, frames);
    if (frames[0].file == NULL || frames[0].line == 0)
        return (struct place){NULL, 0, NULL};
    return (struct place){frames[0].file, frames[0].line,
                          frames[0].inlined ? frames[0].function : NULL};
}

static bool same_place(const struct place *a, const struct place *b)
{
    if (a->file == NULL || b->file == NULL)
        return a->file == b->file;
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* "file.c:12", the inlined function, and the line itself if it can be had. */
static void source_text(char *out, size_t room, const struct annotate_view *view,
                        const struct place *place)
{
    const char *text = annotate_source_line(view->source, place->file, place->line);
    char plain[SOURCE_BYTES], safe[4 * SOURCE_BYTES];
    size_t used = 0, n = 0;

    used += (size_t)snprintf(out, room, "%.200s:%u",
                             text_escape(safe, 200, text_base_name(place->file)), place->line);
    if (place->inlined != NULL)
        used += (size_t)snprintf(out + used, room - used, " (inlined %s)",
                                 text_escape(safe, 100, place->inlined));
    if (text == NULL)
        return;
    for (; *text != 0 && n + 9 < sizeof plain; text++) {
        if (*text != '\t')
            plain[n++] = *text;
        else
            do
                plain[n++] = ' ';
            while (n % 8 != 0);
    }
    plain[n] = 0;
    snprintf(out + used, room - used, "  %s", text_escape(safe, sizeof safe, plain));
}

static void put_source(FILE *out, const struct annotate_view *view, const struct place *place)
{
    char line[LINE_BYTES];
    const uint64_t nothing[HR_EVENTS_MAX] = {0};
    int indent = is_narrow(view) ? 1 : columns_of(line, view, 0, 0, nothing) + 2;

    memset(line, ' ', (size_t)indent);
    source_text(line + indent, sizeof line - (size_t)indent, view, place);
    put(out, view, line, 0);
}

/* Where a jump or call goes: an arrow within the function, a name outside of it. */
static void target_text(char *out, size_t room, const struct annotate_view *view,
                        const struct annotate_instruction *one)
{
    struct symbols_place place;
    char safe[160];

    out[0] = 0;
    if (one->target == 0)
        return;
    if (one->target >= view->counts->start && one->target < view->counts->end) {
        snprintf(out, room, "  %s +0x%lx", one->target > one->address ? "v" : "^",
                 one->target - view->counts->start);
        return;
    }
    symbols_find(view->symbols, one->target, &place);
    if (place.name == NULL)
        return;
    text_escape(safe, sizeof safe, place.name);
    if (place.offset == 0)
        snprintf(out, room, "  <%s>", safe);
    else
        snprintf(out, room, "  <%s+0x%lx>", safe, place.offset);
}

static void put_instruction(FILE *out, const struct annotate_view *view,
                            const struct annotate_instruction *one)
{
    char line[LINE_BYTES], target[256];
    uint64_t all[HR_EVENTS_MAX] = {0};
    int used;

    annotate_counts_sum(view->counts, one->address, one->bytes, all);
    used = columns_of(line, view, one->samples, one->sum, all);
    target_text(target, sizeof target, view, one);
    if (is_narrow(view))
        snprintf(line + used, sizeof line - (size_t)used, " %c+%-4lx %s%s",
                 one->jumped_to ? '>' : ' ', one->address - view->counts->start, one->text, target);
    else
        snprintf(line + used, sizeof line - (size_t)used, "  %c %12lx  %s%s",
                 one->jumped_to ? '>' : ' ', trace_spaces_shown(one->address), one->text, target);
    put(out, view, line, one->samples != 0 ? share_of(view, one->samples, one->sum) : 0);
}

static int hottest_first(const void *a, const void *b, void *context)
{
    const struct annotate_view *view = context;
    const struct annotate_instruction *x = *(const struct annotate_instruction *const *)a;
    const struct annotate_instruction *y = *(const struct annotate_instruction *const *)b;
    uint64_t left = weight_of(view, x->samples, x->sum);
    uint64_t right = weight_of(view, y->samples, y->sum);

    if (left != right)
        return left > right ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

static void print_instructions(FILE *out, const struct annotate_view *view,
                               const struct annotate_instruction *const *chosen, size_t count)
{
    struct place before = {NULL, 0, NULL};

    for (size_t i = 0; i < count; i++) {
        struct place place = place_of(view, chosen[i]->address);

        if (place.file != NULL && !same_place(&place, &before))
            put_source(out, view, &place);
        before = place;
        put_instruction(out, view, chosen[i]);
    }
}

int annotate_print_code(FILE *out, const struct annotate_view *view)
{
    const struct annotate_code *code = view->code;
    const struct annotate_instruction **chosen = calloc(code->count + 1, sizeof(void *));
    size_t count = 0;

    if (chosen == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < code->count; i++)
        if (view->limit == 0 || code->instructions[i].samples != 0)
            chosen[count++] = &code->instructions[i];
    if (view->limit != 0) {
        qsort_r(chosen, count, sizeof(void *), hottest_first, (void *)(uintptr_t)view);
        count = count < view->limit ? count : view->limit;
    }
    print_head(out, view);
    put_head_line(out, view, is_narrow(view) ? "code" : "       address  instruction");
    print_instructions(out, view, chosen, count);
    free(chosen);
    return 0;
}

struct source_row {
    struct place place;
    uint64_t samples;
    uint64_t sum;
    uint64_t all[HR_EVENTS_MAX];
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = &((const struct source_row *)a)->place;
    const struct place *y = &((const struct source_row *)b)->place;
    int order;

    if (x->file == NULL || y->file == NULL)
        return (y->file == NULL) - (x->file == NULL);
    order = strcmp(x->file, y->file);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static int by_weight(const void *a, const void *b, void *context)
{
    const struct source_row *x = a, *y = b;
    uint64_t left = weight_of(context, x->samples, x->sum);
    uint64_t right = weight_of(context, y->samples, y->sum);

    if (left != right)
        return left > right ? -1 : 1;
    return by_place(a, b);
}

/* The rows of all instructions with samples, one for each line: how many. */
static size_t gather_rows(const struct annotate_view *view, struct source_row *rows)
{
    size_t count = 0, kept = 0;

    for (uint32_t i = 0; i < view->code->count; i++) {
        const struct annotate_instruction *one = &view->code->instructions[i];

        if (one->samples == 0)
            continue;
        rows[count] =
            (struct source_row){place_of(view, one->address), one->samples, one->sum, {0}};
        annotate_counts_sum(view->counts, one->address, one->bytes, rows[count++].all);
    }
    qsort(rows, count, sizeof rows[0], by_place);
    for (size_t i = 0; i < count; i++) {
        if (kept != 0 && same_place(&rows[kept - 1].place, &rows[i].place)) {
            rows[kept - 1].samples += rows[i].samples;
            rows[kept - 1].sum += rows[i].sum;
            for (uint32_t e = 0; e < HR_EVENTS_MAX; e++)
                rows[kept - 1].all[e] += rows[i].all[e];
        } else {
            rows[kept++] = rows[i];
        }
    }
    qsort_r(rows, kept, sizeof rows[0], by_weight, (void *)(uintptr_t)view);
    return kept;
}

int annotate_print_lines(FILE *out, const struct annotate_view *view)
{
    struct source_row *rows = calloc(view->code->count + 1, sizeof *rows);
    size_t count;

    if (rows == NULL)
        return -ENOMEM;
    count = gather_rows(view, rows);
    print_head(out, view);
    put_head_line(out, view, "source");
    for (size_t i = 0; i < count && (view->limit == 0 || i < view->limit); i++) {
        char line[LINE_BYTES];
        int used = columns_of(line, view, rows[i].samples, rows[i].sum, rows[i].all);

        used += sprintf(line + used, "  ");
        if (rows[i].place.file != NULL)
            source_text(line + used, sizeof line - (size_t)used, view, &rows[i].place);
        else
            sprintf(line + used, "[no source line]");
        put(out, view, line, share_of(view, rows[i].samples, rows[i].sum));
    }
    free(rows);
    return 0;
}
