/* Moves the emulator's main thread after its CPU thread: see host/launch/launch_near.h. */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/launch/launch_near.h"

#define FIRST_NS 50000000u /* from the program's start to the first search */
#define SEARCH_NS 2000000u /* until the CPU thread is found */
#define SEARCH_LIMIT_NS 10000000000u
#define FOLLOW_NS 5000000u
#define PROCESSOR_FIELD 39 /* of /proc/PID/stat: proc_pid_stat(5) */

/* Reads a small file of /proc/PID/task/TID.  Returns false if there is none. */
static bool read_task(pid_t process, const char *thread, const char *name, char *text, size_t size)
{
    char path[96];
    ssize_t bytes;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/task/%s/%s", (int)process, thread, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bytes = read(fd, text, size - 1);
    close(fd);
    text[bytes > 0 ? bytes : 0] = '\0';
    return bytes > 0;
}

/* Returns the thread that executes all CPUs of the guest, by the name that QEMU gives it; 0 if
 * there is none. */
static pid_t find_cpu_thread(pid_t process)
{
    char path[64], name[32];
    struct dirent *entry;
    pid_t found = 0;
    DIR *tasks;

    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    tasks = opendir(path);
    if (tasks == NULL)
        return 0;
    while (found == 0 && (entry = readdir(tasks)) != NULL)
        if (read_task(process, entry->d_name, "comm", name, sizeof name) &&
            strcmp(name, "ALL CPUs/TCG\n") == 0)
            found = (pid_t)strtol(entry->d_name, NULL, 10);
    closedir(tasks);
    return found;
}

/* Returns the CPU that a thread runs on or ran on last, or -1. */
static int cpu_of(pid_t process, pid_t thread)
{
    char number[16], text[512];
    const char *field;

    snprintf(number, sizeof number, "%d", (int)thread);
    if (!read_task(process, number, "stat", text, sizeof text))
        return -1;
    field = strrchr(text, ')'); /* the end of the second field, the name */
    for (int i = 2; field != NULL && i < PROCESSOR_FIELD; i++)
        field = strchr(field + 1, ' ');
    return field != NULL ? (int)strtol(field + 1, NULL, 10) : -1;
}

static bool move_main(pid_t process, int cpu)
{
    const struct sched_param none = {0};
    cpu_set_t one;

    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return false;
    CPU_ZERO(&one);
    CPU_SET((unsigned int)cpu, &one);
    return sched_setscheduler(process, SCHED_BATCH | SCHED_RESET_ON_FORK, &none) == 0 &&
           sched_setaffinity(process, sizeof one, &one) == 0;
}

void launch_near_start(struct launch_near *near, pid_t process)
{
    *near = (struct launch_near){.process = process, .cpu = -1, .due_ns = UINT64_MAX};
}

void launch_near_begin(struct launch_near *near, uint64_t now_ns)
{
    if (near->give_up_ns != 0)
        return;
    near->due_ns = now_ns + FIRST_NS;
    near->give_up_ns = near->due_ns + SEARCH_LIMIT_NS;
}

uint64_t launch_near_deadline(const struct launch_near *near)
{
    return near->process != 0 ? near->due_ns : UINT64_MAX;
}

void launch_near_follow(struct launch_near *near, uint64_t now_ns)
{
    int cpu;

    if (now_ns < launch_near_deadline(near))
        return;
    if (near->cpu_thread == 0) {
        near->cpu_thread = find_cpu_thread(near->process);
        near->due_ns = now_ns + SEARCH_NS;
        if (near->cpu_thread == 0 && now_ns > near->give_up_ns)
            near->process = 0;
        return;
    }
    near->due_ns = now_ns + FOLLOW_NS;
    cpu = cpu_of(near->process, near->cpu_thread);
    if (cpu == near->cpu)
        return;
    near->cpu = cpu;
    if (!move_main(near->process, cpu))
        near->process = 0;
}
