/* hr report: where the samples and events of a trace are. */
#include <stdlib.h>
#include <string.h>

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/base/text.h"
#include "host/draw/columns.h"
#include "host/report/report.h"
#include "host/report/report_follow.h"
#include "host/report/report_options.h"
#include "host/report/report_regions.h"
#include "host/scan/reader_output.h"

static int take_mark(void *context, const struct trace_chunk *chunk,
                     const struct trace_record *record)
{
    struct report *r = context;

    if (record->type != HR_REC_MARK || chunk->header.type != HR_CHUNK_DATA)
        return 0;
    return report_marks_take(&r->marks, chunk->header.cpu, record);
}

/* Marks are read before the samples that they divide, because both may be in chunks of any CPU. */
static int read_sections(struct report *r)
{
    const struct trace_visitor visitor = {.context = r, .record = take_mark};
    const struct selection wanted = r->scan.selection;
    int error;

    selection_init(&r->scan.selection); /* sections may begin before the selected time */
    error = trace_scan_run(&r->scan, &visitor);
    r->scan.selection = wanted;
    if (error == 0)
        error = sections_init(&r->sections, &r->marks);
    if (error == 0)
        error = trace_scan_rewind(&r->scan);
    return error;
}

void report_want(struct report *r, bool has_stacks)
{
    static const enum place_kind kinds[REPORT_DIMENSIONS] = {
        [REPORT_BY_FUNCTION] = PLACE_FUNCTION,
        [REPORT_BY_LINE] = PLACE_LINE,
        [REPORT_BY_LIBRARY] = PLACE_LIBRARY,
        [REPORT_BY_ADDRESS] = PLACE_ADDRESS,
    };
    const struct report_options *o = r->options;

    r->wanted = (struct profile_options){
        .by = PLACE_NONE,
        .by_cpu = report_has(o, REPORT_BY_CPU),
        .by_process = report_has(o, REPORT_BY_PROCESS),
        .by_thread = report_has(o, REPORT_BY_THREAD),
        .sections = report_has(o, REPORT_BY_MARK) ? &r->sections : NULL,
        .tree = o->view == REPORT_TREE || o->view == REPORT_CALLERS,
        .sort = o->sort != NULL && strcmp(o->sort, "samples") != 0 ? o->sort : NULL,
    };
    for (unsigned int i = 0; i < o->by_count; i++)
        if (kinds[o->by[i]] != PLACE_NONE)
            r->wanted.by = kinds[o->by[i]];
    r->wanted.stacks =
        has_stacks && (r->wanted.tree || o->python || (r->wanted.by != PLACE_NONE && !o->no_total));
    r->wanted.python = o->python && has_stacks;
}

static int read_profile(struct report *r)
{
    struct trace_head head = {0};
    int error = trace_scan_head(&r->scan, &head);

    report_want(r, head.stacks);
    if (error == 0 && r->wanted.sections != NULL)
        error = read_sections(r);
    if (error != 0 || (!head.stacks && (r->wanted.tree || r->options->total)))
        return error;
    r->has_profile = true;
    error = profile_run(&r->profile, &r->scan, &r->wanted, r->options->reader.jobs);
    return error == 0 ? report_sort(r) : error;
}

int report_sort(struct report *r)
{
    int error = 0;

    if (r->profile.event != -2)
        error = profile_sort(&r->profile, r->options->total);
    return error;
}

int report_walk_list(struct report *r)
{
    const struct trace_visitor visitor = {
        .context = r, .record = r->options->view == REPORT_MARKS ? take_mark : NULL};

    return r->options->view == REPORT_WAITS ? waits_walk(&r->waits, &r->scan)
                                            : trace_scan_run(&r->scan, &visitor);
}

static int read_trace(struct report *r)
{
    if (r->options->view == REPORT_WAITS)
        return waits_read(&r->waits, &r->scan);
    return report_is_list(r->options) ? report_walk_list(r) : read_profile(r);
}

static int unknown_event(const struct report *r, const char *otherwise)
{
    char names[TRACE_INFO_NAMES_BYTES];

    return error_exit(HR_EXIT_USAGE, "--sort %s: the trace has no such event; choose %s%s",
                      r->options->sort, otherwise, trace_info_event_names(&r->scan.info, names));
}

static int find_callers(struct report *r)
{
    struct function_choice choice;
    int error;

    function_choice_init(&choice, r->options->callers);
    profile_offer_frames(&r->profile, &choice);
    r->called =
        function_choice_name(&choice, "--callers ", "no sample has that function on its stack");
    if (r->called == NULL)
        return HR_EXIT_FAILED;
    error = profile_callers(&r->profile, &choice, &r->callers);
    return error == 0 ? HR_EXIT_OK : reader_fail(r->options->reader.path, error);
}

/* One event is shown in addition to samples: the one sorted by, else instructions, else the first.
 */
int report_shown_event(const struct trace_info *info, int event)
{
    char room[16];

    if (event >= 0 || info->event_count == 0)
        return event >= 0 ? event : -1;
    if (info->has_exact) /* instructions are always shown */
        return trace_info_find_event(info, "calls");
    for (uint32_t i = 0; i < info->event_count; i++)
        if (strncmp(trace_info_event_name(info, i, room), "instructions", 12) == 0)
            return (int)i;
    return 0;
}

static int write_output(struct report *r)
{
    struct output *out = reader_output_open();
    const struct tree *tree = r->options->view == REPORT_CALLERS ? &r->callers : &r->profile.tree;

    if (r->options->reader.format == READER_CSV && r->wanted.tree)
        report_write_tree_csv(out, r, tree);
    else if (r->options->reader.format == READER_CSV)
        report_write_csv(out, r);
    else if (r->wanted.tree)
        report_write_tree_json(out, r, tree);
    else
        report_write_json(out, r);
    return reader_output_close(out);
}

/* Prints, below the table, what else the program left in the trace. */
static void print_pointers(const struct report *r)
{
    char number[TEXT_QUANTITY_BYTES], safe[4096];
    size_t regions = r->scan.info.regions.count;

    text_escape(safe, sizeof safe, r->options->reader.path);
    if (regions != 0)
        columns_note(stdout, r->pager.columns, "%s region%s: hr report --regions %s",
                     text_count(number, regions), regions != 1 ? "s" : "", safe);
    if (r->profile.waits != 0)
        columns_note(stdout, r->pager.columns, "%s wait%s: hr report --waits %s",
                     text_count(number, r->profile.waits), r->profile.waits != 1 ? "s" : "", safe);
    if (r->profile.marks != 0)
        columns_note(stdout, r->pager.columns, "%s mark%s: hr report --marks %s",
                     text_count(number, r->profile.marks), r->profile.marks != 1 ? "s" : "", safe);
}

static int print_profile(struct report *r)
{
    report_print_head(stdout, r);
    if (r->options->view == REPORT_TABLE)
        report_print_table(stdout, r);
    else
        report_print_tree(stdout, r,
                          r->options->view == REPORT_CALLERS ? &r->callers : &r->profile.tree);
    if (r->options->view == REPORT_TABLE)
        print_pointers(r);
    return HR_EXIT_OK;
}

/* Reports what keeps a profile from being shown; returns HR_EXIT_OK if nothing does. */
int report_refuse(struct report *r)
{
    const char *exact = trace_info_exact_problem(&r->scan.info, &r->scan.selection);

    if (!r->has_profile)
        return error_exit(HR_EXIT_FAILED,
                          "%s: the samples have no call stacks; record them with 'hr run -g'",
                          r->options->reader.path);
    if (r->options->python && r->scan.info.stacks.kind != HR_STACK_PYTHON)
        return error_exit(HR_EXIT_FAILED,
                          "%s: the samples say nothing of Python; record it with 'hr run --python'",
                          r->options->reader.path);
    if (r->profile.event == -2)
        return unknown_event(r, "samples");
    if (exact != NULL || (r->scan.info.has_exact && r->wanted.sections != NULL))
        return error_exit(
            HR_EXIT_FAILED, "%s: %s", r->options->reader.path,
            exact != NULL ? exact : "mode exact counts over the whole run; leave out --by mark");
    if (!selection_is_all(&r->scan.selection) && r->profile.all.samples == 0)
        return reader_nothing_selected(
            r->options->reader.path,
            r->scan.info.has_exit ? trace_info_time_ns(&r->scan.info, r->scan.info.exit.time) : 0);
    return r->options->view == REPORT_CALLERS ? find_callers(r) : HR_EXIT_OK;
}

double report_metric(const struct report *r, uint32_t i, const struct rows_count *count)
{
    return metrics_chosen_value(&r->metrics, i, count->sums, -1);
}

/* Rows of a profile do not know the time that they took; regions do. */
static int choose_metrics(struct report *r)
{
    const struct report_options *o = r->options;
    bool table = o->view == REPORT_TABLE && o->reader.format == READER_TABLE;
    struct run_failure failure = {0};

    if (o->metric == NULL)
        return HR_EXIT_OK;
    if (metrics_choose_of(&r->metrics, &r->scan.info, o->metric, o->view == REPORT_REGIONS,
                          &failure) != 0)
        return error_exit(HR_EXIT_FAILED, "%s", failure.text);
    if (table && r->metrics.count > REPORT_METRICS_MAX)
        return error_exit(HR_EXIT_USAGE,
                          "--metric: a table has room for %u metrics; name fewer, or --format csv",
                          REPORT_METRICS_MAX);
    return HR_EXIT_OK;
}

static int present_profile(struct report *r)
{
    int status = report_refuse(r);

    if (status == HR_EXIT_OK)
        status = choose_metrics(r);
    if (status != HR_EXIT_OK)
        return status;
    r->shown = report_shown_event(&r->scan.info, r->profile.event);
    if (r->options->reader.format != READER_TABLE)
        return write_output(r);
    pager_begin(&r->pager, !r->options->no_pager);
    return print_profile(r);
}

void report_print_list(FILE *out, struct report *r, int event)
{
    struct trace_info *info = &r->scan.info;
    unsigned long limit = r->options->reader.limit;

    if (r->options->view == REPORT_REGIONS) {
        report_regions_print(out, info, event < 0 ? TRACE_REGION_TIME : (uint32_t)event,
                             &r->metrics, limit);
    } else if (r->options->view == REPORT_MARKS) {
        report_marks_print(out, info, &r->marks, limit);
    } else {
        if (r->waits.count == 0)
            fputs("no thread waited\n", out);
        waits_print(out, &r->waits, info, limit);
    }
}

static int present(struct report *r)
{
    const struct report_options *o = r->options;
    struct trace_info *info = &r->scan.info;
    int event = -1;

    if (!report_is_list(o))
        return present_profile(r);
    if (o->sort != NULL && strcmp(o->sort, "time") != 0)
        event = trace_info_find_event(info, o->sort);
    if (event < 0 && o->sort != NULL && strcmp(o->sort, "time") != 0)
        return unknown_event(r, "time");
    if (choose_metrics(r) != HR_EXIT_OK)
        return HR_EXIT_FAILED;
    pager_begin(&r->pager, !o->no_pager);
    report_print_list(stdout, r, event);
    return HR_EXIT_OK;
}

/* A file with at least a hundredth of the samples should have names. */
static bool matters(const struct report *r, const char *file)
{
    const struct profile *p = &r->profile;
    const char *name = text_base_name(file);
    uint64_t samples = 0;

    for (uint32_t i = 0; i < p->rows.count; i++) {
        const struct row *row = &p->rows.all[i];
        const char *object = p->places.all[row->place].object;

        if (object != NULL && strcmp(object, name) == 0)
            samples += row->self.samples;
    }
    return p->rows.count == 0 || samples * 100 >= p->all.samples;
}

static void warn(const struct report *r)
{
    const char *file, *problem;
    const struct symbols *symbols = r->profile.symbols;

    for (size_t i = 0; symbols != NULL && (problem = symbols_problem(symbols, i, &file)) != NULL;
         i++)
        if (matters(r, file))
            error_print("%s: %s", file, problem);
    reader_warn(&r->scan, r->options->reader.path, "the report covers what is there");
}

static int run(struct report *r, struct reader *reader)
{
    int status, error = reader->follow ? report_follow(r, reader) : reader_open(&r->scan, reader);

    if (error != 0 && r->scan.slots == NULL)
        return error > 0 ? HR_EXIT_OK : reader_fail(reader->path, error);
    if (error == 0 && !reader->follow)
        error = read_trace(r);
    status = error == 0 ? present(r) : error > 0 ? error : reader_fail(reader->path, error);
    pager_end(&r->pager);
    if (status == HR_EXIT_OK)
        warn(r);
    if (r->has_profile)
        profile_free(&r->profile);
    sections_free(&r->sections);
    tree_free(&r->callers);
    report_marks_free(&r->marks);
    waits_free(&r->waits);
    free(r->metrics.metrics);
    trace_scan_close(&r->scan);
    return status;
}

int report_command(int argc, char **argv)
{
    struct report_options options;
    struct report r = {.options = &options};

    int status;

    report_options_parse(&options, argc, argv);
    status = run(&r, &options.reader);
    selection_free(&options.reader.selection); /* the scan has it, unless that did not open */
    return status;
}
