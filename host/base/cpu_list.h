/* Lists of CPUs as the kernel and people write them: 2-5,8. */
#ifndef HOST_BASE_CPU_LIST_H
#define HOST_BASE_CPU_LIST_H

#include <sched.h>
#include <stddef.h>

struct cpu_list {
    int cpus[CPU_SETSIZE]; /* in the order given */
    size_t count;
};

/* Reads a list; white space may follow it.  An empty one has no CPUs.  0, -EINVAL when it is no
 * list, -ERANGE for a number of CPU_SETSIZE or more, -EEXIST when a CPU is named twice.
 */
int cpu_list_parse(const char *text, struct cpu_list *list);

/* Reads a file of one line that holds a list, into a set.  0, -errno; on failure the set is empty.
 */
int cpu_list_read(const char *path, cpu_set_t *set);

/* Writes a set as a list, cut off with "..." where the room ends.  Returns out. */
const char *cpu_list_format(const cpu_set_t *set, char *out, size_t room);

#endif
