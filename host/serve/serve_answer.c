/* Answers a request of the guest, which may be anything. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "host/serve/serve.h"

int serve_prepare(struct serve *s, enum serve_kind kind, uint32_t node)
{
    if (s->task == NULL)
        s->task = serve_task_new(s->root, s->pread);
    if (s->task == NULL)
        return -ENOMEM;
    s->task->kind = kind;
    s->task->expected = s->nodes.all[node].file;
    return serve_nodes_path(&s->nodes, node, s->task->path);
}

int serve_perform(struct serve *s, uint64_t limit_ns, int interrupt)
{
    int error = serve_worker_do(&s->worker, &s->task->work, limit_ns, interrupt);

    if (error == 0)
        return s->task->error;
    if (error == -EIO || error == -ECANCELED)
        s->task = NULL;
    return error;
}

/* A request that the end of the run interrupted is not late. */
static int perform(struct serve *s)
{
    char path[PATH_MAX];
    int error;

    memcpy(path, s->task->path, sizeof path);
    error = serve_perform(s, s->limit_ns, s->hurry);
    if (error != -EIO && error != -EAGAIN)
        return error == -ECANCELED ? -EIO : error;
    if (s->late++ == 0)
        memcpy(s->late_path, path, sizeof path);
    return -EIO;
}

static void put_node(struct serve_reply *reply, uint32_t number, const struct serve_file *file,
                     const char *name, const struct serve_entry *entry, const uint8_t *targets)
{
    uint8_t *to = reply->bytes + reply->answer.bytes;
    const struct run_serve_node node = {
        .node = number,
        .bytes = file->bytes,
        .modified = file->modified,
        .changed = file->changed,
        .mode = file->mode,
        .name_bytes = (uint16_t)strlen(name),
        .target_bytes = entry->target_bytes,
    };
    size_t whole = SERVE_NODE_BYTES(node.name_bytes, node.target_bytes);

    memset(to, 0, whole);
    memcpy(to, &node, sizeof node);
    memcpy(to + sizeof node, name, node.name_bytes);
    memcpy(to + sizeof node + node.name_bytes, targets + entry->target, node.target_bytes);
    reply->answer.bytes += (uint32_t)whole;
}

static int check_name(const char *name, size_t bytes)
{
    if (bytes > SERVE_NODES_NAME_MAX)
        return -ENAMETOOLONG;
    if (bytes == 0 || memchr(name, '/', bytes) != NULL || memchr(name, 0, bytes) != NULL)
        return -EINVAL;
    return name[0] == '.' && (bytes == 1 || (bytes == 2 && name[1] == '.')) ? -EINVAL : 0;
}

static int look_up(struct serve *s, uint32_t directory, const char *name, size_t bytes,
                   struct serve_reply *reply)
{
    const struct serve_entry *entry;
    uint32_t number;
    int error = check_name(name, bytes);

    if (error == 0)
        error = serve_prepare(s, SERVE_TASK_LOOKUP, directory);
    if (error != 0)
        return error;
    memcpy(s->task->name, name, bytes);
    s->task->name[bytes] = 0;
    if (serve_task_is_guests(directory == RUN_SERVE_ROOT, s->task->name))
        return -ENOENT;
    error = perform(s);
    if (error != 0)
        return error;
    entry = &s->task->entries[0];
    number = serve_nodes_find(&s->nodes, directory, entry->name);
    if (number == 0)
        error = serve_nodes_add(&s->nodes, directory, entry->name, &entry->file, &number);
    else if (!serve_nodes_is_same(&s->nodes.all[number].file, &entry->file))
        error = -ESTALE;
    if (error == -ESTALE)
        s->nodes.all[number].stale = true;
    if (error == 0)
        put_node(reply, number, &s->nodes.all[number].file, "", entry, s->task->bytes);
    return error;
}

/* What was told before is told again; what has another type now is left out. */
static int put_entries(struct serve *s, uint32_t directory, struct serve_reply *reply)
{
    const struct serve_task *task = s->task;

    for (size_t i = 0; i < task->entry_count; i++) {
        const struct serve_entry *entry = &task->entries[i];
        uint32_t number = serve_nodes_find(&s->nodes, directory, entry->name);
        int error = 0;

        if (number == 0)
            error = serve_nodes_add(&s->nodes, directory, entry->name, &entry->file, &number);
        else if ((s->nodes.all[number].file.mode & S_IFMT) != (entry->file.mode & S_IFMT))
            continue;
        if (error != 0)
            return error;
        put_node(reply, number, &s->nodes.all[number].file, entry->name, entry, task->bytes);
    }
    return 0;
}

/* The names stay those of the beginning until they have all been told, or the guest begins again.
 */
static int list(struct serve *s, uint32_t directory, uint64_t position, struct serve_reply *reply)
{
    int error = serve_prepare(s, SERVE_TASK_LIST, directory);

    if (error != 0)
        return error;
    if (s->names_node != directory || position == 0) {
        serve_names_free(s->names);
        s->names = NULL;
    }
    s->task->names = s->names;
    s->names = NULL;
    s->task->position = position;
    error = perform(s);
    if (error == 0)
        error = put_entries(s, directory, reply);
    if (s->task == NULL)
        return error;
    s->names = s->task->names;
    s->names_node = directory;
    s->task->names = NULL;
    reply->answer.next = error == 0 ? s->task->position : 0;
    if (reply->answer.next == 0) {
        serve_names_free(s->names);
        s->names = NULL;
    }
    return error;
}

static int read_file(struct serve *s, uint32_t file, const struct run_serve_request *request,
                     struct serve_reply *reply)
{
    struct serve_node *node = serve_nodes_get(&s->nodes, file);
    int error;

    if (!S_ISREG(node->file.mode))
        return S_ISDIR(node->file.mode) ? -EISDIR : -EINVAL;
    if (request->bytes > RUN_SERVE_BYTES_MAX || request->offset > INT64_MAX)
        return -EINVAL;
    error = serve_prepare(s, SERVE_TASK_READ, file);
    if (error != 0)
        return error;
    s->task->fd = serve_open_files_take(&s->open_files, file);
    s->task->offset = request->offset;
    s->task->wanted = request->bytes;
    error = perform(s);
    if (error == 0) {
        memcpy(reply->bytes, s->task->bytes, s->task->used);
        reply->answer.bytes = (uint32_t)s->task->used;
        serve_open_files_put(&s->open_files, file, s->task->fd);
        s->task->fd = -1;
    } else if (s->task != NULL) {
        serve_task_close(s->task);
    }
    node->read |= error == 0;
    node->stale |= error == -ESTALE;
    return error;
}

static int answer(struct serve *s, const struct run_serve_request *request, const void *name,
                  struct serve_reply *reply)
{
    const struct serve_node *node = serve_nodes_get(&s->nodes, request->node);

    if (node == NULL)
        return -EINVAL;
    if ((request->type == RUN_SERVE_LOOKUP || request->type == RUN_SERVE_LIST) &&
        !S_ISDIR(node->file.mode))
        return -ENOTDIR;
    switch (request->type) {
    case RUN_SERVE_LOOKUP:
        return look_up(s, (uint32_t)request->node, name, request->bytes, reply);
    case RUN_SERVE_LIST:
        return list(s, (uint32_t)request->node, request->offset, reply);
    case RUN_SERVE_READ:
        return read_file(s, (uint32_t)request->node, request, reply);
    default:
        return -EINVAL;
    }
}

void serve_answer(struct serve *s, const struct run_serve_request *request, const void *name,
                  struct serve_reply *reply)
{
    int error;

    reply->answer = (struct run_serve_answer){.number = request->number};
    error = answer(s, request, name, reply);
    if (error != 0)
        reply->answer =
            (struct run_serve_answer){.error = (uint32_t)-error, .number = request->number};
}
