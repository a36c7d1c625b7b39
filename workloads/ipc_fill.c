/* ipc_fill: makes objects until there is no memory for more, and then removes them: how many, and
 * what the last call said. */
#include <mqueue.h>

#include "workloads/ipc_check.h"

#define OBJECTS 32768
#define SEMAPHORES 32000
#define MESSAGE 8192

static int made[OBJECTS];

static void say_end(const char *what, int count)
{
    printf("%s: %s, %s\n", what, strerror(errno), count > 100 ? "many" : "few");
}

static int fill_messages(void)
{
    static struct {
        long type;
        char text[MESSAGE];
    } m = {.type = 1};
    int count = 0;

    for (errno = 0; count < OBJECTS && errno == 0; count++) {
        made[count] = msgget(IPC_PRIVATE, 0600);
        if (made[count] < 0)
            break;
        while (msgsnd(made[count], &m, MESSAGE, IPC_NOWAIT) == 0)
            ;
        if (errno == EAGAIN) /* this one is full */
            errno = 0;
    }
    say_end("messages", count);
    while (count--)
        msgctl(made[count], IPC_RMID, NULL);
    return errno;
}

static void fill_semaphores(void)
{
    int count = 0;

    while (count < OBJECTS && (made[count] = semget(IPC_PRIVATE, SEMAPHORES, 0600)) >= 0)
        count++;
    say_end("semaphores", count);
    while (count--)
        semctl(made[count], 0, IPC_RMID);
}

/* Lists of undos are memory, too. */
static void fill_undos(void)
{
    struct sembuf o = {0, 1, SEM_UNDO};
    int count = 0;

    while (count < OBJECTS && (made[count] = semget(IPC_PRIVATE, SEMAPHORES / 2, 0600)) >= 0) {
        count++;
        if (semop(made[count - 1], &o, 1) != 0)
            break;
    }
    say_end("undos", count);
    while (count--)
        semctl(made[count], 0, IPC_RMID);
}

/* Segments take no memory before they are used, so their number is the limit. */
static void fill_segments(void)
{
    int count = 0;

    while (count < OBJECTS && (made[count] = shmget(IPC_PRIVATE, 1 << 20, 0600)) >= 0)
        count++;
    printf("segments: %s, %d\n", strerror(errno), count);
    while (count--)
        shmctl(made[count], IPC_RMID, NULL);
}

int main(void)
{
    become_user();
    for (int round = 0; round < 3; round++) {
        fill_messages();
        fill_semaphores();
        fill_undos();
        fill_segments();
    }
    return 0;
}
