/* The processes of a made-up trace.  For gentrace: the first one has a thread, the others have two.
 */
#ifndef TESTS_TOOLS_GENPROCESSES_H
#define TESTS_TOOLS_GENPROCESSES_H

#include "tests/tools/genprogram.h"

/* The process of a thread, which are numbered from 0. */
static inline uint32_t process_of(uint32_t thread)
{
    return (thread + 1) / 2;
}

static inline uint32_t process_tid(uint32_t thread)
{
    return thread % 2 == 1 || thread == 0 ? HR_FIRST_PID + process_of(thread)
                                          : 2000 + process_of(thread);
}

static inline void add_process(struct trace_writer *w, uint32_t kind, uint32_t process,
                               uint64_t time, uint32_t status, const char *path)
{
    const bool start = kind == HR_PROCESS_START;
    const struct hr_rec_process body = {
        .time = time,
        .kind = kind,
        .pid = HR_FIRST_PID + process,
        .parent_pid = start ? HR_FIRST_PID + process - 1 : 0,
        .parent_tid = start ? HR_FIRST_PID + process - 1 : 0,
        .status = status,
    };

    add(w, HR_REC_PROCESS, time, &body, sizeof body, path, strlen(path));
}

/* How process N starts: fork, exec unless it runs what its parent runs, its second thread. */
static inline void add_process_start(struct trace_writer *w, uint32_t process, uint64_t time,
                                     const struct program *before, const struct program *program)
{
    const struct hr_rec_thread thread = {
        .time = time + 3, .tid = 2000 + process, .pid = HR_FIRST_PID + process};
    const struct hr_rec_process_map map = {
        .time = time + 2, .pid = HR_FIRST_PID + process, .map = program->map};
    uint8_t tail[PROGRAM_TAIL_BYTES];

    add_process(w, HR_PROCESS_START, process, time, 0, before->path != NULL ? before->path : "");
    if (program->path != before->path) {
        add_process(w, HR_PROCESS_EXEC, process, time + 1, 0, program->path);
        add(w, HR_REC_PROCESS_MAP, map.time, &map, sizeof map, tail, program_tail(program, tail));
    }
    add(w, HR_REC_THREAD, thread.time, &thread, sizeof thread, NULL, 0);
}

/* How it ends: exit status N, but the first of them by SIGKILL. */
static inline void add_process_end(struct trace_writer *w, uint32_t process, uint64_t time)
{
    add_process(w, HR_PROCESS_EXIT, process, time, process == 1 ? 9 : process << 8, "");
}

/* What no kernel says: of processes that never started, have ended, or run already; in a circle. */
static inline void add_process_lies(struct trace_writer *w, uint64_t time)
{
    const struct hr_rec_thread threads[] = {
        {time, 3000, 5002}, {time, 2001, 1000}, {time, 2001, 1000}};
    const struct hr_rec_process_map map = {
        .time = time, .pid = 5003, .map = {.start = 0x401000, .end = 0x402000, .path_bytes = 0}};
    struct hr_rec_process body = {
        .time = time, .kind = HR_PROCESS_START, .pid = 1003, .parent_pid = 1004};

    add(w, HR_REC_PROCESS, time, &body, sizeof body, NULL, 0);
    body.pid = 1004;
    body.parent_pid = 1003;
    add(w, HR_REC_PROCESS, time, &body, sizeof body, NULL, 0);
    add(w, HR_REC_PROCESS, time, &body, sizeof body, NULL, 0); /* once more */
    body.pid = body.parent_pid = 1005;
    add(w, HR_REC_PROCESS, time, &body, sizeof body, NULL, 0);
    add(w, HR_REC_THREAD, time, &threads[0], sizeof threads[0], NULL, 0);
    add(w, HR_REC_THREAD, time, &threads[1], sizeof threads[1], NULL, 0);
    add(w, HR_REC_THREAD, time, &threads[2], sizeof threads[2], NULL, 0);
    add(w, HR_REC_PROCESS_MAP, time, &map, sizeof map, NULL, 0);
    add_process(w, HR_PROCESS_EXEC, 4000, time, 0, "/x");
    add_process(w, HR_PROCESS_EXIT, 4001, time, 0, "");
    add_process(w, HR_PROCESS_EXIT, 1, time, 0, "");
    add_process(w, HR_PROCESS_EXEC, 1, time, 0, "/after");
    add_process(w, HR_PROCESS_EXIT, 4, time - 1, 0, "");
}

#endif
