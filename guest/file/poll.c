/* Polling: readiness, watches, deadlines, signal masks. */
#include "guest/file/poll.h"
#include "guest/base/context.h"
#include "guest/cpu/clock.h"

#include <errno.h>

#include "guest/file/input.h"
#include "guest/signal/signal.h"
#include "guest/vm/uaccess.h"

static uint32_t waiting; /* threads in poll_wait */
static uint64_t changes;

uint32_t poll_events(struct thread *thread, struct file *file)
{
    if (file->type->poll == NULL) /* as Linux answers for regular files, however they were opened */
        return POLL_READABLE | POLL_WRITABLE;
    return file->type->poll(thread, file);
}

void poll_watch(struct poll_watch *watch, struct file *file)
{
    watch->file = file;
    input_watched(file, 1);
    watch->previous = NULL;
    watch->next = file->watches;
    if (watch->next != NULL)
        watch->next->previous = watch;
    file->watches = watch;
}

void poll_unwatch(struct poll_watch *watch)
{
    input_watched(watch->file, -1);
    if (watch->next != NULL)
        watch->next->previous = watch->previous;
    if (watch->previous != NULL)
        watch->previous->next = watch->next;
    else
        watch->file->watches = watch->next;
}

void poll_changed(struct file *file, uint32_t events)
{
    cross_assert_held();
    for (struct poll_watch *w = file->watches; w != NULL; w = w->next)
        w->changed(w, events);
    poll_changed_elsewhere();
}

void poll_changed_elsewhere(void)
{
    changes++;
    if (waiting)
        wait_wake_key(WAIT_POLL_KEY, UINT32_MAX);
}

uint64_t poll_changes(void)
{
    return changes;
}

bool poll_waits(void)
{
    return waiting;
}

enum wait_end poll_wait(struct thread *thread, uint64_t deadline, const char *what)
{
    return wait_counted(thread, WAIT_POLL_KEY, poll_left(deadline), what, &waiting);
}

void poll_file_gone(struct file *file)
{
    struct poll_watch *watch;

    cross_assert_held();
    while ((watch = file->watches) != NULL) {
        poll_unwatch(watch);
        watch->gone(watch);
    }
}

uint64_t poll_deadline(uint64_t ns)
{
    uint64_t now = clock_monotonic_ns();

    return ns < WAIT_FOREVER - now ? now + ns : WAIT_FOREVER;
}

uint64_t poll_left(uint64_t deadline)
{
    uint64_t now;

    if (deadline == WAIT_FOREVER)
        return WAIT_FOREVER;
    now = clock_monotonic_ns();
    return deadline > now ? deadline - now : 0;
}

int poll_begin_mask(struct thread *thread, uint64_t user, uint64_t bytes, bool *changed)
{
    uint64_t mask;

    *changed = user;
    if (!user)
        return 0;
    if (bytes != sizeof mask)
        return -EINVAL;
    if (copy_from_user(&mask, user, sizeof mask) != 0)
        return -EFAULT;
    thread->signals.saved_mask = thread->signals.mask;
    signal_set_mask(thread, mask);
    return 0;
}

void poll_end_mask(struct thread *thread, bool changed, int64_t result)
{
    if (!changed)
        return;
    if (result == -EINTR) /* the signal is delivered under this mask */
        thread->after_call.restore_mask = true;
    else
        signal_set_mask(thread, thread->signals.saved_mask);
}
