/* The program's process. */
#ifndef GUEST_THREAD_PROCESS_H
#define GUEST_THREAD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/thread/signal_queue.h"
#include "guest/vm/vm.h"
#include "lib/manifest.h"

#define SIGNALS 64
#define PROCESS_ID 1000u
#define PROCESS_USER_ID 1000u /* user and group of the program */

struct signal_action { /* as struct kernel_sigaction of Linux on x86-64 */
    uint64_t handler;
    uint64_t flags;
    uint64_t restorer;
    uint64_t mask;
};

struct thread_use { /* what getrusage counts, for one thread or for all together */
    uint64_t user_ticks; /* time in ring 3, except since it last got its CPU */
    uint64_t page_faults;
    uint64_t waits; /* how often it gave up its CPU */
    uint64_t preemptions; /* how often another thread got its CPU */
};

struct file_table;
struct sem_undo_list;
struct fs_entry;

struct process {
    struct vm_space space;
    struct manifest manifest;
    struct signal_action actions[SIGNALS + 1];
    uint32_t pid; /* PROCESS_ID */
    struct fs_entry *directory; /* the working directory; held */
    uint32_t umask;
    struct file_table *files; /* guest/file/files.h; made by exec_load */
    const char *program_path; /* for /proc/self/exe: absolute path */
    struct sem_undo_list *undos; /* guest/ipc/sem.h; NULL: none */
    struct signal_queue signals; /* sent to the process: any thread may take them */
    uint32_t first_status; /* the first thread's: the program's if that thread is not the last */
    struct thread_use use;
    uint64_t used_ticks; /* used by its threads, without the turns they have now */
};

extern struct process process_first;

#endif
