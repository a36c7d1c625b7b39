/* io_lock: locks of files, descriptors and what fcntl says of them.  Works on its own program
 * file, which it opens several times, and only to read. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workloads/io.h"

static const char *own;

/* ---- flock ---- */

static void whole_files(void)
{
    int a = open(own, O_RDONLY), b = open(own, O_RDONLY), c = dup(a);

    SAY(flock(a, LOCK_EX | LOCK_NB));
    SAY(flock(b, LOCK_EX | LOCK_NB));
    SAY(flock(b, LOCK_SH | LOCK_NB));
    SAY(flock(c, LOCK_SH | LOCK_NB)); /* this is the open file of a */
    SAY(flock(b, LOCK_SH | LOCK_NB));
    SAY(flock(a, LOCK_EX | LOCK_NB)); /* loses what it had */
    SAY(flock(b, LOCK_EX | LOCK_NB));
    SAY(flock(a, LOCK_SH | LOCK_NB));
    close(a);
    SAY(flock(b, LOCK_EX | LOCK_NB));
    SAY(flock(c, LOCK_SH | LOCK_NB));
    SAY(flock(b, LOCK_UN));
    SAY(flock(c, LOCK_EX | LOCK_NB));
    close(c);
    SAY(flock(b, LOCK_SH | LOCK_NB));
    SAY(flock(b, 0));
    SAY(flock(b, LOCK_SH | LOCK_EX));
    SAY(flock(99, LOCK_SH));
    close(b);
}

/* ---- ranges ---- */

static int lock(int fd, int command, int type, long start, long bytes)
{
    struct flock l = {
        .l_type = (short)type, .l_whence = SEEK_SET, .l_start = start, .l_len = bytes};

    return fcntl(fd, command, &l);
}

static long test(int fd, int command, int type, long start, long bytes)
{
    struct flock l = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = start};

    l.l_len = bytes;
    if (fcntl(fd, command, &l) < 0)
        return -1;
    printf("  type %d, bytes %ld+%ld, process %s\n", l.l_type, (long)l.l_start, (long)l.l_len,
           l.l_pid == -1         ? "none"
           : l.l_pid == getpid() ? "this"
                                 : "0");
    return 0;
}

static void ranges(void)
{
    int a = open(own, O_RDONLY), b = open(own, O_RDONLY);

    SAY(lock(a, F_SETLK, F_RDLCK, 0, 100));
    SAY(lock(a, F_SETLK, F_WRLCK, 0, 100)); /* not open to write */
    SAY(test(b, F_GETLK, F_WRLCK, 0, 0)); /* one process */
    SAY(test(b, F_OFD_GETLK, F_WRLCK, 50, 10));
    SAY(close(b)); /* gives back what the process holds */
    b = open(own, O_RDONLY);
    SAY(test(b, F_OFD_GETLK, F_WRLCK, 50, 10));
    SAY(lock(a, F_OFD_SETLK, F_RDLCK, 10, 30));
    SAY(lock(b, F_OFD_SETLK, F_RDLCK, 20, 100));
    SAY(test(b, F_OFD_GETLK, F_WRLCK, 0, 0));
    SAY(test(b, F_GETLK, F_WRLCK, 0, 15));
    SAY(lock(a, F_OFD_SETLK, F_UNLCK, 15, 10)); /* a hole in the middle */
    SAY(test(b, F_OFD_GETLK, F_WRLCK, 15, 10));
    SAY(test(b, F_OFD_GETLK, F_WRLCK, 24, 2));
    SAY(test(b, F_OFD_GETLK, F_WRLCK, 14, 1));
    SAY(lock(a, F_OFD_SETLK, F_RDLCK, 15, 10)); /* one piece again */
    SAY(test(b, F_OFD_GETLK, F_WRLCK, 39, 1));
    SAY(lock(a, F_OFD_SETLK, F_RDLCK, 40, 0));
    SAY(test(b, F_OFD_GETLK, F_WRLCK, 1000, 1));
    SAY(lock(a, F_OFD_SETLK, F_RDLCK, -1, 1));
    SAY(lock(a, F_OFD_SETLK, F_RDLCK, 5, -6));
    SAY(lock(a, F_OFD_SETLK, F_RDLCK, 5, -5));
    SAY(lock(a, F_OFD_SETLK, 77, 5, 5));
    SAY(test(b, F_OFD_GETLK, F_WRLCK, 4, 1));
    SAY(close(a));
    SAY(test(b, F_OFD_GETLK, F_WRLCK, 0, 0));
    close(b);
}

/* ---- descriptors ---- */

static void descriptors(void)
{
    int fd = open(own, O_RDONLY | O_CLOEXEC), path = open(own, O_PATH), on = 1, left = 0;

    SAY(fcntl(fd, F_GETFD));
    SAY(fcntl(fd, F_GETFL));
    SAY(fcntl(fd, F_SETFL, O_NONBLOCK | O_APPEND | O_WRONLY | O_CREAT));
    SAY(fcntl(fd, F_GETFL));
    SAY(fcntl(fd, F_SETFL, 0));
    SAY(ioctl(fd, FIONBIO, &on));
    SAY(fcntl(fd, F_GETFL));
    SAY(ioctl(fd, FIONCLEX));
    SAY(fcntl(fd, F_GETFD));
    SAY(ioctl(fd, FIOCLEX));
    SAY(fcntl(fd, F_GETFD));
    SAY(lseek(fd, -7, SEEK_END) > 0);
    SAY(ioctl(fd, FIONREAD, &left));
    SAY(left);
    SAY(fcntl(fd, F_DUPFD, 40));
    SAY(fcntl(fd, F_DUPFD_CLOEXEC, 40));
    SAY(fcntl(40, F_GETFD));
    SAY(fcntl(41, F_GETFD));
    SAY(fcntl(fd, F_DUPFD, -1));
    SAY(fcntl(fd, 9999));
    SAY(fcntl(fd, F_GETOWN));
    SAY(fcntl(fd, F_GETLEASE));
    SAY(fcntl(fd, F_GETPIPE_SZ));
    SAY(fcntl(path, F_SETFL, 0));
    SAY(fcntl(path, F_GETFD));
    SAY(flock(path, LOCK_SH));
    SAY(dup2(fd, fd));
    SAY(dup2(fd, 60));
    SAY(dup3(fd, fd, 0));
    SAY(dup3(fd, 61, O_CLOEXEC));
    SAY(dup3(fd, 61, O_NONBLOCK));
    SAY(syscall(SYS_close_range, 41, 60, 4));
    SAY(fcntl(60, F_GETFD));
    SAY(syscall(SYS_close_range, 41, 60, 0));
    SAY(fcntl(60, F_GETFD));
    SAY(fcntl(61, F_GETFD));
    SAY(syscall(SYS_close_range, 60, 41, 0));
    SAY(syscall(SYS_close_range, 40, ~0u, 8));
    SAY(syscall(SYS_close_range, 40, ~0u, 0));
    SAY(fcntl(40, F_GETFD));
    close(fd);
    close(path);
}

/* ---- several threads: each holds the lock for a while ---- */

#define THREADS 3
#define TURNS 200

static volatile int inside, most;

static void *take_turns(void *)
{
    int fd = open(own, O_RDONLY);

    for (int i = 0; i < TURNS; i++) {
        if (flock(fd, LOCK_EX) != 0)
            abort();
        inside++;
        for (int k = 0; k < 100; k++)
            most = inside > most ? inside : most;
        inside--;
        flock(fd, LOCK_UN);
    }
    close(fd);
    return NULL;
}

static void threads(void)
{
    pthread_t ids[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, take_turns, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    SAY(most);
}

int main(int argc, char **argv)
{
    own = "/proc/self/exe";
    io_quietly();
    whole_files();
    ranges();
    descriptors();
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        threads();
    return 0;
}
