/* The program of a process (struct process_program): its file, which cannot be written as
 * long as it runs, and its path.  Copies of a process share it.  Context: boot, or a thread with
 * the kernel lock held. */
#pragma once

#include "guest/thread/process.h"

/* Returns it with one reference, or NULL without memory.  `path` NULL: that of the entry. */
struct process_program *exec_program_new(struct fs_entry *entry, const char *path);
const char *
exec_program_path(const struct process_program *program); /* valid until the next call */
void exec_program_hold(struct process_program *program); /* when a process is copied */
void exec_program_release(struct process_program *program); /* when it ends; NULL does nothing */
