/* hr export firefox: a profile for profiler.firefox.com.
 *
 * JSON in the processed format of the Firefox Profiler, version 48, which it converts to its own
 * when it loads a file.  Every thread has tables of its own: what it uses of the stacks, functions
 * and names of the whole trace.  Functions are frames, without lines and inlined functions.  The
 * format: src/types/profile.js in https://github.com/firefox-devtools/profiler.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/error.h"
#include "host/base/text.h"
#include "host/export/firefox/firefox_tables.h"

#define FORMAT_VERSION 48u
#define GECKO_VERSION 29u /* of the same time */
#define THREADS_MAX 1024u /* each takes a walk over all functions */
#define UNUSED UINT32_MAX

struct firefox {
    struct export *e;
    struct output *out;
    struct firefox_tables tables;
    uint32_t *stacks, *functions,
        *names; /* numbers in the thread being written, or UNUSED; owned */
    uint32_t stack_count, function_count, name_count; /* that it uses */
};

static void put_ms(struct output *out, uint64_t ns)
{
    char text[32];

    snprintf(text, sizeof text, "%lu.%06lu", ns / 1000000, ns % 1000000);
    output_text(out, text);
}

static void comma(struct output *out, uint32_t i)
{
    if (i != 0)
        output_char(out, ',');
}

/* "name":[value,value ...]; NULL: the numbers 0, 1 ... */
static void put_column(struct output *out, const char *name, const char *value, uint32_t count)
{
    output_json_print(out, ",%s:[", name);
    for (uint32_t i = 0; i < count; i++) {
        comma(out, i);
        if (value != NULL)
            output_text(out, value);
        else
            output_decimal(out, i);
    }
    output_char(out, ']');
}

static void put_length(struct output *out, const char *table, uint32_t length)
{
    output_json_print(out, ",%s:{\"length\":%u", table, length);
}

/* Numbers what is used in the order of the whole trace: callers stay before what they call. */
static uint32_t number_used(uint32_t *numbers, uint32_t count)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < count; i++)
        if (numbers[i] != UNUSED)
            numbers[i] = used++;
    return used;
}

static void find_used(struct firefox *f, const struct firefox_sample *samples, uint32_t count,
                      const struct firefox_marker *markers, uint32_t marker_count)
{
    const struct firefox_tables *tables = &f->tables;

    memset(f->stacks, 0xff, FIREFOX_STACKS_MAX * sizeof f->stacks[0]);
    memset(f->functions, 0xff, FIREFOX_FUNCTIONS * sizeof f->functions[0]);
    memset(f->names, 0xff, FIREFOX_NAMES_MAX * sizeof f->names[0]);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t s = samples[i].stack; s != FIREFOX_NO_STACK && f->stacks[s] == UNUSED;
             s = tables->stacks[s].prefix) {
            f->stacks[s] = 0;
            f->functions[tables->stacks[s].function] = 0;
        }
    for (uint32_t i = 0; i < marker_count; i++)
        f->names[markers[i].name] = 0;
    f->stack_count = number_used(f->stacks, tables->stack_count);
    f->function_count = number_used(f->functions, FIREFOX_FUNCTIONS);
    f->name_count = number_used(f->names, tables->name_count);
}

static const struct function *function_row(struct firefox *f, uint32_t function)
{
    return function < FUNCTIONS_MAX ? &f->e->functions.rows[function] : NULL;
}

static void put_function_name(struct firefox *f, uint32_t number)
{
    const struct function *function = function_row(f, number);
    char label[FUNCTIONS_LABEL_BYTES], name[FUNCTIONS_LABEL_BYTES + 16];

    if (function == NULL) {
        output_json(f->out, number == FIREFOX_TRUNCATED ? "[truncated]" : "[broken]");
        return;
    }
    snprintf(name, sizeof name, "%s%s", function->kernel ? "[kernel] " : "",
             functions_label(function, label));
    output_json(f->out, name);
}

/* Functions' names, then maps', then markers'. */
static void put_strings(struct firefox *f)
{
    const struct trace_info *info = &f->e->info;
    uint32_t n = 0;

    output_text(f->out, ",\"stringArray\":[");
    for (uint32_t i = 0; i < FIREFOX_FUNCTIONS; i++)
        if (f->functions[i] != UNUSED) {
            comma(f->out, n++);
            put_function_name(f, i);
        }
    for (size_t i = 0; i < info->map_count; i++) {
        comma(f->out, n++);
        output_json(f->out, text_base_name(info->maps[i].path));
    }
    for (uint32_t i = 0; i < f->tables.name_count; i++)
        if (f->names[i] != UNUSED) {
            comma(f->out, n++);
            output_json(f->out, f->tables.names[i]);
        }
    output_char(f->out, ']');
}

/* One value for each function that is used. */
static void put_of_functions(struct firefox *f, const char *name,
                             void (*put)(struct firefox *f, const struct function *function))
{
    uint32_t n = 0;

    output_json_print(f->out, ",%s:[", name);
    for (uint32_t i = 0; i < FIREFOX_FUNCTIONS; i++)
        if (f->functions[i] != UNUSED) {
            comma(f->out, n++);
            put(f, function_row(f, i));
        }
    output_char(f->out, ']');
}

/* Category 1 is the kernel, 0 the rest. */
static void put_category(struct firefox *f, const struct function *function)
{
    output_char(f->out, function != NULL && function->kernel ? '1' : '0');
}

/* Resource i is map i. */
static void put_resource(struct firefox *f, const struct function *function)
{
    size_t map = function != NULL ? export_map(&f->e->info, function->start) : 0;

    if (map == 0)
        output_text(f->out, "-1");
    else
        output_decimal(f->out, map - 1);
}

static void put_functions(struct firefox *f)
{
    struct output *out = f->out;
    uint32_t count = f->function_count;

    put_length(out, "frameTable", count);
    put_column(out, "address", "-1", count);
    put_column(out, "inlineDepth", "0", count);
    put_of_functions(f, "category", put_category);
    put_column(out, "subcategory", "0", count);
    put_column(out, "func", NULL, count);
    put_column(out, "nativeSymbol", "null", count);
    put_column(out, "innerWindowID", "0", count);
    put_column(out, "implementation", "null", count);
    put_column(out, "line", "null", count);
    put_column(out, "column", "null", count);
    output_char(out, '}');
    put_length(out, "funcTable", count);
    put_column(out, "name", NULL, count);
    put_column(out, "isJS", "false", count);
    put_column(out, "relevantForJS", "false", count);
    put_of_functions(f, "resource", put_resource);
    put_column(out, "fileName", "null", count);
    put_column(out, "lineNumber", "null", count);
    put_column(out, "columnNumber", "null", count);
    output_char(out, '}');
}

static void put_resources(struct firefox *f)
{
    struct output *out = f->out;
    uint32_t count = (uint32_t)f->e->info.map_count;

    put_length(out, "resourceTable", count);
    put_column(out, "lib", NULL, count);
    output_text(out, ",\"name\":[");
    for (uint32_t i = 0; i < count; i++) {
        comma(out, i);
        output_decimal(out, f->function_count + i);
    }
    output_char(out, ']');
    put_column(out, "host", "null", count);
    put_column(out, "type", "1", count); /* a library */
    output_text(out, "},\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],"
                     "\"functionSize\":[]}");
}

static void put_stacks(struct firefox *f)
{
    const struct firefox_tables *tables = &f->tables;
    struct output *out = f->out;
    uint32_t n = 0;

    put_length(out, "stackTable", f->stack_count);
    output_text(out, ",\"prefix\":[");
    for (uint32_t i = 0; i < tables->stack_count; i++)
        if (f->stacks[i] != UNUSED) {
            uint32_t prefix = tables->stacks[i].prefix;

            comma(out, n++);
            if (prefix == FIREFOX_NO_STACK)
                output_text(out, "null");
            else
                output_decimal(out, f->stacks[prefix]);
        }
    output_text(out, "],\"frame\":[");
    n = 0;
    for (uint32_t i = 0; i < tables->stack_count; i++)
        if (f->stacks[i] != UNUSED) {
            comma(out, n++);
            output_decimal(out, f->functions[tables->stacks[i].function]);
        }
    output_text(out, "],\"category\":[");
    n = 0;
    for (uint32_t i = 0; i < tables->stack_count; i++)
        if (f->stacks[i] != UNUSED) {
            comma(out, n++);
            put_category(f, function_row(f, tables->stacks[i].function));
        }
    output_char(out, ']');
    put_column(out, "subcategory", "0", f->stack_count);
    output_char(out, '}');
}

static void put_samples(struct firefox *f, const struct firefox_sample *samples, uint32_t count)
{
    struct output *out = f->out;

    put_length(out, "samples", count);
    output_text(out, ",\"weightType\":\"samples\",\"weight\":null,\"stack\":[");
    for (uint32_t i = 0; i < count; i++) {
        comma(out, i);
        output_decimal(out, f->stacks[samples[i].stack]);
    }
    output_text(out, "],\"time\":[");
    for (uint32_t i = 0; i < count; i++) {
        comma(out, i);
        put_ms(out, samples[i].ns);
    }
    output_text(out, "]}");
}

static void put_markers(struct firefox *f, const struct firefox_marker *markers, uint32_t count)
{
    static const char *const types[] = {
        [FIREFOX_MARK] = "Mark", [FIREFOX_SYSCALL] = "Syscall", [FIREFOX_GAP] = "Gap"};
    struct output *out = f->out;

    put_length(out, "markers", count);
    put_column(out, "category", "0", count);
    output_text(out, ",\"name\":[");
    for (uint32_t i = 0; i < count; i++) {
        comma(out, i);
        output_decimal(out, f->function_count + f->e->info.map_count + f->names[markers[i].name]);
    }
    output_text(out, "],\"startTime\":[");
    for (uint32_t i = 0; i < count; i++) {
        comma(out, i);
        put_ms(out, markers[i].ns);
    }
    output_text(out, "],\"endTime\":[");
    for (uint32_t i = 0; i < count; i++) {
        comma(out, i);
        if (markers[i].kind == FIREFOX_MARK)
            output_text(out, "null");
        else
            put_ms(out, markers[i].end_ns);
    }
    output_text(out, "],\"phase\":["); /* 0: an instant, 1: a span */
    for (uint32_t i = 0; i < count; i++) {
        comma(out, i);
        output_char(out, markers[i].kind == FIREFOX_MARK ? '0' : '1');
    }
    output_text(out, "],\"data\":[");
    for (uint32_t i = 0; i < count; i++) {
        comma(out, i);
        output_json_print(out, "{\"type\":%s}", types[markers[i].kind]);
    }
    output_text(out, "]}");
}

static const char *program_name(const struct firefox *f)
{
    return text_base_name(trace_info_text(&f->e->info, "program.path", "program"));
}

/* The times of a process that the trace tells of; the program's own is there all the time. */
static void put_life(struct firefox *f, const char *begin, const char *end, uint32_t process)
{
    const struct trace_info *info = &f->e->info;
    const struct trace_process *of =
        process < info->processes.count ? &info->processes.all[process] : NULL;

    output_json_print(f->out, ",%s:", begin);
    put_ms(f->out, of != NULL ? trace_info_time_ns(info, of->start) : 0);
    output_json_print(f->out, ",%s:", end);
    if (of != NULL && of->ended)
        put_ms(f->out, trace_info_time_ns(info, of->end));
    else
        output_text(f->out, "null");
}

static void put_thread(struct firefox *f, uint32_t tid, uint32_t first_tid, uint64_t time)
{
    const struct trace_info *info = &f->e->info;
    bool several = trace_processes_any(&info->processes);
    uint32_t process = trace_processes_of(&info->processes, tid, time);
    uint32_t pid = several ? info->processes.all[process].pid : first_tid;
    const char *name = trace_info_process_name(info, process, UINT64_MAX);

    output_json_print(f->out, "{\"name\":%s,\"isMainThread\":%d,\"processType\":\"default\"", name,
                      tid == pid);
    put_life(f, "processStartupTime", "processShutdownTime", process);
    output_json_print(f->out,
                      ",\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],"
                      "\"pid\":\"%u\",\"tid\":%u,\"processName\":%s",
                      pid, tid, name);
}

static void put_threads(struct firefox *f)
{
    const struct firefox_tables *t = &f->tables;
    uint32_t pid = t->sample_count != 0 ? t->samples[0].tid : 1;
    uint32_t s = 0, m = 0, n = 0;

    while (s < t->sample_count || m < t->marker_count) {
        uint32_t samples = s, markers = m;
        uint32_t tid = s < t->sample_count ? t->samples[s].tid : t->markers[m].tid;

        if (m < t->marker_count && t->markers[m].tid < tid)
            tid = t->markers[m].tid;
        while (s < t->sample_count && t->samples[s].tid == tid)
            s++;
        while (m < t->marker_count && t->markers[m].tid == tid)
            m++;
        if (n == THREADS_MAX) {
            error_print(
                "firefox: the export has the first %u threads only; choose others with --thread",
                THREADS_MAX);
            break;
        }
        find_used(f, t->samples + samples, s - samples, t->markers + markers, m - markers);
        comma(f->out, n++);
        put_thread(f, tid, pid, UINT64_MAX); /* tables are by tid: the last process that had it */
        put_samples(f, t->samples + samples, s - samples);
        put_markers(f, t->markers + markers, m - markers);
        put_stacks(f);
        put_functions(f);
        put_resources(f);
        put_strings(f);
        output_char(f->out, '}');
    }
}

static void put_libs(struct firefox *f)
{
    const struct trace_info *info = &f->e->info;
    char build_id[TRACE_INFO_BUILD_ID_MAX * 2 + 1];

    output_text(f->out, ",\"libs\":[");
    for (size_t i = 0; i < info->map_count; i++) {
        const struct trace_map *map = &info->maps[i];

        build_id[0] = 0;
        for (uint32_t n = 0; n < map->meta.build_id_bytes && n < TRACE_INFO_BUILD_ID_MAX; n++)
            snprintf(build_id + (size_t)n * 2, 3, "%02x", map->build_id[n]);
        comma(f->out, (uint32_t)i);
        output_json_print(f->out,
                          "{\"arch\":\"x86_64\",\"name\":%s,\"path\":%s,\"debugName\":%s,"
                          "\"debugPath\":%s,\"breakpadId\":\"\",\"codeId\":%s}",
                          text_base_name(map->path), map->path, text_base_name(map->path),
                          map->path, build_id);
    }
    output_char(f->out, ']');
}

static void put_schema(struct output *out, const char *type)
{
    output_json_print(out,
                      "{\"name\":%s,\"tooltipLabel\":\"{marker.name}\","
                      "\"tableLabel\":\"{marker.name}\","
                      "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
                      "\"data\":[]}",
                      type);
}

static void put_meta(struct firefox *f)
{
    const struct trace_info *info = &f->e->info;
    uint64_t interval_ns = trace_info_interval_ns(info);
    struct output *out = f->out;

    output_json_print(
        out, OUTPUT_MARK_FIREFOX "\"preprocessedProfileVersion\":%u,\"version\":%u,\"interval\":",
        FORMAT_VERSION, GECKO_VERSION);
    put_ms(out, interval_ns != 0 ? interval_ns : 1000);
    output_text(out, ",\"startTime\":");
    put_ms(out, info->clock.start_unix_ns);
    output_json_print(out, ",\"product\":%s,\"oscpu\":%s,\"arguments\":%s", program_name(f),
                      trace_info_text(info, "machine.model", ""),
                      trace_info_text(info, "program.args", ""));
    output_text(out, ",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
                     "\"misc\":\"\",\"toolkit\":\"\",\"platform\":\"\",\"abi\":\"x86_64\","
                     "\"extensions\":{\"baseURL\":[],\"id\":[],\"length\":0,\"name\":[]},"
                     "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
                     "\"threadCPUDelta\":\"ns\"},"
                     "\"categories\":[{\"name\":\"Program\",\"color\":\"grey\","
                     "\"subcategories\":[\"Other\"]},{\"name\":\"Kernel\",\"color\":\"orange\","
                     "\"subcategories\":[\"Other\"]}],\"markerSchema\":[");
    put_schema(out, "Mark");
    output_char(out, ',');
    put_schema(out, "Syscall");
    output_char(out, ',');
    put_schema(out, "Gap");
    output_text(out, "]}");
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct firefox *f = context;

    return firefox_tables_samples(&f->tables, samples);
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct firefox *f = context;

    return chunk->header.type == HR_CHUNK_DATA ? firefox_tables_record(&f->tables, record) : 0;
}

static int walk(struct firefox *f)
{
    const struct trace_visitor visitor = {.context = f,
                                          .stacks = TRACE_SCAN_STACKS,
                                          .names = true,
                                          .samples = take_samples,
                                          .record = take_record};
    int error = export_walk(f->e, &visitor);

    if (error != 0)
        return error;
    if (f->tables.refused != 0)
        error_print("firefox: %lu samples and markers were left out, because the profiler cannot "
                    "load more; choose a part with --from and --to",
                    f->tables.refused);
    firefox_tables_sort(&f->tables);
    put_meta(f);
    put_libs(f);
    output_text(f->out, ",\"pages\":[],\"counters\":[],\"threads\":[");
    put_threads(f);
    output_text(f->out, "]}\n");
    return 0;
}

static int run(struct export *e)
{
    struct firefox f = {.e = e, .out = &e->output};
    int error = firefox_tables_init(&f.tables, e);

    if (error == 0)
        error = export_common_maps(e);
    f.stacks = malloc(FIREFOX_STACKS_MAX * sizeof f.stacks[0]);
    f.functions = malloc(FIREFOX_FUNCTIONS * sizeof f.functions[0]);
    f.names = malloc(FIREFOX_NAMES_MAX * sizeof f.names[0]);
    if (f.stacks == NULL || f.functions == NULL || f.names == NULL)
        error = -ENOMEM;
    if (error == 0)
        error = walk(&f);
    firefox_tables_free(&f.tables);
    free(f.stacks);
    free(f.functions);
    free(f.names);
    return error;
}

const struct export_format export_firefox = {
    .name = "firefox",
    .extension = "firefox.json",
    .summary = "profile for profiler.firefox.com: samples, stacks, system calls",
    .opener = "https://profiler.firefox.com",
    .run = run,
};
