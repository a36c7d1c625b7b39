/* Loads the program and builds its first stack. */
#ifndef GUEST_EXEC_EXEC_H
#define GUEST_EXEC_EXEC_H

#include <stdint.h>

#include "guest/thread/thread.h"

struct exec_result {
    uint64_t entry; /* first instruction: the interpreter's if there is one */
    uint64_t stack; /* initial rsp: argc, argv, envp, auxiliary vector (System V ABI, 3.4.1) */
    uint64_t load_base; /* added to the file's addresses; 0 for ET_EXEC */
};

/* Finds the manifest's program in the archive (guest/fs/fs.h), and its interpreter if it has one.
 * Validates them with lib/elf64.h, maps their segments, and sets brk, stack (8 MiB, grows on
 * demand, guard below), args, env and auxv.  Calls trace_map (guest/trace/trace.h) for each
 * executable segment.  Returns 0, -ENOENT, -ENOEXEC, -ENOMEM or -E2BIG; logs the reason in one
 * line. */
int exec_load(struct process *process, struct exec_result *result);

/* Returns the auxiliary vector that the program was given, AT_NULL included. */
const void *exec_auxv(uint64_t *bytes);

/* Adds /dev, /proc and /sys to the tree of files, once the program's path is known.  Returns 0 or
 * -ENOMEM.  Set at boot. */
extern int (*exec_mount)(const struct process *process);

#endif
