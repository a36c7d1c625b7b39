/* The archive's index and path resolution. */
#include "tests/unit/guest/fake_phys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/fs.c"
#include "tests/unit/test.h"

#define PAGES 2048u
#define ARCHIVE_BYTES (4u << 20)

static uint8_t *archive;
static size_t archive_bytes;
static char last_log[256];

void log_line(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(last_log, sizeof last_log, format, arguments);
    va_end(arguments);
}

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

static void expect_file(const char *cwd, const char *path, const char *text)
{
    const struct fs_node *node = NULL;

    assert_int_equal(fs_find(cwd, path, &node), 0);
    assert_int_equal(node->bytes, strlen(text));
    assert_memory_equal(node->data, text, strlen(text));
}

static void expect_error(const char *cwd, const char *path, int error)
{
    const struct fs_node *node = NULL;

    assert_int_equal(fs_find(cwd, path, &node), error);
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
    const struct fs_node *node = NULL;

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
    assert_int_equal(fs_find_link("/", "/sh", false, &node), 0);
    assert_true(S_ISLNK(node->mode));
    assert_int_equal(fs_find_link("/", "/abs/", false, &node), 0);
    assert_true(S_ISDIR(node->mode));
}

static void test_directories(void **state)
{
    const struct fs_node *node = NULL, *child;
    uint64_t position = 0;
    int children = 0;

    (void)state;
    make_tree();
    assert_int_equal(fs_find("/", "/usr/share", &node), 0); /* implied only */
    assert_true(S_ISDIR(node->mode));
    assert_string_equal(node->name, "usr/share");
    assert_int_equal(fs_find("/", "/bin", &node), 0);
    assert_int_equal(node->mode, S_IFDIR | 0700);
    while ((child = fs_next_child(node, &position))) {
        assert_true(!strcmp(fs_base_name(child), "tool") || !strcmp(fs_base_name(child), "up"));
        children++;
    }
    assert_int_equal(children, 2);
    assert_int_equal(fs_find("/", "/", &node), 0);
    children = 0;
    for (position = 0; fs_next_child(node, &position);)
        children++;
    assert_int_equal(children, 7); /* bin usr etc sh abs loop lost */
}

static void test_long_paths(void **state)
{
    char path[FS_PATH_MAX + 8];

    (void)state;
    make_tree();
    memset(path, 'x', sizeof path);
    path[FS_PATH_MAX] = '\0';
    expect_error("/", path, -ENAMETOOLONG);
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
        TEST(test_long_paths),
        TEST(test_damage_is_refused),
        TEST(test_many_files),
        TEST(test_scratch_is_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
