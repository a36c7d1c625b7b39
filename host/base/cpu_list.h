/* Lists of CPUs in the notation of Linux: 2-5,8. */
#pragma once

#include <sched.h>
#include <stddef.h>

struct cpu_list {
    int cpus[CPU_SETSIZE]; /* in the order given */
    size_t count;
};

/* Reads a list, which white space may follow; an empty list has no CPUs.  Returns 0, -EINVAL if it
 * is not a list, -ERANGE for a number of CPU_SETSIZE or more, -EEXIST if a CPU occurs twice. */
int cpu_list_parse(const char *text, struct cpu_list *list);

/* Reads a file of one line that holds a list into a set.  Returns 0 or -errno; on failure the set
 * is empty. */
int cpu_list_read(const char *path, cpu_set_t *set);

/* Writes a set as a list, cut off with "..." if `out` is too small.  Returns out. */
const char *cpu_list_format(const cpu_set_t *set, char *out, size_t room);
