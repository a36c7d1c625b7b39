/* The generated files of /proc and /sys: which there are, and what they say.
 * Thread context, by the kernel lock's holder.
 */
#ifndef GUEST_PROC_PROC_H
#define GUEST_PROC_PROC_H

#include <stddef.h>
#include <stdint.h>

#include "guest/base/text.h"
#include "guest/thread/thread.h"
#include "guest/vm/inode.h"

/* A file: in a process's directory `name` is relative to it, and the inode's context is 0 or, in
 * task/TID, the tid.  Elsewhere it is absolute; `*` in it stands for a CPU's number, which then is
 * in bits 15:8 of the context; bits 7:0 are `detail`.  What never changes is `text`, without a
 * generator. */
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
extern const struct proc_files proc_memory_files; /* more of the same: guest/proc/proc_memory.c */
extern const struct proc_files proc_machine_files;
extern const struct proc_files proc_cpu_files;
extern const struct proc_files proc_setting_files;

/* Calls for every fixed path, CPUs' paths included.  `name` is gone after the call. */
typedef void proc_visit(const char *name, const struct proc_file *file, uint64_t context,
                        void *argument);
void proc_each(proc_visit *visit, void *argument);
/* The same for the files of a process's directory. */
void proc_each_of_process(proc_visit *visit, void *argument);

/* True when the CPU's file exists: caches differ between models. */
bool proc_cpu_has(const struct proc_file *file);

/* Generates what the inode's context points to: a file's text. */
int64_t proc_say(const struct thread *thread, const struct inode *inode, char *out, uint64_t room);

/* The head of a generator, and how one begins that may need neither thread nor inode. */
#define GENERATE(name)                                                                     \
    static int64_t name(const struct thread *thread, const struct inode *inode, char *out, \
                        uint64_t room)
#define BEGIN                                      \
    struct text text = {.out = out, .room = room}; \
    (void)thread;                                  \
    (void)inode;

/* Whom a file of a process's directory is about; NULL: that thread has ended (-ESRCH). */
const struct thread *proc_subject(const struct thread *thread, const struct inode *inode);

/* The CPUs of the program: as a list ("0-3"), as a mask ("f"). */
void proc_add_cpu_list(struct text *text);
void proc_add_cpu_mask(struct text *text, uint64_t mask);
uint64_t proc_cpu_mask(void);

#endif
