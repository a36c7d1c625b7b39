/* processes_signals: signals between processes, groups, sessions, stops, pidfds.  Each mode does
 * its checks and prints one line.  STOPS says how often threads end while they are stopped. */
#include "workloads/processes.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* ---- send: a signal, its sender and its value ---- */

static volatile sig_atomic_t seen;
static siginfo_t seen_info;

static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)context;
    seen = signal;
    seen_info = *info;
}

static void listen_to(int signal)
{
    const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigaction(signal, &action, NULL);
}

static void await_signal(void)
{
    sigset_t empty;

    sigemptyset(&empty);
    seen = 0;
    while (!seen)
        sigsuspend(&empty);
}

static int child_listens(void)
{
    listen_to(SIGUSR1);
    listen_to(SIGRTMIN + 1);
    send_byte(pipes[0][1], 1);
    await_signal();
    CHECK(seen == SIGUSR1 && seen_info.si_pid == getppid() && seen_info.si_code == SI_USER);
    send_byte(pipes[0][1], 2);
    await_signal();
    CHECK(seen == SIGRTMIN + 1 && seen_info.si_value.sival_int == 1234);
    CHECK(seen_info.si_code == SI_QUEUE && seen_info.si_pid == getppid());
    send_byte(pipes[0][1], 3);
    await_signal();
    CHECK(seen == SIGUSR1 && seen_info.si_code == SI_TKILL);
    return 6;
}

static void run_send(void)
{
    siginfo_t forged = {.si_code = SI_KERNEL};
    pid_t pid;

    make_pipes();
    pid = start(child_listens);
    CHECK(await_byte(pipes[0][0]) == 1);
    CHECK(kill(pid, SIGUSR1) == 0);
    CHECK(await_byte(pipes[0][0]) == 2);
    CHECK(sigqueue(pid, SIGRTMIN + 1, (union sigval){.sival_int = 1234}) == 0);
    CHECK(await_byte(pipes[0][0]) == 3);
    CHECK(syscall(SYS_rt_sigqueueinfo, pid, SIGUSR1, &forged) == -1 && errno == EPERM);
    CHECK(syscall(SYS_tgkill, getpid(), pid, SIGUSR1) == -1 && errno == ESRCH);
    CHECK(syscall(SYS_tgkill, pid, pid, 65) == -1 && errno == EINVAL);
    CHECK(syscall(SYS_tgkill, pid, pid, SIGUSR1) == 0);
    CHECK(finish(pid) == EXITED(6));
    CHECK(kill(pid, SIGUSR1) == -1 && errno == ESRCH);
    close_pipes();
}

/* ---- groups ---- */

static int child_sleeps(void)
{
    send_byte(pipes[0][1], 1);
    while (pause() == -1)
        ;
    return 0;
}

static int child_leads(void)
{
    pid_t self = getpid(), first, second;

    CHECK(setpgid(0, 0) == 0 && getpgrp() == self && getpgid(0) == self);
    first = start(child_sleeps);
    second = start(child_sleeps);
    CHECK(getpgid(first) == self);
    CHECK(setpgid(second, second) == 0 && getpgid(second) == second);
    CHECK(await_byte(pipes[0][0]) == 1 && await_byte(pipes[0][0]) == 1);
    CHECK(setpgid(second, 999999) == -1 && errno == EPERM);
    CHECK(setpgid(getppid(), 0) == -1 && errno == ESRCH);
    signal(SIGTERM, SIG_IGN);
    CHECK(kill(0, SIGTERM) == 0); /* not to the second */
    CHECK(waitpid(-second, NULL, WNOHANG) == 0);
    CHECK(waitpid(0, NULL, 0) == first);
    CHECK(kill(-second, SIGKILL) == 0);
    CHECK(waitpid(-second, NULL, 0) == second);
    CHECK(kill(-second, SIGKILL) == -1 && errno == ESRCH);
    return 4;
}

static int child_sessions(void)
{
    pid_t self = getpid(), parents = getsid(getppid());

    CHECK(getsid(0) == parents && parents != self);
    CHECK(setsid() == self && getsid(0) == self && getpgrp() == self);
    CHECK(setsid() == -1 && errno == EPERM);
    CHECK(setpgid(0, 0) == -1 && errno == EPERM);
    return 5;
}

static void run_groups(void)
{
    make_pipes();
    CHECK(finish(start(child_leads)) == EXITED(4));
    CHECK(finish(start(child_sessions)) == EXITED(5));
    CHECK(getsid(999999) == -1 && errno == ESRCH);
    close_pipes();
}

/* ---- stops ---- */

static void *thread_counts(void *count)
{
    for (;;)
        ++*(volatile uint64_t *)count;
    return NULL;
}

static int child_counts(void)
{
    static uint64_t count;
    pthread_t id;

    listen_to(SIGUSR2); /* in both threads: the first one takes it */
    pthread_create(&id, NULL, thread_counts, &count);
    send_byte(pipes[0][1], 1);
    await_signal();
    return 3;
}

/* Each thread starts the next one and ends. */
static void *thread_in_chain(void *nothing)
{
    pthread_attr_t attributes;
    pthread_t id;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    while (pthread_create(&id, &attributes, thread_in_chain, NULL) != 0)
        sched_yield();
    return nothing;
}

static int child_chain(void)
{
    thread_in_chain(NULL);
    return await_byte(pipes[1][0]);
}

/* A thread that ends may be the last one that a stop waits for. */
static void stop_while_threads_end(void)
{
    int rounds = getenv("STOPS") != NULL ? atoi(getenv("STOPS")) : 5000;
    siginfo_t info = {0};
    pid_t pid;

    make_pipes();
    pid = start(child_chain);
    for (int i = 0; i < rounds && info.si_status == (i ? SIGSTOP : 0); i++) {
        CHECK(kill(pid, SIGSTOP) == 0);
        info.si_status = 0;
        for (int looks = 0; looks < 5000 && info.si_status == 0; looks++) {
            CHECK(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG) == 0);
            usleep(info.si_status ? 0 : 200);
        }
        CHECK(kill(pid, SIGCONT) == 0);
    }
    CHECK(info.si_status == SIGSTOP);
    CHECK(kill(pid, SIGKILL) == 0 && finish(pid) == SIGKILL);
    close_pipes();
}

static volatile sig_atomic_t stops;

static void on_stop(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    stops = stops * 10 + info->si_code;
}

static void run_stops(void)
{
    struct sigaction action = {.sa_sigaction = on_stop, .sa_flags = SA_SIGINFO | SA_RESTART};
    siginfo_t info;
    int status;
    pid_t pid;

    make_pipes();
    sigaction(SIGCHLD, &action, NULL);
    pid = start(child_counts);
    CHECK(await_byte(pipes[0][0]) == 1);
    CHECK(kill(pid, SIGSTOP) == 0);
    CHECK(waitpid(pid, &status, WUNTRACED) == pid);
    CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    CHECK(waitpid(pid, &status, WUNTRACED | WNOHANG) == 0); /* told once */
    CHECK(kill(pid, SIGCONT) == 0);
    CHECK(waitid(P_PID, (id_t)pid, &info, WCONTINUED) == 0);
    CHECK(info.si_code == CLD_CONTINUED && info.si_status == SIGCONT && info.si_pid == pid);
    for (int i = 0; i < 100000 && stops != CLD_STOPPED * 10 + CLD_CONTINUED; i++)
        sched_yield(); /* Linux may send these signals a little later */
    CHECK(stops == CLD_STOPPED * 10 + CLD_CONTINUED);
    CHECK(kill(pid, SIGSTOP) == 0 && waitpid(pid, &status, WUNTRACED) == pid);
    CHECK(kill(pid, SIGUSR2) == 0); /* waits */
    CHECK(waitpid(pid, &status, WNOHANG) == 0);
    CHECK(kill(pid, SIGCONT) == 0);
    CHECK(finish(pid) == EXITED(3));

    signal(SIGCHLD, SIG_DFL);
    pid = start(child_counts);
    CHECK(await_byte(pipes[0][0]) == 1);
    CHECK(kill(pid, SIGSTOP) == 0 && kill(pid, SIGCONT) == 0 && kill(pid, SIGSTOP) == 0);
    CHECK(waitid(P_PID, (id_t)pid, &info, WSTOPPED) == 0 && info.si_code == CLD_STOPPED);
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK(finish(pid) == SIGKILL);
    close_pipes();
    stop_while_threads_end();
}

/* ---- kills: a process with threads ends in whatever it does ---- */

static int child_vforks(void)
{
    pid_t pid = vfork();

    if (pid == 0) {
        close(pipes[1][1]); /* so that it ends when the test closes its end */
        send_byte(pipes[0][1], 1);
        await_byte(pipes[1][0]);
        _exit(0);
    }
    return 0;
}

static void *thread_reads(void *fd)
{
    await_byte(*(int *)fd);
    return NULL;
}

static int child_with_readers(void)
{
    pthread_t id;

    for (int i = 0; i < 4; i++)
        pthread_create(&id, NULL, thread_reads, &pipes[1][0]);
    send_byte(pipes[0][1], 1);
    pthread_join(id, NULL);
    return 0;
}

static void run_kills(void)
{
    int (*const children[])(void) = {child_sleeps, child_counts, child_with_readers, child_vforks};

    for (size_t i = 0; i < sizeof children / sizeof children[0]; i++) {
        pid_t pid;

        make_pipes();
        pid = start(children[i]);
        CHECK(await_byte(pipes[0][0]) == 1);
        CHECK(kill(pid, SIGKILL) == 0 && finish(pid) == SIGKILL);
        close_pipes();
    }
}

/* ---- pidfd, signalfd, another process's memory ---- */

static void check_files(pid_t pid, int fd)
{
    int other;

    CHECK(syscall(SYS_pidfd_open, 999999, 0) == -1 && errno == ESRCH);
    CHECK(syscall(SYS_pidfd_send_signal, 0, SIGUSR1, NULL, 0) == -1 && errno == EBADF);
    other = (int)syscall(SYS_pidfd_getfd, fd, pipes[0][1], 0);
    CHECK(other >= 0 || errno == EPERM); /* some systems forbid it */
    if (other >= 0)
        close(other);
    CHECK(kill(pid, 0) == 0);
}

static void run_files(void)
{
    struct pollfd wanted = {.events = POLLIN};
    struct signalfd_siginfo info;
    sigset_t set;
    siginfo_t ended;
    pid_t pid;
    int fd;

    make_pipes();
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pid = start(child_sleeps);
    CHECK(await_byte(pipes[0][0]) == 1);
    fd = wanted.fd = (int)syscall(SYS_pidfd_open, pid, 0);
    CHECK(fd >= 0 && poll(&wanted, 1, 0) == 0);
    check_files(pid, fd);
    CHECK(syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) == 0);
    CHECK(poll(&wanted, 1, -1) == 1 && wanted.revents == POLLIN);
    CHECK(waitid((idtype_t)P_PIDFD, (id_t)fd, &ended, WEXITED) == 0 && ended.si_pid == pid);
    CHECK(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == -1 && errno == ESRCH);
    close(fd);

    fd = signalfd(-1, &set, 0);
    CHECK(fd >= 0 && read(fd, &info, sizeof info) == sizeof info);
    CHECK(info.ssi_signo == SIGCHLD && info.ssi_pid == (uint32_t)pid &&
          info.ssi_code == CLD_KILLED && info.ssi_status == SIGTERM);
    close(fd);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    close_pipes();
}

static const struct mode modes[] = {{"send", run_send},
                                    {"groups", run_groups},
                                    {"stops", run_stops},
                                    {"kills", run_kills},
                                    {"files", run_files}};

int main(int argc, char **argv)
{
    return run_modes(modes, sizeof modes / sizeof modes[0], argc, argv);
}
