/* hr report: the functions of a trace by samples and by events. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/commands.h"
#include "host/error.h"
#include "host/profile.h"
#include "host/reader.h"
#include "host/report_print.h"
#include "host/trace_scan.h"

#define DEFAULT_LIMIT 40

struct report_options {
    const char *path;
    const char *sort;
    const char *program;
    unsigned long limit; /* 0: all */
};

struct report {
    struct trace_scan scan;
    struct profile profile;
    struct symbols *symbols; /* opened when first needed: the maps come before the samples */
    const char *program;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct report_options *options = state->input;
    char *end;

    switch (key) {
    case 's':
        options->sort = argument;
        return 0;
    case 'p':
        options->program = argument;
        return 0;
    case 'n':
        errno = 0;
        options->limit = strtoul(argument, &end, 10);
        if (*argument < '0' || *argument > '9' || *end != 0 || errno != 0)
            argp_error(state, "--limit %s: not a number; 0 shows every function", argument);
        return 0;
    default:
        return reader_parse_file(key, argument, state, &options->path);
    }
}

static int fold(struct report *r)
{
    int error = 0;

    if (r->symbols == NULL)
        error = symbols_open(&r->symbols, &r->scan.info, r->program);
    if (error == 0)
        profile_fold(&r->profile, r->symbols);
    return error;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct report *r = context;
    int error = profile_full(&r->profile) ? fold(r) : 0;

    if (error == 0)
        profile_add(&r->profile, samples);
    return error;
}

/* The event to sort by: its number, -1 for samples, -2 when there is none of that name.  The name
 * may leave out the :suffix.
 */
static int find_event(const struct trace_info *info, const char *name)
{
    char room[16];

    if (strcmp(name, "samples") == 0)
        return -1;
    for (uint32_t i = 0; i < info->event_count; i++) {
        const char *event = trace_info_event_name(info, i, room);
        size_t bytes = strcspn(event, ":");

        if (strcmp(event, name) == 0 || (strlen(name) == bytes && strncmp(event, name, bytes) == 0))
            return (int)i;
    }
    return -2;
}

static int unknown_event(const struct trace_info *info, const char *name)
{
    char names[HR_EVENTS_MAX * 66 + 1] = "", room[16];
    size_t used = 0;

    for (uint32_t i = 0; i < info->event_count; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, ", %s",
                                 trace_info_event_name(info, i, room));
    error_print("--sort %s: the trace has no such event; choose samples%s", name, names);
    return HR_EXIT_USAGE;
}

static void warn(const struct report *r, const char *path)
{
    const struct trace_audit *audit = &r->scan.audit;
    const char *file, *problem;

    for (size_t i = 0; (problem = symbols_problem(r->symbols, i, &file)) != NULL; i++)
        error_print("%s: %s", file, problem);
    if (!trace_audit_complete(audit))
        error_print("%s: incomplete, the report covers what is there; 'hr check %s' says what is "
                    "missing",
                    path, path);
}

static int present(struct report *r, const struct report_options *options)
{
    int event = find_event(&r->scan.info, options->sort);

    if (event == -2)
        return unknown_event(&r->scan.info, options->sort);
    profile_sort(&r->profile, event);
    report_print(stdout, &r->scan, &r->profile, event, options->limit);
    warn(r, options->path);
    return HR_EXIT_OK;
}

static int run(const struct report_options *options)
{
    struct report r = {.program = options->program};
    struct trace_visitor visitor = {.context = &r, .samples = take_samples};
    int status = HR_EXIT_FAILED;
    int error = trace_scan_open(&r.scan, options->path);

    if (error == 0) {
        error = profile_init(&r.profile);
        if (error == 0)
            error = trace_scan_run(&r.scan, &visitor);
        if (error == 0)
            error = fold(&r);
        if (error == 0)
            status = present(&r, options);
        symbols_close(r.symbols);
        profile_free(&r.profile);
        trace_scan_close(&r.scan);
    }
    return error == 0 ? status : reader_fail(options->path, error);
}

int report_command(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"sort", 's', "KEY", 0, "Sort by samples (default) or by an event's name", 0},
        {"limit", 'n', "N", 0, "Show the first N functions (default 40; 0 shows all)", 0},
        {"program", 'p', "PATH", 0, "Take the program's symbols from PATH", 0},
        {0},
    };
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .args_doc = "[FILE]",
        .doc = "Show the functions of a trace (default hr.bin) by samples and by events."
               "\vA sample counts for the function that it interrupted, and so does what the "
               "counters rose by since the sample before. Where a program has no symbols, ranges "
               "of 4 KiB take the place of functions.\n\n"
               "Examples:\n"
               "  hr report                            functions by samples\n"
               "  hr report --sort instructions -n 10  the ten that execute most\n"
               "  hr report --program ./prog.debug     symbols from an unstripped build\n",
    };
    struct report_options options = {NULL, "samples", NULL, DEFAULT_LIMIT};

    argp_parse(&argp, argc, argv, 0, NULL, &options);
    options.path = reader_file(options.path);
    return run(&options);
}
