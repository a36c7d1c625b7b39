/* Does what a task says, in the worker's thread. */
#include "host/serve/serve_task.h"

#include <stdlib.h>
#include <unistd.h>

static int look_up(struct serve_task *task)
{
    int directory = serve_open(task->root, task->path, &task->expected);
    struct serve_entry *entry = &task->entries[0];
    int error;

    if (directory < 0)
        return directory;
    entry->name = task->name;
    entry->target = 0;
    error = serve_examine(directory, task->expected.device, task->name, &entry->file,
                          (char *)task->bytes, &entry->target_bytes);
    close(directory);
    return error;
}

static void perform(struct serve_work *work)
{
    struct serve_task *task = (struct serve_task *)work;

    task->used = 0;
    task->entry_count = 0;
    switch (task->kind) {
    case SERVE_TASK_LOOKUP:
        task->error = look_up(task);
        break;
    case SERVE_TASK_LIST:
        task->error = serve_list(task);
        break;
    case SERVE_TASK_READ:
        task->error = serve_read(task);
        break;
    case SERVE_TASK_HASH:
        task->error = serve_hash(task);
        break;
    }
}

static void release(struct serve_work *work)
{
    serve_task_free((struct serve_task *)work);
}

struct serve_task *serve_task_new(int root, serve_pread *read)
{
    struct serve_task *task = calloc(1, sizeof *task);

    if (task == NULL)
        return NULL;
    task->work.perform = perform;
    task->work.release = release;
    task->root = root;
    task->pread = read;
    task->fd = -1;
    return task;
}

void serve_task_close(struct serve_task *task)
{
    if (task->fd >= 0)
        close(task->fd);
    task->fd = -1;
}

void serve_task_free(struct serve_task *task)
{
    if (task == NULL)
        return;
    serve_task_close(task);
    serve_names_free(task->names);
    free(task);
}
