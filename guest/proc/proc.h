/* The generated files of /proc and /sys: their names and contents.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "guest/base/text.h"
#include "guest/thread/thread.h"
#include "guest/vm/inode.h"

/* A file.  In a process's directory `name` is relative to it, and the inode's context is the pid in
 * bits 63:32 and 0 or, in task/TID, the tid.  Elsewhere it is absolute; `*` in it stands for a
 * CPU's number, which is then in bits 15:8 of the context; bits 7:0 are `detail`.  Constant
 * contents are `text`, without a generator. */
struct proc_file {
    const char *name;
    inode_generate *generate;
    const char *text; /* NULL: generate */
    uint32_t detail;
    uint32_t mode; /* 0: 0444 */
};

struct proc_files {
    const struct proc_file *files;
    size_t count;
};

extern const struct proc_files proc_process_files; /* /proc/PID and /proc/PID/task/TID */
extern const struct proc_files proc_status_files; /* more of them: guest/proc/proc_status.c */
extern const struct proc_files proc_memory_files; /* more of them: guest/proc/proc_memory.c */
extern const struct proc_files proc_machine_files;
extern const struct proc_files proc_cpu_files;
extern const struct proc_files proc_setting_files;
extern const struct proc_files proc_ipc_files;
extern const struct proc_files proc_net_files;

/* Calls `visit` for every fixed path, those of CPUs included, but not those of processes.  `name`
 * is invalid after the call. */
typedef void proc_visit(const char *name, const struct proc_file *file, uint64_t context,
                        void *argument);
void proc_each(proc_visit *visit, void *argument);
/* Calls `visit` for the files of a process's directory. */
void proc_each_of_process(proc_visit *visit, void *argument);

/* Returns true if the CPU has this file: caches differ between models. */
bool proc_cpu_has(const struct proc_file *file);

/* Returns a new inode of a file, or NULL if out of memory. */
struct inode *proc_new_file(const struct proc_file *file, uint64_t context);

/* What a file of a process's directory is about. */
struct proc_subject {
    const struct process *process;
    const struct thread *thread; /* of task/TID, or the process's oldest; NULL: a zombie has none */
    bool task; /* it is about the thread alone */
};

/* Returns false if it has ended, which is the text's error. */
bool proc_subject(const struct inode *inode, struct text *text, struct proc_subject *subject);

void proc_subject_name(const struct proc_subject *subject, char name[16]);

/* Returns the letter and the word by which Linux names its state.  Of a process it is that of a
 * thread that runs, if there is one. */
const char *proc_subject_state(const struct proc_subject *subject);

/* Returns the process of a file or directory of /proc/PID, or NULL. */
struct process *proc_process(const struct inode *inode);

/* The program's CPUs: as a list ("0-3"), as a mask ("f"). */
void proc_add_cpu_list(struct text *text);
void proc_add_cpu_mask(struct text *text, uint64_t mask);
uint64_t proc_cpu_mask(void);
