/* Keeps the deadlines of connections in a plain table. */
#include "host/view/server/view_deadlines.h"

static struct view_deadline *find(struct view_deadlines *d, int fd)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (d->all[i].fd == fd)
            return &d->all[i];
    return NULL;
}

static void set(struct view_deadlines *d, int fd, uint64_t due_ms)
{
    struct view_deadline *one = find(d, fd);

    if (one != NULL)
        one->due_ms = due_ms;
}

void view_deadlines_begin(struct view_deadlines *d, int fd, uint64_t now_ms)
{
    view_deadlines_end(d, fd);
    if (d->count < VIEW_DEADLINES_MAX)
        d->all[d->count++] = (struct view_deadline){now_ms + VIEW_REQUEST_MS, fd};
}

void view_deadlines_end(struct view_deadlines *d, int fd)
{
    struct view_deadline *one = find(d, fd);

    if (one != NULL)
        *one = d->all[--d->count];
}

void view_deadlines_answer(struct view_deadlines *d, int fd, uint64_t bytes, uint64_t now_ms)
{
    set(d, fd, now_ms + VIEW_ANSWER_MS + bytes / VIEW_ANSWER_BYTES_PER_MS);
}

void view_deadlines_answered(struct view_deadlines *d, int fd, uint64_t now_ms)
{
    set(d, fd, now_ms + VIEW_IDLE_MS);
}

void view_deadlines_work(struct view_deadlines *d, uint64_t now_ms)
{
    if (d->workers++ == 0)
        d->work_since_ms = now_ms;
}

void view_deadlines_rest(struct view_deadlines *d, uint64_t now_ms)
{
    if (--d->workers != 0)
        return;
    for (uint32_t i = 0; i < d->count; i++)
        if (d->all[i].due_ms != UINT64_MAX)
            d->all[i].due_ms += now_ms - d->work_since_ms;
}

int view_deadlines_late(struct view_deadlines *d, uint64_t now_ms)
{
    for (uint32_t i = 0; d->workers == 0 && i < d->count; i++) {
        if (d->all[i].due_ms > now_ms)
            continue;
        d->all[i].due_ms = UINT64_MAX;
        return d->all[i].fd;
    }
    return -1;
}
