/* ipc_mqfile: descriptors of POSIX message queues, used as files, and the name of a segment; its
 * output is equal on Linux. */
#include <mqueue.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "workloads/ipc_check.h"

#define NAME "/ipc_mqfile_check"
#define PAGE 4096

static mqd_t queue;
static char text[128];

static void check_bytes(void)
{
    struct iovec rest = {text, sizeof text};

    say("write", write(queue, "x", 1));
    say("pwrite", pwrite(queue, "x", 1, 0));
    say("seek", lseek(queue, 5, SEEK_SET));
    say("read", read(queue, text, 10));
    printf("[%.10s]\n", text);
    say("pread", pread(queue, text, sizeof text, 60));
    say("readv", readv(queue, &rest, 1));
    say("end", lseek(queue, 0, SEEK_END));
    say("sendfile", sendfile(1, queue, NULL, 10));
    say("fsync", fsync(queue));
    say("lock", flock(queue, LOCK_EX));
    say("fallocate", fallocate(queue, 0, 0, 10));
    say("flags", fcntl(queue, F_GETFL) & O_ACCMODE);
}

static void check_reopened(void)
{
    char path[32];
    struct stat st;
    int again;

    snprintf(path, sizeof path, "/proc/self/fd/%d", queue);
    again = open(path, O_RDONLY);
    say_made("opened again", again);
    say("send", mq_send(queue, "abc", 3, 1));
    say("receive by the other", mq_receive(again, text, sizeof text, NULL));
    say("not to send", mq_send(again, "abc", 3, 1));
    say("remove", mq_unlink(NAME));
    fstat(queue, &st);
    printf("mode %o, %ld bytes, %ld names\n", st.st_mode, (long)st.st_size, (long)st.st_nlink);
    close(again);
}

static void check_maps(void)
{
    void *p = shmat(shmget(0x51aabb44, PAGE, IPC_CREAT | 0600), NULL, SHM_RDONLY);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], *name;

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if ((name = strstr(line, "/SYSV")) != NULL)
            printf("%.4s %s", strchr(line, ' ') + 1, name);
    shmctl(shmget(0x51aabb44, 0, 0), IPC_RMID, NULL);
    shmdt(p);
}

int main(void)
{
    struct mq_attr a = {.mq_maxmsg = 2, .mq_msgsize = 8};

    become_user();
    mq_unlink(NAME);
    queue = mq_open(NAME, O_RDWR | O_CREAT, 0600, &a);
    check_bytes();
    check_reopened();
    check_maps();
    return 0;
}
