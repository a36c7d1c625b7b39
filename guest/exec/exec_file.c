/* Files that can be executed: permissions, and scripts down to their interpreters. */
#include "guest/exec/exec_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/memory/heap.h"

int exec_file_check(const struct inode *inode)
{
    int error;

    if (inode == NULL || !S_ISREG(inode->mode) || inode->generate != NULL)
        return -EACCES;
    error = fs_permission(inode, X_OK);
    return !error && inode->writers ? -ETXTBSY : error;
}

int exec_file_find(struct thread *thread, struct fs_entry *from, const char *path,
                   struct fs_found *found)
{
    int error = fs_walk(thread, from, path, FS_FOLLOW, found);

    if (error)
        return error;
    error = found->entry != NULL ? exec_file_check(found->entry->inode) : -EACCES;
    if (error)
        fs_found_release(found);
    return error;
}

/* Reads the beginning of a script.  Returns as exec_script_parse, or another -errno. */
static int read_script(struct inode *inode, struct exec_script **script)
{
    char mark[2];
    int64_t bytes = inode_read(inode, 0, mark, sizeof mark);

    if (bytes < (int64_t)sizeof mark || mark[0] != '#' || mark[1] != '!')
        return bytes < 0 ? (int)bytes : 1;
    *script = heap_alloc(sizeof **script);
    if (*script == NULL)
        return -ENOMEM;
    bytes = inode_read(inode, 0, (*script)->line, sizeof(*script)->line);
    return bytes < 0 ? (int)bytes : exec_script_parse(*script);
}

/* Puts strings before those that are there, the first of which goes. */
static void put_before(struct exec_strings *strings, const char *const *added, uint32_t count)
{
    uint32_t keep = strings->first_count ? strings->first_count - 1 : 0;

    if (!strings->first_count && strings->count) /* the program's own argv[0] */
        strings->list += sizeof(uint64_t);
    for (uint32_t i = keep; i > 0; i--)
        strings->first[count + i - 1] = strings->first[i];
    memcpy(strings->first, added, count * sizeof added[0]);
    strings->first_count = count + keep;
}

/* Goes from a script to its interpreter. */
static int enter_script(struct thread *thread, struct exec_file *file, struct exec_script *script,
                        const char *name, struct exec_strings *arguments)
{
    const char *added[3] = {script->interpreter, script->argument, name};
    uint32_t count = 3;
    struct fs_found found;
    int error;

    if (file->unreachable)
        return -ENOENT;
    if (script->argument == NULL) {
        added[1] = name;
        count = 2;
    }
    error = exec_file_find(thread, thread->process->place->directory, script->interpreter, &found);
    if (error)
        return error;
    put_before(arguments, added, count);
    fs_entry_release(file->entry);
    file->entry = found.entry;
    fs_entry_hold(file->entry);
    fs_found_release(&found);
    return 0;
}

int exec_file_open(struct thread *thread, struct exec_file *file, struct exec_plan *plan)
{
    const char *name = file->name;
    enum elf64_status status;

    for (uint32_t depth = 0; depth < EXEC_FILE_DEPTH_MAX; depth++) {
        struct exec_script **script = &file->scripts[depth];
        int result = read_script(file->entry->inode, script);

        if (result > 0)
            return exec_image_open(file->entry, false, &plan->program, &status);
        if (!result)
            result = enter_script(thread, file, *script, name, &plan->arguments);
        if (result)
            return result;
        name = (*script)->interpreter;
    }
    return -ELOOP;
}

void exec_file_close(struct exec_file *file)
{
    for (uint32_t i = 0; i < EXEC_FILE_DEPTH_MAX; i++)
        heap_free(file->scripts[i], sizeof *file->scripts[i]);
    fs_entry_release(file->entry);
}
