/* Files that can be executed.  Context: boot, or a thread with the kernel lock held. */
#pragma once

#include "guest/exec/exec.h"
#include "guest/exec/exec_script.h"
#include "guest/fs/fs.h"

#define EXEC_FILE_DEPTH_MAX 6u /* the last one must be no script */

/* What execve found out about the file that it was given. */
struct exec_file {
    struct fs_entry *entry; /* held; after exec_file_open an ELF file */
    const char *name; /* AT_EXECFN, and a script's name for its interpreter */
    bool unreachable; /* by that name, once the program runs: its descriptor closes */
    struct exec_script *scripts[EXEC_FILE_DEPTH_MAX]; /* on the heap */
};

/* Returns 0, or -EACCES or -ETXTBSY, for the file itself. */
int exec_file_check(const struct inode *inode);

/* Walks a path to a file that can be executed; releases `found` itself if it fails. */
int exec_file_find(struct thread *thread, struct fs_entry *from, const char *path,
                   struct fs_found *found);

/* Follows scripts to their interpreters, puts the strings that these get before the others, and
 * opens the program.  Returns 0, or -errno. */
int exec_file_open(struct thread *thread, struct exec_file *file, struct exec_plan *plan);

/* Releases what it holds; the strings of scripts go. */
void exec_file_close(struct exec_file *file);
