/* files: makes the system calls that work on files, in a new directory below the current one, and
 * prints what they return, which is equal everywhere.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define DIRECTORY "files.d"
#define MANY 3000

static int failed;

/* Prints what a call returned: a number, or the name of the error. */
static long say(const char *what, long result)
{
    if (result < 0)
        printf("%s: error %d\n", what, errno);
    else
        printf("%s: %ld\n", what, result);
    return result;
}

static void check(const char *what, int good)
{
    printf("%s: %s\n", what, good ? "yes" : "NO");
    failed += !good;
}

/* Opens and closes; prints the error, or that it worked. */
static void try_open(const char *what, const char *path, int flags)
{
    int fd = open(path, flags, 0644);

    say(what, fd < 0 ? -1 : 0);
    if (fd >= 0)
        close(fd);
}

static void put(const char *path, const char *text)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        printf("cannot write %s\n", path);
    close(fd);
}

static void show(const char *path)
{
    char text[100];
    int fd = open(path, O_RDONLY);
    ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    text[bytes < 0 ? 0 : bytes] = '\0';
    printf("%s holds: %s\n", path, bytes < 0 ? "nothing" : text);
    close(fd);
}

static void show_stat(const char *path)
{
    struct stat s;

    if (lstat(path, &s) != 0) {
        say(path, -1);
        return;
    }
    printf("%s: mode %o", path, s.st_mode);
    if (!S_ISDIR(s.st_mode))
        printf(", links %ld, bytes %ld", (long)s.st_nlink, (long)s.st_size);
    printf("\n");
}

static void check_opening(void)
{
    put("a", "text");
    try_open("open", "a", O_RDONLY);
    try_open("open: missing", "none", O_RDONLY);
    try_open("open: O_EXCL on a file", "a", O_CREAT | O_EXCL | O_WRONLY);
    try_open("open: O_DIRECTORY on a file", "a", O_DIRECTORY);
    try_open("open: a slash behind a file", "a/", O_RDONLY);
    try_open("open: O_CREAT with a slash", "new/", O_CREAT | O_WRONLY);
    try_open("open: a directory to write", ".", O_WRONLY);
    try_open("open: O_CREAT on a directory", ".", O_CREAT | O_RDONLY);
    try_open("open: below a file", "a/b", O_RDONLY);
    say("symlink", symlink("a", "link"));
    try_open("open: O_NOFOLLOW on a link", "link", O_NOFOLLOW);
    try_open("open: O_PATH, O_NOFOLLOW on a link", "link", O_PATH | O_NOFOLLOW);
    try_open("open: O_EXCL on a link", "link", O_CREAT | O_EXCL | O_WRONLY);
    say("symlink: broken", symlink("made", "broken"));
    try_open("open: O_CREAT through a broken link", "broken", O_CREAT | O_WRONLY);
    show_stat("made");
    try_open("open: O_TMPFILE to read", ".", O_TMPFILE | O_RDONLY);
    int fd = open(".", O_TMPFILE | O_RDWR, 0600);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    say("write: O_TMPFILE", write(fd, "unnamed", 7));
    say("linkat: O_TMPFILE", linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
    close(fd);
    show("named");
    fd = open("a", O_PATH);
    say("read: O_PATH", read(fd, path, 1));
    say("close", close(fd));
    mode_t old = umask(027);
    close(open("masked", O_CREAT | O_WRONLY, 0666));
    umask(old);
    show_stat("masked");
}

/* pwritev2 with RWF_APPEND: the register that holds the offset belongs to the program. */
static void check_registers(int fd)
{
    struct iovec part = {"r", 1};
    register long offset __asm__("r10") = 0;
    register long high __asm__("r8") = 0;
    register long flags __asm__("r9") = 16;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result), "+r"(offset)
                     : "a"(SYS_pwritev2), "D"((long)fd), "S"(&part), "d"(1l), "r"(high), "r"(flags)
                     : "rcx", "r11", "memory");
    check("pwritev2 leaves its arguments alone", result == 1 && offset == 0);
}

/* Without a free descriptor nothing is opened, made or cut off. */
static void check_full(const char *path)
{
    struct rlimit limit, few = {64, 64};
    int opened[64], count = 0, fd;

    getrlimit(RLIMIT_NOFILE, &limit);
    few.rlim_max = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &few);
    while ((fd = open("/dev/null", O_RDONLY)) >= 0 && count < 64)
        opened[count++] = fd;
    say("open: no descriptor is free", fd);
    try_open("open: to cut off", path, O_WRONLY | O_TRUNC);
    try_open("open: to make", "unmade", O_WRONLY | O_CREAT);
    while (count)
        close(opened[--count]);
    setrlimit(RLIMIT_NOFILE, &limit);
    show(path);
    try_open("open: was not made", "unmade", O_RDONLY);
}

static void check_writing(void)
{
    char text[32] = {0};
    struct iovec parts[2] = {{"ab", 2}, {"cd", 2}};
    int fd = open("w", O_CREAT | O_RDWR | O_TRUNC, 0644);
    say("write", write(fd, "0123456789", 10));
    say("pwrite", pwrite(fd, "XY", 2, 4));
    say("lseek: current", lseek(fd, 0, SEEK_CUR));
    say("pread", pread(fd, text, 5, 3));
    printf("it is %s\n", text);
    say("writev", writev(fd, parts, 2));
    say("pwritev2: append", syscall(SYS_pwritev2, fd, parts, 1, 0, 0, 16));
    show("w");
    check_registers(fd);
    check_full("w");
    say("lseek: behind the end", lseek(fd, 100, SEEK_END));
    say("write: there", write(fd, "!", 1));
    say("pread: the gap", pread(fd, text, 3, 50));
    check("the gap has zeros", !text[0] && !text[1] && !text[2]);
    say("lseek: before the start", lseek(fd, -1, SEEK_SET));
    say("ftruncate: shorter", ftruncate(fd, 5));
    say("ftruncate: longer", ftruncate(fd, 8));
    say("pread: the new end", pread(fd, text, 8, 0));
    check("zeros there", memcmp(text, "0123X\0\0\0", 8) == 0);
    say("ftruncate: negative", ftruncate(fd, -1));
    say("read: closed descriptor", read(99, text, 1));
    int copy = dup(fd);
    lseek(copy, 3, SEEK_SET);
    say("dup: one position", lseek(fd, 0, SEEK_CUR));
    close(copy);
    close(fd);
    fd = open("w", O_WRONLY | O_APPEND);
    say("read: not open for that", read(fd, text, 1));
    say("write: O_APPEND", write(fd, "end", 3));
    say("lseek: after it", lseek(fd, 0, SEEK_CUR));
    close(fd);
    say("truncate", truncate("w", 3));
    show("w");
    say("truncate: a directory", truncate(".", 3));
    say("truncate: the program", truncate("/proc/self/exe", 3));
    try_open("write to the program", "/proc/self/exe", O_RDWR);
    try_open("truncate the program as it is opened", "/proc/self/exe", O_RDONLY | O_TRUNC);
    fd = open("w", O_RDONLY);
    say("ftruncate: read-only", ftruncate(fd, 1));
    say("write: read-only", write(fd, "x", 1));
    say("unlink: open", unlink("w"));
    say("read: unlinked", read(fd, text, 10));
    close(fd);
}

static void check_holes(void)
{
    const long mib = 1 << 20;
    struct stat s;
    int fd = open("sparse", O_CREAT | O_RDWR | O_TRUNC, 0644);
    say("ftruncate: 1 GiB", ftruncate(fd, 1024 * mib));
    say("pwrite: in the middle", pwrite(fd, "x", 1, 512 * mib));
    say("lseek: SEEK_DATA", lseek(fd, 0, SEEK_DATA));
    say("lseek: SEEK_HOLE", lseek(fd, 512 * mib, SEEK_HOLE));
    say("lseek: no more data", lseek(fd, 513 * mib, SEEK_DATA));
    say("lseek: SEEK_HOLE at the end", lseek(fd, 1024 * mib, SEEK_HOLE));
    fstat(fd, &s);
    check("it takes little room", s.st_blocks < 1000);
    say("fallocate: punch", fallocate(fd, 3, 512 * mib, 4096));
    say("lseek: all is a hole", lseek(fd, 0, SEEK_DATA));
    say("fallocate: longer", fallocate(fd, 0, 1024 * mib, 100));
    say("fallocate: keep size", fallocate(fd, 1, 1024 * mib, 8192));
    say("fallocate: nothing", fallocate(fd, 0, 0, 0));
    fstat(fd, &s);
    say("its length", s.st_size);
    close(fd);
    say("unlink", unlink("sparse"));
}

static void check_names(void)
{
    char longest[300];

    say("mkdir", mkdir("d", 0755));
    say("mkdir: again", mkdir("d", 0755));
    say("mkdir: with a slash", mkdir("e/", 0755));
    say("mkdir: nowhere", mkdir("none/d", 0755));
    say("rmdir: .", rmdir("e/."));
    say("rmdir: not a directory", rmdir("a"));
    say("unlink: a directory", unlink("d"));
    put("d/f", "f");
    say("rmdir: not empty", rmdir("d"));
    say("rename: onto a directory", rename("a", "e"));
    say("rename: a directory onto a file", rename("e", "a"));
    say("rename: a directory onto a full one", rename("e", "d"));
    say("rename: into itself", rename("d", "d/x"));
    say("rename: to itself", rename("a", "a"));
    say("rename", rename("d/f", "e/g"));
    say("rename: a directory", rename("e", "d/e"));
    show("d/e/g");
    put("b", "b");
    say("renameat2: NOREPLACE", syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 1));
    say("renameat2: EXCHANGE", syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 2));
    show("a");
    show("b");
    say("link", link("a", "hard"));
    show_stat("hard");
    say("link: exists", link("a", "hard"));
    say("link: a directory", link("d", "hard2"));
    say("unlink", unlink("a"));
    show_stat("hard");
    say("rename: two names of one file", rename("hard", "a"));
    memset(longest, 'n', sizeof longest);
    longest[256] = '\0';
    say("mkdir: a name too long", mkdir(longest, 0755));
    longest[255] = '\0';
    say("mkdir: the longest name", mkdir(longest, 0755));
    say("rmdir: it", rmdir(longest));
    say("symlink: loop", symlink("loop", "loop"));
    try_open("open: loop", "loop", O_RDONLY);
    say("readlink", readlink("loop", longest, sizeof longest));
    say("readlink: a file", readlink("a", longest, sizeof longest));
    say("mknod: a file", mknod("node", S_IFREG | 0640, 0));
    show_stat("node");
}

static void check_attributes(void)
{
    const struct timespec times[2] = {{1000000000, 123456789}, {1234567890, 987654321}};
    struct stat s;

    say("chmod", chmod("b", 0751));
    show_stat("b");
    say("fchmodat: missing", fchmodat(AT_FDCWD, "none", 0600, 0));
    say("chown: nobody else", chown("b", (uid_t)-1, (gid_t)-1));
    say("utimensat", utimensat(AT_FDCWD, "b", times, 0));
    stat("b", &s);
    printf("accessed %ld.%09ld modified %ld.%09ld\n", s.st_atim.tv_sec, s.st_atim.tv_nsec,
           s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
    say("access: exists", access("b", F_OK));
    say("access: missing", access("none", F_OK));
    say("access: executable", access("b", X_OK));
    say("access: not executable", access("a", X_OK));
    say("access: bad mode", access("a", 8));
}

static int count_entries(const char *path)
{
    DIR *directory = opendir(path);
    int count = 0;

    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

static void check_directories(void)
{
    char cwd[4096], name[32];
    int made = 0;

    say("mkdir: many", mkdir("many", 0755));
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many/%d", i);
        int fd = open(name, O_CREAT | O_WRONLY | O_EXCL, 0644);
        made += fd >= 0;
        close(fd);
    }
    say("files made", made);
    say("entries", count_entries("many"));
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many/%d", i);
        made -= unlink(name) == 0;
    }
    say("files left", made);
    say("chdir", chdir("many"));
    check("getcwd", getcwd(cwd, sizeof cwd) && strstr(cwd, DIRECTORY "/many"));
    say("rmdir: the working directory", rmdir("../many"));
    say("getcwd: it is gone", getcwd(cwd, sizeof cwd) ? 0 : -1);
    try_open("open: in it", "x", O_CREAT | O_WRONLY);
    say("chdir: up", chdir(".."));
    check("getcwd: again", getcwd(cwd, sizeof cwd) && strstr(cwd, DIRECTORY));
    int fd = open("d", O_RDONLY | O_DIRECTORY);
    say("openat", openat(fd, "e/g", O_RDONLY) < 0 ? -1 : 0);
    say("fchdir", fchdir(fd));
    show("e/g");
    say("read: a directory", read(fd, cwd, 10));
    say("chdir: back", chdir(".."));
    say("chdir: a file", chdir("a"));
}

static volatile sig_atomic_t signals;

static void count_signal(int signal)
{
    signals += signal == SIGXFSZ;
}

static void check_limit(void)
{
    struct rlimit limit, old;
    char block[100] = {0};
    int fd = open("limited", O_CREAT | O_WRONLY | O_TRUNC, 0644);

    fflush(stdout); /* it may be a file, too */
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 150;
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, count_signal);
    long first = write(fd, block, 100), second = write(fd, block, 100);
    long third = write(fd, block, 100), error = errno;
    setrlimit(RLIMIT_FSIZE, &old);
    printf("RLIMIT_FSIZE: %ld %ld %ld error %ld signals %d\n", first, second, third, error,
           (int)signals);
    close(fd);
}

/* Makes files to come back: large, shorter than before, with several names, removed again. */
static void make_large(void)
{
    static char block[65536];

    for (int file = 0; file < 3; file++) {
        char name[] = "large0";
        name[5] = (char)('0' + file);
        int fd = open(name, O_CREAT | O_WRONLY, 0644);
        for (int i = 0; i < 140; i++) {
            memset(block, 'a' + (i + file) % 26, sizeof block);
            failed += write(fd, block, sizeof block) != sizeof block;
        }
        if (file == 1)
            failed += ftruncate(fd, 1 << 20) != 0 || ftruncate(fd, 12 << 20) != 0 ||
                      pwrite(fd, "end", 3, 11 << 20) != 3;
        close(fd);
    }
    failed += link("large0", "large.link") != 0 || rename("large1", "large.moved") != 0 ||
              unlink("large2") != 0;
}

int main(int argc, char **)
{
    if (mkdir(DIRECTORY, 0755) != 0 || chdir(DIRECTORY) != 0) {
        perror(DIRECTORY);
        return 2;
    }
    check_opening();
    check_writing();
    check_holes();
    check_names();
    check_attributes();
    check_directories();
    check_limit();
    if (argc > 1)
        make_large();
    if (argc > 2) /* the way it ends changes nothing */
        abort();
    return failed != 0;
}
