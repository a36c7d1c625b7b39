/* processes: fork, exit and wait.  Each mode does its checks and prints one line. */
#include "workloads/processes.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

static volatile uint32_t *private_words, *shared_words;

/* ---- basic: statuses ---- */

static int child_exits(void)
{
    return 42;
}

static int child_aborts(void)
{
    signal(SIGABRT, SIG_DFL);
    abort();
}

static int child_faults(void)
{
    return *(volatile int *)(uintptr_t)private_words;
}

static int child_waits(void)
{
    while (pause() == -1)
        ;
    return 0;
}

static void run_basic(void)
{
    const struct rlimit none = {0, 0};
    siginfo_t info;
    pid_t pid;
    int status;

    setrlimit(RLIMIT_CORE, &none);
    CHECK(waitpid(-1, NULL, 0) == -1 && errno == ECHILD);
    CHECK(finish(start(child_exits)) == EXITED(42));
    status = finish(start(child_aborts));
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    status = finish(start(child_faults));
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);

    pid = start(child_waits);
    CHECK(waitpid(pid, &status, WNOHANG) == 0);
    CHECK(waitpid(pid + 100000, &status, 0) == -1 && errno == ECHILD);
    CHECK(waitpid(pid, &status, 1 << 20) == -1 && errno == EINVAL);
    CHECK(kill(pid, 0) == 0 && kill(pid, SIGKILL) == 0);
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    CHECK(info.si_pid == pid && info.si_code == CLD_KILLED && info.si_status == SIGKILL);
    CHECK(info.si_signo == SIGCHLD && info.si_uid == getuid());
    CHECK(kill(pid, 0) == 0); /* a zombie takes signals */
    CHECK(finish(pid) == SIGKILL);
    CHECK(kill(pid, 0) == -1 && errno == ESRCH);
    CHECK(waitid(P_ALL, 0, &info, WEXITED) == -1 && errno == ECHILD);
    CHECK(waitid(P_ALL, 0, &info, 0) == -1 && errno == EINVAL);
}

/* ---- memory: a child's copy is its own, shared memory is not ---- */

#define WORDS (1 << 18)

static int child_writes(void)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < WORDS; i++)
        sum += private_words[i] != i;
    for (uint32_t i = 0; i < WORDS; i += 64)
        private_words[i] = ~i;
    for (uint32_t i = 0; i < WORDS; i += 64)
        sum += private_words[i] != ~i;
    shared_words[0] += 5;
    return sum == 0 ? 7 : 1;
}

static void run_memory(void)
{
    int changed = 0;

    private_words =
        mmap(NULL, WORDS * 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    shared_words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(private_words != MAP_FAILED && shared_words != MAP_FAILED);
    for (uint32_t i = 0; i < WORDS; i++)
        private_words[i] = i;
    for (int i = 0; i < 3; i++)
        CHECK(finish(start(child_writes)) == EXITED(7));
    for (uint32_t i = 0; i < WORDS; i++)
        changed += private_words[i] != i;
    CHECK(changed == 0);
    CHECK(shared_words[0] == 15);
}

/* ---- inherited: what a child has, and what it has not ---- */

static int lock_of(int fd, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};

    return fcntl(fd, F_SETLK, &lock);
}

static int file;
static timer_t timer;

static int child_inherits(void)
{
    struct itimerval value;
    struct rlimit limit;
    sigset_t set;
    char name[16];
    int old_umask = (int)umask(0);

    CHECK(old_umask == 027);
    CHECK(sigprocmask(SIG_BLOCK, NULL, &set) == 0 && sigismember(&set, SIGUSR2));
    CHECK(sigpending(&set) == 0 && !sigismember(&set, SIGUSR2));
    CHECK(getitimer(ITIMER_REAL, &value) == 0 && value.it_value.tv_sec == 0);
    CHECK(timer_delete(timer) != 0);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 100);
    CHECK(prctl(PR_GET_NAME, name) == 0 && strcmp(name, "some-name") == 0);
    CHECK(lock_of(file, F_WRLCK) == -1); /* the parent's, and not inherited */
    CHECK(flock(file, LOCK_EX | LOCK_NB) == 0); /* shared by the open file */
    CHECK(lseek(file, 0, SEEK_CUR) == 3 && lseek(file, 11, SEEK_SET) == 11);
    CHECK(chdir("/") == 0);
    close(file);
    CHECK(times(&(struct tms){0}) >= 0 && clock() < CLOCKS_PER_SEC);
    return 3;
}

static void run_inherited(void)
{
    const struct itimerval later = {.it_value.tv_sec = 1000};
    const struct rlimit limit = {100, 100};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    char before[256], after[256], name[] = "/tmp/processes.XXXXXX";
    sigset_t set;

    file = mkstemp(name);
    CHECK(file >= 0 && unlink(name) == 0 && write(file, "abc", 3) == 3);
    CHECK(lock_of(file, F_WRLCK) == 0 && flock(file, LOCK_EX) == 0);
    umask(027);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0 && kill(getpid(), SIGUSR2) == 0);
    CHECK(setitimer(ITIMER_REAL, &later, NULL) == 0);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0 && prctl(PR_SET_NAME, "some-name") == 0);
    CHECK(getcwd(before, sizeof before) != NULL);
    CHECK(finish(start(child_inherits)) == EXITED(3));
    CHECK(umask(022) == 027);
    CHECK(getcwd(after, sizeof after) != NULL && strcmp(before, after) == 0);
    CHECK(lseek(file, 0, SEEK_CUR) == 11);
    CHECK(timer_delete(timer) == 0);
}

/* ---- orphans ---- */

static int child_orphans(void)
{
    pid_t parent = getpid(), pid = fork();

    if (pid == 0) {
        CHECK(await_byte(pipes[0][0]) == 1); /* the parent is gone */
        send_byte(pipes[1][1], getppid() != parent ? (unsigned char)(getppid() == 1 ? 1 : 2) : 9);
        _exit(6);
    }
    return pid > 0 ? 5 : 1;
}

static int child_reaps(void)
{
    pid_t pid;
    int status;

    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    CHECK(finish(start(child_orphans)) == EXITED(5));
    send_byte(pipes[0][1], 1);
    CHECK(await_byte(pipes[1][0]) == 2);
    pid = wait(&status);
    CHECK(pid > 0 && status == EXITED(6));
    CHECK(wait(&status) == -1 && errno == ECHILD);
    return 8;
}

static int death_noted;

static void note_death(int signal)
{
    (void)signal;
    death_noted = 1;
}

static int child_mourns(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        sigset_t set, empty;

        signal(SIGUSR1, note_death);
        sigemptyset(&set);
        sigemptyset(&empty);
        sigaddset(&set, SIGUSR1);
        sigprocmask(SIG_BLOCK, &set, NULL);
        CHECK(prctl(PR_SET_PDEATHSIG, SIGUSR1) == 0);
        send_byte(pipes[0][1], 1);
        while (!death_noted)
            sigsuspend(&empty);
        send_byte(pipes[1][1], 4);
        _exit(0);
    }
    CHECK(await_byte(pipes[0][0]) == 1);
    return 2;
}

static void run_orphans(void)
{
    make_pipes();
    CHECK(finish(start(child_reaps)) == EXITED(8));
    CHECK(finish(start(child_mourns)) == EXITED(2));
    CHECK(await_byte(pipes[1][0]) == 4);
    close_pipes();
}

/* ---- children: SIGCHLD, and who reaps ---- */

static volatile sig_atomic_t child_signals;
static siginfo_t child_info;

static void on_child(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    child_signals++;
    child_info = *info;
}

static void run_children(void)
{
    struct sigaction action = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct rusage usage;
    struct tms ticks;
    pid_t pid, pids[20];
    int status = 0;

    sigaction(SIGCHLD, &action, NULL);
    pid = start(child_exits);
    CHECK(finish(pid) == EXITED(42));
    CHECK(child_signals == 1 && child_info.si_pid == pid && child_info.si_status == 42 &&
          child_info.si_code == CLD_EXITED);
    CHECK(getrusage(RUSAGE_CHILDREN, &usage) == 0 && times(&ticks) != -1);

    signal(SIGCHLD, SIG_IGN);
    pid = start(child_exits);
    CHECK(waitpid(pid, NULL, 0) == -1 && errno == ECHILD); /* waits until it is gone */
    CHECK(kill(pid, 0) == -1 && errno == ESRCH);

    action.sa_flags |= SA_NOCLDWAIT;
    sigaction(SIGCHLD, &action, NULL);
    pid = start(child_exits);
    CHECK(waitpid(pid, NULL, 0) == -1 && errno == ECHILD);
    CHECK(child_signals == 2);

    signal(SIGCHLD, SIG_DFL);
    for (int i = 0; i < 20; i++)
        pids[i] = start(child_exits);
    for (int i = 0; i < 20; i++) {
        CHECK(wait(&status) > 0 && status == EXITED(42));
        CHECK(pids[i] != getpid());
    }
    CHECK(wait(&status) == -1 && errno == ECHILD);
}

/* ---- vfork, clone ---- */

static volatile int vfork_value;

static void run_vfork(void)
{
    pid_t pid = vfork();
    int tid = 0;

    if (pid == 0) {
        vfork_value = 77; /* in the parent's memory */
        _exit(9);
    }
    CHECK(pid > 0 && vfork_value == 77);
    CHECK(finish(pid) == EXITED(9));

    signal(SIGUSR1, SIG_IGN);
    pid = (pid_t)syscall(SYS_clone, CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | SIGUSR1, 0, &tid,
                         &vfork_value, 0);
    if (pid == 0)
        _exit(vfork_value == getpid() ? 4 : 5);
    CHECK(tid == pid && vfork_value == 77);
    CHECK(waitpid(pid, NULL, WNOHANG) == -1 && errno == ECHILD); /* it does not send SIGCHLD */
    int status = 0;
    CHECK(waitpid(pid, &status, __WALL) == pid && status == EXITED(4));
    CHECK(syscall(SYS_clone, CLONE_THREAD | SIGCHLD, 0, 0, 0, 0) == -1 && errno == EINVAL);
    CHECK(syscall(SYS_clone, CLONE_SIGHAND | SIGCHLD, 0, 0, 0, 0) == -1 && errno == EINVAL);

    pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(dup2(1, 50) == 50 ? 1 : 2);
    CHECK(finish(pid) == EXITED(1) && fcntl(50, F_GETFD) == 0 && close(50) == 0);
}

/* ---- threads: a process of one of several threads; mutexes between processes ---- */

static pthread_mutex_t *shared_mutex;
static volatile int *shared_count;

static void *thread_waits(void *unused)
{
    await_byte(pipes[0][0]);
    return unused;
}

static int child_counts(void)
{
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(shared_mutex);
        *shared_count += 1;
        if (i % 50 == 0)
            sched_yield();
        pthread_mutex_unlock(shared_mutex);
    }
    return 2;
}

static void *thread_forks(void *unused)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(getpid() == (pid_t)syscall(SYS_gettid) ? 11 : 1);
    CHECK(finish(pid) == EXITED(11));
    return unused;
}

static int child_with_threads(void)
{
    pthread_t id;

    for (int i = 0; i < 3; i++)
        if (pthread_create(&id, NULL, thread_waits, NULL) != 0)
            return 1;
    exit(13); /* ends the threads, too */
}

static void run_threads(void)
{
    pthread_mutexattr_t attributes;
    pthread_t first, second;
    pid_t pids[3];

    make_pipes();
    pthread_create(&first, NULL, thread_waits, NULL);
    pthread_create(&second, NULL, thread_forks, NULL);
    pthread_join(second, NULL);
    CHECK(finish(start(child_with_threads)) == EXITED(13));
    send_byte(pipes[0][1], 1);
    pthread_join(first, NULL);
    close_pipes();

    shared_mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared_mutex != MAP_FAILED);
    shared_count = (volatile int *)(shared_mutex + 1);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(shared_mutex, &attributes);
    for (int i = 0; i < 3; i++)
        pids[i] = start(child_counts);
    for (int i = 0; i < 3; i++)
        CHECK(finish(pids[i]) == EXITED(2));
    CHECK(*shared_count == 1500);
}

static const struct mode modes[] = {{"basic", run_basic},         {"memory", run_memory},
                                    {"inherited", run_inherited}, {"orphans", run_orphans},
                                    {"children", run_children},   {"vfork", run_vfork},
                                    {"threads", run_threads}};

int main(int argc, char **argv)
{
    return run_modes(modes, sizeof modes / sizeof modes[0], argc, argv);
}
