/* killed MIB PART: children need more memory than there is (MIB), and are killed; the parent, which
 * has PART MiB, stays. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "workloads/processes.h"

#define MIB (1ul << 20)
#define PAGE 4096ul

static size_t fill_bytes, part_bytes;
static char *part;

static char *map(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
}

static void touch(char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += PAGE)
        at[i]++;
}

static int by_touch(void)
{
    touch(map(fill_bytes), fill_bytes);
    return 1;
}

/* Copies what the parent has, and then more. */
static int by_copy(void)
{
    touch(part, part_bytes);
    return by_touch();
}

static int by_call(void)
{
    int fd = open("/dev/zero", O_RDONLY);
    char *at = map(fill_bytes);

    for (size_t i = 0; i < fill_bytes; i += MIB)
        if (read(fd, at + i, MIB) <= 0)
            return 2;
    return 1;
}

static void *thread_touches(void *unused)
{
    (void)unused;
    by_touch();
    return NULL;
}

static int by_threads(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, thread_touches, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 1;
}

static void say(const char *how, int (*child)(void))
{
    int status = finish(start(child));

    printf("%s: %s %d\n", how, WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    fill_bytes = strtoul(argv[1], NULL, 0) * MIB;
    part_bytes = strtoul(argv[2], NULL, 0) * MIB;
    part = map(part_bytes);
    touch(part, part_bytes);
    say("by touch", by_touch);
    say("by copy", by_copy);
    say("by call", by_call);
    say("by threads", by_threads);
    touch(part, part_bytes);
    printf("the parent stays\n");
    return checks_failed;
}
