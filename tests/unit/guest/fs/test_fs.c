/* The archive's tree, and how paths are walked. */
#include "tests/unit/guest/fake_tree.h"

#include <string.h>
#include <sys/stat.h>

#define PAGES 8192u
#define ARCHIVE_BYTES (4u << 20)

void fs_kept_removed(struct fs_entry *entry)
{
    (void)entry;
}

static uint8_t *archive;
static size_t archive_bytes;

static void add_file(const char *name, uint32_t mode, const char *text)
{
    struct cpio_entry entry = {
        .name = name, .name_bytes = strlen(name), .bytes = strlen(text), .mode = mode};
    size_t head = cpio_write_header(archive + archive_bytes, ARCHIVE_BYTES - archive_bytes, &entry);

    assert_true(head > 0);
    archive_bytes += head;
    memcpy(archive + archive_bytes, text, entry.bytes);
    archive_bytes += entry.bytes;
    memset(archive + archive_bytes, 0, cpio_padding(entry.bytes));
    archive_bytes += cpio_padding(entry.bytes);
}

static void finish(void)
{
    archive_bytes += cpio_write_trailer(archive + archive_bytes, ARCHIVE_BYTES - archive_bytes);
}

static int open_archive(void **state)
{
    (void)state;
    fake_phys_open(PAGES);
    memset(pages, 0, sizeof pages);
    archive = malloc(ARCHIVE_BYTES);
    archive_bytes = 0;
    last_log[0] = '\0';
    return 0;
}

static int close_archive(void **state)
{
    (void)state;
    free(archive);
    fake_phys_close();
    return 0;
}

static void make_tree(void)
{
    add_file("bin", S_IFDIR | 0700, "");
    add_file("bin/tool", S_IFREG | 0755, "tool");
    add_file("./usr/share/words", S_IFREG | 0644, "words");
    add_file("/etc/conf", S_IFREG | 0644, "old");
    add_file("etc/conf", S_IFREG | 0600, "newer");
    add_file("sh", S_IFLNK | 0777, "bin/tool");
    add_file("bin/up", S_IFLNK | 0777, "../etc");
    add_file("abs", S_IFLNK | 0777, "/usr/share");
    add_file("loop", S_IFLNK | 0777, "loop");
    add_file("lost", S_IFLNK | 0777, "nowhere");
    finish();
    assert_int_equal(fs_init(archive, archive_bytes), 0);
}

/* Walks to `path` from `cwd`: 0 and the entry, held; -errno. */
static int walk_to(const char *cwd, const char *path, uint32_t flags, struct fs_entry **entry)
{
    struct fs_found found;
    struct fs_entry *from;
    int error = fs_walk(NULL, fs_root, cwd, FS_FOLLOW, &found);

    if (error)
        return error;
    from = found.entry;
    fs_entry_hold(from);
    fs_found_release(&found);
    error = fs_walk(NULL, from, path, flags, &found);
    fs_entry_release(from);
    if (error)
        return error;
    *entry = found.entry;
    fs_entry_hold(found.entry);
    fs_found_release(&found);
    return 0;
}

static void expect_file(const char *cwd, const char *path, const char *text)
{
    struct fs_entry *entry = NULL;

    assert_int_equal(walk_to(cwd, path, FS_FOLLOW, &entry), 0);
    assert_int_equal(entry->inode->bytes, strlen(text));
    assert_memory_equal(inode_contents(entry->inode), text, strlen(text));
    fs_entry_release(entry);
}

static void expect_error(const char *cwd, const char *path, int error)
{
    struct fs_entry *entry = NULL;

    assert_int_equal(walk_to(cwd, path, FS_FOLLOW, &entry), error);
}

static void expect_mode(const char *path, uint32_t flags, uint32_t mode)
{
    struct fs_entry *entry = NULL;

    assert_int_equal(walk_to("/", path, flags, &entry), 0);
    assert_int_equal(entry->inode->mode, mode);
    fs_entry_release(entry);
}

static void test_paths(void **state)
{
    (void)state;
    make_tree();
    expect_file("/", "/bin/tool", "tool");
    expect_file("/", "bin/tool", "tool");
    expect_file("/bin", "tool", "tool");
    expect_file("/bin", "./tool", "tool");
    expect_file("/bin", "..//bin/.//../bin/tool", "tool");
    expect_file("/", "/../../bin/tool", "tool");
    expect_file("/usr", "share/words", "words");
    expect_file("/", "/etc/conf", "newer");
    expect_error("/", "", -ENOENT);
    expect_error("/", "/bin/tools", -ENOENT);
    expect_error("/", "/bin/too", -ENOENT);
    expect_error("/", "/bin/tool/", -ENOTDIR);
    expect_error("/", "/bin/tool/x", -ENOTDIR);
    expect_error("/", "/bin/tool/..", -ENOTDIR);
    expect_error("/missing", "tool", -ENOENT);
}

static void test_links(void **state)
{
    (void)state;
    make_tree();
    expect_file("/", "/sh", "tool");
    expect_file("/", "/bin/up/conf", "newer");
    expect_file("/bin/up", "conf", "newer");
    expect_file("/", "/abs/words", "words");
    expect_file("/", "abs/../share/words", "words");
    expect_error("/", "/loop", -ELOOP);
    expect_error("/", "/loop/x", -ELOOP);
    expect_error("/", "/lost", -ENOENT);
    expect_error("/", "/sh/", -ENOTDIR);
    expect_mode("/sh", 0, S_IFLNK | 0777);
    expect_mode("/abs/", 0, S_IFDIR | 0755);
}

static void test_limits(void **state)
{
    struct fs_entry *entry;

    (void)state;
    make_tree();
    assert_int_equal(walk_to("/bin", "tool", FS_BENEATH, &entry), 0);
    fs_entry_release(entry);
    assert_int_equal(walk_to("/bin", "../etc/conf", FS_BENEATH, &entry), -EXDEV);
    assert_int_equal(walk_to("/bin", "/bin/tool", FS_BENEATH, &entry), -EXDEV);
    assert_int_equal(walk_to("/bin", "up/conf", FS_BENEATH | FS_FOLLOW, &entry), -EXDEV);
    assert_int_equal(walk_to("/bin", "/tool", FS_IN_ROOT, &entry), 0);
    fs_entry_release(entry);
    assert_int_equal(walk_to("/bin", "../../tool", FS_IN_ROOT, &entry), 0);
    fs_entry_release(entry);
    assert_int_equal(walk_to("/", "abs/words", FS_NO_LINKS, &entry), -ELOOP);
    assert_int_equal(walk_to("/", "etc/conf", FS_DIRECTORY, &entry), -ENOTDIR);
}

static unsigned count_names(const char *path)
{
    struct fs_entry *entry = NULL;
    struct fs_listed listed;
    uint64_t position = 0;
    unsigned count = 0;

    assert_int_equal(walk_to("/", path, FS_FOLLOW, &entry), 0);
    while (fs_list(NULL, entry, &position, &listed))
        count++;
    fs_entry_release(entry);
    return count;
}

static void test_directories(void **state)
{
    struct fs_entry *entry = NULL;
    char path[64];
    bool gone;

    (void)state;
    make_tree();
    expect_mode("/usr/share", 0, S_IFDIR | 0755); /* implied only */
    expect_mode("/bin", 0, S_IFDIR | 0700);
    assert_int_equal(count_names("/bin"), 2);
    assert_int_equal(count_names("/"), 7); /* bin usr etc sh abs loop lost */
    assert_int_equal(fs_root->inode->links, 2 + 3);
    assert_int_equal(walk_to("/bin/up", "../usr/share/words", FS_FOLLOW, &entry), 0);
    assert_int_equal(fs_path(entry, path, sizeof path, &gone), 16);
    assert_string_equal(path, "/usr/share/words");
    assert_false(gone);
    assert_int_equal(fs_path(entry, path, 16, &gone), -ENAMETOOLONG);
    fs_entry_release(entry);
    assert_int_equal(fs_path(fs_root, path, sizeof path, &gone), 1);
    assert_string_equal(path, "/");
}

static void test_long_names(void **state)
{
    char path[FS_PATH_MAX + 8];

    (void)state;
    make_tree();
    memset(path, 'x', sizeof path);
    path[256] = '\0';
    expect_error("/", path, -ENAMETOOLONG);
    path[255] = '\0';
    expect_error("/", path, -ENOENT);
    memset(path, '/', sizeof path);
    strcpy(path + FS_PATH_MAX - 10, "bin/tool");
    expect_file("/", path, "tool");
}

static void test_damage_is_refused(void **state)
{
    (void)state;
    add_file("a", S_IFREG | 0644, "text");
    assert_int_equal(fs_init(archive, archive_bytes), -EINVAL); /* no trailer */
    assert_non_null(strstr(last_log, "damaged"));
    archive[0] = 'x';
    assert_int_equal(fs_init(archive, archive_bytes), -EINVAL);
    assert_int_equal(fs_init(archive, 0), -EINVAL);
}

static void test_bad_names_are_refused(void **state)
{
    (void)state;
    add_file("a/../b", S_IFREG | 0644, "text");
    finish();
    assert_int_equal(fs_init(archive, archive_bytes), -EINVAL);
    assert_non_null(strstr(last_log, "a/../b"));
}

static void test_many_files(void **state)
{
    char name[64];

    (void)state;
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "d%d/e%d/f%d", i % 10, i % 100, i);
        add_file(name, S_IFREG | 0644, name);
    }
    finish();
    assert_int_equal(fs_init(archive, archive_bytes), 0);
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "d%d/e%d/f%d", i % 10, i % 100, i);
        expect_file("/", name, name);
    }
}

static void test_scratch_is_given_back(void **state)
{
    uint64_t before;

    (void)state;
    make_tree();
    expect_error("/", "/lost", -ENOENT);
    before = phys_free_bytes();
    expect_file("/", "/sh", "tool");
    expect_error("/", "/loop", -ELOOP);
    assert_int_equal(phys_free_bytes(), before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_archive, close_archive)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_paths),
        TEST(test_links),
        TEST(test_directories),
        TEST(test_limits),
        TEST(test_long_names),
        TEST(test_damage_is_refused),
        TEST(test_bad_names_are_refused),
        TEST(test_many_files),
        TEST(test_scratch_is_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
