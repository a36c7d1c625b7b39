/* Writes packets of a Perfetto trace.  The fields are those of protos/perfetto/trace in
 * https://github.com/google/perfetto. */
#include "host/export/perfetto/perfetto_packets.h"

#include <errno.h>
#include <stdio.h>

#include "host/base/text.h"
#include "host/export/perfetto/perfetto_fields.h"

#define NAMES_MAX (1u << 14)
#define CALLSTACKS_MAX (1u << 19)
#define FRAMES_MAX 1024u
#define THREADS_MAX (1u << 16)
#define TRACKS_MAX (1u << 16)
#define ARGUMENTS_MAX (1u << 8) /* names */

/* More of the published field numbers. */
enum { CLOCKS_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_REALTIME_ID = 1, CLOCK_BOOT_ID = 6 };
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_THREAD, TRACK_PARENT, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT_NAME = 6 };
enum { INTERNED_FUNCTIONS = 5, INTERNED_FRAMES, INTERNED_CALLSTACKS };
enum { INTERNED_BUILD_IDS = 16, INTERNED_PATHS, INTERNED_MAPPINGS = 19 };
enum { STRING_IID = 1, STRING_TEXT };
enum { FRAME_IID = 1, FRAME_FUNCTION, FRAME_MAPPING, FRAME_RELATIVE };
enum { CALLSTACK_IID = 1, CALLSTACK_FRAME };
enum { MAPPING_IID = 1, MAPPING_BUILD_ID, MAPPING_START = 4, MAPPING_END };
enum { MAPPING_PATH = 7, MAPPING_OFFSET = 8 };

/* Frames that say how a stack ended; functions have theirs from 1 on. */
#define FRAME_OF_ROOT (FUNCTIONS_MAX + 1)

int perfetto_packets_init(struct perfetto_packets *packets, struct export *e)
{
    *packets = (struct perfetto_packets){.e = e};
    packets->team = row_team_new(&e->output, &e->scan, perfetto_packets_row, packets);
    if (packets->team == NULL || numbers_init(&packets->names, NAMES_MAX) != 0 ||
        numbers_init(&packets->callstacks, CALLSTACKS_MAX) != 0)
        return -ENOMEM;
    if (numbers_init(&packets->processes, TRACE_PROCESSES_MAX) != 0 ||
        numbers_init(&packets->arguments, ARGUMENTS_MAX) != 0 ||
        numbers_init(&packets->tracks, TRACKS_MAX) != 0)
        return -ENOMEM;
    return numbers_init(&packets->threads, THREADS_MAX);
}

void perfetto_packets_free(struct perfetto_packets *packets)
{
    row_team_free(packets->team);
    numbers_free(&packets->names);
    numbers_free(&packets->callstacks);
    numbers_free(&packets->threads);
    numbers_free(&packets->processes);
    numbers_free(&packets->arguments);
    numbers_free(&packets->tracks);
    proto_free(&packets->message);
}

size_t perfetto_packets_begin(struct perfetto_packets *packets)
{
    size_t mark = perfetto_packets_begin_message(&packets->message, !packets->begun);

    packets->begun = true;
    return mark;
}

void perfetto_packets_end(struct perfetto_packets *packets, size_t mark)
{
    proto_end(&packets->message, mark);
    row_team_bytes(packets->team, packets->message.bytes, packets->message.used);
    packets->message.used = 0;
}

void perfetto_packets_string(struct perfetto_packets *packets, uint32_t field, uint64_t iid,
                             const char *text)
{
    size_t string = proto_begin(&packets->message, field);

    proto_number(&packets->message, STRING_IID, iid);
    proto_text(&packets->message, STRING_TEXT, text);
    proto_end(&packets->message, string);
}

static void put_frame(struct perfetto_packets *packets, uint64_t iid, const char *name,
                      uint64_t mapping, uint64_t relative)
{
    size_t mark = perfetto_packets_begin(packets);
    size_t interned = proto_begin(&packets->message, PACKET_INTERNED);
    size_t frame;

    perfetto_packets_string(packets, INTERNED_FUNCTIONS, iid, name);
    frame = proto_begin(&packets->message, INTERNED_FRAMES);
    proto_number(&packets->message, FRAME_IID, iid);
    proto_number(&packets->message, FRAME_FUNCTION, iid);
    proto_number(&packets->message, FRAME_MAPPING, mapping);
    proto_number(&packets->message, FRAME_RELATIVE, relative);
    proto_end(&packets->message, frame);
    proto_end(&packets->message, interned);
    perfetto_packets_end(packets, mark);
}

/* Map i has number i + 1; the last number stands for what is in no map. */
static void put_mapping(struct perfetto_packets *packets, size_t i)
{
    const struct trace_info *info = &packets->e->info;
    const struct trace_map *map = i < info->map_count ? &info->maps[i] : NULL;
    const char *path = map != NULL ? map->path : "[unknown]";
    size_t mark = perfetto_packets_begin(packets);
    size_t interned = proto_begin(&packets->message, PACKET_INTERNED);
    size_t mapping, build_id;

    /* a path is shown as its parts, each after a slash */
    perfetto_packets_string(packets, INTERNED_PATHS, i + 1, path[0] == '/' ? path + 1 : path);
    build_id = proto_begin(&packets->message, INTERNED_BUILD_IDS);
    proto_number(&packets->message, STRING_IID, i + 1);
    proto_bytes(&packets->message, STRING_TEXT, map != NULL ? map->build_id : NULL,
                map != NULL ? map->meta.build_id_bytes : 0);
    proto_end(&packets->message, build_id);
    mapping = proto_begin(&packets->message, INTERNED_MAPPINGS);
    proto_number(&packets->message, MAPPING_IID, i + 1);
    proto_number(&packets->message, MAPPING_BUILD_ID, i + 1);
    proto_number(&packets->message, MAPPING_PATH, i + 1);
    if (map != NULL) {
        proto_number(&packets->message, MAPPING_START, map->meta.start);
        proto_number(&packets->message, MAPPING_END, map->meta.end);
        proto_number(&packets->message, MAPPING_OFFSET, map->meta.file_offset);
    }
    proto_end(&packets->message, mapping);
    proto_end(&packets->message, interned);
    perfetto_packets_end(packets, mark);
}

static void put_clock(struct perfetto_packets *packets, uint64_t id, uint64_t ns)
{
    size_t clock = proto_begin(&packets->message, CLOCKS_CLOCK);

    proto_number(&packets->message, CLOCK_ID, id);
    proto_number(&packets->message, CLOCK_TIME, ns);
    proto_end(&packets->message, clock);
}

void perfetto_packets_head(struct perfetto_packets *packets)
{
    const struct trace_info *info = &packets->e->info;
    size_t mark = perfetto_packets_begin(packets);
    size_t clocks = proto_begin(&packets->message, PACKET_CLOCKS);

    put_clock(packets, CLOCK_BOOT_ID, 0);
    if (info->clock.start_unix_ns != 0)
        put_clock(packets, CLOCK_REALTIME_ID, info->clock.start_unix_ns);
    proto_end(&packets->message, clocks);
    perfetto_packets_end(packets, mark);
    for (size_t i = 0; i <= info->map_count; i++)
        put_mapping(packets, i);
    put_frame(packets, FRAME_OF_ROOT + HR_STACK_CUT, "[truncated]", info->map_count + 1, 0);
    put_frame(packets, FRAME_OF_ROOT + HR_STACK_BROKEN, "[broken]", info->map_count + 1, 0);
}

static size_t begin_track(struct perfetto_packets *packets, uint64_t uuid, uint64_t parent,
                          const char *name)
{
    size_t track = proto_begin(&packets->message, PACKET_TRACK);

    proto_number(&packets->message, TRACK_UUID, uuid);
    proto_text(&packets->message, TRACK_NAME, name);
    if (parent != 0)
        proto_number(&packets->message, TRACK_PARENT, parent);
    return track;
}

static void put_process(struct perfetto_packets *packets, uint64_t uuid, uint32_t pid,
                        const char *name)
{
    size_t mark = perfetto_packets_begin(packets);
    size_t track = begin_track(packets, uuid, 0, name);
    size_t process = proto_begin(&packets->message, TRACK_PROCESS);

    proto_number(&packets->message, PROCESS_PID, pid);
    proto_text(&packets->message, PROCESS_NAME, name);
    proto_end(&packets->message, process);
    proto_end(&packets->message, track);
    perfetto_packets_end(packets, mark);
}

uint64_t perfetto_packets_process(struct perfetto_packets *packets, uint32_t process)
{
    const struct trace_info *info = &packets->e->info;
    uint64_t uuid = perfetto_packets_uuid(PERFETTO_PROCESS, HR_FIRST_PID + process);

    if (numbers_add(&packets->processes, process))
        put_process(packets, uuid, info->processes.all[process].pid,
                    trace_info_process_name(info, process, UINT64_MAX));
    return uuid;
}

/* The track of a thread's process; *pid is its number. */
static uint64_t process_of(struct perfetto_packets *packets, uint32_t tid, uint64_t time,
                           uint32_t *pid)
{
    const struct trace_processes *processes = &packets->e->info.processes;

    if (trace_processes_any(processes)) {
        uint32_t process = trace_processes_of(processes, tid, time);

        *pid = processes->all[process].pid;
        return perfetto_packets_process(packets, process);
    }
    if (packets->pid == 0) {
        packets->pid = tid;
        put_process(packets, perfetto_packets_uuid(PERFETTO_PROCESS, tid), tid,
                    text_base_name(trace_info_text(&packets->e->info, "program.path", "program")));
    }
    *pid = packets->pid;
    return perfetto_packets_uuid(PERFETTO_PROCESS, packets->pid);
}

void perfetto_packets_thread(struct perfetto_packets *packets, uint32_t tid, uint64_t time)
{
    uint64_t process;
    char name[32];
    size_t mark, track, thread;
    uint32_t pid;

    if (tid == 0 || !numbers_add(&packets->threads, tid))
        return;
    process = process_of(packets, tid, time, &pid);
    snprintf(name, sizeof name, "thread %u", tid);
    mark = perfetto_packets_begin(packets);
    track = begin_track(packets, perfetto_packets_uuid(PERFETTO_THREAD, tid), process, name);
    thread = proto_begin(&packets->message, TRACK_THREAD);
    proto_number(&packets->message, THREAD_PID, pid);
    proto_number(&packets->message, THREAD_TID, tid);
    proto_text(&packets->message, THREAD_NAME, name);
    proto_end(&packets->message, thread);
    proto_end(&packets->message, track);
    perfetto_packets_end(packets, mark);
}

void perfetto_packets_track(struct perfetto_packets *packets, uint64_t uuid, uint64_t parent,
                            const char *name, bool rate)
{
    size_t mark = perfetto_packets_begin(packets);
    size_t track = begin_track(packets, uuid, parent, name);
    size_t counter;

    if (rate) {
        counter = proto_begin(&packets->message, TRACK_COUNTER);
        proto_text(&packets->message, COUNTER_UNIT_NAME, "1/us");
        proto_end(&packets->message, counter);
    }
    proto_end(&packets->message, track);
    perfetto_packets_end(packets, mark);
}

/* The frame of the function at an address; frames are written in the functions' order. */
static uint64_t frame_at(struct perfetto_packets *packets, uint64_t address)
{
    struct functions *functions = &packets->e->functions;
    const struct trace_info *info = &packets->e->info;
    uint32_t number = functions_at(functions, address);
    char label[FUNCTIONS_LABEL_BYTES], name[FUNCTIONS_LABEL_BYTES + 16];

    for (; packets->frames < functions->count; packets->frames++) {
        const struct function *function = &functions->rows[packets->frames];
        size_t map = export_map(info, function->start);

        snprintf(name, sizeof name, "%s%s", function->kernel ? "[kernel] " : "",
                 functions_label(function, label));
        put_frame(packets, packets->frames + 1, name, map != 0 ? map : info->map_count + 1,
                  map != 0 ? function->start - info->maps[map - 1].meta.start : function->start);
    }
    return number + 1;
}

/* The call stack of samples in a function; its frames come outermost first. */
static uint64_t callstack_of(struct perfetto_packets *packets, uint64_t ip, uint32_t stack)
{
    const struct stacks *stacks = &packets->e->scan.stacks;
    uint64_t inner = frame_at(packets, ip);
    uint64_t frames[FRAMES_MAX];
    bool added;
    uint64_t iid = numbers_of(&packets->callstacks, inner, stack, &added);
    uint32_t root = stacks_root(stacks, stack);
    uint32_t count;
    size_t mark, interned, callstack;

    if (!added)
        return iid;
    count = stacks_addresses(stacks, stack, frames, FRAMES_MAX);
    for (uint32_t i = 0; i < count; i++)
        frames[i] = frame_at(packets, frames[i] - 1);
    mark = perfetto_packets_begin(packets);
    interned = proto_begin(&packets->message, PACKET_INTERNED);
    callstack = proto_begin(&packets->message, INTERNED_CALLSTACKS);
    proto_number(&packets->message, CALLSTACK_IID, iid);
    if (root == HR_STACK_CUT || root == HR_STACK_BROKEN)
        proto_number(&packets->message, CALLSTACK_FRAME, FRAME_OF_ROOT + root);
    while (count-- > 0)
        proto_number(&packets->message, CALLSTACK_FRAME, frames[count]);
    proto_number(&packets->message, CALLSTACK_FRAME, inner);
    proto_end(&packets->message, callstack);
    proto_end(&packets->message, interned);
    perfetto_packets_end(packets, mark);
    return iid;
}

void perfetto_packets_sample(struct perfetto_packets *packets, uint32_t cpu,
                             const struct trace_slot *slot, uint32_t stack)
{
    uint64_t callstack = callstack_of(packets, slot->ip, stack);
    uint64_t *row = perfetto_packets_add(packets, trace_info_time_ns(&packets->e->info, slot->time),
                                         PERFETTO_ROW_SAMPLE);

    row[PERFETTO_ROW_CPU] = cpu;
    row[PERFETTO_ROW_PID] =
        packets->pid != 0 ? packets->pid
                          : trace_processes_pid(&packets->e->info.processes, slot->tid, slot->time);
    row[PERFETTO_ROW_TID] = slot->tid;
    row[PERFETTO_ROW_CALLSTACK] = callstack;
    row[PERFETTO_ROW_FLAGS] = slot->flags;
}
