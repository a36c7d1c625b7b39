/* ipc_futex: futexes in memory that is shown twice; its output is equal on Linux.
 *
 *   ipc_futex             what threads can do
 *   ipc_futex processes   and what processes can
 */
#include <stdint.h>
#include <sys/mman.h>

#include "workloads/ipc_check.h"

#define PAGE 4096ul
#define FUTEX_WAIT 0 /* of <linux/futex.h>, which musl does not have */
#define FUTEX_WAKE 1
#define FUTEX_CMP_REQUEUE 4
#define FUTEX_PRIVATE_FLAG 128

static uint32_t *one, *two, *view; /* the same page: to write, to write, to read */

static long futex(uint32_t *word, int command, uint32_t value, long more, uint32_t *other)
{
    return syscall(SYS_futex, word, command, value, more, other, 0);
}

struct wait {
    uint32_t *word;
    int command;
    uint32_t value;
};

static long wait_for(void *argument)
{
    const struct wait *w = argument;

    return futex(w->word, w->command, w->value, 0, NULL);
}

static void check_views(void)
{
    static struct wait w[4];
    struct sleeper s[4];

    w[0] = (struct wait){one + 4, FUTEX_WAIT, 0};
    w[1] = (struct wait){two + 4, FUTEX_WAIT, 0};
    w[2] = (struct wait){view + 4, FUTEX_WAIT, 0};
    w[3] = (struct wait){one + 4, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0};
    for (int i = 0; i < 4; i++)
        start_sleeper(&s[i], wait_for, &w[i]);
    say("another word", futex(two + 5, FUTEX_WAKE, 10, 0, NULL));
    say("private, elsewhere", futex(two + 4, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 10, 0, NULL));
    say("by a view to read", futex(view + 4, FUTEX_WAKE, 1, 0, NULL));
    end_sleeper(&s[0], "the first");
    say("by the second address", futex(two + 4, FUTEX_WAKE, 10, 0, NULL));
    end_sleeper(&s[1], "the second");
    end_sleeper(&s[2], "the third");
    say("private", futex(one + 4, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 10, 0, NULL));
    end_sleeper(&s[3], "the fourth");
    say("not mapped", futex((uint32_t *)(uintptr_t)(1ul << 45), FUTEX_WAKE, 1, 0, NULL));
    say("changed", futex(one + 4, FUTEX_WAIT, 7, 0, NULL));
}

static void check_requeue(void)
{
    static struct wait w;
    struct sleeper s[2];

    w = (struct wait){one + 8, FUTEX_WAIT, 0};
    start_sleeper(&s[0], wait_for, &w);
    start_sleeper(&s[1], wait_for, &w);
    say("requeue", futex(two + 8, FUTEX_CMP_REQUEUE, 1, 10, two + 9));
    end_sleeper(&s[0], "woken");
    say("not here", futex(one + 8, FUTEX_WAKE, 10, 0, NULL));
    say("but here", futex(one + 9, FUTEX_WAKE, 10, 0, NULL));
    end_sleeper(&s[1], "requeued");
}

/* ---- pthreads' objects in shared memory, used through both addresses */

struct shared {
    pthread_mutex_t mutex, robust, inherits;
    pthread_cond_t condition;
    int count, turn;
};

static struct shared *at(uint32_t *page)
{
    return (struct shared *)((char *)page + 1024);
}

static void set_up(struct shared *shared)
{
    pthread_mutexattr_t a;
    pthread_condattr_t c;

    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &a);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->robust, &a);
    pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&shared->inherits, &a);
    pthread_condattr_init(&c);
    pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->condition, &c);
}

/* Takes turns with the other. */
static void take_turns(struct shared *shared, int own)
{
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&shared->mutex);
        while (shared->turn != own)
            pthread_cond_wait(&shared->condition, &shared->mutex);
        shared->count++;
        shared->turn = !own;
        pthread_cond_broadcast(&shared->condition);
        pthread_mutex_unlock(&shared->mutex);
    }
}

static long other_turns(void *argument)
{
    take_turns(argument, 1);
    return 0;
}

static long lock_twice(void *argument)
{
    struct shared *shared = argument;
    int first = pthread_mutex_lock(&shared->robust);
    int second = pthread_mutex_lock(&shared->inherits);

    return first * 1000 + second;
}

static long lock_and_end(void *argument)
{
    return lock_twice(argument);
}

static void check_pthreads(void)
{
    struct sleeper s, waits;

    set_up(at(one));
    start_sleeper(&s, other_turns, at(two));
    take_turns(at(one), 0);
    end_sleeper(&s, "turns");
    printf("count %d\n", at(one)->count);
    pthread_mutex_lock(&at(one)->mutex);
    start_sleeper(&s, lock_and_end, at(two));
    end_sleeper(&s, "locks and ends");
    printf("the next owner is told: %s, ", strerror(pthread_mutex_lock(&at(one)->robust)));
    printf("%s\n", strerror(pthread_mutex_lock(&at(one)->inherits)));
    pthread_mutex_consistent(&at(one)->robust);
    pthread_mutex_consistent(&at(one)->inherits);
    start_sleeper(&waits, lock_twice, at(two));
    pthread_mutex_unlock(&at(one)->robust);
    sleep_begins(&waits);
    pthread_mutex_unlock(&at(one)->inherits);
    end_sleeper(&waits, "locks after that");
    pthread_mutex_unlock(&at(one)->mutex);
}

static void check_processes(void)
{
    pid_t child = fork();

    if (child == 0) {
        take_turns(at(two), 1);
        futex(two + 4, FUTEX_WAIT, 0, 0, NULL);
        pthread_mutex_lock(&at(two)->robust);
        _exit(9);
    }
    take_turns(at(one), 0);
    while (futex(one + 4, FUTEX_WAKE, 1, 0, NULL) == 0)
        sched_yield();
    say_child("child", child);
    printf("count %d\n", at(one)->count);
    printf("the next owner is told: %s\n", strerror(pthread_mutex_lock(&at(one)->robust)));
}

int main(int argc, char **argv)
{
    int id;

    become_user();
    id = shmget(IPC_PRIVATE, PAGE, 0600);
    one = shmat(id, NULL, 0);
    two = shmat(id, NULL, 0);
    view = shmat(id, NULL, SHM_RDONLY);
    shmctl(id, IPC_RMID, NULL);
    check_views();
    check_requeue();
    check_pthreads();
    if (argc > 1 && strcmp(argv[1], "processes") == 0) {
        memset(one, 0, PAGE);
        set_up(at(one));
        check_processes();
    }
    return 0;
}
