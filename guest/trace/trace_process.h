/* Processes in the trace.  Context: thread, with the kernel lock; any may wait for room. */
#pragma once

#include <stdint.h>

#include "guest/trace/trace_maps.h"

struct process;

/* A process was made by fork, vfork, or clone without CLONE_THREAD; it has its parent's load map.
 */
void trace_process_start(const struct process *child, uint32_t parent_pid, uint32_t parent_tid);

/* execve has mapped the new program, which was executed by the name `path`.  Its load map is what
 * this thread has announced by trace_map (guest/trace/trace.h) since trace_map_forget. */
void trace_process_exec(const struct process *process, const char *path);

/* The process has ended; wait_status is as wait4 gives it. */
void trace_process_exit(const struct process *process, uint32_t wait_status);

/* A thread other than a process's first one was made.  Only for processes other than the first. */
void trace_thread_start(uint32_t tid, uint32_t pid);

/* The memory with which a thread begins as its stack.  Only where samples have accesses. */
void trace_thread_stack(uint32_t tid, uint64_t start, uint64_t end);

/* The process has mapped executable memory that shows a file, other than by execve. */
void trace_process_map(const struct process *process, const struct trace_maps_map *map);

/* Tells guest/sample/python.h what is new to it of processes and their maps.  Returns the pid of
 * this CPU's process; 0: there is none.  Context: any; may run on several CPUs at once. */
uint32_t trace_process_offer(void);
