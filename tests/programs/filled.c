/* Memory that the kernel touches first, for system calls that the named functions make. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/mman.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/libhr.h"

#define PAGE 4096ul

static char *map(unsigned long pages)
{
    char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED || madvise(p, pages * PAGE, MADV_NOHUGEPAGE) != 0)
        exit(1);
    return p;
}

/* The kernel writes. */
__attribute__((noipa)) static void read_into(int from, char *p, unsigned long pages)
{
    if (libhr_call(SYS_read, from, (long)p, (long)(pages * PAGE)) != (long)(pages * PAGE))
        exit(2);
}

/* The kernel reads. */
__attribute__((noipa)) static void write_from(int to, char *p, unsigned long pages)
{
    if (libhr_call(SYS_write, to, (long)p, (long)(pages * PAGE)) != (long)(pages * PAGE))
        exit(3);
}

__attribute__((noipa)) static void fill_ahead(char *p, unsigned long pages)
{
    if (libhr_call(SYS_madvise, (long)p, (long)(pages * PAGE), MADV_POPULATE_WRITE) != 0)
        exit(4);
}

__attribute__((noipa)) static void signal_itself(int pid)
{
    libhr_call(SYS_kill, pid, SIGUSR1, 0);
}

/* Every page is there: no fault comes of this. */
__attribute__((noipa)) static void touch(volatile char *p, unsigned long pages)
{
    for (unsigned long i = 0; i < pages; i++)
        (void)p[i * PAGE];
}

static void handle(int number)
{
    (void)number;
}

int main(void)
{
    int zero = open("/dev/zero", O_RDONLY), ends[2];
    char *read_area = map(64), *write_area = map(4), *ahead = map(32), *stack = map(8);
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

    if (pipe(ends) != 0)
        return 1;
    touch(map(1), 1); /* the function's own page, and where libc keeps errno */
    read_into(zero, read_area, 64);
    write_from(ends[1], write_area, 4);
    fill_ahead(ahead, 32);
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = 8 * PAGE}, NULL);
    sigaction(SIGUSR1, &action, NULL);
    signal_itself(getpid());
    touch(read_area, 64);
    touch(write_area, 4);
    touch(ahead, 32);
    if (fork() == 0) {
        read_into(zero, read_area, 10);
        _exit(0);
    }
    return wait(NULL) < 0;
}
