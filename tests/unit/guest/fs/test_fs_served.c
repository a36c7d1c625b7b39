/* Files of the host in the tree: what is asked for, and what is not. */
#include "tests/unit/guest/fake_tree.h"

#define PAGES 4096u
#define BIG_BYTES (3 * RUN_SERVE_BYTES_MAX + 100)

void fs_kept_removed(struct fs_entry *entry)
{
    (void)entry;
}

static char host[64];

static void __attribute__((format(printf, 1, 0))) host_command(const char *format)
{
    char command[512];

    snprintf(command, sizeof command, format, host);
    assert_int_equal(system(command), 0);
}

/* The archive has /usr/bin/prog and /tmp; the host has more of both. */
static int set_up(void **state)
{
    struct inode *inode;

    (void)state;
    fake_phys_open(PAGES);
    fake_tree_reset();
    assert_int_equal(make_root(), 0);
    snprintf(host, sizeof host, "/tmp/microtome-test.XXXXXX");
    assert_non_null(mkdtemp(host));
    host_command(
        "cd %s && mkdir -p usr/bin usr/share/x tmp proc && echo host >usr/bin/prog && "
        "echo text >usr/share/x/file && ln -s ../share/x usr/bin/way && echo t >tmp/given && "
        "echo p >proc/version && ln -s usr/bin bin");
    assert_int_equal(fs_place("/usr/bin/prog", 0755, inode_new(S_IFREG | 0755)), 0);
    assert_int_equal(fs_make_directories("/tmp", 0777), 0);
    assert_int_equal(fs_find("/tmp", &inode), 0);
    inode->temporary = true;
    assert_int_equal(fs_make_directories("/proc", 0555), 0);
    assert_int_equal(fs_find("/proc", &inode), 0);
    inode->served = INODE_NOT_SERVED;
    fake_root = host;
    fake_shorter = 0;
    fs_served_start();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    host_command("rm -rf %s");
    fake_phys_close();
    return 0;
}

static int look(const char *path, struct inode **inode)
{
    struct fs_found found;
    int error = fs_walk(NULL, fs_root, path, FS_FOLLOW, &found);

    if (error)
        return error;
    *inode = found.entry->inode;
    fs_found_release(&found);
    return 0;
}

static void expect_contents(const char *path, const char *wanted)
{
    struct inode *inode;
    char got[64] = "";

    assert_int_equal(look(path, &inode), 0);
    assert_int_equal(inode->bytes, strlen(wanted));
    assert_int_equal(inode_read(inode, 0, got, sizeof got - 1), strlen(wanted));
    assert_string_equal(got, wanted);
}

static void test_asks_once(void **state)
{
    struct inode *inode;
    unsigned requests;

    (void)state;
    expect_contents("/usr/share/x/file", "text\n");
    requests = fake_requests;
    assert_int_equal(requests, 5); /* /usr, share, x, file; then the contents */
    expect_contents("/usr/share/x/file", "text\n");
    assert_int_equal(fake_requests, requests);
    assert_int_equal(look("/usr/share/none", &inode), -ENOENT);
    assert_int_equal(fake_requests, requests + 1);
    assert_int_equal(look("/usr/share/none", &inode), -ENOENT);
    assert_int_equal(look("/usr/share/none/below", &inode), -ENOENT);
    assert_int_equal(fake_requests, requests + 1);
    expect_contents("/bin/way/file", "text\n"); /* along two links of the host's */
}

static void test_archive_first(void **state)
{
    struct inode *inode;

    (void)state;
    assert_int_equal(look("/usr/bin/prog", &inode), 0);
    assert_int_equal(inode->bytes, 0);
    assert_int_equal(fake_requests, 0);
}

static void test_own_directories(void **state)
{
    struct fs_found found;
    struct inode *inode;
    unsigned requests;

    (void)state;
    assert_int_equal(look("/proc/version", &inode), -ENOENT);
    assert_int_equal(fake_requests, 0);
    assert_int_equal(fs_walk(NULL, fs_root, "/usr/mine", FS_PARENT, &found), 0);
    assert_int_equal(fs_make(NULL, &found, fs_new_directory(0755), NULL), 0);
    fs_found_release(&found);
    requests = fake_requests;
    assert_int_equal(look("/usr/mine/file", &inode), -ENOENT);
    assert_int_equal(fake_requests, requests);
}

static unsigned count_names(const char *path)
{
    struct fs_listed listed;
    struct fs_found found;
    uint64_t position = 0;
    unsigned count = 0;

    assert_int_equal(fs_walk(NULL, fs_root, path, FS_FOLLOW, &found), 0);
    while (fs_list(NULL, found.entry, &position, &listed))
        count++;
    fs_found_release(&found);
    return count;
}

static void test_lists(void **state)
{
    struct inode *inode;
    unsigned requests;

    (void)state;
    host_command("cd %s/usr/share/x && touch $(seq 1000 1099)");
    assert_int_equal(count_names("/usr/bin"), 2); /* prog is there once */
    assert_int_equal(count_names("/usr/share/x"), 101);
    assert_int_equal(count_names("/tmp"), 0);
    assert_int_equal(count_names("/proc"), 0);
    expect_contents("/tmp/given", "t\n");
    assert_int_equal(count_names("/tmp"), 1);
    requests = fake_requests;
    assert_int_equal(look("/usr/share/x/1050", &inode), 0);
    assert_int_equal(look("/usr/share/x/2000", &inode), -ENOENT);
    assert_int_equal(fake_requests, requests); /* the list told */
}

static void test_failures(void **state)
{
    struct inode *inode;

    (void)state;
    fake_error = -EIO;
    assert_int_equal(look("/etc/x", &inode), -ENOENT);
    assert_non_null(strstr(last_log, "could not serve"));
    last_log[0] = '\0';
    assert_int_equal(look("/etc/y", &inode), -ENOENT);
    assert_string_equal(last_log, "");
    assert_int_equal(count_names("/"), 3);
    fake_error = 0;
    assert_int_equal(count_names("/"), 4); /* a failed list is asked for again */
    assert_int_equal(look("/usr/share/x/file", &inode), 0);
}

static bool same_as_file(const uint8_t *got, size_t bytes)
{
    static uint8_t wanted[BIG_BYTES];
    char path[128];
    FILE *in;
    size_t count;

    snprintf(path, sizeof path, "%s/usr/share/big", host);
    in = fopen(path, "r");
    count = fread(wanted, 1, sizeof wanted, in);
    fclose(in);
    return count == bytes && memcmp(got, wanted, bytes) == 0;
}

static void test_contents(void **state)
{
    static uint8_t got[BIG_BYTES + 1];
    struct inode *inode;

    (void)state;
    host_command("head -c 196708 /dev/urandom >%s/usr/share/big");
    assert_int_equal(look("/usr/share/big", &inode), 0);
    assert_int_equal(inode->bytes, BIG_BYTES);
    fake_requests = 0;
    assert_int_equal(inode_read(inode, BIG_BYTES - 5, got, 100), 5);
    assert_int_equal(fake_requests, 1);
    assert_int_equal(inode_read(inode, 0, got, sizeof got), BIG_BYTES);
    assert_int_equal(fake_requests, 4);
    assert_false(inode->changed);
    assert_true(same_as_file(got, BIG_BYTES));
    /* the host's file becomes shorter */
    assert_int_equal(look("/usr/share/x/file", &inode), 0);
    fake_shorter = 1;
    assert_int_equal(inode_read(inode, 0, got, 10), -EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_asks_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_archive_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_own_directories, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_contents, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
