/* The descriptor tables of processes. */
#include "guest/file/files.h"

#include <errno.h>
#include <linux/fcntl.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/base/run.h"
#include "guest/file/locks.h"
#include "guest/file/poll.h"
#include "guest/fs/fs.h"
#include "guest/memory/heap.h"
#include "guest/memory/phys.h"
#include "guest/vm/uaccess.h"

struct file_table {
    uint32_t references; /* processes */
    int64_t limit; /* all descriptors are below it */
    struct file *files[FILES_MAX];
    uint64_t close_on_exec[FILES_MAX / 64];
    uint64_t used[FILES_MAX / 64]; /* bit N: files[N] is not NULL */
};

static int open_stream(struct process *process, int stream)
{
    static const uint32_t modes[] = {O_RDONLY, O_WRONLY, O_WRONLY};
    const struct file_type *type = stream == 0 ? &file_input : &file_output;
    struct file *file;

    if (run.terminals >> stream & 1)
        type = &file_terminal;
    file = files_new(process, type, type == &file_terminal ? O_RDWR : modes[stream]);
    if (file == NULL)
        return -ENOMEM;
    file->stream = stream;
    file->number = (uint64_t)stream + 1;
    files_put(process, file, stream, false);
    return 0;
}

static struct file_table *new_table(int64_t limit)
{
    struct file_table *table = heap_alloc(sizeof *table);

    if (table != NULL) {
        table->references = 1;
        table->limit = limit;
    }
    return table;
}

int files_open_streams(struct process *process)
{
    process->files = new_table(FILES_MAX);
    if (process->files == NULL)
        return -ENOMEM;
    for (int stream = 0; stream < 3; stream++)
        if (open_stream(process, stream) != 0)
            return -ENOMEM;
    return 0;
}

int files_table_copy(const struct process *from, struct process *to)
{
    const struct file_table *old = from->files;
    struct file_table *table = new_table(old->limit);

    if (table == NULL)
        return -ENOMEM;
    memcpy(table->used, old->used, sizeof table->used);
    memcpy(table->close_on_exec, old->close_on_exec, sizeof table->close_on_exec);
    for (uint32_t word = 0; word < FILES_MAX / 64; word++)
        for (uint64_t left = old->used[word]; left; left &= left - 1) {
            uint32_t fd = word * 64 + (uint32_t)__builtin_ctzll(left);

            table->files[fd] = old->files[fd];
            table->files[fd]->references++;
        }
    to->files = table;
    return 0;
}

void files_table_share(const struct process *from, struct process *to)
{
    to->files = from->files;
    to->files->references++;
}

void files_table_release(struct process *process)
{
    struct file_table *table = process->files;

    cross_assert_held();
    if (table != NULL && table->references == 1)
        for (uint32_t word = 0; word < FILES_MAX / 64; word++)
            while (table->used[word])
                files_close(process, word * 64 + (uint32_t)__builtin_ctzll(table->used[word]));
    process->files = NULL;
    if (table != NULL && --table->references == 0)
        heap_free(table, sizeof *table);
}

struct file *files_new(struct process *, const struct file_type *type, uint32_t flags)
{
    static uint64_t number = 4; /* lower ones are those of the streams */
    struct file *file = heap_alloc(sizeof *file);

    if (file != NULL)
        *file = (struct file){.type = type, .flags = flags, .stream = -1, .number = number++};
    return file;
}

void files_discard(struct file *file)
{
    if (file->references)
        return;
    poll_file_gone(file);
    locks_file_gone(file);
    if (file->type->release != NULL)
        file->type->release(file);
    if (file->buffer)
        phys_free(file->buffer, file->buffer_order);
    if (file->counted)
        file->inode->writers--;
    if (file->inode != NULL)
        inode_release(file->inode);
    fs_entry_release(file->entry);
    heap_free(file, sizeof *file);
}

void files_hold(struct file *file)
{
    cross_assert_held();
    file->references++;
}

void files_release(struct file *file)
{
    cross_assert_held();
    file->references--;
    files_discard(file);
}

struct file *files_get(const struct process *process, int64_t fd)
{
    return fd >= 0 && fd < FILES_MAX ? process->files->files[fd] : NULL;
}

/* Drops a descriptor's reference to a file. */
static void let_go(const struct process *process, struct file *file)
{
    if (file->type->closed != NULL)
        file->type->closed(process, file);
    locks_closed(process, file);
    files_release(file);
}

int files_close(struct process *process, int64_t fd)
{
    struct file *file = files_get(process, fd);

    cross_assert_held();
    if (file == NULL)
        return -EBADF;
    process->files->files[fd] = NULL;
    process->files->used[fd / 64] &= ~(1ull << fd % 64);
    let_go(process, file);
    return 0;
}

int files_unshare(struct process *process)
{
    struct process own;
    int error;

    if (process->files->references == 1)
        return 0;
    error = files_table_copy(process, &own);
    if (!error) {
        process->files->references--;
        process->files = own.files;
    }
    return error;
}

void files_exec(struct process *process)
{
    for (int64_t word = 0; word < FILES_MAX / 64; word++) {
        uint64_t set = process->files->close_on_exec[word] & process->files->used[word];

        for (; set; set &= set - 1)
            (void)files_close(process, word * 64 + __builtin_ctzll(set));
    }
}

bool files_close_on_exec(const struct process *process, int64_t fd)
{
    return process->files->close_on_exec[fd / 64] >> fd % 64 & 1;
}

void files_set_close_on_exec(struct process *process, int64_t fd, bool on)
{
    uint64_t bit = 1ull << fd % 64;

    if (on)
        process->files->close_on_exec[fd / 64] |= bit;
    else
        process->files->close_on_exec[fd / 64] &= ~bit;
}

int64_t files_put(struct process *process, struct file *file, int64_t fd, bool close_on_exec)
{
    struct file *old;

    if (fd < 0 || fd >= process->files->limit)
        return -EBADF;
    old = process->files->files[fd];
    file->references++;
    process->files->files[fd] = file;
    process->files->used[fd / 64] |= 1ull << fd % 64;
    files_set_close_on_exec(process, fd, close_on_exec);
    if (old != NULL)
        let_go(process, old); /* last, because it may wait: the descriptor is never seen free */
    return fd;
}

/* Returns the lowest free descriptor from `lowest` on, or -EMFILE. */
static int64_t find_free(const struct process *process, int64_t lowest)
{
    for (int64_t word = lowest / 64; word < FILES_MAX / 64; word++) {
        uint64_t free = ~process->files->used[word];

        if (word == lowest / 64)
            free &= ~0ull << lowest % 64;
        if (free) {
            int64_t fd = word * 64 + __builtin_ctzll(free);

            return fd < process->files->limit ? fd : -EMFILE;
        }
    }
    return -EMFILE;
}

int64_t files_add(struct process *process, struct file *file, int64_t lowest, bool close_on_exec)
{
    int64_t fd;

    if (lowest < 0 || lowest >= process->files->limit)
        return lowest ? -EINVAL : -EMFILE;
    fd = find_free(process, lowest);
    return fd < 0 ? fd : files_put(process, file, fd, close_on_exec);
}

int64_t files_add_new(struct process *process, struct file *file, bool close_on_exec)
{
    int64_t fd = files_add(process, file, 0, close_on_exec);

    if (fd < 0)
        files_discard(file);
    return fd;
}

int64_t files_add_pair(struct process *process, struct file *const files[2], uint64_t user,
                       bool close_on_exec)
{
    int32_t numbers[2] = {-1, -1};
    int64_t result = 0;

    for (int i = 0; i < 2 && result >= 0; i++) {
        result = files_add(process, files[i], 0, close_on_exec);
        numbers[i] = (int32_t)result;
    }
    if (result >= 0)
        result = copy_to_user(user, numbers, sizeof numbers);
    for (int i = 0; i < 2 && result < 0; i++)
        if (numbers[i] >= 0)
            files_close(process, numbers[i]);
    return result;
}

bool files_room(const struct process *process)
{
    return find_free(process, 0) >= 0;
}

void files_limit(struct process *process, uint64_t count)
{
    process->files->limit = count < FILES_MAX ? (int64_t)count : FILES_MAX;
}

uint64_t files_size(const struct file *file)
{
    return file->inode != NULL ? file->inode->bytes : 0;
}

bool files_is_terminal(const struct process *, const struct file *file)
{
    return file->type == &file_terminal;
}
