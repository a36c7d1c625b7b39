/* shmctl, and what /proc says of segments. */
#include <errno.h>
#include <linux/shm.h>

#include "guest/base/layout.h"
#include "guest/base/syscall_handlers.h"
#include "guest/ipc/shm.h"
#include "guest/vm/uaccess.h"

static int64_t describe_limits(uint64_t user)
{
    const struct shminfo64 limits = {.shmmax = SHM_BYTES_MAX,
                                     .shmmin = 1,
                                     .shmmni = SHM_MOST,
                                     .shmseg = SHM_MOST,
                                     .shmall = SHM_BYTES_MAX};

    return copy_to_user(user, &limits, sizeof limits) ? -EFAULT : ipc_top(&shm_segments);
}

static int64_t describe_use(uint64_t user)
{
    struct shm_info use = {.used_ids = (int)shm_segments.count, .shm_tot = shm_pages};
    const struct shm_segment *segment;
    uint32_t index = 0;

    while ((segment = (struct shm_segment *)ipc_next(&shm_segments, &index)) != NULL) {
        use.shm_rss += segment->inode->page_count;
        index++;
    }
    return copy_to_user(user, &use, sizeof use) ? -EFAULT : ipc_top(&shm_segments);
}

static int64_t describe(int64_t id, uint32_t command, uint64_t user)
{
    uint32_t wanted = command == SHM_STAT_ANY ? 0 : IPC_READ;
    int error;
    const struct shm_segment *segment = (const struct shm_segment *)ipc_subject(
        &shm_segments, id, command != IPC_STAT, wanted, &error);
    struct shmid64_ds out;

    if (segment == NULL)
        return error;
    out = (struct shmid64_ds){.shm_segsz = segment->bytes,
                              .shm_atime = (long)segment->attached,
                              .shm_dtime = (long)segment->detached,
                              .shm_ctime = (long)segment->object.changed,
                              .shm_cpid = (int)segment->creator,
                              .shm_lpid = (int)segment->last,
                              .shm_nattch = segment->inode->mappings};
    ipc_describe(&segment->object, &out.shm_perm);
    if (copy_to_user(user, &out, sizeof out) != 0)
        return -EFAULT;
    return command == IPC_STAT ? 0 : segment->object.id;
}

/* The commands that change a segment: the user made it, and may. */
static int64_t change(int64_t id, uint32_t command, uint64_t user)
{
    struct shm_segment *segment;
    struct shmid64_ds wanted;

    if (command == IPC_SET && copy_from_user(&wanted, user, sizeof wanted) != 0)
        return -EFAULT;
    segment = (struct shm_segment *)ipc_find(&shm_segments, id);
    if (segment == NULL)
        return -EINVAL;
    switch (command) {
    case IPC_SET:
        return ipc_set(&segment->object, &wanted.shm_perm);
    case IPC_RMID:
        shm_remove(segment);
        return 0;
    case SHM_LOCK: /* memory never leaves */
        segment->object.mode |= SHM_LOCKED;
        return 0;
    default:
        segment->object.mode &= ~SHM_LOCKED;
        return 0;
    }
}

int64_t syscall_shmctl(struct thread *, struct trap_frame *frame)
{
    uint32_t command = (uint32_t)frame->rsi;
    int64_t id = (int32_t)frame->rdi;

    if (id < 0)
        return -EINVAL;
    switch (command) {
    case IPC_INFO:
        return describe_limits(frame->rdx);
    case SHM_INFO:
        return describe_use(frame->rdx);
    case IPC_STAT:
    case SHM_STAT:
    case SHM_STAT_ANY:
        return describe(id, command, frame->rdx);
    case IPC_SET:
    case IPC_RMID:
    case SHM_LOCK:
    case SHM_UNLOCK:
        return change(id, command, frame->rdx);
    default:
        return -EINVAL;
    }
}

void shm_list(const struct thread *, const struct inode *, struct text *text)
{
    const struct shm_segment *s;

    text_add(text,
             "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  "
             "cuid  cgid      atime      dtime      ctime                   rss             "
             "     swap\n");
    for (uint32_t i = 0; (s = (struct shm_segment *)ipc_next(&shm_segments, &i)) != NULL; i++)
        text_add(text,
                 "%10d %10d  %4o %21lu %5u %5u  %5u %5u %5u %5u %5u %10lu %10lu %10lu %21lu %21u\n",
                 (int)s->object.key, s->object.id, s->object.mode, s->bytes, s->creator, s->last,
                 s->inode->mappings, s->object.user, s->object.group, s->object.creator_user,
                 s->object.creator_group, s->attached, s->detached, s->object.changed,
                 s->inode->page_count * PAGE_BYTES, 0);
}
