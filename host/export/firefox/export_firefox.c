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
#include "host/export/firefox/firefox_thread.h"

#define FORMAT_VERSION 48u
#define GECKO_VERSION 29u /* of the same time */
#define THREADS_MAX 1024u /* the Profiler shows a row for each */

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
    firefox_put_ms(f->out, of != NULL ? trace_info_time_ns(info, of->start) : 0);
    output_json_print(f->out, ",%s:", end);
    if (of != NULL && of->ended)
        firefox_put_ms(f->out, trace_info_time_ns(info, of->end));
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
        firefox_comma(f->out, n++);
        put_thread(f, tid, pid, UINT64_MAX); /* tables are by tid: the last process that had it */
        firefox_thread_put(f, t->samples + samples, s - samples, t->markers + markers, m - markers);
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
        firefox_comma(f->out, (uint32_t)i);
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
    firefox_put_ms(out, interval_ns != 0 ? interval_ns : 1000);
    output_text(out, ",\"startTime\":");
    firefox_put_ms(out, info->clock.start_unix_ns);
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
    if (firefox_used_init(&f.stacks, FIREFOX_STACKS_MAX) != 0 ||
        firefox_used_init(&f.functions, FIREFOX_FUNCTIONS) != 0 ||
        firefox_used_init(&f.names, FIREFOX_NAMES_MAX) != 0)
        error = -ENOMEM;
    if (error == 0)
        error = walk(&f);
    firefox_tables_free(&f.tables);
    firefox_used_free(&f.stacks);
    firefox_used_free(&f.functions);
    firefox_used_free(&f.names);
    return error;
}

const struct export_format export_firefox = {
    .name = "firefox",
    .extension = "firefox.json",
    .summary = "profile for profiler.firefox.com: samples, stacks, system calls",
    .opener = "https://profiler.firefox.com",
    .run = run,
};
