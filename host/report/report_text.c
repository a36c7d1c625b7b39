/* Texts that the views of a report share. */
#include <string.h>

#include "host/base/text.h"
#include "host/draw/columns.h"
#include "host/report/report.h"
#include "host/scan/reader_output.h"
#include "lib/array.h"

static const char *const dimension_names[REPORT_DIMENSIONS] = {
    [REPORT_BY_FUNCTION] = "function", [REPORT_BY_LINE] = "line",
    [REPORT_BY_LIBRARY] = "library",   [REPORT_BY_ADDRESS] = "address",
    [REPORT_BY_PROCESS] = "process",   [REPORT_BY_THREAD] = "thread",
    [REPORT_BY_CPU] = "cpu",           [REPORT_BY_MARK] = "mark",
};

const char *report_dimension_name(enum report_dimension by)
{
    return dimension_names[by];
}

static bool is_place(enum report_dimension by)
{
    return by <= REPORT_BY_ADDRESS;
}

static bool add_dimension(struct report_options *options, const char *name, size_t bytes)
{
    for (unsigned int by = 0; by < REPORT_DIMENSIONS; by++) {
        if (strlen(dimension_names[by]) != bytes || memcmp(name, dimension_names[by], bytes) != 0)
            continue;
        for (unsigned int i = 0; i < options->by_count; i++)
            if (options->by[i] == by || (is_place(options->by[i]) && is_place(by)))
                return false;
        options->by[options->by_count++] = by;
        return true;
    }
    return false;
}

/* Functions and lines of Python have the columns of others. */
static bool add_named(struct report_options *options, const char *name, size_t bytes)
{
    static const struct {
        const char *name;
        enum report_dimension by;
    } python[] = {{"python", REPORT_BY_FUNCTION}, {"python-line", REPORT_BY_LINE}};

    for (size_t i = 0; i < ARRAY_COUNT(python); i++)
        if (strlen(python[i].name) == bytes && memcmp(name, python[i].name, bytes) == 0) {
            options->python = true;
            name = dimension_names[python[i].by];
            return add_dimension(options, name, strlen(name));
        }
    return add_dimension(options, name, bytes);
}

bool report_parse_by(struct report_options *options, const char *list)
{
    options->by_count = 0;
    options->python = false;
    for (;;) {
        size_t bytes = strcspn(list, ",");

        if (!add_named(options, list, bytes))
            return false;
        if (list[bytes] == 0)
            return true;
        list += bytes + 1;
    }
}

uint32_t report_pid(const struct report *r, const struct group *group)
{
    const struct trace_processes *processes = &r->scan.info.processes;

    return group->process < processes->count ? processes->all[group->process].pid : HR_FIRST_PID;
}

double report_share(uint64_t part, uint64_t all)
{
    return all != 0 ? 100.0 * (double)part / (double)all : 0.0;
}

uint64_t report_tree_weight(const struct report *r, const struct tree *tree)
{
    return tree == &r->callers ? tree->nodes[TREE_ROOT].total
                               : rows_weight(&r->profile.all, r->profile.event);
}

bool report_too_small(const struct report *report, double share)
{
    return report->options->min_percent > 0 && share < report->options->min_percent;
}

char *report_function(char *text, size_t room, const struct place *place)
{
    char name[COLUMNS_CELL_BYTES - 32];

    if (place->name != NULL)
        snprintf(text, room, "%s%s%s", place->kernel ? "[kernel] " : "",
                 text_escape(name, sizeof name, place->name), place->inlined ? " (inlined)" : "");
    else if (place->inlined)
        snprintf(text, room, "[unknown] (inlined)");
    else if (place->kind == PLACE_ADDRESS)
        text[0] = 0;
    else
        snprintf(text, room, "[0x%lx-0x%lx)", trace_spaces_shown(place->start),
                 trace_spaces_shown(place->end));
    return text;
}

char *report_object(char *text, size_t room, const struct place *place)
{
    bool kernel = place->kind == PLACE_LIBRARY ? place->kernel : place->start >> 63 != 0;

    if (place->object != NULL)
        return text_escape(text, room, place->object);
    snprintf(text, room, "%s", kernel ? "[kernel]" : "[unknown]");
    return text;
}

static void trigger_words(char *text, size_t room, const struct trace_info *info)
{
    const struct hr_meta_sampling *sampling = &info->sampling;
    char number[TEXT_QUANTITY_BYTES], safe[256], word[64];

    if (sampling->interval_ticks != 0)
        snprintf(text, room, ", every %s", text_time(number, (double)trace_info_interval_ns(info)));
    else if (sampling->frequency_hz != 0)
        snprintf(text, room, ", %s samples/s", text_count(number, sampling->frequency_hz));
    else if (sampling->period_events != 0)
        snprintf(text, room, ", every %s %s", text_count(number, sampling->period_events),
                 text_escape(safe, sizeof safe, trace_info_event_word(info, 0, word)));
    else
        text[0] = 0;
}

static void print_measure(FILE *out, const struct report *r)
{
    const struct trace_info *info = &r->scan.info;
    bool exact = info->has_exact;
    const char *error =
        r->options->view == REPORT_TABLE && !exact ? ", +- three standard deviations" : "";
    char safe[256], room[16], source[80] = "";

    if (r->shown < 0) {
        columns_note(out, r->pager.columns, "share: of %s%s", trace_info_weight_word(info), error);
        return;
    }
    text_escape(safe, sizeof safe, trace_info_event_name(info, (uint32_t)r->shown, room));
    if (exact) {
        columns_note(out, r->pager.columns, "share: of %s; all counts are exact",
                     r->profile.event < 0 ? "instructions" : safe);
        return;
    }
    if (info->events[r->shown].meta.source != HR_SOURCE_PMU)
        snprintf(source, sizeof source, " (%s)", trace_info_source_words(info, (uint32_t)r->shown));
    columns_note(out, r->pager.columns,
                 "share: of %s%s; %s: rise of the counter up to each sample%s",
                 r->profile.event < 0 ? "samples" : safe, error, safe, source);
}

/* Says how a run records whole stacks, if another way of recording would. */
static const char *ends_remedy(const struct report *r, uint32_t end)
{
    const struct hr_meta_stacks *stacks = &r->scan.info.stacks;

    if (stacks->kind == HR_STACK_FP && end == HR_STACK_BROKEN)
        return "; hr run -g dwarf needs no frame pointers";
    if (stacks->kind == HR_STACK_FP && end == HR_STACK_CUT && stacks->limit < HR_STACK_FRAMES_MAX)
        return "; hr run -g fp,512 keeps more";
    if (stacks->kind == HR_STACK_DWARF && end == HR_STACK_CUT && stacks->limit < HR_STACK_BYTES_MAX)
        return "; hr run -g dwarf,32768 keeps more";
    if (stacks->kind == HR_STACK_PYTHON && end == HR_STACK_CUT &&
        stacks->limit < HR_STACK_FRAMES_MAX)
        return "; hr run -g python,512 keeps more";
    return "";
}

static void print_ends(FILE *out, const struct report *r)
{
    static const char *const words[HR_STACK_ROOTS] = {
        [HR_STACK_NONE] = "no call stack",
        [HR_STACK_CUT] = "more callers than were kept: [truncated]",
        [HR_STACK_BROKEN] = "callers that could not be followed: [broken]",
    };
    char number[TEXT_QUANTITY_BYTES];

    for (uint32_t i = 0; i < HR_STACK_ROOTS; i++)
        if (words[i] != NULL && r->profile.ends[i] != 0)
            columns_note(out, r->pager.columns, "%s sample%s (%.3g %%) %s %s%s",
                         text_count(number, r->profile.ends[i]), r->profile.ends[i] == 1 ? "" : "s",
                         report_share(r->profile.ends[i], r->profile.all.samples),
                         r->profile.ends[i] == 1 ? "has" : "have", words[i], ends_remedy(r, i));
    if (r->scan.stacks.refused != 0 || r->profile.tree.full)
        columns_note(out, r->pager.columns,
                     "more different stacks than there is room for: the last ones are cut");
}

/* Returns how many instructions of the total have no row. */
static uint64_t exact_nowhere(const struct trace_info *info)
{
    return info->events[0].has_total && info->events[0].total > info->exact.instructions
               ? info->events[0].total - info->exact.instructions
               : 0;
}

void report_print_head(FILE *out, const struct report *r)
{
    const struct trace_info *info = &r->scan.info;
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES],
        lost[TEXT_QUANTITY_BYTES + 8] = " selected";
    char safe[1024], trigger[400];
    uint64_t nowhere;

    columns_note(out, r->pager.columns, "program: %s",
                 text_escape(safe, sizeof safe, trace_info_text(info, "program.args", "unknown")));
    if (info->has_exact) {
        nowhere = exact_nowhere(info);
        columns_note(out, r->pager.columns, "%s instructions%s, mode exact: counted, not sampled",
                     text_count(a, r->profile.all.samples),
                     selection_is_all(&r->scan.selection) ? "" : " selected");
        if (nowhere != 0)
            columns_note(out, r->pager.columns, "%s more were executed at places that are unknown",
                         text_count(a, nowhere));
        print_measure(out, r);
        return;
    }
    trigger_words(trigger, sizeof trigger, info);
    if (selection_is_all(&r->scan.selection))
        snprintf(lost, sizeof lost, ", %s lost", text_count(b, r->scan.audit.lost));
    columns_note(out, r->pager.columns, "%s samples%s, mode %s%s",
                 text_count(a, r->profile.all.samples), lost, trace_info_mode(info->sampling.mode),
                 trigger);
    if (r->profile.all.samples == 0)
        columns_note(out, r->pager.columns, "no samples: %s",
                     reader_no_samples(&r->scan, safe, sizeof safe));
    print_measure(out, r);
    if (r->wanted.stacks)
        print_ends(out, r);
}
