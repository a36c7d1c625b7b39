/* epoll: entries and their readiness. */
#include "guest/file/epoll.h"

#include <errno.h>
#include <sys/epoll.h>

#include "guest/base/context.h"
#include "guest/memory/heap.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define BEHAVIOUR (EPOLLET | EPOLLONESHOT | EPOLLEXCLUSIVE | EPOLLWAKEUP)
#define EXCLUSIVE_MAY \
    (EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE)

struct __attribute__((packed)) event {
    uint32_t events;
    uint64_t data;
};

static struct epoll_entry *of_watch(struct poll_watch *watch)
{
    return (struct epoll_entry *)((uint8_t *)watch - offsetof(struct epoll_entry, watch));
}

static uint32_t ready_now(struct thread *thread, const struct epoll_entry *entry)
{
    return poll_events(thread, entry->watch.file) & entry->events & ~(uint32_t)BEHAVIOUR;
}

/* Epolls may watch epolls, each of them several.  A walk over them has a number, by which it visits
 * none twice. */
static uint64_t walk;

/* Queues an entry and tells those who wait for the epoll, or watch it. */
static void epoll_queue_ready(struct epoll_entry *entry)
{
    static uint32_t nesting;
    struct epoll *epoll = entry->epoll;

    epoll_queue_add(&epoll->ready, &entry->ready);
    if (epoll->waiting)
        wait_wake_key(WAIT_KEY(epoll), 1);
    if (!nesting)
        walk++;
    else if (epoll->walk == walk)
        return;
    epoll->walk = walk;
    nesting++;
    poll_changed(epoll->file, POLL_READABLE);
    nesting--;
}

static void epoll_changed(struct poll_watch *watch, uint32_t events)
{
    struct epoll_entry *entry = of_watch(watch);

    if (entry->events & events & ~(uint32_t)BEHAVIOUR)
        epoll_queue_ready(entry);
}

static void epoll_drop(struct epoll_entry *entry)
{
    struct epoll *epoll = entry->epoll;

    epoll_queue_remove(&epoll->ready, &entry->ready);
    if (entry->next != NULL)
        entry->next->previous = entry->previous;
    if (entry->previous != NULL)
        entry->previous->next = entry->next;
    else
        epoll->entries = entry->next;
    heap_free(entry, sizeof *entry);
}

static void epoll_gone(struct poll_watch *watch)
{
    epoll_drop(of_watch(watch));
}

static struct epoll_entry *epoll_find(const struct epoll *epoll, const struct file *file,
                                      int32_t fd)
{
    for (struct poll_watch *w = file->watches; w != NULL; w = w->next)
        if (w->gone == epoll_gone && of_watch(w)->epoll == epoll && of_watch(w)->fd == fd)
            return of_watch(w);
    return NULL;
}

/* Returns how many epolls deep a file is; more than allowed if it contains `top`. */
static uint32_t epoll_depth(const struct file *file, const struct epoll *top)
{
    struct epoll *epoll = file->state;
    uint32_t deepest = 0;

    if (file->type != &epoll_file)
        return 0;
    if (epoll == top)
        return EPOLL_NESTING_MAX + 1;
    if (epoll->walk == walk)
        return epoll->nesting;
    for (const struct epoll_entry *e = epoll->entries; e != NULL; e = e->next) {
        uint32_t d = epoll_depth(e->watch.file, top);

        deepest = d > deepest ? d : deepest;
    }
    epoll->walk = walk;
    return epoll->nesting = deepest + 1;
}

/* Returns the longest chain of epolls that watch one another above this one. */
static uint32_t epoll_height(struct epoll *epoll)
{
    uint32_t highest = 0;

    if (epoll->walk == walk)
        return epoll->nesting;
    for (struct poll_watch *w = epoll->file->watches; w != NULL; w = w->next) {
        uint32_t h = w->gone == epoll_gone ? epoll_height(of_watch(w)->epoll) + 1 : 0;

        highest = h > highest ? h : highest;
    }
    epoll->walk = walk;
    return epoll->nesting = highest;
}

static bool nests_too_deep(const struct file *file, struct epoll *epoll)
{
    uint32_t down, up;

    if (file->type != &epoll_file)
        return false;
    walk++;
    down = epoll_depth(file, epoll);
    walk++;
    up = epoll_height(epoll);
    return down + up > EPOLL_NESTING_MAX;
}

int epoll_add(struct thread *thread, struct epoll *epoll, struct file *file, int32_t fd,
              uint32_t events, uint64_t data)
{
    struct epoll_entry *entry;

    if (epoll_find(epoll, file, fd) != NULL)
        return -EEXIST;
    if ((events & EPOLLEXCLUSIVE) &&
        (file->type == &epoll_file || (events & ~(uint32_t)EXCLUSIVE_MAY)))
        return -EINVAL;
    if (nests_too_deep(file, epoll))
        return -ELOOP;
    entry = heap_alloc(sizeof *entry);
    if (entry == NULL)
        return -ENOMEM;
    *entry = (struct epoll_entry){.watch = {.changed = epoll_changed, .gone = epoll_gone},
                                  .epoll = epoll,
                                  .next = epoll->entries,
                                  .fd = fd,
                                  .events = events | POLL_ALWAYS,
                                  .data = data};
    if (entry->next != NULL)
        entry->next->previous = entry;
    epoll->entries = entry;
    poll_watch(&entry->watch, file);
    if (ready_now(thread, entry))
        epoll_queue_ready(entry);
    return 0;
}

int epoll_change(struct thread *thread, struct epoll *epoll, struct file *file, int32_t fd,
                 uint32_t events, uint64_t data)
{
    struct epoll_entry *entry = epoll_find(epoll, file, fd);

    if (entry == NULL)
        return -ENOENT;
    if ((events | entry->events) & EPOLLEXCLUSIVE)
        return -EINVAL;
    entry->events = events | POLL_ALWAYS;
    entry->data = data;
    if (ready_now(thread, entry))
        epoll_queue_ready(entry);
    return 0;
}

int epoll_remove(struct epoll *epoll, struct file *file, int32_t fd)
{
    struct epoll_entry *entry = epoll_find(epoll, file, fd);

    if (entry == NULL)
        return -ENOENT;
    poll_unwatch(&entry->watch);
    epoll_drop(entry);
    return 0;
}

int64_t epoll_collect(struct thread *thread, struct epoll *epoll, uint64_t user, uint32_t most)
{
    uint32_t looks = epoll->ready.length, count = 0;

    cross_assert_held();
    for (; looks && count < most && epoll->ready.first != NULL; looks--) {
        struct epoll_entry *entry = (struct epoll_entry *)epoll->ready.first;
        struct event event = {.data = entry->data};

        epoll_queue_remove(&epoll->ready, &entry->ready);
        event.events = ready_now(thread, entry);
        if (!event.events)
            continue;
        if (copy_to_user(user + count * sizeof event, &event, sizeof event) != 0) {
            epoll_queue_add(&epoll->ready, &entry->ready);
            return count ? (int64_t)count : -EFAULT;
        }
        count++;
        if (entry->events & EPOLLONESHOT)
            entry->events &= BEHAVIOUR;
        else if (!(entry->events & EPOLLET))
            epoll_queue_add(&epoll->ready, &entry->ready);
    }
    return count;
}

static uint32_t poll_epoll(struct thread *thread, struct file *file)
{
    struct epoll *epoll = file->state;
    struct epoll_link *next;

    for (struct epoll_link *link = epoll->ready.first; link != NULL; link = next) {
        next = link->next;
        if (ready_now(thread, (struct epoll_entry *)link))
            return POLL_READABLE;
        epoll_queue_remove(&epoll->ready, link);
    }
    return 0;
}

static void release_epoll(struct file *file)
{
    struct epoll *epoll = file->state;

    while (epoll != NULL && epoll->entries != NULL) {
        struct epoll_entry *entry = epoll->entries;

        poll_unwatch(&entry->watch);
        epoll_drop(entry);
    }
    if (epoll != NULL)
        heap_free(epoll, sizeof *epoll);
}

const struct file_type epoll_file = {
    .mode = 0600, .ignores_seeks = true, .poll = poll_epoll, .release = release_epoll};

bool epoll_attach(struct file *file)
{
    struct epoll *epoll = heap_alloc(sizeof *epoll);

    cross_assert_held();
    file->state = epoll;
    if (epoll != NULL)
        epoll->file = file;
    return epoll != NULL;
}
