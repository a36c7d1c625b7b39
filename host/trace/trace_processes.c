/* Collects what a trace says about its processes; every record is checked before it is believed. */
#include "host/trace/trace_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "lib/hash.h"

#define NONE TRACE_PROCESS_NONE
#define USES_MAX 64u /* of one tid: a search ends */
#define INDEX_BITS_FIRST 8u

void trace_processes_free(struct trace_processes *p)
{
    for (uint32_t i = 0; i < p->path_count; i++)
        free(p->paths[i].path);
    free(p->all);
    free(p->paths);
    free(p->threads);
    free(p->index);
    trace_spaces_free(&p->spaces);
    *p = (struct trace_processes){0};
}

/* ---- threads ---- */

/* The place of a tid in the hash table: where its latest entry is, or a free one. */
static uint32_t place_of(const struct trace_processes *p, uint32_t tid)
{
    uint32_t mask = (1u << p->index_bits) - 1, i = hash_place(tid, p->index_bits);

    while (p->index[i] != 0 && p->threads[p->index[i] - 1].tid != tid)
        i = (i + 1) & mask;
    return i;
}

/* At most half full. */
static int grow_index(struct trace_processes *p)
{
    uint32_t *old = p->index, old_bits = p->index_bits;
    uint32_t bits = old_bits == 0 ? INDEX_BITS_FIRST : old_bits + 1;

    if (old_bits != 0 && p->thread_count < 1u << (old_bits - 1))
        return 0;
    p->index = calloc(1u << bits, sizeof p->index[0]);
    if (p->index == NULL) {
        p->index = old;
        return -ENOMEM;
    }
    p->index_bits = bits;
    for (uint32_t i = 0; old_bits != 0 && i < 1u << old_bits; i++)
        if (old[i] != 0)
            p->index[place_of(p, p->threads[old[i] - 1].tid)] = old[i];
    free(old);
    return 0;
}

/* The latest entry of a tid; NULL: there is none. */
static const struct trace_process_thread *latest(const struct trace_processes *p, uint32_t tid)
{
    uint32_t i = p->index_bits != 0 ? place_of(p, tid) : 0;

    return p->index_bits != 0 && p->index[i] != 0 ? &p->threads[p->index[i] - 1] : NULL;
}

static int add_thread(struct trace_processes *p, uint32_t tid, uint32_t process, uint64_t time)
{
    struct trace_process_thread thread = {time, tid, process, NONE, 1};
    const struct trace_process_thread *before = latest(p, tid);

    if (before != NULL) {
        thread.before = (uint32_t)(before - p->threads);
        thread.uses = before->uses + 1;
    }
    if (p->thread_count == TRACE_PROCESSES_THREADS_MAX || thread.uses > USES_MAX) {
        p->ignored++;
        return 0;
    }
    if (array_grow(&p->threads, p->thread_count, sizeof p->threads[0]) != 0 || grow_index(p) != 0)
        return -ENOMEM;
    p->threads[p->thread_count++] = thread;
    p->index[place_of(p, tid)] = p->thread_count;
    return 0;
}

uint32_t trace_processes_of(const struct trace_processes *p, uint32_t tid, uint64_t time)
{
    const struct trace_process_thread *thread = latest(p, tid);

    while (thread != NULL && thread->time > time && thread->before != NONE)
        thread = &p->threads[thread->before];
    return thread != NULL ? thread->process : 0;
}

uint32_t trace_processes_pid(const struct trace_processes *p, uint32_t tid, uint64_t time)
{
    return p->count != 0 ? p->all[trace_processes_of(p, tid, time)].pid : HR_FIRST_PID;
}

/* ---- processes ---- */

/* The process that has a pid now.  NONE: there never was one. */
static uint32_t find_process(const struct trace_processes *p, uint32_t pid)
{
    const struct trace_process_thread *thread = latest(p, pid);

    for (; thread != NULL; thread = thread->before != NONE ? &p->threads[thread->before] : NULL)
        if (p->all[thread->process].pid == pid)
            return thread->process;
    return NONE;
}

/* Adds a process, with what its parent has mapped.  *number is NONE if the bound is reached. */
static int add_process(struct trace_processes *p, uint32_t pid, uint32_t parent, uint64_t time,
                       uint32_t *number)
{
    struct trace_process process = {
        .pid = pid, .parent = parent, .start = time, .first_path = NONE, .last_path = NONE};
    int error;

    *number = NONE;
    if (p->count == TRACE_PROCESSES_MAX) {
        p->ignored++;
        return 0;
    }
    error = trace_spaces_add(&p->spaces, time, parent != NONE ? p->all[parent].space : NONE,
                             &process.space);
    if (error == -ENOSPC) {
        p->ignored++;
        return 0;
    }
    if (error != 0 || array_grow(&p->all, p->count, sizeof p->all[0]) != 0)
        return -ENOMEM;
    process.first_space = process.space;
    *number = p->spaces.all[process.space].process = p->count;
    p->all[p->count++] = process;
    return add_thread(p, pid, *number, time);
}

int trace_processes_begin(struct trace_processes *p)
{
    uint32_t first;
    int error;

    if (p->count != 0)
        return 0;
    error = add_process(p, HR_FIRST_PID, NONE, 0, &first);
    if (error == 0) {
        p->all[first].known = true;
        p->spaces.all[p->all[first].space].first = true;
    }
    return error;
}

int trace_processes_first_map(struct trace_processes *p, const struct hr_meta_map *map,
                              const uint8_t *build_id, const char *path)
{
    int error = trace_spaces_map(&p->spaces, 0, map, build_id, path, strlen(path), p->count == 1);

    p->ignored += error == -ENOSPC;
    return error == -ENOSPC ? 0 : error;
}

/* The process of a record that is no start.  One that the trace has not started is assumed. */
static int known_process(struct trace_processes *p, uint32_t pid, uint64_t time, uint32_t *number)
{
    *number = find_process(p, pid);
    if (*number == NONE) {
        p->unknown_pids++;
        return add_process(p, pid, NONE, time, number);
    }
    p->after_exit += p->all[*number].ended;
    return 0;
}

static void note_time(struct trace_processes *p, uint64_t time)
{
    p->early += time < p->last_time;
    p->last_time = time;
}

static int add_path(struct trace_processes *p, uint32_t process, uint64_t time, bool exec,
                    const uint8_t *path, size_t bytes)
{
    struct trace_process *of = &p->all[process];
    struct trace_process_path entry = {.time = time, .next = NONE, .exec = exec};

    if (bytes == 0 && !exec)
        return 0;
    if (p->path_count == TRACE_PROCESSES_PATHS_MAX) {
        p->ignored++;
        return 0;
    }
    if (array_grow(&p->paths, p->path_count, sizeof p->paths[0]) != 0)
        return -ENOMEM;
    entry.path = strndup((const char *)path, bytes);
    if (entry.path == NULL)
        return -ENOMEM;
    if (of->last_path != NONE)
        p->paths[of->last_path].next = p->path_count;
    else
        of->first_path = p->path_count;
    of->last_path = p->path_count;
    p->paths[p->path_count++] = entry;
    return 0;
}

static int take_start(struct trace_processes *p, const struct hr_rec_process *body,
                      const uint8_t *path, size_t bytes)
{
    uint32_t parent = find_process(p, body->parent_pid), number = find_process(p, body->pid);
    int error;

    if (number != NONE && !p->all[number].ended) {
        p->repeated_starts++;
        return 0;
    }
    p->unknown_parents += parent == NONE;
    error = add_process(p, body->pid, parent, body->time, &number);
    if (error != 0 || number == NONE)
        return error;
    p->all[number].known = true;
    p->all[number].parent_tid = body->parent_tid;
    return add_path(p, number, body->time, false, path, bytes);
}

static int take_exec(struct trace_processes *p, const struct hr_rec_process *body,
                     const uint8_t *path, size_t bytes)
{
    uint32_t number, space;
    int error = known_process(p, body->pid, body->time, &number);

    if (error != 0 || number == NONE)
        return error;
    if (p->all[number].execs++ >= TRACE_PROCESS_EXECS_MAX) {
        p->ignored++;
        return 0;
    }
    error = trace_spaces_add(&p->spaces, body->time, NONE, &space);
    if (error == 0) {
        p->spaces.all[p->all[number].space].next = space;
        p->spaces.all[space].process = number;
        p->all[number].space = space;
    } else if (error == -ENOSPC) {
        p->ignored++;
    } else {
        return error;
    }
    return add_path(p, number, body->time, true, path, bytes);
}

static int take_exit(struct trace_processes *p, const struct hr_rec_process *body)
{
    uint32_t number;
    int error = known_process(p, body->pid, body->time, &number);

    if (error != 0 || number == NONE || p->all[number].ended)
        return error;
    p->all[number].ended = true;
    p->all[number].end = body->time;
    p->all[number].status = body->status;
    return 0;
}

enum trace_status trace_processes_take(struct trace_processes *p, const struct trace_record *record,
                                       int *error)
{
    struct hr_rec_process body;
    const uint8_t *path;
    size_t bytes;
    int status = 0;

    if (!trace_body(record, &body, sizeof body, &path, &bytes) || body.pid == 0)
        return TRACE_BAD_RECORD;
    note_time(p, body.time);
    if (body.kind == HR_PROCESS_START)
        status = take_start(p, &body, path, bytes);
    else if (body.kind == HR_PROCESS_EXEC)
        status = take_exec(p, &body, path, bytes);
    else if (body.kind == HR_PROCESS_EXIT)
        status = take_exit(p, &body);
    if (status != 0)
        *error = status;
    return TRACE_OK;
}

enum trace_status trace_processes_take_thread(struct trace_processes *p,
                                              const struct trace_record *record, int *error)
{
    const struct trace_process_thread *before;
    struct hr_rec_thread body;
    uint32_t number;
    int status;

    if (!trace_body(record, &body, sizeof body, NULL, NULL) || body.pid == 0 || body.tid == 0)
        return TRACE_BAD_RECORD;
    note_time(p, body.time);
    before = latest(p, body.tid);
    p->repeated_starts +=
        before != NULL && !p->all[before->process].ended && p->all[before->process].pid == body.pid;
    status = known_process(p, body.pid, body.time, &number);
    if (status == 0 && number != NONE && body.tid != body.pid)
        status = add_thread(p, body.tid, number, body.time);
    if (status != 0)
        *error = status;
    return TRACE_OK;
}

enum trace_status trace_processes_take_map(struct trace_processes *p,
                                           const struct trace_record *record, int *error)
{
    struct hr_rec_process_map body;
    const uint8_t *tail;
    uint32_t number;
    size_t bytes;
    int status;

    if (!trace_body(record, &body, sizeof body, &tail, &bytes) || body.pid == 0 ||
        body.map.build_id_bytes > sizeof((struct trace_view *)0)->build_id ||
        body.map.start >= body.map.end ||
        (size_t)body.map.build_id_bytes + body.map.path_bytes > bytes)
        return TRACE_BAD_RECORD;
    note_time(p, body.time);
    status = known_process(p, body.pid, body.time, &number);
    if (status == 0 && number != NONE)
        status = trace_spaces_map(
            &p->spaces, p->all[number].space, &body.map, tail,
            (const char *)tail + body.map.build_id_bytes,
            strnlen((const char *)tail + body.map.build_id_bytes, body.map.path_bytes), false);
    p->ignored += status == -ENOSPC;
    if (status != 0 && status != -ENOSPC)
        *error = status;
    return TRACE_OK;
}

uint64_t trace_processes_contradictions(const struct trace_processes *p)
{
    return p->repeated_starts + p->unknown_parents + p->unknown_pids + p->after_exit;
}

const char *trace_processes_path(const struct trace_processes *p, uint32_t process, uint64_t time)
{
    uint32_t at = p->all[process].first_path;

    while (at != NONE && p->paths[at].next != NONE && p->paths[p->paths[at].next].time <= time)
        at = p->paths[at].next;
    return at != NONE ? p->paths[at].path : NULL;
}

/* ---- addresses ---- */

uint32_t trace_processes_space(const struct trace_processes *p, uint32_t process, uint64_t time,
                               uint64_t *until)
{
    const struct trace_space *spaces = p->spaces.all;
    uint32_t space = p->all[process].space;

    *until = UINT64_MAX;
    if (spaces[space].time <= time)
        return space;
    space = p->all[process].first_space;
    while (spaces[space].next != NONE && spaces[spaces[space].next].time <= time)
        space = spaces[space].next;
    if (spaces[space].next != NONE)
        *until = spaces[spaces[space].next].time;
    return space;
}

void trace_processes_place(const struct trace_processes *p, struct trace_slot *slots,
                           uint32_t count)
{
    uint32_t process, space = 0;
    uint64_t until = 0;
    bool plain = false;

    if (p->count == 0 || count == 0)
        return;
    process = trace_processes_of(p, slots[0].tid, slots[0].time);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || slots[i].time >= until) {
            space = trace_processes_space(p, process, slots[i].time, &until);
            plain = trace_spaces_plain(&p->spaces, space);
        }
        if (!plain && (slots[i].flags & HR_SAMPLE_KERNEL) == 0)
            slots[i].ip = trace_spaces_common(&p->spaces, space, slots[i].ip);
    }
}

uint64_t trace_processes_address(const struct trace_processes *p, uint32_t tid, uint64_t time,
                                 uint64_t address)
{
    uint64_t until;

    if (p->count == 0)
        return address;
    return trace_spaces_common(
        &p->spaces, trace_processes_space(p, trace_processes_of(p, tid, time), time, &until),
        address);
}
