/* ipc_sem: sets of semaphores; its output is equal on Linux.
 *
 *   ipc_sem             what threads can do
 *   ipc_sem processes   and what processes can
 */
#include <limits.h>
#include <time.h>

#include "workloads/ipc_check.h"

#define COUNT 4

union semun {
    int val;
    struct semid_ds *buf;
    unsigned short *array;
    struct seminfo *info;
};

static int set;

static long operate(int number, int add, int flags)
{
    struct sembuf o = {(unsigned short)number, (short)add, (short)flags};

    return semop(set, &o, 1);
}

static void say_values(const char *what)
{
    unsigned short values[COUNT];

    if (semctl(set, 0, GETALL, (union semun){.array = values}) != 0)
        say(what, -1);
    else
        printf("%s: %u %u %u %u\n", what, values[0], values[1], values[2], values[3]);
}

static void set_values(unsigned short a, unsigned short b, unsigned short c, unsigned short d)
{
    unsigned short values[COUNT] = {a, b, c, d};

    say("set all", semctl(set, 0, SETALL, (union semun){.array = values}));
}

static void check_get(void)
{
    const key_t key = 0x51aabb10;
    int id;

    say("no such key", semget(key, 1, 0600));
    say("no semaphores", semget(key, 0, IPC_CREAT | 0600));
    say("too many", semget(key, 32001, IPC_CREAT | 0600));
    say("negative", semget(key, -1, IPC_CREAT | 0600));
    id = (int)say_made("by key", semget(key, 2, IPC_CREAT | 0600));
    say_true("again", semget(key, 0, 0) == id && semget(key, 2, 0600) == id);
    say("more than it has", semget(key, 3, 0600));
    say("exclusively", semget(key, 1, IPC_CREAT | IPC_EXCL | 0600));
    say("permissions", semget(key, 1, 0100));
    say("remove", semctl(id, 0, IPC_RMID));
    say("removed", semctl(id, 0, GETVAL));
    say("negative identifier", semctl(-1, 0, GETVAL));
}

static void check_operations(void)
{
    struct sembuf both[3] = {{0, 1, 0}, {1, -1, IPC_NOWAIT}, {0, -1, 0}};
    struct sembuf chain[3] = {{2, 5, 0}, {2, -3, 0}, {2, -2, 0}};
    struct sembuf many[501] = {{0, 0, 0}};
    const struct timespec none = {0, 0}, bad = {0, 1000000000}, soon = {0, 20000000};

    say_values("at first");
    say("add", operate(0, 2, 0));
    say("one cannot: none is done", semop(set, both, 3));
    say_values("nothing changed");
    operate(1, 1, 0);
    say("all can", semop(set, both, 3));
    say("one after another", semop(set, chain, 3));
    say_values("now");
    say("wait for zero", operate(0, 0, IPC_NOWAIT));
    say("zero", operate(2, 0, IPC_NOWAIT));
    say("too much", operate(0, SHRT_MAX, 0));
    say("no such semaphore", operate(COUNT, 1, 0));
    say("no operations", semop(set, many, 0));
    say("too many operations", semop(set, many, 501));
    say("bad memory", semop(set, (struct sembuf *)8, 1));
    say("at once", semtimedop(set, &(struct sembuf){1, -1, 0}, 1, &none));
    say("bad time", semtimedop(set, &(struct sembuf){1, -1, 0}, 1, &bad));
    say("soon", semtimedop(set, &(struct sembuf){1, -1, 0}, 1, &soon));
    say_values("now");
}

static void check_control(void)
{
    struct semid_ds ds = {0};
    struct seminfo info;

    set_values(1, 2, 3, 4);
    say("value", semctl(set, 2, GETVAL));
    say_true("by this process", semctl(set, 2, GETPID) == getpid());
    say("set", semctl(set, 2, SETVAL, (union semun){.val = 30}));
    say("too high", semctl(set, 2, SETVAL, (union semun){.val = 32768}));
    say("negative", semctl(set, 2, SETVAL, (union semun){.val = -1}));
    say("no such semaphore", semctl(set, COUNT, GETVAL));
    say("negative semaphore", semctl(set, -1, SETVAL, (union semun){.val = 1}));
    set_values(1, 2, 40000, 4);
    say_values("unchanged");
    say("bad command", semctl(set, 0, 99));
    say("stat", semctl(set, 0, IPC_STAT, (union semun){.buf = &ds}));
    printf("%lu semaphores, mode %o, used %d\n", (unsigned long)ds.sem_nsems, ds.sem_perm.mode,
           ds.sem_otime != 0);
    ds.sem_perm.mode = 0400;
    say("read-only", semctl(set, 0, IPC_SET, (union semun){.buf = &ds}));
    say("add", operate(0, 1, 0));
    say("zero", operate(0, 0, IPC_NOWAIT));
    say("set", semctl(set, 0, SETVAL, (union semun){.val = 1}));
    say_true("by index", semctl(set & 0x7fff, 0, SEM_STAT, (union semun){.buf = &ds}) == set);
    say_true("any", semctl(set & 0x7fff, 0, SEM_STAT_ANY, (union semun){.buf = &ds}) == set);
    ds.sem_perm.mode = 0600;
    say("writable", semctl(set, 0, IPC_SET, (union semun){.buf = &ds}));
    say_true("limits", semctl(0, 0, IPC_INFO, (union semun){.info = &info}) >= 0);
    printf("%d %d %d %d %d %d %d %d %d %d\n", info.semmap, info.semmni, info.semmns, info.semmnu,
           info.semmsl, info.semopm, info.semume, info.semusz, info.semvmx, info.semaem);
    say_true("use", semctl(0, 0, SEM_INFO, (union semun){.info = &info}) >= 0);
    say_true("counts", info.semusz >= 1 && info.semaem >= COUNT);
    say_line("sem", set, (const int[]){2, 3, 4, 5, 6, 7}, 6);
}

/* ---- waiters */

static _Atomic int finished;

struct wish {
    struct sembuf o[2];
    int count;
    int place; /* in which it was served */
};

static long wait_for(void *argument)
{
    struct wish *wish = argument;
    long result = semop(set, wish->o, (size_t)wish->count);

    wish->place = atomic_fetch_add(&finished, 1);
    return result;
}

static void say_waiting(int number)
{
    printf("waiting for %d: %d to grow, %d to be zero\n", number, semctl(set, number, GETNCNT),
           semctl(set, number, GETZCNT));
}

/* Those that come first are served first, if they can be served. */
static void check_order(void)
{
    static struct wish w[4] = {{{{0, -2, 0}}, 1, 0},
                               {{{0, -1, 0}}, 1, 0},
                               {{{0, -1, 0}, {1, -1, 0}}, 2, 0},
                               {{{0, 0, 0}, {1, 1, 0}}, 2, 0}};
    struct sleeper s[4];

    set_values(0, 0, 0, 0);
    start_sleeper(&s[0], wait_for, &w[0]);
    start_sleeper(&s[1], wait_for, &w[1]);
    start_sleeper(&s[2], wait_for, &w[2]);
    say_waiting(0);
    operate(0, 1, 0); /* not enough for the first: the second goes */
    end_sleeper(&s[1], "the second");
    say_values("taken");
    operate(0, 1, 0); /* the third needs the other semaphore, too */
    say_waiting(0);
    say_waiting(1);
    start_sleeper(&s[3], wait_for, &w[3]);
    say_waiting(0);
    operate(0, 1, 0); /* the first goes, so the fourth can, so ... */
    end_sleeper(&s[0], "the first");
    end_sleeper(&s[3], "the fourth");
    say_values("the third waits");
    operate(0, 1, 0);
    end_sleeper(&s[2], "the third");
    say_values("all");
}

static void on_signal(int number)
{
    (void)number;
}

static void check_ends(void)
{
    static struct wish grow = {{{3, -1, 0}}, 1, 0}, zero = {{{2, 0, 0}, {3, 0, 0}}, 2, 0},
                       range = {{{3, -1, IPC_NOWAIT}, {0, 0, 0}}, 2, 0};
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sleeper s[3];

    sigaction(SIGUSR1, &action, NULL);
    set_values(1, 0, 1, 0);
    start_sleeper(&s[0], wait_for, &grow);
    pthread_kill(s[0].thread, SIGUSR1);
    end_sleeper(&s[0], "a signal");
    start_sleeper(&s[0], wait_for, &zero);
    say_waiting(2);
    semctl(set, 2, SETVAL, (union semun){.val = 0});
    end_sleeper(&s[0], "set to zero");
    semctl(set, 3, SETVAL, (union semun){.val = 1});
    start_sleeper(&s[0], wait_for, &range);
    operate(3, -1, 0); /* its first operation may not wait */
    end_sleeper(&s[0], "it may not wait there");
    start_sleeper(&s[0], wait_for, &grow);
    semctl(set, 2, SETVAL, (union semun){.val = 1});
    start_sleeper(&s[1], wait_for, &zero);
    say("remove", semctl(set, 0, IPC_RMID));
    end_sleeper(&s[0], "removed");
    end_sleeper(&s[1], "removed");
}

/* ---- undo */

static void check_undo(void)
{
    set_values(5, 5, 5, 5);
    say("take", operate(0, -3, SEM_UNDO));
    say("give", operate(1, 4, SEM_UNDO));
    say("take without", operate(2, -1, 0));
    operate(3, -2, SEM_UNDO);
    semctl(set, 3, SETVAL, (union semun){.val = 9}); /* forgets what was to be undone */
    operate(1, -8, 0);
    say_values("before");
    say("leave the list", syscall(SYS_unshare, CLONE_SYSVSEM));
    say_values("undone"); /* not below zero */
    say("too much to undo", operate(0, -3, SEM_UNDO));
    operate(0, 32000, 0);
    say("more", operate(0, -32000, SEM_UNDO));
    operate(0, 32000, 0);
    say("than fits", operate(0, -1000, SEM_UNDO));
    say_values("not done");
    syscall(SYS_unshare, CLONE_SYSVSEM);
}

static void check_processes(void)
{
    pid_t child;

    set = semget(IPC_PRIVATE, COUNT, IPC_CREAT | 0600);
    set_values(2, 0, 0, 0);
    operate(0, -1, SEM_UNDO);
    child = fork();
    if (child == 0) {
        operate(1, -1, 0); /* waits for its parent */
        operate(0, -1, SEM_UNDO);
        operate(2, 3, SEM_UNDO);
        say_values("in the child");
        _exit(0);
    }
    operate(1, 1, 0);
    say_child("child", child);
    say_values("the child's are undone");
    child = fork();
    if (child == 0) {
        operate(3, -1, 0);
        _exit(errno == EIDRM);
    }
    while (semctl(set, 3, GETNCNT) == 0)
        sched_yield();
    say("remove", semctl(set, 0, IPC_RMID));
    say_child("child that waited", child);
}

int main(int argc, char **argv)
{
    become_user();
    check_get();
    set = semget(IPC_PRIVATE, COUNT, IPC_CREAT | 0600);
    check_operations();
    check_control();
    check_undo();
    check_order();
    check_ends();
    if (argc > 1 && strcmp(argv[1], "processes") == 0)
        check_processes();
    return 0;
}
