/* Loads a program: at boot, and for execve (guest/syscall/process/syscall_exec.c).
 *
 * A plan is a program that is complete in an address space of its own, before a process becomes it:
 * everything that can fail is done by then.  Context: boot, or a thread with the kernel lock held.
 */
#pragma once

#include <stdint.h>

#include "guest/exec/exec_image.h"
#include "guest/exec/exec_strings.h"
#include "guest/thread/thread.h"

struct exec_plan {
    struct exec_image program;
    struct exec_image interpreter; /* its entry is NULL: there is none */
    struct exec_strings arguments, environment; /* surveyed */
    const char *file_name; /* AT_EXECFN */
    struct vm_space *space;
    struct process_program *record; /* of `program` */
    struct process_given given;
    bool opened; /* all files: what fails then ends the process, as on Linux, if it is not memory */
    uint64_t vdso; /* where it is mapped */
    uint64_t entry; /* first instruction: the interpreter's if there is one */
    uint64_t stack; /* initial rsp: argc, argv, envp, auxiliary vector (System V ABI, 3.4.1) */
};

/* The caller has set everything up to `record`, zeros elsewhere: maps it all in the space, and
 * writes the stack.  Returns 0 or -errno. */
int exec_make(struct exec_plan *plan);

/* Tells the trace of the executable segments and of the vDSO. */
void exec_announce(const struct exec_plan *plan);

/* Releases what the plan holds; members that are zero have other owners by then. */
void exec_free(struct exec_plan *plan);

/* Boot: loads the manifest's program from the archive (guest/fs/fs.h) into the process's space.
 * Sets entry and stack of `plan`.  Returns 0, -ENOENT, -ENOEXEC, -ENOMEM or -E2BIG; logs the reason
 * in one line. */
int exec_load(struct process *process, struct exec_plan *plan);

/* Adds /dev, /proc and /sys to the tree of files, once the program's path is known.  Returns 0 or
 * -ENOMEM.  Set at boot. */
extern int (*exec_mount)(const struct process *process);
