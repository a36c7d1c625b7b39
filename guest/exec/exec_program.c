/* The program of a process. */
#include "guest/exec/exec_program.h"

#include <string.h>

#include "guest/fs/fs.h"
#include "guest/memory/heap.h"

struct process_program *exec_program_new(struct fs_entry *entry, const char *path)
{
    static char real[FS_PATH_MAX];
    const char *name = path != NULL ? path : real;
    struct process_program *program;
    size_t path_bytes;
    bool gone;

    if (path == NULL && fs_path(entry, real, sizeof real, &gone) < 0)
        return NULL;
    path_bytes = strlen(name) + 1;
    program = heap_alloc(sizeof *program + path_bytes);
    if (program == NULL)
        return NULL;
    program->elsewhere = path != NULL;
    program->references = 1;
    program->bytes = (uint32_t)(sizeof *program + path_bytes);
    memcpy(program->path, name, path_bytes);
    fs_entry_hold(entry);
    program->entry = entry;
    entry->inode->runs++;
    return program;
}

void exec_program_hold(struct process_program *program)
{
    program->references++;
}

void exec_program_release(struct process_program *program)
{
    if (program == NULL || --program->references)
        return;
    program->entry->inode->runs--;
    fs_entry_release(program->entry);
    heap_free(program, program->bytes);
}
