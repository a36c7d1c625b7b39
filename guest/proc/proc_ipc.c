/* /proc/sysvipc, and the limits of objects between processes. */
#include "guest/ipc/mqueue.h"
#include "guest/ipc/msg.h"
#include "guest/ipc/sem.h"
#include "guest/ipc/shm.h"
#include "guest/proc/proc.h"
#include "lib/array.h"

#define KERNEL "/proc/sys/kernel/"
#define MQUEUE "/proc/sys/fs/mqueue/"

/* The numbers of files with one number, by proc_file.detail. */
static const uint64_t limits[] = {SHM_BYTES_MAX,       SHM_BYTES_MAX,    SHM_MOST,
                                  MSG_BYTES_MAX,       MSG_QUEUE_BYTES,  MSG_QUEUES_MOST,
                                  MQUEUE_MESSAGES_MAX, MQUEUE_BYTES_MAX, MQUEUE_MESSAGES_MAX,
                                  MQUEUE_BYTES_MAX,    MQUEUE_QUEUES_MAX};

static void limit(const struct thread *, const struct inode *inode, struct text *text)
{
    text_add(text, "%lu\n", limits[inode->context & 0xff]);
}

static void semaphores(const struct thread *, const struct inode *, struct text *text)
{
    text_add(text, "%u\t%u\t%u\t%u\n", SEM_SET_VALUES, SEM_VALUES_MOST, SEM_OPERATIONS,
             SEM_SETS_MOST);
}

#define LIMIT(number, path) {.name = path, .generate = limit, .detail = number},

static const struct proc_file files[] = {{.name = "/proc/sysvipc/shm", .generate = shm_list},
                                         {.name = "/proc/sysvipc/sem", .generate = sem_list},
                                         {.name = "/proc/sysvipc/msg", .generate = msg_list},
                                         {.name = KERNEL "sem", .generate = semaphores},
                                         LIMIT(0, KERNEL "shmmax") LIMIT(1, KERNEL "shmall") //
                                         LIMIT(2, KERNEL "shmmni") LIMIT(3, KERNEL "msgmax") //
                                         LIMIT(4, KERNEL "msgmnb") LIMIT(5, KERNEL "msgmni") //
                                         LIMIT(6, MQUEUE "msg_max")
                                             LIMIT(7, MQUEUE "msgsize_max") //
                                         LIMIT(8, MQUEUE "msg_default") //
                                         LIMIT(9, MQUEUE "msgsize_default") //
                                         LIMIT(10, MQUEUE "queues_max")};

const struct proc_files proc_ipc_files = {files, ARRAY_COUNT(files)};
