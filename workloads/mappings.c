/* mappings: maps files and much memory; its output is equal on Linux.  It uses a file in the
 * working directory. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE 4096ul
#define FILE_NAME "mappings.data"
#define FILE_PAGES 16
#define ANYWHERE (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)

static sigjmp_buf jump;
static volatile sig_atomic_t signal_number, signal_code;

static void caught(int number, siginfo_t *info, void *)
{
    signal_number = number;
    signal_code = info->si_code;
    siglongjmp(jump, 1);
}

/* What a load or a store at an address does: "fine", or the signal and its code. */
static const char *touch(volatile char *p, int write)
{
    static char text[40];

    if (sigsetjmp(jump, 1)) {
        snprintf(text, sizeof text, "signal %d code %d", signal_number, signal_code);
        return text;
    }
    if (write)
        *p = 1;
    else
        (void)*p;
    return "fine";
}

static const char *name_of(void *p)
{
    return p == MAP_FAILED ? strerror(errno) : "mapped";
}

static const char *result_of(int result)
{
    return result ? strerror(errno) : "done";
}

static int make_file(void)
{
    int fd = open(FILE_NAME, O_RDWR | O_CREAT | O_TRUNC, 0644);
    char page[PAGE];

    for (int i = 0; i < FILE_PAGES; i++) {
        memset(page, 'a' + i, sizeof page);
        if (write(fd, page, sizeof page) != (ssize_t)sizeof page)
            exit(2);
    }
    return fd;
}

static void test_private(int fd)
{
    char byte;
    char *p = mmap(NULL, FILE_PAGES * PAGE, RW, MAP_PRIVATE, fd, 0);

    printf("private: %c %c\n", p[0], p[15 * PAGE]);
    p[PAGE] = 'X';
    pread(fd, &byte, 1, PAGE);
    printf("private: wrote %c, the file has %c\n", p[PAGE], byte);
    pwrite(fd, "N", 1, 2 * PAGE);
    printf("private: sees %c of the file, keeps %c\n", p[2 * PAGE], p[PAGE]);
    pwrite(fd, "M", 1, PAGE);
    printf("private: still %c\n", p[PAGE]);
    printf("private: dontneed %s,", result_of(madvise(p, FILE_PAGES * PAGE, MADV_DONTNEED)));
    printf(" then %c\n", p[PAGE]);
    munmap(p, FILE_PAGES * PAGE);
}

static void test_shared(int fd)
{
    char *p = mmap(NULL, 4 * PAGE, RW, MAP_SHARED, fd, 4 * PAGE);
    char *q = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 5 * PAGE);
    char *again, byte;

    printf("shared: %c %c\n", p[0], q[0]);
    p[PAGE] = 'S';
    pread(fd, &byte, 1, 5 * PAGE);
    printf("shared: %c %c\n", q[0], byte);
    pwrite(fd, "T", 1, 5 * PAGE);
    printf("shared: %c %c\n", p[PAGE], q[0]);
    printf("shared: store to the read-only one: %s\n", touch(q, 1));
    printf("shared: msync %s\n", result_of(msync(p, 4 * PAGE, MS_SYNC)));
    mprotect(p, 4 * PAGE, PROT_READ);
    printf("shared: store after mprotect: %s\n", touch(p, 1));
    mprotect(p, 4 * PAGE, RW);
    printf("shared: and again: %s\n", touch(p, 1));
    again = mremap(p, 0, 4 * PAGE, MREMAP_MAYMOVE);
    printf("shared: shown twice: %s\n", name_of(again));
    again[2 * PAGE] = 'R';
    printf("shared: %c\n", p[2 * PAGE]);
    munmap(p, 4 * PAGE);
    munmap(q, PAGE);
    munmap(again, 4 * PAGE);
}

static void test_truncation(int fd)
{
    char *p = mmap(NULL, FILE_PAGES * PAGE, RW, MAP_SHARED, fd, 0);
    char *q = mmap(NULL, FILE_PAGES * PAGE, RW, MAP_PRIVATE, fd, 0);

    q[9 * PAGE] = 'Q';
    ftruncate(fd, 8 * PAGE + 100);
    printf("truncated: %c, then %d\n", p[8 * PAGE + 99], p[8 * PAGE + 100]);
    printf("truncated: load behind the end: %s\n", touch(p + 9 * PAGE, 0));
    printf("truncated: load of the copy: %s\n", touch(q + 9 * PAGE, 0));
    printf("truncated: read into it: %s\n",
           pread(fd, p + 9 * PAGE, 1, 0) < 0 ? strerror(errno) : "done");
    ftruncate(fd, FILE_PAGES * PAGE);
    printf("extended: %s, %d\n", touch(p + 9 * PAGE, 0), p[9 * PAGE]);
    munmap(p, FILE_PAGES * PAGE);
    munmap(q, FILE_PAGES * PAGE);
}

static void test_refusals(int fd)
{
    int read_only = open(FILE_NAME, O_RDONLY);
    char *p;

    printf("refused: %s", name_of(mmap(NULL, PAGE, RW, MAP_SHARED, read_only, 0)));
    printf(", %s", name_of(mmap(NULL, PAGE, RW, MAP_PRIVATE, fd, 5)));
    printf(", %s", name_of(mmap(NULL, 0, RW, MAP_PRIVATE, fd, 0)));
    printf(", %s", name_of(mmap(NULL, PAGE, RW, MAP_PRIVATE, 99, 0)));
    printf(", %s\n", name_of(mmap(NULL, PAGE, RW, 0, fd, 0)));
    p = mmap(NULL, 3 * PAGE, RW, ANYWHERE, -1, 0);
    printf("noreplace: %s\n", name_of(mmap(p, PAGE, RW, ANYWHERE | MAP_FIXED_NOREPLACE, -1, 0)));
    p[2 * PAGE] = 7;
    printf("fixed: %s", name_of(mmap(p + PAGE, PAGE, PROT_NONE, ANYWHERE | MAP_FIXED, -1, 0)));
    printf(", the neighbour keeps %d, guard: %s\n", p[2 * PAGE], touch(p + PAGE, 0));
    munmap(p, 3 * PAGE);
    printf("unmapped: %s\n", touch(p, 0));
    p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, read_only, 0);
    printf("mprotect of a file that was opened to read: %s\n", result_of(mprotect(p, PAGE, RW)));
    munmap(p, PAGE);
    close(read_only);
}

static void test_seals(void)
{
    int fd = memfd_create("sealed", MFD_ALLOW_SEALING);
    char *p;

    if (fd < 0 || ftruncate(fd, PAGE) != 0)
        printf("no memfd\n");
    printf("seal: %s\n", result_of(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE)));
    printf("sealed, to write: %s", name_of(mmap(NULL, PAGE, RW, MAP_SHARED, fd, 0)));
    printf(", a copy: %s", name_of(mmap(NULL, PAGE, RW, MAP_PRIVATE, fd, 0)));
    p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    printf(", to read: %s", name_of(p));
    if (p != MAP_FAILED)
        printf(", mprotect: %s", result_of(mprotect(p, PAGE, RW)));
    printf("\n");
    close(fd);
}

/* /proc/self/fd opens a file a second time, with a position of its own. */
static void test_opened_again(void)
{
    int fd = memfd_create("again", MFD_ALLOW_SEALING), second, third;
    char path[40], target[40] = "";

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, "text", 4) != 4)
        printf("cannot write\n");
    second = open(path, O_RDONLY);
    printf("again: %zd", read(second, target, 4));
    printf(" %s, to write: %zd", target, write(second, "x", 1));
    printf(", linked: %s", result_of(linkat(AT_FDCWD, path, AT_FDCWD, "again", AT_SYMLINK_FOLLOW)));
    printf(", is %.*s", (int)readlink(path, target, sizeof target), target);
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
    third = open(path, O_RDWR | O_TRUNC);
    printf(", cut off: %s\n", result_of(third));
    close(fd);
    close(second);
    fd = open(".", O_TMPFILE | O_RDWR, 0600);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    printf("named: %s", result_of(linkat(AT_FDCWD, path, AT_FDCWD, "again", AT_SYMLINK_FOLLOW)));
    unlink("again");
    printf(", again: %s\n",
           result_of(linkat(AT_FDCWD, path, AT_FDCWD, "again", AT_SYMLINK_FOLLOW)));
    close(fd);
}

static void test_reservations(void)
{
    const size_t huge = 64ul << 30;
    char *p = mmap(NULL, huge, RW, ANYWHERE | MAP_NORESERVE, -1, 0);
    char *q = mmap(NULL, huge, PROT_NONE, ANYWHERE, -1, 0);
    unsigned sum = 0;

    printf("64 GB: %s, without access: %s\n", name_of(p), name_of(q));
    for (int i = 0; i < 16; i++)
        p[((size_t)i << 32) + 12345] = (char)i;
    for (int i = 0; i < 16; i++)
        sum += (unsigned)p[((size_t)i << 32) + 12345];
    printf("64 GB: %u\n", sum);
    printf("64 GB: part made usable: %s,", result_of(mprotect(q + huge / 2, PAGE, RW)));
    printf(" %s\n", touch(q + huge / 2, 1));
    printf("64 GB: beside it: %s\n", touch(q + huge / 2 + PAGE, 1));
    munmap(p, huge);
    munmap(q, huge);
}

/* Every second one has another protection, so that none joins its neighbour. */
static void test_many(void)
{
    const int count = 10000;
    char *p = mmap(NULL, 2 * (size_t)count * PAGE, PROT_NONE, ANYWHERE | MAP_NORESERVE, -1, 0);
    unsigned long sum = 0;

    for (int i = 0; i < count; i++)
        if (mmap(p + 2 * (size_t)i * PAGE, PAGE, RW, ANYWHERE | MAP_FIXED, -1, 0) == MAP_FAILED)
            exit(3);
    for (int i = 0; i < count; i += 7)
        p[2 * (size_t)i * PAGE] = (char)i;
    for (int i = 0; i < count; i += 7)
        sum += (unsigned char)p[2 * (size_t)i * PAGE];
    printf("many: %lu, between them: %s\n", sum, touch(p + 4001 * PAGE, 0));
    munmap(p, 2 * (size_t)count * PAGE);
}

static int deep(int level)
{
    volatile char frame[16384];

    frame[0] = (char)level;
    return level ? deep(level - 1) + frame[0] : 0;
}

static void test_stack(void)
{
    char here;
    uintptr_t top = (uintptr_t)&here;

    printf("stack: %d\n", deep(300));
    printf("stack: store 7 MiB below: %s\n", touch((char *)(top - (7u << 20)), 1));
    printf("stack: behind its limit: %s\n", touch((char *)(top - (9u << 20)), 1));
}

static void test_advice(void)
{
    char *p = mmap(NULL, 8 * PAGE, RW, ANYWHERE | MAP_POPULATE, -1, 0);
    unsigned char in_memory[8];
    int kinds[] = {MADV_NORMAL,
                   MADV_RANDOM,
                   MADV_WILLNEED,
                   MADV_DONTFORK,
                   MADV_DODUMP,
                   MADV_HUGEPAGE,
                   MADV_NOHUGEPAGE,
                   20 /* MADV_COLD */,
                   23 /* MADV_POPULATE_WRITE */,
                   MADV_FREE,
                   MADV_WIPEONFORK,
                   MADV_REMOVE,
                   77};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        printf("advice %d: %s\n", kinds[i], result_of(madvise(p, 8 * PAGE, kinds[i])));
    p[0] = p[PAGE] = 5;
    madvise(p, PAGE, MADV_DONTNEED);
    mincore(p, 2 * PAGE, in_memory);
    printf("advice: in memory %d %d, contents %d %d\n", in_memory[0] & 1, in_memory[1] & 1, p[0],
           p[PAGE]);
    munmap(p + 4 * PAGE, PAGE);
    printf("advice with a hole: %s\n", result_of(madvise(p, 8 * PAGE, MADV_WILLNEED)));
    printf("lock: %s, with a hole: ", result_of(mlock(p, PAGE)));
    printf("%s\n", result_of(mlock(p, 8 * PAGE)));
    printf("dontneed of locked memory: %s\n", result_of(madvise(p, PAGE, MADV_DONTNEED)));
    munmap(p, 8 * PAGE);
}

static void test_remap(void)
{
    char *p = mmap(NULL, 4 * PAGE, RW, ANYWHERE, -1, 0), *q;

    for (int i = 0; i < 4; i++)
        p[(size_t)i * PAGE] = (char)('0' + i);
    q = mremap(p, 4 * PAGE, 4096 * PAGE, MREMAP_MAYMOVE);
    printf("remap: %c %c %d\n", q[0], q[3 * PAGE], q[4000 * PAGE]);
    p = mremap(q, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
    printf("remap: moved %c, left behind %d\n", p[PAGE], q[PAGE]);
    printf("remap: %s\n", name_of(mremap(p, 3 * PAGE, PAGE, MREMAP_FIXED, q)));
    munmap(q, 4096 * PAGE);
}

/* A file without a name or a descriptor lives as long as its last mapping. */
static void test_second_view(void)
{
    int fd = memfd_create("view", 0);
    char *p, *q;

    if (fd < 0 || ftruncate(fd, 4 * PAGE) != 0)
        printf("no memfd\n");
    p = mmap(NULL, 4 * PAGE, RW, MAP_SHARED, fd, 0);
    close(fd);
    p[0] = 'v';
    q = mremap(p, 0, 4 * PAGE, MREMAP_MAYMOVE);
    printf("second view: %c\n", q == MAP_FAILED ? '-' : q[0]);
    munmap(q, 4 * PAGE);
    q = mremap(p, 0, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p);
    printf("in its own place: %s\n", q == MAP_FAILED ? "refused" : "mapped");
    munmap(p, 4 * PAGE);
}

static void test_limits(void)
{
    struct rlimit limit = {1ul << 30, RLIM_INFINITY};
    void *p;

    setrlimit(RLIMIT_AS, &limit);
    p = mmap(NULL, 2ul << 30, RW, ANYWHERE | MAP_NORESERVE, -1, 0);
    printf("address space of 1 GB: %s\n", name_of(p));
    p = mmap(NULL, 1ul << 40, RW, ANYWHERE, -1, 0);
    printf("a terabyte: %s\n", name_of(p));
}

int main(void)
{
    static char stack[65536];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    int fd = make_file();

    sigaltstack(&other, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    test_private(fd);
    test_shared(fd);
    test_truncation(fd);
    test_refusals(fd);
    test_seals();
    test_opened_again();
    test_reservations();
    test_many();
    test_stack();
    test_advice();
    test_remap();
    test_second_view();
    test_limits();
    unlink(FILE_NAME);
    return 0;
}
