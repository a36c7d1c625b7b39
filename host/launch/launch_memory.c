/* Looks for free huge pages, enough memory to fill the guest's, and permission to lock it. */
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/launch/launch_memory.h"

#define ALL_PAGES "/sys/kernel/mm"

uint64_t launch_memory_huge_pages(const char *root, const char *of, const char *name)
{
    char path[PATH_MAX];
    unsigned long long value = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s%s/hugepages/hugepages-2048kB/%s", root, of, name);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%llu", &value) != 1)
        value = 0;
    fclose(file);
    return value;
}

/* Reads a line "name: N kB" of a file; returns false if there is none. */
static bool read_bytes(const char *path, const char *name, uint64_t *bytes)
{
    char line[256];
    unsigned long long kilobytes;
    bool found = false;
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        size_t length = strlen(name);

        found =
            strncmp(line, name, length) == 0 && sscanf(line + length, ": %llu kB", &kilobytes) == 1;
    }
    fclose(file);
    if (found)
        *bytes = (uint64_t)kilobytes << 10;
    return found;
}

static uint64_t available_bytes(const char *root)
{
    char path[PATH_MAX];
    uint64_t bytes = 0;

    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    (void)read_bytes(path, "MemAvailable", &bytes);
    return bytes;
}

void launch_memory_choose(const char *root, uint64_t bytes, uint64_t lock_limit_bytes,
                          struct launch_memory *memory, struct launch_notes *notes)
{
    uint64_t pages = (bytes + LAUNCH_MEMORY_HUGE_PAGE_BYTES - 1) / LAUNCH_MEMORY_HUGE_PAGE_BYTES;
    uint64_t free_pages = launch_memory_huge_pages(root, ALL_PAGES, "free_hugepages");
    uint64_t promised = launch_memory_huge_pages(root, ALL_PAGES, "resv_hugepages");
    uint64_t needed = bytes + LAUNCH_MEMORY_EMULATOR_BYTES;
    bool enough;

    free_pages -= promised < free_pages ? promised : free_pages;
    memory->huge_pages = free_pages >= pages;
    if (memory->huge_pages) {
        needed = LAUNCH_MEMORY_EMULATOR_BYTES;
        launch_note(notes, "memory: reserved huge pages of 2 MiB");
    } else {
        launch_note(notes,
                    "memory: transparent huge pages; %llu of the %llu reserved ones that the guest "
                    "needs are free (vm.nr_hugepages)",
                    (unsigned long long)free_pages, (unsigned long long)pages);
    }
    enough = available_bytes(root) > needed + needed / 4;
    memory->filled = memory->huge_pages || enough;
    if (!memory->filled)
        launch_note(notes, "memory: not filled beforehand, too little is available");
    memory->locked = lock_limit_bytes >= bytes + LAUNCH_MEMORY_EMULATOR_BYTES && enough;
    if (memory->locked)
        launch_note(notes, "memory: to be locked");
    else if (lock_limit_bytes < bytes + LAUNCH_MEMORY_EMULATOR_BYTES)
        launch_note(notes, "memory: not locked, 'ulimit -l' allows %llu MiB and %llu are needed",
                    (unsigned long long)(lock_limit_bytes >> 20),
                    (unsigned long long)((bytes + LAUNCH_MEMORY_EMULATOR_BYTES) >> 20));
    else
        launch_note(notes, "memory: not locked, too little is available");
}

/* Linux does not count huge pages of files as locked: they always stay in memory (mm/mlock.c). */
void launch_memory_verify(const char *root, pid_t pid, uint64_t bytes,
                          const struct launch_memory *memory, struct launch_notes *notes)
{
    char path[PATH_MAX];
    uint64_t locked;

    if (!memory->locked)
        return;
    snprintf(path, sizeof path, "%s/proc/%d/status", root, (int)pid);
    if (!read_bytes(path, "VmLck", &locked))
        launch_note(notes, "memory: whether it is locked is unknown, because %s has no VmLck",
                    path);
    else if (locked == 0 || (!memory->huge_pages && locked < bytes))
        launch_warn(
            notes,
            "memory: not locked although QEMU was asked to: its process %d has locked %llu MiB "
            "(VmLck), the guest has %llu; the system may take pages away during the run",
            (int)pid, (unsigned long long)(locked >> 20), (unsigned long long)(bytes >> 20));
    else
        launch_note(notes, "memory: locked, %llu MiB of the emulator's (VmLck)%s",
                    (unsigned long long)(locked >> 20),
                    memory->huge_pages ? "; huge pages stay in memory without that" : "");
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
