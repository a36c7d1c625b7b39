/* Random changes of the tree give what they give on the file system of the machine that the test
 * runs on: the same errors, and the same tree. */
#include "tests/unit/guest/fake_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGES 8192u
#define STEPS 6000

void fs_kept_removed(struct fs_entry *entry)
{
    (void)entry;
}

static int host; /* the directory there */
static char host_path[64];

static int set_up(void **state)
{
    static const char *const places[] = {"/dev/shm", "/tmp"};

    (void)state;
    fake_phys_open(PAGES);
    fake_tree_reset();
    assert_int_equal(make_root(), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(host_path, sizeof host_path, "%s/microtome-test.XXXXXX", places[i]);
        if (mkdtemp(host_path))
            break;
    }
    host = open(host_path, O_RDONLY | O_DIRECTORY);
    assert_true(host >= 0);
    umask(022);
    return 0;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    close(host);
    snprintf(command, sizeof command, "rm -rf %s %s.served", host_path, host_path);
    assert_int_equal(system(command), 0);
    fake_phys_close();
    return 0;
}

/* A path of few names, so that they meet; ".." only where it cannot lead out of the root. */
static void random_path(struct test_random *r, char *path)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    unsigned parts = 1 + (unsigned)test_random_below(r, 3);

    *path = '\0';
    for (unsigned i = 0; i < parts; i++) {
        if (i)
            strcat(path, test_random_below(r, 8) ? "/" : "//");
        if (i && test_random_below(r, 12) == 0)
            strcat(path, test_random_below(r, 2) ? "." : "..");
        else
            strcat(path, names[test_random_below(r, 4)]);
        if (i && strcmp(path + strlen(path) - 2, "..") == 0)
            break; /* what follows could be ".." again */
    }
    if (test_random_below(r, 10) == 0)
        strcat(path, "/");
}

static int result_of(long result)
{
    return result < 0 ? -errno : 0;
}

static int ours_at_parent(const char *path, int (*call)(struct thread *, const struct fs_found *))
{
    struct fs_found found;
    int error = fs_walk(NULL, fs_root, path, FS_PARENT, &found);

    if (error)
        return error;
    error = call(NULL, &found);
    fs_found_release(&found);
    return error;
}

static int ours_make(const char *path, struct inode *inode)
{
    struct fs_found found;
    int error = fs_walk(NULL, fs_root, path, FS_PARENT, &found);

    if (error) {
        inode_release(inode);
        return error;
    }
    error = fs_make(NULL, &found, inode, NULL);
    fs_found_release(&found);
    return error;
}

static int ours_symlink(const char *text, const char *path)
{
    struct inode *inode = inode_new(S_IFLNK | 0777);

    inode->bytes = strlen(text);
    inode->target_owned = true;
    inode->target = strcpy(heap_alloc(inode->bytes + 1), text);
    return ours_make(path, inode);
}

static int ours_rename(const char *from, const char *to, uint32_t flags)
{
    struct fs_found old, new;
    int error = fs_check_rename(flags);

    if (!error)
        error = fs_walk(NULL, fs_root, from, FS_PARENT, &old);
    if (error)
        return error;
    error = fs_walk(NULL, fs_root, to, FS_PARENT, &new);
    if (!error) {
        error = fs_rename(NULL, &old, &new, flags);
        fs_found_release(&new);
    }
    fs_found_release(&old);
    return error;
}

static int ours_link(const char *from, const char *to)
{
    struct fs_found old, new;
    int error = fs_walk(NULL, fs_root, from, 0, &old);

    if (error)
        return error;
    error = fs_walk(NULL, fs_root, to, FS_PARENT, &new);
    if (!error) {
        error = fs_link(NULL, old.entry->inode, &new);
        fs_found_release(&new);
    }
    fs_found_release(&old);
    return error;
}

static int ours_stat(const char *path, bool follow, uint32_t *mode)
{
    struct fs_found found;
    int error = fs_walk(NULL, fs_root, path, follow ? FS_FOLLOW : 0, &found);

    if (error)
        return error;
    *mode = found.entry->inode->mode & S_IFMT;
    fs_found_release(&found);
    return 0;
}

static int host_stat(const char *path, bool follow, uint32_t *mode)
{
    struct stat s;
    int error = result_of(fstatat(host, path, &s, follow ? 0 : AT_SYMLINK_NOFOLLOW));

    *mode = error ? 0 : s.st_mode & S_IFMT;
    return error;
}

/* open(O_CREAT), which follows links to what does not exist */
static int ours_create(const char *path)
{
    struct fs_found found;
    int error = fs_walk(NULL, fs_root, path, FS_MAY_LACK | FS_FOLLOW, &found);

    if (error)
        return error;
    if (found.entry)
        error = S_ISDIR(found.entry->inode->mode) ? -EISDIR : 0;
    else
        error = fs_make(NULL, &found, inode_new(S_IFREG | 0644), NULL);
    fs_found_release(&found);
    return error;
}

static int host_create(const char *path)
{
    int fd = openat(host, path, O_CREAT | O_WRONLY, 0644);

    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

/* The directory becomes a copy of some tree, and the kernel's tree is served from another copy. */
static char served_path[sizeof host_path + 8];

static void serve_some_tree(struct test_random *r)
{
    char command[256], a[64], b[64];

    for (int i = 0; i < 200; i++) {
        random_path(r, a);
        random_path(r, b);
        if (i % 3 == 0)
            (void)symlinkat(strstr(b, ".") ? "c/d" : b, host, a);
        else if (i % 3 == 1)
            (void)mkdirat(host, a, 0755);
        else
            (void)host_create(a);
    }
    snprintf(served_path, sizeof served_path, "%s.served", host_path);
    snprintf(command, sizeof command, "cp -a %s %s", host_path, served_path);
    assert_int_equal(system(command), 0);
    fake_root = served_path;
    fs_served_start();
}

static void expect_same_step(struct test_random *r)
{
    static const uint32_t rename_flags[] = {0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE, 3};
    char a[64], b[64];
    int ours = 0, theirs = 0;
    uint32_t our_mode = 0, their_mode = 0, flags;
    unsigned what = (unsigned)test_random_below(r, 10);

    random_path(r, a);
    random_path(r, b);
    switch (what) {
    case 0:
    case 1:
        ours = ours_make(a, fs_new_directory(0755));
        theirs = result_of(mkdirat(host, a, 0755));
        break;
    case 2:
        ours = ours_at_parent(a, fs_rmdir);
        theirs = result_of(unlinkat(host, a, AT_REMOVEDIR));
        break;
    case 3:
        ours = ours_at_parent(a, fs_unlink);
        theirs = result_of(unlinkat(host, a, 0));
        break;
    case 4:
        ours = ours_create(a);
        theirs = host_create(a);
        break;
    case 5:
        if (strstr(b, "."))
            strcpy(b, "c/d"); /* a link up could lead out of the root */
        ours = ours_symlink(b, a);
        theirs = result_of(symlinkat(b, host, a));
        break;
    case 6:
        ours = ours_link(a, b);
        theirs = result_of(linkat(host, a, host, b, 0));
        break;
    case 7:
        ours = ours_stat(a, true, &our_mode);
        theirs = host_stat(a, true, &their_mode);
        break;
    case 8:
        ours = ours_stat(a, false, &our_mode);
        theirs = host_stat(a, false, &their_mode);
        break;
    default:
        flags = rename_flags[test_random_below(r, 6)];
        ours = ours_rename(a, b, flags);
        theirs = result_of(syscall(SYS_renameat2, host, a, host, b, flags));
    }
    if (ours != theirs || our_mode != their_mode)
        print_error("operation %u, %s, %s: %d (%o), the machine says %d (%o)\n", what, a, b, ours,
                    our_mode, theirs, their_mode);
    assert_int_equal(ours, theirs);
    assert_int_equal(our_mode, their_mode);
}

static unsigned expect_same_tree(struct fs_entry *directory, int there);

static unsigned expect_same_entry(struct fs_entry *entry, int there)
{
    struct stat s;
    char text[64];

    assert_int_equal(fstatat(there, entry->name, &s, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(s.st_mode & S_IFMT, entry->inode->mode & S_IFMT);
    if (S_ISDIR(s.st_mode)) {
        int below = openat(there, entry->name, O_RDONLY | O_DIRECTORY);
        unsigned count = expect_same_tree(entry, below);

        assert_true(s.st_nlink == entry->inode->links || s.st_nlink == 1);
        close(below);
        return count;
    }
    assert_int_equal(s.st_nlink, entry->inode->links);
    if (S_ISLNK(s.st_mode)) {
        ssize_t bytes = readlinkat(there, entry->name, text, sizeof text);

        assert_int_equal(bytes, entry->inode->bytes);
        assert_memory_equal(text, entry->inode->target, (size_t)bytes);
    }
    return 1;
}

static unsigned count_there(int there)
{
    DIR *directory = fdopendir(dup(there));
    unsigned count = 0;

    rewinddir(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2;
}

static unsigned expect_same_tree(struct fs_entry *directory, int there)
{
    struct fs_listed listed;
    uint64_t position = 0;
    unsigned count = 0, below = 0;

    while (fs_list(NULL, directory, &position, &listed)) {
        struct fs_entry *entry = fs_child(NULL, directory, listed.name);

        assert_non_null(entry);
        assert_ptr_equal(entry->parent, directory);
        below += expect_same_entry(entry, there);
        fs_entry_release(entry);
        count++;
    }
    assert_int_equal(count, count_there(there));
    return count + below;
}

static void run_steps(struct test_random *r)
{
    unsigned largest = 0;

    for (int i = 0; i < STEPS; i++) {
        expect_same_step(r);
        if (i % 20 == 0) {
            unsigned size = expect_same_tree(fs_root, host);

            largest = size > largest ? size : largest;
        }
    }
    assert_true(largest > 20); /* it was not all errors */
}

static void test_like_this_machine(void **state)
{
    struct test_random r = {20};

    (void)state;
    run_steps(&r);
}

/* Without looks at the whole tree in between, which would ask the host for all of it. */
static void test_served_like_this_machine(void **state)
{
    unsigned requests = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct test_random r = {seed};

        if (seed > 1) {
            tear_down(state);
            set_up(state);
        }
        serve_some_tree(&r);
        for (int i = 0; i < 150; i++)
            expect_same_step(&r);
        requests += fake_requests;
        expect_same_tree(fs_root, host);
    }
    assert_true(requests > 400);
}

/* Names that come and go while a directory is read: each of the others appears once. */
static void test_reading_while_changing(void **state)
{
    bool seen[1000] = {false};
    struct fs_listed listed;
    uint64_t position = 0;
    char name[32];
    int listed_count = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(ours_create(name), 0);
    }
    while (fs_list(NULL, fs_root, &position, &listed)) {
        int number = atoi(listed.name);
        char renamed[40];

        assert_true(++listed_count <= 1000);
        assert_false(seen[number]);
        seen[number] = true;
        snprintf(name, sizeof name, "%s", listed.name);
        snprintf(renamed, sizeof renamed, "%d.new", number);
        if (number % 2)
            assert_int_equal(ours_rename(name, renamed, 0), 0);
        else
            assert_int_equal(ours_at_parent(name, fs_unlink), 0);
    }
    assert_int_equal(listed_count, 1000);
    assert_int_equal(fs_root->inode->directory->count, 500);
}

static void test_nothing_is_lost(void **state)
{
    uint64_t before;

    (void)state;
    assert_int_equal(ours_make("d", fs_new_directory(0755)), 0);
    assert_int_equal(ours_create("d/f"), 0);
    assert_int_equal(ours_at_parent("d/f", fs_unlink), 0);
    before = phys_free_bytes();
    for (int i = 0; i < 3000; i++) {
        char name[32];

        snprintf(name, sizeof name, "d/some-longer-name-%d", i);
        assert_int_equal(ours_create(name), 0);
        assert_int_equal(ours_rename(name, "d/g", 0), 0);
        assert_int_equal(ours_at_parent("d/g", fs_unlink), 0);
    }
    assert_int_equal(phys_free_bytes(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_like_this_machine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_served_like_this_machine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reading_while_changing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_is_lost, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
