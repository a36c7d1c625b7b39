/* Looks for free huge pages and for leave to lock memory. */
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/launch_memory.h"

#define HUGE_PAGE_BYTES (2ull << 20)

/* 0 when there is no such file or number. */
static uint64_t read_number(const char *root, const char *name)
{
    char path[PATH_MAX];
    unsigned long long value = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/sys/kernel/mm/hugepages/hugepages-2048kB/%s", root, name);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%llu", &value) != 1)
        value = 0;
    fclose(file);
    return value;
}

static uint64_t available_bytes(const char *root)
{
    char path[PATH_MAX];
    char line[256];
    unsigned long long kilobytes = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
            break;
    fclose(file);
    return (uint64_t)kilobytes << 10;
}

void launch_memory_choose(const char *root, uint64_t bytes, uint64_t lock_limit_bytes,
                          struct launch_memory *memory, struct launch_notes *notes)
{
    uint64_t pages = (bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES;
    uint64_t free_pages = read_number(root, "free_hugepages");
    uint64_t promised = read_number(root, "resv_hugepages");
    uint64_t needed = bytes + LAUNCH_MEMORY_EMULATOR_BYTES;

    free_pages -= promised < free_pages ? promised : free_pages;
    memory->huge_pages = free_pages >= pages;
    if (memory->huge_pages) {
        needed = LAUNCH_MEMORY_EMULATOR_BYTES;
        launch_note(notes, "memory: reserved huge pages of 2 MiB");
    } else {
        launch_note(notes,
                    "memory: transparent huge pages; %llu of the %llu reserved ones that the "
                    "guest needs are free (vm.nr_hugepages)",
                    (unsigned long long)free_pages, (unsigned long long)pages);
    }
    memory->locked = lock_limit_bytes >= bytes + LAUNCH_MEMORY_EMULATOR_BYTES &&
                     available_bytes(root) > needed + needed / 4;
    if (memory->locked)
        launch_note(notes, "memory: locked");
    else if (lock_limit_bytes < bytes + LAUNCH_MEMORY_EMULATOR_BYTES)
        launch_note(notes, "memory: not locked, 'ulimit -l' allows %llu MiB and %llu are needed",
                    (unsigned long long)(lock_limit_bytes >> 20),
                    (unsigned long long)((bytes + LAUNCH_MEMORY_EMULATOR_BYTES) >> 20));
    else
        launch_note(notes, "memory: not locked, too little is available");
}

/* Root in a container may lack the privileges that lift the limit, and so may its daemons. */
uint64_t launch_memory_lock_limit(bool of_daemon)
{
    int privilege = of_daemon ? CAP_SYS_RESOURCE : CAP_IPC_LOCK;
    struct rlimit limit;

    if ((of_daemon || geteuid() == 0) && prctl(PR_CAPBSET_READ, privilege, 0, 0, 0) == 1)
        return UINT64_MAX;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return 0;
    return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}
