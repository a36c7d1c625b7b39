/* ipc_mqueue: POSIX message queues; its output is equal on Linux.
 *
 *   ipc_mqueue             what threads can do
 *   ipc_mqueue DIRECTORY   and what the directory of queues shows
 *   ipc_mqueue processes   and what processes can do
 */
#include <dirent.h>
#include <mqueue.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "workloads/ipc_check.h"

#define NAME "/ipc_mqueue_check"
#define OTHER "/ipc_mqueue_other"
#define RAW_NAME "ipc_mqueue_check" /* as the kernel has it */

static mqd_t queue;
static char buffer[8192];

static void send_text(const char *what, const char *text, unsigned priority)
{
    say(what, mq_send(queue, text, strlen(text), priority));
}

static void receive(const char *what)
{
    unsigned priority = 0;
    ssize_t bytes = mq_receive(queue, buffer, sizeof buffer, &priority);

    if (bytes < 0)
        say(what, -1);
    else
        printf("%s: %.*s, priority %u\n", what, (int)bytes, buffer, priority);
}

static void say_attributes(const char *what)
{
    struct mq_attr a;

    if (mq_getattr(queue, &a) != 0)
        say(what, -1);
    else
        printf("%s: flags %lo, %ld of %ld messages, %ld bytes\n", what, a.mq_flags, a.mq_curmsgs,
               a.mq_maxmsg, a.mq_msgsize);
}

static long open_with(long messages, long bytes)
{
    struct mq_attr a = {.mq_maxmsg = messages, .mq_msgsize = bytes};

    return mq_open(OTHER, O_RDWR | O_CREAT | O_EXCL, 0600, &a);
}

static void check_names(void)
{
    char name[300] = "/";

    say("no such queue", mq_open(NAME, O_RDWR));
    say("no slash", syscall(SYS_mq_open, "a/b", O_RDWR | O_CREAT, 0600, NULL));
    say("no name", syscall(SYS_mq_open, "", O_RDWR | O_CREAT, 0600, NULL));
    say("a dot", syscall(SYS_mq_open, ".", O_RDWR | O_CREAT, 0600, NULL));
    memset(name + 1, 'x', 256);
    say("too long", mq_open(name, O_RDWR | O_CREAT, 0600, NULL));
    say("no messages", open_with(0, 1));
    say("no bytes", open_with(1, 0));
    say("too many", open_with(11, 1));
    say("too large", open_with(1, 8193));
    queue = (mqd_t)say_made("make", mq_open(NAME, O_RDWR | O_CREAT | O_EXCL, 0640, NULL));
    say("exclusively", mq_open(NAME, O_RDWR | O_CREAT | O_EXCL, 0600, NULL));
    say("neither", syscall(SYS_mq_open, RAW_NAME, 3, 0, NULL));
    say("closed on exec", fcntl(queue, F_GETFD));
    say_attributes("default");
    say("remove", mq_unlink(NAME));
    say("remove again", mq_unlink(NAME));
    send_text("still there", "hello", 3);
    receive("still there");
    say("close", mq_close(queue));
    say("close again", mq_close(queue));
}

static void check_messages(void)
{
    struct mq_attr a = {.mq_maxmsg = 4, .mq_msgsize = 16};
    const struct timespec past = {1, 0}, bad = {1, -1};

    queue = mq_open(NAME, O_RDWR | O_CREAT | O_NONBLOCK, 0600, &a);
    say_attributes("made");
    receive("nothing");
    send_text("one", "one", 1);
    send_text("five", "five", 5);
    send_text("one", "one again", 1);
    send_text("highest", "highest", 32767);
    send_text("too high", "too high", 32768);
    send_text("full", "full", 1);
    send_text("too long", "12345678901234567", 1);
    say_attributes("full");
    for (int i = 0; i < 5; i++)
        receive("next");
    say("room too small", mq_receive(queue, buffer, 15, NULL));
    a.mq_flags = 0;
    say("wait from now on", mq_setattr(queue, &a, NULL));
    say("in the past", mq_timedreceive(queue, buffer, sizeof buffer, NULL, &past));
    say("bad time", mq_timedreceive(queue, buffer, sizeof buffer, NULL, &bad));
    send_text("empty", "", 0);
    say("there is one", mq_timedreceive(queue, buffer, sizeof buffer, NULL, &past));
    a.mq_flags = O_APPEND;
    say("bad flag", mq_setattr(queue, &a, NULL));
    say("no queue", mq_send(0, "x", 1, 0));
    say("bad memory", mq_send(queue, (char *)8, 1, 0));
    say_attributes("empty");
}

static void check_rights(void)
{
    mqd_t whole = queue;

    queue = mq_open(NAME, O_RDONLY);
    send_text("only to receive", "x", 0);
    mq_close(queue);
    queue = mq_open(NAME, O_WRONLY | O_NONBLOCK);
    receive("only to send");
    mq_close(queue);
    queue = whole;
    say("mode", fchmod(queue, 0400));
    say("not to send", mq_open(NAME, O_RDWR));
    fchmod(queue, 0600);
    say("no map", (long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, queue, 0));
}

static void check_limits(void)
{
    mqd_t queues[20];
    char name[32];
    int made = 0;

    while (made < 20) {
        snprintf(name, sizeof name, "/ipc_mqueue_%d", made);
        queues[made] = mq_open(name, O_RDWR | O_CREAT, 0600, NULL);
        if (queues[made] < 0)
            break;
        made++;
    }
    say("too much memory", mq_open("/ipc_mqueue_20", O_RDWR | O_CREAT, 0600, NULL));
    printf("default queues: %d\n", made);
    while (made--) {
        snprintf(name, sizeof name, "/ipc_mqueue_%d", made);
        mq_unlink(name);
        mq_close(queues[made]);
    }
}

static void say_polled(const char *what, int epoll)
{
    struct pollfd p = {.fd = queue, .events = POLLIN | POLLOUT};
    struct epoll_event event = {0};

    poll(&p, 1, 0);
    epoll_wait(epoll, &event, 1, 0);
    printf("%s: poll %x, epoll %x\n", what, p.revents, event.events);
}

static void check_poll(void)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT};
    int epoll = epoll_create1(0);

    epoll_ctl(epoll, EPOLL_CTL_ADD, queue, &event);
    say_polled("empty", epoll);
    send_text("send", "x", 0);
    say_polled("one", epoll);
    for (int i = 0; i < 3; i++)
        send_text("send", "x", 0);
    say_polled("full", epoll);
    for (int i = 0; i < 4; i++)
        receive("take");
    say_polled("empty", epoll);
    close(epoll);
}

/* ---- waiters */

static long wait_message(void *argument)
{
    return mq_receive(queue, argument, 100, NULL);
}

static long wait_room(void *argument)
{
    return mq_send(queue, argument, strlen(argument), 2);
}

static long wait_poll(void *)
{
    return poll(&(struct pollfd){.fd = queue, .events = POLLIN}, 1, -1);
}

static _Atomic int signals, signal_code, signal_value, signal_own;

static void on_signal(int number, siginfo_t *info, void *)
{
    (void)number;
    signal_code = info->si_code;
    signal_value = info->si_value.sival_int;
    signal_own = info->si_pid == getpid() && info->si_uid == getuid();
    atomic_fetch_add(&signals, 1);
}

static void check_waiters(void)
{
    static char texts[3][100];
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    struct sleeper s[3];

    start_sleeper(&s[0], wait_message, texts[0]);
    start_sleeper(&s[1], wait_message, texts[1]);
    start_sleeper(&s[2], wait_poll, NULL);
    send_text("for the first", "first", 0);
    end_sleeper(&s[0], "first");
    send_text("for the second", "second", 0);
    end_sleeper(&s[1], "second");
    send_text("for nobody", "third", 0);
    end_sleeper(&s[2], "polled");
    printf("%s %s\n", texts[0], texts[1]);
    for (int i = 0; i < 3; i++)
        send_text("fill", "fill", 1);
    start_sleeper(&s[0], wait_room, "fifth");
    start_sleeper(&s[1], wait_room, "sixth");
    for (int i = 0; i < 6; i++)
        receive("take");
    end_sleeper(&s[0], "sent");
    end_sleeper(&s[1], "sent");
    sigaction(SIGUSR1, &action, NULL);
    start_sleeper(&s[0], wait_message, texts[0]);
    pthread_kill(s[0].thread, SIGUSR1);
    end_sleeper(&s[0], "a signal");
    action.sa_flags |= SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
    start_sleeper(&s[0], wait_message, texts[0]);
    pthread_kill(s[0].thread, SIGUSR1);
    while (signals < 2)
        sched_yield();
    send_text("restarted", "again", 0);
    end_sleeper(&s[0], "restarted");
}

/* ---- notices */

static void say_signal(const char *what)
{
    printf("%s: %d signals, code %d, value %d, own %d\n", what, signals, signal_code, signal_value,
           signal_own);
}

static void check_notify(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    static char text[100];
    struct sleeper s;
    char cookie[32] = "";

    sigaction(SIGUSR2, &action, NULL);
    signals = 0;
    event.sigev_value.sival_int = 77;
    say("ask", mq_notify(queue, &event));
    say("ask again", mq_notify(queue, &event));
    send_text("send", "x", 0);
    say_signal("told");
    receive("take");
    send_text("send", "x", 0);
    receive("take");
    say_signal("only once");
    say("ask", mq_notify(queue, &event));
    start_sleeper(&s, wait_message, text);
    send_text("for a receiver", "x", 0);
    end_sleeper(&s, "received");
    say_signal("not told");
    say("take back", mq_notify(queue, NULL));
    say("take back again", mq_notify(queue, NULL));
    event.sigev_notify = SIGEV_NONE;
    say("ask for nothing", mq_notify(queue, &event));
    close(dup(queue)); /* takes the request back, too */
    event.sigev_notify = SIGEV_SIGNAL;
    say("ask", mq_notify(queue, &event));
    say("take back", mq_notify(queue, NULL));
    event.sigev_signo = 65;
    say("bad signal", mq_notify(queue, &event));
    event.sigev_notify = 99;
    say("bad kind", mq_notify(queue, &event));
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_value.sival_ptr = cookie;
    event.sigev_signo = 800;
    say("thread without socket", syscall(SYS_mq_notify, queue, &event));
    event.sigev_signo = queue;
    say("thread with a queue", syscall(SYS_mq_notify, queue, &event));
    say("no queue", mq_notify(0, NULL));
}

/* ---- the directory */

static void say_file(const char *path)
{
    char text[100];
    ssize_t bytes;
    int fd = open(path, O_RDONLY);
    struct stat st;

    fstat(fd, &st);
    bytes = read(fd, text, sizeof text - 1);
    text[bytes > 0 ? bytes : 0] = 0;
    if (strstr(text, "PID:0") == NULL)
        strcpy(strstr(text, "PID:"), "PID: own\n");
    printf("%ld bytes, mode %o: %s", (long)st.st_size, st.st_mode, text);
    close(fd);
}

static void check_directory(const char *directory)
{
    const struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    const struct dirent *entry;
    int found = 0;
    DIR *dir = opendir(directory);
    struct stat st;

    while (dir != NULL && (entry = readdir(dir)) != NULL)
        found += strcmp(entry->d_name, RAW_NAME) == 0;
    printf("listed: %d\n", found);
    if (chdir(directory) != 0)
        return;
    say("stat", stat(".", &st));
    printf("mode %o\n", st.st_mode);
    send_text("send", "four", 0);
    say_file(RAW_NAME);
    mq_notify(queue, &event);
    say_file(RAW_NAME);
    receive("take");
    say("link", link(RAW_NAME, "link"));
    say("rename", rename(RAW_NAME, "renamed"));
    say("symlink", symlink(RAW_NAME, "link"));
    say("mkdir", mkdir("directory", 0700));
    say_made("made by open", open(&OTHER[1], O_RDWR | O_CREAT | O_EXCL, 0600));
    say_made("opened", mq_open(OTHER, O_RDWR));
    say("removed", unlink(&OTHER[1]));
    say("not opened", mq_open(OTHER, O_RDWR));
    closedir(dir);
}

static void check_processes(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    int taken[2]; /* a pipe: the child must not receive what it sent itself */
    pid_t child;

    if (pipe(taken) != 0)
        return;
    child = fork();
    if (child == 0) {
        mq_notify(queue, &event);
        mq_send(queue, "from the child", 14, 4);
        if (read(taken[0], buffer, 1) != 1)
            _exit(2);
        _exit(mq_receive(queue, buffer, sizeof buffer, NULL) == 6);
    }
    receive("from the child");
    if (write(taken[1], "", 1) != 1)
        return;
    sched_yield();
    send_text("to the child", "answer", 0);
    say_child("child", child);
    child = fork();
    if (child == 0)
        _exit(mq_notify(queue, &event) == 0);
    say_child("child that asked", child);
    say("its request is gone", mq_notify(queue, &event));
}

int main(int argc, char **argv)
{
    become_user();
    mq_unlink(NAME);
    check_names();
    check_messages();
    check_rights();
    check_limits();
    check_poll();
    check_waiters();
    check_notify();
    if (argc > 1 && argv[1][0] == '/')
        check_directory(argv[1]);
    if (argc > 1 && strcmp(argv[1], "processes") == 0)
        check_processes();
    return mq_unlink(NAME) != 0;
}
