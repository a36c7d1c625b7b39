/* ipc_msg: queues of messages; its output is equal on Linux.
 *
 *   ipc_msg             what threads can do
 *   ipc_msg processes   and what processes can
 */
#include <stdint.h>

#include "workloads/ipc_check.h"

#define TEXT 8193

struct message {
    long type;
    char text[TEXT];
};

struct limits { /* struct msginfo */
    int pool, map, max, queue, queues, segment, messages;
    unsigned short segments;
};

static int queue;

static long send_text(long type, const char *text, int flags)
{
    struct message m = {.type = type};

    strcpy(m.text, text);
    return msgsnd(queue, &m, strlen(text), flags);
}

static long send_bytes(size_t bytes, int flags)
{
    static struct message m = {.type = 7};

    return msgsnd(queue, &m, bytes, flags);
}

/* Prints what is received. */
static void receive(const char *what, size_t room, long type, int flags)
{
    static struct message m;
    long bytes;

    memset(&m, 0, sizeof m);
    bytes = msgrcv(queue, &m, room, type, flags);
    if (bytes < 0)
        say(what, -1);
    else
        printf("%s: type %ld, %ld bytes, %.20s\n", what, m.type, bytes, m.text);
}

static void say_queue(const char *what)
{
    struct msqid_ds ds;

    if (msgctl(queue, IPC_STAT, &ds) != 0)
        say(what, -1);
    else
        printf("%s: %lu messages of %lu bytes, at most %lu\n", what, (unsigned long)ds.msg_qnum,
               (unsigned long)ds.__msg_cbytes, (unsigned long)ds.msg_qbytes);
}

static void check_get(void)
{
    const key_t key = 0x51aabb20;
    int id;

    say("no such key", msgget(key, 0600));
    id = (int)say_made("by key", msgget(key, IPC_CREAT | 0600));
    say_true("again", msgget(key, 0) == id);
    say("exclusively", msgget(key, IPC_CREAT | IPC_EXCL | 0600));
    say("permissions", msgget(key, 0100));
    say("remove", msgctl(id, IPC_RMID, NULL));
    say("removed", msgctl(id, IPC_RMID, NULL));
    say("bad command", msgctl(id, 99, NULL));
}

static void check_types(void)
{
    send_text(5, "five", 0);
    send_text(3, "three", 0);
    send_text(9, "nine", 0);
    send_text(3, "three again", 0);
    send_text(4, "four", 0);
    say_queue("sent");
    receive("copy of the second", 100, 1, MSG_COPY | IPC_NOWAIT);
    receive("copy of none", 100, 5, MSG_COPY | IPC_NOWAIT);
    receive("copy that waits", 100, 0, MSG_COPY);
    receive("copy except", 100, 0, MSG_COPY | MSG_EXCEPT | IPC_NOWAIT);
    receive("copy of a part", 2, 0, MSG_COPY | IPC_NOWAIT);
    receive("copy of a part anyway", 2, 0, MSG_COPY | IPC_NOWAIT | MSG_NOERROR);
    receive("that type", 100, 4, 0);
    receive("no such type", 100, 44, IPC_NOWAIT);
    receive("lowest", 100, -5, 0);
    receive("lowest", 100, -5, 0);
    receive("none so low", 100, -2, IPC_NOWAIT);
    receive("other than five", 100, 5, MSG_EXCEPT);
    receive("too long", 3, 0, 0);
    receive("cut", 3, 0, MSG_NOERROR);
    receive("nothing", 100, 0, IPC_NOWAIT);
    receive("room is negative", (size_t)-1, 0, IPC_NOWAIT);
    say("no type", send_text(0, "x", 0));
    say("empty", send_text(1, "", 0));
    receive("empty", 0, 0, 0);
    say("too long", send_bytes(8193, 0));
    say("bad memory", msgsnd(queue, (void *)8, 1, 0));
    say("bad text", msgsnd(queue, (char *)(uintptr_t)&send_text + (1ul << 45), 1, 0));
}

static void check_full(void)
{
    say("half", send_bytes(8192, 0));
    say("whole", send_bytes(8192, 0));
    say("more", send_bytes(1, IPC_NOWAIT));
    say("nothing at all", send_bytes(0, IPC_NOWAIT));
    say_queue("full");
    receive("take", 8192, 0, 0);
    receive("take", 8192, 0, 0);
    receive("take", 8192, 0, 0);
}

static void check_control(void)
{
    struct msqid_ds ds = {0};
    struct limits info;

    send_text(2, "hello", 0);
    say("stat", msgctl(queue, IPC_STAT, &ds));
    printf("mode %o, sender %d, receiver %d, times %d %d %d\n", ds.msg_perm.mode,
           ds.msg_lspid == getpid(), ds.msg_lrpid == getpid(), ds.msg_stime != 0, ds.msg_rtime != 0,
           ds.msg_ctime != 0);
    ds.msg_qbytes = 16385;
    say("larger", msgctl(queue, IPC_SET, &ds));
    ds.msg_qbytes = 6;
    ds.msg_perm.mode = 0400;
    say("smaller", msgctl(queue, IPC_SET, &ds));
    say("not to send", send_text(1, "", IPC_NOWAIT));
    say_true("by index", msgctl(queue & 0x7fff, MSG_STAT, &ds) == queue);
    say_true("any", msgctl(queue & 0x7fff, MSG_STAT_ANY, &ds) == queue);
    ds.msg_perm.mode = 0600;
    say("to send", msgctl(queue, IPC_SET, &ds));
    say("no room", send_text(1, "xx", IPC_NOWAIT));
    say("room", send_text(1, "x", IPC_NOWAIT));
    say_line("msg", queue, (const int[]){2, 3, 4, 7, 8, 9, 10}, 7);
    say_true("limits", msgctl(0, IPC_INFO, (struct msqid_ds *)&info) >= 0);
    printf("%d %d %d %d %d %d %d %u\n", info.pool, info.map, info.max, info.queue, info.queues,
           info.segment, info.messages, info.segments);
    say_true("use", msgctl(0, MSG_INFO, (struct msqid_ds *)&info) >= 0);
    say_true("counts", info.pool >= 1 && info.map >= 2 && info.messages >= 6);
    ds.msg_qbytes = 16384;
    say("as before", msgctl(queue, IPC_SET, &ds));
    receive("take", 10, 0, 0);
    receive("take", 10, 0, 0);
}

/* ---- waiters */

struct want {
    long type;
    size_t room;
    int flags;
    struct message m;
};

static long wait_message(void *argument)
{
    struct want *w = argument;

    return msgrcv(queue, &w->m, w->room, w->type, w->flags);
}

static long wait_room(void *argument)
{
    return send_bytes(*(size_t *)argument, 0);
}

static void on_signal(int number)
{
    (void)number;
}

static void check_receivers(void)
{
    static struct want w[4] = {{.type = 8, .room = 10},
                               {.type = 0, .room = 2},
                               {.type = -6, .room = 10},
                               {.type = 8, .room = 10, .flags = MSG_EXCEPT}};
    struct sleeper s[4];

    for (int i = 0; i < 4; i++)
        start_sleeper(&s[i], wait_message, &w[i]);
    send_text(5, "five", 0); /* too long for the second */
    end_sleeper(&s[1], "too long");
    end_sleeper(&s[2], "at most six");
    send_text(8, "eight", 0);
    end_sleeper(&s[0], "eight");
    send_text(9, "nine", 0);
    end_sleeper(&s[3], "except eight");
    printf("%s %s %s\n", w[2].m.text, w[0].m.text, w[3].m.text);
    say_queue("all received");
}

static void check_ends(void)
{
    static struct want w = {.type = 0, .room = 10};
    static size_t large = 8000, small = 1;
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sleeper s[2];
    struct msqid_ds ds;

    sigaction(SIGUSR1, &action, NULL);
    start_sleeper(&s[0], wait_message, &w);
    pthread_kill(s[0].thread, SIGUSR1);
    end_sleeper(&s[0], "a signal");
    send_bytes(8192, 0);
    send_bytes(8192, 0);
    start_sleeper(&s[0], wait_room, &large);
    start_sleeper(&s[1], wait_room, &small);
    pthread_kill(s[1].thread, SIGUSR1);
    end_sleeper(&s[1], "a signal");
    receive("make room", 8192, 0, 0);
    end_sleeper(&s[0], "room");
    say_queue("sent");
    start_sleeper(&s[0], wait_room, &large);
    msgctl(queue, IPC_STAT, &ds);
    ds.msg_qbytes = 100;
    say("set", msgctl(queue, IPC_SET, &ds));
    say("remove", msgctl(queue, IPC_RMID, NULL));
    end_sleeper(&s[0], "removed");
    queue = msgget(IPC_PRIVATE, 0600);
    start_sleeper(&s[0], wait_message, &w);
    say("remove", msgctl(queue, IPC_RMID, NULL));
    end_sleeper(&s[0], "removed");
}

static void check_processes(void)
{
    struct msqid_ds ds;
    pid_t child;

    queue = msgget(IPC_PRIVATE, 0600);
    child = fork();
    if (child == 0) {
        for (int i = 0; i < 100; i++) {
            static struct message m;

            if (msgrcv(queue, &m, sizeof m.text, 1, 0) != 3)
                _exit(1);
            m.type = 2;
            if (msgsnd(queue, &m, 3, 0) != 0)
                _exit(2);
        }
        _exit(0);
    }
    for (int i = 0; i < 100; i++) {
        static struct message m;

        send_text(1, "abc", 0);
        if (msgrcv(queue, &m, 10, 2, 0) != 3)
            break;
    }
    say_child("child", child);
    msgctl(queue, IPC_STAT, &ds);
    say_true("users", ds.msg_lspid == child && ds.msg_lrpid == getpid());
    say("remove", msgctl(queue, IPC_RMID, NULL));
}

int main(int argc, char **argv)
{
    become_user();
    check_get();
    queue = msgget(IPC_PRIVATE, 0600);
    check_types();
    check_full();
    check_control();
    check_receivers();
    check_ends();
    if (argc > 1 && strcmp(argv[1], "processes") == 0)
        check_processes();
    return 0;
}
