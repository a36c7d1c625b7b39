/* ipc_notify: mq_notify that starts a thread; its output is equal on Linux. */
#include <mqueue.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/socket.h>

#include "workloads/ipc_check.h"

#define NAME "/ipc_notify_check"
#define COOKIE 32

static mqd_t queue;
static sem_t started;
static int seen;

static void start(union sigval value)
{
    seen = value.sival_int;
    sem_post(&started);
}

static void check_thread(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = start};
    char text[16];

    for (int i = 1; i <= 3; i++) {
        event.sigev_value.sival_int = i * 11;
        say("ask", mq_notify(queue, &event));
        say("busy", mq_notify(queue, &event));
        say("send", mq_send(queue, "x", 1, 0));
        while (sem_wait(&started) != 0)
            ;
        printf("a thread got %d\n", seen);
        say("take", mq_receive(queue, text, sizeof text, NULL));
    }
}

/* What a C library does, by hand. */
static void check_cookie(void)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
    unsigned char cookie[COOKIE] = "a cookie", text[64] = {0};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_signo = fd};
    struct pollfd p = {.fd = fd, .events = POLLIN};

    say_made("socket", fd);
    event.sigev_value.sival_ptr = (void *)8;
    say("bad cookie", syscall(SYS_mq_notify, queue, &event));
    event.sigev_value.sival_ptr = cookie;
    say("ask", syscall(SYS_mq_notify, queue, &event));
    say("nothing yet", poll(&p, 1, 0));
    say("send", mq_send(queue, "x", 1, 0));
    say("something", poll(&p, 1, 0));
    say("cookie", recv(fd, text, sizeof text, 0));
    printf("%s %d\n", (char *)text, text[COOKIE - 1]);
    mq_receive(queue, (char *)text, 16, NULL);
    say("ask", syscall(SYS_mq_notify, queue, &event));
    say("take back", mq_notify(queue, NULL));
    say("cookie", recv(fd, text, sizeof text, 0));
    printf("%s %d\n", (char *)text, text[COOKIE - 1]);
    say("ask", syscall(SYS_mq_notify, queue, &event));
    close(dup(queue));
    say("part of a cookie", recv(fd, text, 8, 0));
    close(fd);
}

int main(void)
{
    struct mq_attr a = {.mq_maxmsg = 4, .mq_msgsize = 16};

    become_user();
    sem_init(&started, 0, 0);
    mq_unlink(NAME);
    queue = mq_open(NAME, O_RDWR | O_CREAT | O_EXCL, 0600, &a);
    say_made("make", queue);
    check_cookie();
    check_thread();
    return mq_unlink(NAME) != 0;
}
