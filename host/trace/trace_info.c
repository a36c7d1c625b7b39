/* Answers questions about what a trace says about itself. */
#include "host/trace/trace_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"

void trace_info_init(struct trace_info *info)
{
    memset(info, 0, sizeof *info);
    info->clock.ticks_per_second = 1000000000;
}

void trace_info_free(struct trace_info *info)
{
    for (size_t i = 0; i < info->map_count; i++)
        free(info->maps[i].path);
    for (size_t i = 0; i < info->text_count; i++)
        free(info->texts[i].key);
    free(info->maps);
    free(info->texts);
    free(info->streams);
    free(info->machines);
    trace_regions_free(&info->regions);
    trace_files_free(&info->files);
    trace_thread_stacks_free(&info->thread_stacks);
    trace_points_free(&info->points);
    trace_names_release(info->names);
    trace_processes_free(&info->processes);
    trace_info_init(info);
}

void trace_info_view(const struct trace_info *info, uint32_t view, struct trace_map *map)
{
    const struct trace_spaces *spaces = &info->processes.spaces;
    const struct trace_view *of = &spaces->views[view];

    *map = (struct trace_map){.meta = of->meta, .path = of->path};
    map->meta.start = trace_spaces_view_start(spaces, view);
    map->meta.end = trace_spaces_view_end(view);
    memcpy(map->build_id, of->build_id, sizeof map->build_id);
}

const char *trace_info_process_name(const struct trace_info *info, uint32_t process, uint64_t time)
{
    const struct trace_processes *processes = &info->processes;
    const char *path =
        process < processes->count ? trace_processes_path(processes, process, time) : NULL;
    const struct trace_process *of = process < processes->count ? &processes->all[process] : NULL;

    if (path == NULL || (process == 0 && processes->paths[of->first_path].time > time))
        path = trace_info_text(info, "program.path", "program");
    return text_base_name(path);
}

bool trace_info_selects(const struct trace_info *info, const struct selection *selection,
                        uint32_t tid, uint64_t time)
{
    return selection_has_thread(selection, tid) &&
           (selection->pids == NULL ||
            selection_has_pid(selection, trace_processes_pid(&info->processes, tid, time)));
}

char *trace_info_status(uint32_t status, char text[TRACE_INFO_STATUS_BYTES])
{
    const char *name = sigabbrev_np((int)(status & 0x7f));

    if ((status & 0x7f) == 0)
        snprintf(text, TRACE_INFO_STATUS_BYTES, "exit %u", status >> 8 & 0xff);
    else
        snprintf(text, TRACE_INFO_STATUS_BYTES, "signal %u%s%s%s", status & 0x7f,
                 name != NULL ? " (" : "", name != NULL ? name : "", name != NULL ? ")" : "");
    return text;
}

const char *trace_info_text(const struct trace_info *info, const char *key, const char *otherwise)
{
    for (size_t i = 0; i < info->text_count; i++)
        if (strcmp(info->texts[i].key, key) == 0)
            return info->texts[i].value;
    return otherwise;
}

uint64_t trace_info_ns(const struct trace_info *info, uint64_t ticks)
{
    unsigned __int128 ns;

    if (info->clock.ticks_per_second == 1000000000)
        return ticks;
    ns = (unsigned __int128)ticks * 1000000000u / info->clock.ticks_per_second;
    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t trace_info_interval_ns(const struct trace_info *info)
{
    unsigned __int128 scaled = (unsigned __int128)info->sampling.interval_ticks * 1000000000u;
    unsigned __int128 ns =
        (scaled + info->clock.ticks_per_second / 2) / info->clock.ticks_per_second;

    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t trace_info_time_ns(const struct trace_info *info, uint64_t time)
{
    return time > info->clock.start_ticks ? trace_info_ns(info, time - info->clock.start_ticks) : 0;
}
