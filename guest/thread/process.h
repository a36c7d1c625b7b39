/* Processes: the table of them, and who is whose parent. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/thread/limits.h"
#include "guest/thread/signal_queue.h"
#include "guest/vm/vm.h"
#include "lib/boot/manifest.h"

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

struct process_use { /* of processes that ended and were waited for */
    struct thread_use use;
    uint64_t used_ticks;
};

enum process_state {
    PROCESS_RUNS, /* or is stopped */
    PROCESS_ENDED, /* a zombie: its parent has not waited for it */
    PROCESS_GONE /* no process will wait for it: freed with its last thread */
};

/* The signals that stop and continue it.  Each of its threads stops when it next looks. */
struct process_stop {
    uint32_t signal; /* that stops it; 0: it is not to stop */
    uint32_t threads; /* that have stopped */
    uint32_t report; /* it has stopped by this signal, and its parent does not know; 0: nothing */
    bool continued; /* the parent does not know */
};

struct file_table;
struct sem_undo_list;
struct fs_entry;
struct thread;

/* The program of a process, shared by its copies: guest/exec/exec_program.h. */
struct process_program {
    uint32_t references;
    uint32_t bytes; /* of all of this */
    struct fs_entry *entry; /* its file; held, and not to be written */
    bool elsewhere; /* the path is the host's, not that of the entry when it was executed */
    char path[]; /* absolute */
};

struct process_place { /* shared by CLONE_FS: guest/fs/fs_place.h */
    uint32_t references;
    uint32_t umask;
    struct fs_entry *directory; /* the working directory; held */
};

struct process_given { /* what the program was given: user addresses, in its first stack */
    uint64_t arguments;
    uint64_t environment; /* the end of the arguments */
    uint64_t end; /* of the environment */
    uint64_t auxv;
    uint64_t auxv_bytes;
};

struct program_timer;

struct process {
    struct vm_space *space; /* held; NULL: it has given it up, and ends */
    struct manifest manifest;
    struct signal_action *actions; /* 1..SIGNALS; held: process_actions_new */
    uint32_t pid; /* PROCESS_ID: the first one */
    struct process_place *place; /* held: guest/fs/fs_place.h; NULL: it ends */
    struct file_table *files; /* guest/file/files.h; held; made by exec_load */
    struct process_program *program; /* held: guest/exec/exec_program.h */
    struct process_given given;
    struct thread *ender; /* this thread ends all others: guest/thread/threads_end.h */
    uint32_t others; /* that it still waits for */
    struct sem_undo_list *undos; /* guest/ipc/sem.h; NULL: none */
    struct signal_queue signals; /* sent to the process: any thread may take them */
    struct limit limits[LIMITS_COUNT]; /* by RLIMIT_* */
    int32_t nice; /* -20..19 */
    uint32_t barriers; /* registrations of membarrier */
    struct thread_use use; /* of its threads, without the turns they have now */
    uint64_t used_ticks;
    struct process_use children_use; /* of those that it has waited for */
    struct program_timer *timers; /* guest/signal/program_timer.h */
    struct program_timer *interval_timers; /* NULL: none was ever set */
    /* its threads, oldest first */
    struct thread *oldest, *youngest;
    uint32_t thread_count;
    uint32_t unburied; /* threads that have ended and are not freed yet */
    /* the end */
    enum process_state state;
    bool ending; /* all its threads end as soon as they look */
    uint32_t status; /* as wait4 gives it */
    char name[16]; /* of a zombie */
    uint64_t start_ns; /* of the program's clock */
    /* relatives */
    struct process *parent; /* NULL: the system's process 1, which is not there */
    struct process *children; /* the youngest */
    struct process *next_sibling, *previous_sibling; /* the next one is older */
    uint32_t group, session;
    uint32_t exit_signal; /* to the parent; 0: none */
    uint32_t death_signal; /* PR_SET_PDEATHSIG */
    bool subreaper; /* PR_SET_CHILD_SUBREAPER */
    bool executed; /* execve since fork: its parent no longer sets its group */
    uint32_t vfork_tid; /* the parent's thread that waits until it ends or has other memory */
    struct process_stop stop;
    /* guest/thread/process.c */
    struct process *next, *previous; /* all processes, oldest first */
    struct process *hash_next;
};

extern struct process process_first;

/* The terminal, if there is one, belongs to the session of the first process; this is the group in
 * its foreground. */
extern uint32_t process_foreground;

/* Context of all functions: with the kernel lock held. */

/* Boot: makes the table, with process_first in it. */
void process_start(void);

/* Makes a child of `parent` (NULL: of process 1) that inherits what is copied, from the process of
 * the calling thread.  It has no memory, files, actions or threads yet, and is in no list.  Returns
 * NULL without memory. */
struct process *process_new(const struct process *from, struct process *parent, uint32_t pid);
void process_add(struct process *process);
void process_free(struct process *process); /* in no list, and without threads */

/* Tables of signal actions.  process_actions_new copies one; NULL: no memory. */
struct signal_action *process_actions_new(const struct signal_action *from);
struct signal_action *process_actions_hold(struct signal_action *actions);
int process_actions_unshare(struct process *process); /* execve: 0, -ENOMEM */

struct process *process_find(uint32_t pid); /* zombies too; NULL: no such process */
uint32_t process_count(void); /* zombies too */
uint32_t process_limit(void); /* --processes */

/* The processes, oldest first; zombies too.  NULL: the end. */
static inline struct process *process_after(const struct process *process)
{
    return process != NULL ? process->next : &process_first;
}

#define PROCESS_SYSTEM_PID 1u /* the parent of those that have none here */

static inline uint32_t process_parent_pid(const struct process *process)
{
    return process->parent != NULL ? process->parent->pid : PROCESS_SYSTEM_PID;
}

/* Returns true if some process has this group or session. */
bool process_uses_id(uint32_t id);
bool process_has_group(uint32_t group, uint32_t session);

/* Returns true if no process of the group has its parent in another group of its session: then
 * no shell could continue it, and a terminal does not stop it. */
bool process_group_orphaned(uint32_t group);

/* Gives its children to the nearest subreaper or to process 1.  Calls `adopted` for each. */
void process_give_children(struct process *process, void (*adopted)(struct process *child));

/* Takes an ended process off the lists.  If its parent waited for it, adds its use to the parent's.
 * It is freed, at once or with its last thread. */
void process_reap(struct process *process, bool waited);

/* The run ends: logs a notice of the processes that are left, unless there is none. */
void process_log_left(void);

/* Call when a thread of the process is freed. */
void process_thread_freed(struct process *process);
