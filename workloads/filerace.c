/* filerace: two threads share descriptors and an open file; what one writes at length must disturb
 * neither the other's descriptors nor its position.  The output is equal on Linux.
 * "filerace twice": both write all of one file over and over; then race-copy is a copy of
 * race-both.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGE (9ul << 20) /* a file of this size is sent to the host while it is written */
#define MEDIUM (1ul << 20) /* ... when it is closed */
#define ROUNDS 5

static char *bytes;
static int low; /* a descriptor below all those that come and go */
static int shared; /* an open file of both threads */
static atomic_int done;

/* Closes files that were written, by putting another in their place, and writes at length. */
static void *writer(void *)
{
    int null = open("/dev/null", O_RDWR);

    for (int i = 0; i < ROUNDS; i++) {
        unlink("race-medium"); /* each is another file */
        int fd = open("race-medium", O_CREAT | O_WRONLY, 0644);

        if (write(fd, bytes, MEDIUM) != (ssize_t)MEDIUM || dup2(fd, low) != low)
            printf("medium: failed\n");
        close(fd);
        dup2(null, low);
        if (pwrite(shared, bytes, LARGE, 4096) != (ssize_t)LARGE)
            printf("large: failed\n");
    }
    close(null);
    done = 1;
    return NULL;
}

/* Each round writes every block again, with its writer's sign. */
static void *fill(void *sign)
{
    char *mine = malloc(LARGE);

    for (int i = 0; mine && i < ROUNDS; i++) {
        memset(mine, *(const char *)sign + i, LARGE);
        for (unsigned long at = 0; at < LARGE; at += LARGE / 16)
            if (pwrite(shared, mine + at, LARGE / 16, (off_t)at) != (ssize_t)(LARGE / 16))
                printf("fill: failed\n");
    }
    free(mine);
    return NULL;
}

static int fill_twice(void)
{
    pthread_t thread;
    int copy = open("race-copy", O_CREAT | O_TRUNC | O_RDWR, 0644);

    shared = open("race-both", O_CREAT | O_TRUNC | O_RDWR, 0644);
    if (!bytes || shared < 0 || pthread_create(&thread, NULL, fill, (void *)"a") != 0)
        return 1;
    fill((void *)"A");
    pthread_join(thread, NULL);
    return pread(shared, bytes, LARGE, 0) != (ssize_t)LARGE ||
           write(copy, bytes, LARGE) != (ssize_t)LARGE;
}

int main(int argc, char **argv)
{
    unsigned long wrong_files = 0, wrong_positions = 0, position = 0;
    struct stat mine, opened;
    pthread_t thread;

    bytes = calloc(1, LARGE);
    if (argc > 1 && strcmp(argv[1], "twice") == 0)
        return fill_twice();
    low = open("/dev/null", O_RDWR);
    shared = open("race-shared", O_CREAT | O_TRUNC | O_RDWR, 0644);
    close(open("race-mine", O_CREAT | O_RDWR, 0644));
    if (!bytes || shared < 0 || stat("race-mine", &mine) != 0 ||
        pthread_create(&thread, NULL, writer, NULL) != 0)
        return 1;
    while (!done) {
        int fds[2] = {open("race-mine", O_RDONLY), open("race-mine", O_RDONLY)};

        for (int i = 0; i < 20; i++) {
            wrong_files += fstat(fds[i % 2], &opened) != 0 || opened.st_ino != mine.st_ino;
            wrong_positions +=
                write(shared, "x", 1) != 1 || lseek(shared, 0, SEEK_CUR) != (off_t)++position;
        }
        close(fds[0]);
        close(fds[1]);
    }
    pthread_join(thread, NULL);
    printf("descriptors that changed: %lu\npositions that changed: %lu\n", wrong_files,
           wrong_positions);
    unlink("race-medium");
    unlink("race-shared");
    unlink("race-mine");
    return wrong_files || wrong_positions;
}
