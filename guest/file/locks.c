/* Advisory locks. */
#include "guest/file/locks.h"

#include <errno.h>

#include "guest/base/context.h"
#include "guest/memory/heap.h"
#include "guest/thread/wait.h"

struct lock {
    struct lock *next;
    const void *what; /* the file system object that is locked */
    const void *owner; /* an open file or, of a lock of a process, its table of files */
    uint32_t pid; /* of a lock of a process: who made it */
    struct lock_range range;
};

static struct lock *locks;
static uint32_t waiting;

/* Returns the file system object: locks on open files of one object can conflict. */
static const void *locks_object(const struct file *file)
{
    return file->inode != NULL ? (const void *)file->inode : (const void *)file;
}

/* As in Linux, processes that share descriptors share their locks. */
static const void *owner_of(const struct process *process, const struct file *file,
                            enum lock_kind kind)
{
    return kind == LOCK_PROCESS ? (const void *)process->files : (const void *)file;
}

static bool overlaps(const struct lock_range *a, const struct lock_range *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static const struct lock *locks_conflict(const struct process *process, const struct file *file,
                                         const struct lock_range *range)
{
    const void *owner = owner_of(process, file, range->kind);

    for (const struct lock *l = locks; l != NULL; l = l->next)
        if (l->what == locks_object(file) &&
            (l->range.kind == LOCK_FLOCK) == (range->kind == LOCK_FLOCK) && l->owner != owner &&
            overlaps(&l->range, range) &&
            (l->range.mode == LOCK_EXCLUSIVE || range->mode == LOCK_EXCLUSIVE))
            return l;
    return NULL;
}

static void locks_drop(struct lock **at)
{
    struct lock *lock = *at;

    *at = lock->next;
    heap_free(lock, sizeof *lock);
}

static void locks_tell(void)
{
    if (waiting)
        wait_wake_key(WAIT_KEY(&locks), UINT32_MAX);
}

static void locks_add(struct lock *lock)
{
    lock->next = locks;
    locks = lock;
}

/* Removes the range from what the owner holds; uses `*spare` if one lock becomes two. */
static void locks_carve(const struct process *process, const struct file *file,
                        const struct lock_range *range, struct lock **spare)
{
    const void *owner = owner_of(process, file, range->kind);
    struct lock **at = &locks;

    while (*at != NULL) {
        struct lock *l = *at;
        uint64_t last = l->range.last;

        if (l->what != locks_object(file) || l->owner != owner || l->range.kind != range->kind ||
            !overlaps(&l->range, range)) {
            at = &l->next;
        } else if (l->range.first < range->first) {
            l->range.last = range->first - 1;
            if (last > range->last) { /* the range is inside this lock: nothing else overlaps */
                **spare = *l;
                (*spare)->range.first = range->last + 1;
                (*spare)->range.last = last;
                locks_add(*spare);
                *spare = NULL;
                return;
            }
            at = &l->next;
        } else if (last > range->last) {
            l->range.first = range->last + 1;
            at = &l->next;
        } else {
            locks_drop(at);
        }
    }
}

/* Merges the lock with neighbours of its kind, owner and mode, as Linux shows them. */
static void locks_join(struct lock *lock)
{
    struct lock **at = &locks;

    while (*at != NULL) {
        struct lock *l = *at;
        bool touches =
            l->range.first <= lock->range.last + 1 && lock->range.first <= l->range.last + 1;

        if (lock->range.last == UINT64_MAX || l->range.last == UINT64_MAX)
            touches = l->range.last + 1 == lock->range.first ||
                      lock->range.last + 1 == l->range.first || overlaps(&l->range, &lock->range);
        if (!touches || l->what != lock->what || l->owner != lock->owner ||
            l->range.kind != lock->range.kind || l->range.mode != lock->range.mode) {
            at = &l->next;
            continue;
        }
        if (l->range.first < lock->range.first)
            lock->range.first = l->range.first;
        if (l->range.last > lock->range.last)
            lock->range.last = l->range.last;
        locks_drop(at);
    }
}

static int wait_free(struct thread *thread, const struct file *file, const struct lock_range *range,
                     bool waits)
{
    while (locks_conflict(thread->process, file, range) != NULL) {
        enum wait_end end;

        if (!waits)
            return -EAGAIN;
        end = wait_counted(thread, WAIT_KEY(&locks), WAIT_FOREVER, "a lock of a file", &waiting);
        if (end == WAIT_SIGNAL && locks_conflict(thread->process, file, range) != NULL)
            return -EINTR;
    }
    return 0;
}

int locks_set(struct thread *thread, struct file *file, const struct lock_range *range, bool waits)
{
    struct lock *lock, *spare = NULL;
    int error = 0;

    context_assert_thread();
    if (range->kind == LOCK_FLOCK) { /* a change of mode releases the lock first */
        locks_carve(thread->process, file, range, &spare);
        locks_tell();
    }
    if (range->mode != LOCK_NONE)
        error = wait_free(thread, file, range, waits);
    if (error)
        return error;
    lock = heap_alloc(sizeof *lock);
    spare = heap_alloc(sizeof *lock);
    if (lock == NULL || spare == NULL) {
        heap_free(spare, sizeof *spare);
        heap_free(lock, sizeof *lock);
        return -ENOLCK;
    }
    locks_carve(thread->process, file, range, &spare);
    if (range->mode == LOCK_NONE) {
        heap_free(lock, sizeof *lock);
    } else {
        *lock = (struct lock){.what = locks_object(file),
                              .owner = owner_of(thread->process, file, range->kind),
                              .pid = range->kind == LOCK_PROCESS ? thread->process->pid : 0,
                              .range = *range};
        locks_join(lock);
        locks_add(lock);
    }
    if (spare != NULL)
        heap_free(spare, sizeof *spare);
    locks_tell();
    return 0;
}

uint32_t locks_test(const struct process *process, const struct file *file,
                    const struct lock_range *range, struct lock_range *found)
{
    const struct lock *lock = locks_conflict(process, file, range);

    *found = (struct lock_range){.mode = LOCK_NONE};
    if (lock == NULL)
        return 0;
    *found = lock->range;
    return lock->pid;
}

/* Drops an owner's locks: all, or those of the process's kind on an object. */
static void drop_of(const void *owner, const void *object)
{
    bool any = false;

    for (struct lock **at = &locks; *at != NULL;) {
        const struct lock *lock = *at;

        if (lock->owner == owner &&
            (object == NULL || (lock->range.kind == LOCK_PROCESS && lock->what == object))) {
            locks_drop(at);
            any = true;
        } else {
            at = &(*at)->next;
        }
    }
    if (any)
        locks_tell();
}

void locks_closed(const struct process *process, const struct file *file)
{
    cross_assert_held();
    drop_of(process->files, locks_object(file));
}

void locks_file_gone(const struct file *file)
{
    drop_of(file, NULL);
}
