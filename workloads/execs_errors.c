/* execs_errors: executes what cannot be executed, and prints the errors; equal natively. */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "workloads/execs.h"

static char self[PATH_MAX];
static char *const plain[] = {"x", NULL};
static char *const nothing[] = {NULL};

static void say(const char *what, long result)
{
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
    fflush(stdout);
}

static void files(void)
{
    char head[200] = {0};
    int file = open(self, O_RDONLY);

    execs_check("read", read(file, head, sizeof head) == (ssize_t)sizeof head);
    close(file);
    say("no file", execve("missing", plain, nothing));
    say("no name", execve("", plain, nothing));
    say("a directory", execve(".", plain, nothing));
    say("a path through a file", execve("/proc/self/maps/x", plain, nothing));
    say("a file of /proc", execve("/proc/self/maps", plain, nothing));
    say("a device", execve("/dev/null", plain, nothing));
    execs_file("text", "echo x\n", 7, 0755);
    say("text", execve("./text", plain, nothing));
    execs_file("empty", "", 0, 0755);
    say("an empty file", execve("./empty", plain, nothing));
    execs_file("closed", "#!/bin/true\n", 12, 0644);
    say("not to be executed", execve("./closed", plain, nothing));
    execs_file("cut", head, 60, 0755);
    say("a cut header", execve("./cut", plain, nothing));
    execs_file("cut", head, 100, 0755);
    say("cut program headers", execve("./cut", plain, nothing));
    head[18] = 3; /* EM_386 */
    execs_file("other", head, sizeof head, 0755);
    say("another machine", execve("./other", plain, nothing));
    head[18] = 62;
    head[16] = 1; /* ET_REL */
    execs_file("other", head, sizeof head, 0755);
    say("an object", execve("./other", plain, nothing));
}

static void scripts(void)
{
    char name[300];

    execs_script("s1", "/missing/interpreter", "");
    say("no interpreter", execve("./s1", plain, nothing));
    execs_script("s1", "", "");
    say("an empty interpreter", execve("./s1", plain, nothing));
    execs_script("s1", "/tmp", "");
    say("a directory", execve("./s1", plain, nothing));
    execs_script("s1", "./text", "");
    say("text", execve("./s1", plain, nothing));
    execs_script("s1", "./s1", "");
    say("itself", execve("./s1", plain, nothing));
    memset(name, 'x', sizeof name);
    memcpy(name, "./", 2);
    name[sizeof name - 1] = '\0';
    execs_script("s1", name, "");
    say("a long name", execve("./s1", plain, nothing));
    execs_script("m0", "./missing", "");
    for (char to[] = "m1", from[] = "./m0"; to[1] < '8'; to[1]++, from[3]++) {
        char what[32];

        execs_script(to, from, "");
        snprintf(what, sizeof what, "%c scripts before nothing", to[1]);
        say(what, execve(to, plain, nothing));
    }
}

static void pointers(void)
{
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char **list = (char **)(void *)(page + 4088);
    char *bad[] = {(char *)8, NULL};

    munmap(page + 4096, 4096);
    say("a bad path", syscall(SYS_execve, 8, plain, nothing));
    say("bad arguments", syscall(SYS_execve, self, 8, nothing));
    say("a bad environment", syscall(SYS_execve, self, plain, 8));
    say("a bad argument", execve(self, bad, nothing));
    say("a bad variable", execve(self, plain, bad));
    *list = "x";
    say("a list without an end", execve(self, list, nothing));
    memset(page, 'x', 4096);
    bad[0] = page;
    say("a string without an end", execve(self, bad, nothing));
}

static void sizes(void)
{
    enum { LONGEST = 131072 };
    char *text = malloc(LONGEST + 1), **many = calloc(1 << 20, sizeof *many);

    memset(text, 'x', LONGEST);
    text[LONGEST] = '\0';
    many[0] = text;
    say("a long argument", execve(self, many, nothing));
    say("a long variable", execve(self, plain, many));
    for (int i = 0; i < 17; i++)
        many[i] = text + 1;
    say("many long arguments", execve(self, many, nothing));
    say("many long variables", execve(self, plain, many));
    for (int i = 0; i < (1 << 20) - 1; i++)
        many[i] = "";
    say("many arguments", execve(self, many, nothing));
}

static void at(void)
{
    int directory = open(".", O_RDONLY | O_DIRECTORY), file = open("text", O_RDONLY | O_CLOEXEC);
    int writer;

    execs_check("symlink", symlink("text", "link") == 0);
    say("a link", execve("./link", plain, nothing));
    say("a link itself",
        syscall(SYS_execveat, directory, "link", plain, nothing, AT_SYMLINK_NOFOLLOW));
    say("flags", syscall(SYS_execveat, directory, "text", plain, nothing, 1));
    say("no path", syscall(SYS_execveat, file, "", plain, nothing, 0));
    say("no descriptor", syscall(SYS_execveat, 100, "", plain, nothing, AT_EMPTY_PATH));
    say("from a file", syscall(SYS_execveat, file, "text", plain, nothing, 0));
    say("text", syscall(SYS_execveat, file, "", plain, nothing, AT_EMPTY_PATH));
    say("a directory", syscall(SYS_execveat, directory, "", plain, nothing, AT_EMPTY_PATH));
    say("standard input", syscall(SYS_execveat, 0, "", plain, nothing, AT_EMPTY_PATH));
    execs_script("script", "/bin/true", "");
    file = open("script", O_RDONLY | O_CLOEXEC);
    say("a script that closes", syscall(SYS_execveat, file, "", plain, nothing, AT_EMPTY_PATH));
    writer = open("script", O_WRONLY);
    say("a script being written", execve("./script", plain, nothing));
    dup(writer);
    close(writer);
    say("still", execve("./script", plain, nothing));
    say("writing this program", open(self, O_RDWR));
    say("cutting it", truncate(self, 1 << 20));
}

int main(int, char **)
{
    execs_self(self);
    mkdir("execs.d", 0755);
    execs_check("directory", chdir("execs.d") == 0);
    files();
    scripts();
    pointers();
    sizes();
    at();
    return 0;
}
