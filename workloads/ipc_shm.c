/* ipc_shm: segments of shared memory; its output is equal on Linux.
 *
 *   ipc_shm             what one process can do
 *   ipc_shm processes   and what several can
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include "workloads/ipc_check.h"

#define PAGE 4096ul
#define PAGES 8

static void say_attached(const char *what, int id)
{
    struct shmid_ds ds;

    if (shmctl(id, IPC_STAT, &ds) != 0)
        say(what, -1);
    else
        printf("%s: %lu attached, mode %o\n", what, (unsigned long)ds.shm_nattch, ds.shm_perm.mode);
}

static void *attach(int id, const void *at, int flags)
{
    void *p = shmat(id, at, flags);

    if (p == (void *)-1)
        say("shmat", -1);
    return p;
}

static void check_get(key_t key)
{
    int id;

    say("no such key", shmget(key, PAGE, 0600));
    say("no bytes", shmget(key, 0, IPC_CREAT | 0600));
    say("too many bytes", shmget(key, (size_t)-1, IPC_CREAT | 0600));
    say("more than memory", shmget(key, (size_t)1 << 46, IPC_CREAT | 0600));
    say("huge pages", shmget(key, PAGE, IPC_CREAT | 0600 | SHM_HUGETLB));
    id = (int)say_made("by key", shmget(key, 3 * PAGE + 1, IPC_CREAT | 0600));
    say_true("again", shmget(key, 0, 0) == id);
    say_true("smaller", shmget(key, PAGE, 0600) == id);
    say("larger", shmget(key, 4 * PAGE, 0600));
    say("exclusively", shmget(key, PAGE, IPC_CREAT | IPC_EXCL | 0600));
    say("permissions", shmget(key, PAGE, 0100));
    say("remove", shmctl(id, IPC_RMID, NULL));
    say("no longer there", shmget(key, PAGE, 0600));
    say("stale identifier", shmctl(id, IPC_RMID, NULL));
    say("negative identifier", shmctl(-1, IPC_STAT, NULL));
    say("bad command", shmctl(id, 99, NULL));
}

static void check_addresses(int id)
{
    char *base = mmap(NULL, 32 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *p;

    munmap(base + 8 * PAGE, 16 * PAGE);
    say("odd address", (long)shmat(id, base + 8 * PAGE + 5, 0));
    p = attach(id, base + 8 * PAGE + 5, SHM_RND);
    say_true("rounded", p == base + 8 * PAGE);
    say("occupied", (long)shmat(id, p, 0));
    say_true("in its place", attach(id, p, SHM_REMAP) == p);
    say_attached("replaced", id);
    say("remap without address", (long)shmat(id, NULL, SHM_REMAP));
    say("detach inside", shmdt(p + PAGE));
    say("detach odd", shmdt(p + 1));
    say("detach", shmdt(p));
    say("detach again", shmdt(p));
    say("bad identifier", (long)shmat(-1, NULL, 0));
    munmap(base, 32 * PAGE);
}

static void check_parts(int id)
{
    char *p = attach(id, NULL, 0), *q;

    p[0] = 1;
    say_attached("one", id);
    mprotect(p + 2 * PAGE, PAGE, PROT_READ);
    say_attached("a part is read-only", id);
    mprotect(p + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE);
    say_attached("no longer", id);
    munmap(p + 4 * PAGE, PAGE);
    say_attached("a part is gone", id);
    q = mremap(p + 5 * PAGE, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
    say_attached("a part is moved", id);
    munmap(q, 2 * PAGE);
    say_attached("and gone", id);
    say("detach the rest", shmdt(p));
    say_attached("none", id);
}

static void check_grown(int id)
{
    char *room = mmap(NULL, 32 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *p;

    munmap(room, 32 * PAGE);
    p = attach(id, room, 0);
    say_true("grown in place", mremap(p, PAGES * PAGE, 12 * PAGE, 0) == p);
    say_attached("grown", id);
    say_true("shown again", mremap(p, 0, PAGE, MREMAP_MAYMOVE) != MAP_FAILED);
    say_attached("twice", id);
    p = mremap(p, 12 * PAGE, 12 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room + 16 * PAGE);
    say_attached("moved", id);
    say("detach", shmdt(p));
    say_attached("what remains", id);
}

static void check_rights(int id)
{
    char *p = attach(id, NULL, SHM_RDONLY);
    int no = shmget(IPC_PRIVATE, PAGE, 0);

    printf("reads %d\n", p[0]);
    say("cannot be made writable", mprotect(p, PAGE, PROT_READ | PROT_WRITE));
    shmdt(p);
    say("nobody may attach", (long)shmat(no, NULL, 0));
    say("nobody may look", shmctl(no, IPC_STAT, &(struct shmid_ds){0}));
    say_true("anybody may look", shmctl(no & 0x7fff, SHM_STAT_ANY, &(struct shmid_ds){0}) == no);
    say("remove", shmctl(no, IPC_RMID, NULL));
    no = shmget(IPC_PRIVATE, PAGE, 0400);
    say("not to write", (long)shmat(no, NULL, 0));
    say_made("to read", (long)(p = shmat(no, NULL, SHM_RDONLY)));
    say("not to run", (long)shmat(no, NULL, SHM_RDONLY | SHM_EXEC));
    shmctl(no, IPC_RMID, NULL);
    shmdt(p);
}

static void check_status(int id)
{
    struct shmid_ds ds = {0}, other;
    struct shminfo limits;
    struct shm_info use;

    say("stat", shmctl(id, IPC_STAT, &ds));
    printf("%lu bytes, mode %o, by %d:%d, creator %d, last %d\n", (unsigned long)ds.shm_segsz,
           ds.shm_perm.mode, (int)ds.shm_perm.uid, (int)ds.shm_perm.cgid, ds.shm_cpid == getpid(),
           ds.shm_lpid == getpid());
    say_true("times", ds.shm_atime && ds.shm_dtime >= ds.shm_atime && ds.shm_ctime);
    say_true("by index", shmctl(id & 0x7fff, SHM_STAT, &other) == id);
    say_true("the same", other.shm_ctime == ds.shm_ctime && other.shm_segsz == ds.shm_segsz);
    ds.shm_perm.mode = 0440 | 07000;
    ds.shm_perm.gid = 77;
    say("set", shmctl(id, IPC_SET, &ds));
    say("lock", shmctl(id, SHM_LOCK, NULL));
    shmctl(id, IPC_STAT, &ds);
    printf("mode %o, group %d\n", ds.shm_perm.mode, (int)ds.shm_perm.gid);
    say("unlock", shmctl(id, SHM_UNLOCK, NULL));
    ds.shm_perm.mode = 0600;
    ds.shm_perm.uid = (uid_t)-1;
    say("no user", shmctl(id, IPC_SET, &ds));
    ds.shm_perm.uid = USER;
    say("set back", shmctl(id, IPC_SET, &ds));
    say_true("limits", shmctl(0, IPC_INFO, (struct shmid_ds *)&limits) >= 0);
    printf("%lu %lu %lu %lu %lu\n", (unsigned long)limits.shmmax, (unsigned long)limits.shmmin,
           (unsigned long)limits.shmmni, (unsigned long)limits.shmseg,
           (unsigned long)limits.shmall);
    say_true("use", shmctl(0, SHM_INFO, (struct shmid_ds *)&use) >= 0);
    say_true("counts", use.used_ids >= 1 && use.shm_tot >= PAGES && use.shm_rss >= 1);
    say("bad memory", shmctl(id, IPC_STAT, (struct shmid_ds *)8));
    say_line("shm", id, (const int[]){2, 3, 6, 7, 8, 9, 10}, 7);
}

static void check_removal(void)
{
    int id = shmget(0x51aabb01, PAGE, IPC_CREAT | 0600);
    char *p = attach(id, NULL, 0), *q = attach(id, NULL, 0);

    p[10] = 42;
    printf("shared: %d\n", q[10]);
    say("remove while attached", shmctl(id, IPC_RMID, NULL));
    say_attached("removed", id);
    say("its key", shmget(0x51aabb01, PAGE, 0600));
    shmdt(p);
    printf("still there: %d\n", q[10]);
    say_made("attach a removed one", (long)(p = shmat(id, NULL, 0)));
    shmdt(p);
    shmdt(q);
    say_attached("after the last detach", id);
}

static void check_posix(void)
{
    int fd = shm_open("/ipc_shm_check", O_RDWR | O_CREAT | O_EXCL, 0600);
    char *p, *q;
    struct stat st;

    say_made("shm_open", fd);
    say("size", ftruncate(fd, 2 * PAGE));
    p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    q = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, PAGE);
    p[PAGE] = 7;
    printf("shared: %d\n", *q);
    say("stat", stat("/dev/shm/ipc_shm_check", &st));
    printf("%ld bytes, mode %o\n", (long)st.st_size, st.st_mode);
    say("unlink", shm_unlink("/ipc_shm_check"));
    say("again", shm_unlink("/ipc_shm_check"));
    close(fd);
}

static void check_processes(int id)
{
    char *p = attach(id, NULL, 0);
    pid_t child;
    struct shmid_ds ds;

    p[1] = 1;
    child = fork();
    if (child == 0) {
        say_attached("in the child", id);
        p[1]++;
        shmdt(p);
        p = attach(id, NULL, 0);
        p[1]++;
        _exit(p[1]);
    }
    say_child("child", child);
    printf("the child wrote %d\n", p[1]);
    say_attached("after the child", id);
    shmctl(id, IPC_STAT, &ds);
    say_true("the last user is the child", ds.shm_lpid == child && ds.shm_cpid == getpid());
    shmctl(id, IPC_RMID, NULL);
    child = fork();
    if (child == 0) {
        shmdt(p);
        _exit(0);
    }
    say_child("child that detaches", child);
    say_attached("held by the parent", id);
    shmdt(p);
    say_attached("gone", id);
}

int main(int argc, char **argv)
{
    int id;

    become_user();
    check_get(0x51aabb00);
    id = shmget(IPC_PRIVATE, PAGES * PAGE, IPC_CREAT | 0600);
    check_addresses(id);
    check_parts(id);
    check_rights(id);
    check_status(id);
    check_grown(id);
    shmctl(id, IPC_RMID, NULL);
    check_removal();
    check_posix();
    if (argc > 1 && strcmp(argv[1], "processes") == 0)
        check_processes(shmget(IPC_PRIVATE, PAGES * PAGE, IPC_CREAT | 0600));
    return 0;
}
