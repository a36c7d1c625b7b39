/* The program of a process. */
#include "guest/exec/exec_program.h"

#include <string.h>

#include "guest/fs/fs.h"
#include "guest/memory/heap.h"

struct process_program *exec_program_new(struct fs_entry *entry, const char *path)
{
    size_t path_bytes = strlen(path) + 1;
    struct process_program *program = heap_alloc(sizeof *program + path_bytes);

    if (program == NULL)
        return NULL;
    program->references = 1;
    program->bytes = (uint32_t)(sizeof *program + path_bytes);
    memcpy(program->path, path, path_bytes);
    fs_entry_hold(entry);
    program->entry = entry;
    entry->inode->runs++;
    return program;
}

const char *exec_program_path(const struct process_program *program)
{
    static char path[FS_PATH_MAX];
    bool gone;

    if (program->path[0])
        return program->path;
    return fs_path(program->entry, path, sizeof path, &gone) < 0 ? "?" : path;
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
