/* The host's files for a guest: what is served, what is not, and what became of it. */
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "tests/unit/host/serve/serve_fixture.h"

static void finds_files_directories_and_links(void **state)
{
    struct run_serve_node node;
    struct stat status;
    int64_t directory;

    (void)state;
    tree_put(&tree, "d/file", "contents");
    assert_int_equal(chmod(in_tree("d/file"), 0640), 0);
    assert_int_equal(symlink("../x", in_tree("d/link")), 0);
    directory = look_up(RUN_SERVE_ROOT, "d", &node);
    assert_true(directory > RUN_SERVE_ROOT);
    assert_true(S_ISDIR(node.mode));
    assert_int_equal(node.bytes, 0);
    assert_true(look_up((uint64_t)directory, "file", &node) > directory);
    assert_int_equal(stat(in_tree("d/file"), &status), 0);
    assert_int_equal(node.mode, S_IFREG | 0640);
    assert_int_equal(node.bytes, 8);
    assert_int_equal(node.modified, (uint64_t)status.st_mtim.tv_sec * 1000000000u +
                                        (uint64_t)status.st_mtim.tv_nsec);
    assert_int_equal(node.target_bytes, 0);
    assert_true(look_up((uint64_t)directory, "link", &node) > directory);
    assert_true(S_ISLNK(node.mode));
    assert_int_equal(node.target_bytes, 4);
    assert_memory_equal(reply.bytes + sizeof node, "../x", 4);
    assert_int_equal(look_up((uint64_t)directory, "none", &node), -ENOENT);
}

static void numbers_stay(void **state)
{
    struct run_serve_node node;
    uint64_t number;

    (void)state;
    tree_put(&tree, "a", "1");
    tree_put(&tree, "b", "2");
    number = find(RUN_SERVE_ROOT, "b");
    assert_int_equal(find(RUN_SERVE_ROOT, "a"), number + 1);
    assert_int_equal(find(RUN_SERVE_ROOT, "b"), number);
    assert_int_equal(ask(RUN_SERVE_LIST, RUN_SERVE_ROOT, 0, 0, NULL), 0);
    memcpy(&node, reply.bytes, sizeof node);
    assert_int_equal(node.node, number + 1);
}

static void refuses_what_is_no_name(void **state)
{
    static const struct {
        const char *name;
        uint32_t bytes;
        int error;
    } names[] = {
        {".", 1, EINVAL},      {"..", 2, EINVAL}, {"", 0, EINVAL},
        {"d/file", 6, EINVAL}, {"/", 1, EINVAL},  {"/d", 2, EINVAL},
        {"d\0e", 3, EINVAL},   {"d/", 2, EINVAL}, {"../../etc/passwd", 16, EINVAL},
    };
    static char longest[RUN_SERVE_BYTES_MAX];

    (void)state;
    tree_put(&tree, "d/file", "contents");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(ask(RUN_SERVE_LOOKUP, RUN_SERVE_ROOT, 0, names[i].bytes, names[i].name),
                         names[i].error);
    memset(longest, 'x', sizeof longest);
    assert_int_equal(ask(RUN_SERVE_LOOKUP, RUN_SERVE_ROOT, 0, 255, longest), ENOENT);
    assert_int_equal(ask(RUN_SERVE_LOOKUP, RUN_SERVE_ROOT, 0, 256, longest), ENAMETOOLONG);
    assert_int_equal(ask(RUN_SERVE_LOOKUP, RUN_SERVE_ROOT, 0, sizeof longest, longest),
                     ENAMETOOLONG);
}

static void refuses_nodes_of_the_wrong_kind(void **state)
{
    uint64_t file, directory, link;

    (void)state;
    tree_put(&tree, "d/file", "contents");
    assert_int_equal(symlink("d", in_tree("l")), 0);
    directory = find(RUN_SERVE_ROOT, "d");
    file = find(directory, "file");
    link = find(RUN_SERVE_ROOT, "l");
    assert_int_equal(ask(RUN_SERVE_LOOKUP, file, 0, 1, "x"), ENOTDIR);
    assert_int_equal(ask(RUN_SERVE_LOOKUP, link, 0, 4, "file"), ENOTDIR);
    assert_int_equal(ask(RUN_SERVE_LIST, file, 0, 0, NULL), ENOTDIR);
    assert_int_equal(ask(RUN_SERVE_LIST, link, 0, 0, NULL), ENOTDIR);
    assert_int_equal(ask(RUN_SERVE_READ, directory, 0, 1, NULL), EISDIR);
    assert_int_equal(ask(RUN_SERVE_READ, link, 0, 1, NULL), EINVAL);
    assert_int_equal(ask(RUN_SERVE_READ, file, 0, RUN_SERVE_BYTES_MAX + 1, NULL), EINVAL);
    assert_int_equal(ask(RUN_SERVE_READ, file, UINT64_MAX, 1, NULL), EINVAL);
    assert_int_equal(ask(RUN_SERVE_READ, 0, 0, 1, NULL), EINVAL);
    assert_int_equal(ask(RUN_SERVE_READ, link + 1, 0, 1, NULL), EINVAL);
    assert_int_equal(ask(RUN_SERVE_READ, UINT64_MAX, 0, 1, NULL), EINVAL);
    assert_int_equal(ask(RUN_SERVE_READ, (1ull << 32) + file, 0, 1, NULL), EINVAL);
    assert_int_equal(ask(0, RUN_SERVE_ROOT, 0, 0, NULL), EINVAL);
    assert_int_equal(ask(77, RUN_SERVE_ROOT, 0, 0, NULL), EINVAL);
}

static void reads_up_to_the_end(void **state)
{
    char text[100001];
    uint64_t file;

    (void)state;
    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = (char)('a' + i % 23);
    text[sizeof text - 1] = 0;
    tree_put(&tree, "file", text);
    tree_put(&tree, "empty", "");
    file = find(RUN_SERVE_ROOT, "file");
    assert_int_equal(ask(RUN_SERVE_READ, file, 0, 65536, NULL), 0);
    assert_int_equal(reply.answer.bytes, 65536);
    assert_memory_equal(reply.bytes, text, 65536);
    assert_int_equal(ask(RUN_SERVE_READ, file, 65536, 65536, NULL), 0);
    assert_int_equal(reply.answer.bytes, 100000 - 65536);
    assert_memory_equal(reply.bytes, text + 65536, 100000 - 65536);
    assert_int_equal(ask(RUN_SERVE_READ, file, 99999, 10, NULL), 0);
    assert_int_equal(reply.answer.bytes, 1);
    assert_int_equal(ask(RUN_SERVE_READ, file, 100000, 10, NULL), 0);
    assert_int_equal(reply.answer.bytes, 0);
    assert_int_equal(ask(RUN_SERVE_READ, file, INT64_MAX, 10, NULL), 0);
    assert_int_equal(reply.answer.bytes, 0);
    assert_int_equal(ask(RUN_SERVE_READ, file, 5, 0, NULL), 0);
    assert_int_equal(reply.answer.bytes, 0);
    assert_int_equal(ask(RUN_SERVE_READ, find(RUN_SERVE_ROOT, "empty"), 0, 10, NULL), 0);
    assert_int_equal(reply.answer.bytes, 0);
}

/* More files than descriptors are kept; each is still its own. */
static void reads_many_files(void **state)
{
    char name[16];

    (void)state;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 3 * SERVE_OPEN_FILES; i++) {
            snprintf(name, sizeof name, "f%u", i);
            if (round == 0)
                tree_put(&tree, name, name);
            assert_int_equal(ask(RUN_SERVE_READ, find(RUN_SERVE_ROOT, name), 0, 16, NULL), 0);
            assert_int_equal(reply.answer.bytes, strlen(name));
            assert_memory_equal(reply.bytes, name, strlen(name));
        }
}

static void age(const char *path)
{
    const struct timespec times[2] = {{1000000000, 1}, {1000000000, 1}};

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void notices_what_changed(void **state)
{
    static const char *const names[] = {"longer", "truncated", "same size", "replaced", "removed"};
    struct run_serve_node node;
    uint64_t numbers[5], read_before;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        tree_put(&tree, names[i], "contents");
        age(in_tree(names[i]));
        numbers[i] = find(RUN_SERVE_ROOT, names[i]);
    }
    tree_put(&tree, "open", "contents");
    age(in_tree("open"));
    read_before = find(RUN_SERVE_ROOT, "open");
    assert_int_equal(ask(RUN_SERVE_READ, read_before, 0, 3, NULL), 0);
    tree_put(&tree, "longer", "contents and more");
    age(in_tree("longer"));
    tree_put(&tree, "truncated", "c");
    age(in_tree("truncated"));
    tree_put(&tree, "same size", "CONTENTS");
    tree_put(&tree, "other", "contents");
    age(in_tree("other"));
    assert_int_equal(rename(strdupa(in_tree("other")), strdupa(in_tree("replaced"))), 0);
    assert_int_equal(unlink(in_tree("removed")), 0);
    assert_int_equal(truncate(in_tree("open"), 4), 0);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(ask(RUN_SERVE_READ, numbers[i], 0, 8, NULL), ESTALE);
    assert_int_equal(ask(RUN_SERVE_READ, read_before, 4, 4, NULL), ESTALE);
    assert_int_equal(look_up(RUN_SERVE_ROOT, "longer", &node), -ESTALE);
    assert_int_equal(look_up(RUN_SERVE_ROOT, "removed", &node), -ENOENT);
    assert_true(serve.nodes.all[read_before].stale);
}

static void notices_another_directory(void **state)
{
    uint64_t directory, linked;

    (void)state;
    tree_put(&tree, "d/file", "contents");
    tree_put(&tree, "l/file", "contents");
    directory = find(RUN_SERVE_ROOT, "d");
    linked = find(RUN_SERVE_ROOT, "l");
    assert_int_equal(rename(strdupa(in_tree("d")), strdupa(in_tree("e"))), 0);
    assert_int_equal(ask(RUN_SERVE_LOOKUP, directory, 0, 4, "file"), ESTALE);
    tree_put(&tree, "d/file", "another one");
    assert_int_equal(ask(RUN_SERVE_LOOKUP, directory, 0, 4, "file"), ESTALE);
    assert_int_equal(ask(RUN_SERVE_LIST, directory, 0, 0, NULL), ESTALE);
    /* A link in the place of a directory is not followed. */
    assert_int_equal(rename(strdupa(in_tree("l")), strdupa(in_tree("m"))), 0);
    assert_int_equal(symlink("/etc", in_tree("l")), 0);
    assert_int_equal(ask(RUN_SERVE_LOOKUP, linked, 0, 6, "passwd"), ESTALE);
    assert_int_equal(ask(RUN_SERVE_LIST, linked, 0, 0, NULL), ESTALE);
}

static void serves_no_special_files(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct run_serve_node node;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    assert_int_equal(mkfifo(in_tree("fifo"), 0666), 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", tree.root);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(look_up(RUN_SERVE_ROOT, "fifo", &node), -ENOENT);
    assert_int_equal(look_up(RUN_SERVE_ROOT, "socket", &node), -ENOENT);
    assert_int_equal(ask(RUN_SERVE_LIST, RUN_SERVE_ROOT, 0, 0, NULL), 0);
    assert_int_equal(reply.answer.bytes, 0);
    assert_int_equal(reply.answer.next, 0);
    close(fd);
}

/* A FIFO that took a file's place is not opened: that would wait. */
static void opens_nothing_that_took_a_files_place(void **state)
{
    uint64_t file;

    (void)state;
    tree_put(&tree, "file", "contents");
    file = find(RUN_SERVE_ROOT, "file");
    assert_int_equal(unlink(in_tree("file")), 0);
    assert_int_equal(mkfifo(in_tree("file"), 0666), 0);
    assert_int_equal(ask(RUN_SERVE_READ, file, 0, 8, NULL), ESTALE);
}

static void leaves_the_guests_directories_out(void **state)
{
    struct run_serve_node node;

    (void)state;
    tree_put(&tree, "proc/file", "");
    tree_put(&tree, "sys/file", "");
    tree_put(&tree, "dev/file", "");
    tree_put(&tree, "etc/proc/file", "");
    assert_int_equal(look_up(RUN_SERVE_ROOT, "proc", &node), -ENOENT);
    assert_int_equal(look_up(RUN_SERVE_ROOT, "sys", &node), -ENOENT);
    assert_int_equal(look_up(RUN_SERVE_ROOT, "dev", &node), -ENOENT);
    assert_true(look_up(find(RUN_SERVE_ROOT, "etc"), "proc", &node) > 0);
    assert_int_equal(ask(RUN_SERVE_LIST, RUN_SERVE_ROOT, 0, 0, NULL), 0);
    assert_int_equal(reply.answer.bytes, SERVE_NODE_BYTES(3, 0));
}

static void serves_no_file_system_of_the_kernel(void **state)
{
    static struct serve other;

    (void)state;
    assert_int_equal(serve_open_root(&other, "/proc"), -EINVAL);
    serve_close(&other);
    assert_int_equal(serve_open_root(&other, "/nowhere"), -ENOENT);
    serve_close(&other);
    assert_int_equal(serve_open_root(&other, "/proc/self/exe"), -ENOTDIR);
    serve_close(&other);
}

/* As another user who owns nothing here. */
static void says_what_the_user_may_do(void **state)
{
    struct run_serve_node node;
    uid_t user = geteuid();
    int64_t number;

    (void)state;
    if (user != 0)
        skip();
    tree_put(&tree, "private", "contents");
    tree_put(&tree, "public", "contents");
    tree_put(&tree, "closed/file", "contents");
    assert_int_equal(chmod(tree.root, 0755), 0);
    assert_int_equal(chmod(in_tree("private"), 0600), 0);
    assert_int_equal(chmod(in_tree("public"), 0744), 0);
    assert_int_equal(chmod(in_tree("closed"), 0700), 0);
    assert_int_equal(seteuid(65534), 0);
    number = look_up(RUN_SERVE_ROOT, "private", &node);
    assert_int_equal(node.mode, S_IFREG);
    assert_int_equal(ask(RUN_SERVE_READ, (uint64_t)number, 0, 8, NULL), EACCES);
    number = look_up(RUN_SERVE_ROOT, "public", &node);
    assert_int_equal(node.mode, S_IFREG | 0444);
    assert_int_equal(ask(RUN_SERVE_READ, (uint64_t)number, 0, 8, NULL), 0);
    number = look_up(RUN_SERVE_ROOT, "closed", &node);
    assert_int_equal(node.mode, S_IFDIR);
    assert_int_equal(ask(RUN_SERVE_LOOKUP, (uint64_t)number, 0, 4, "file"), EACCES);
    assert_int_equal(ask(RUN_SERVE_LIST, (uint64_t)number, 0, 0, NULL), EACCES);
    assert_int_equal(seteuid(user), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_files_directories_and_links, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(numbers_stay, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(refuses_what_is_no_name, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(refuses_nodes_of_the_wrong_kind, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(reads_up_to_the_end, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(reads_many_files, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(notices_what_changed, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(notices_another_directory, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(serves_no_special_files, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(opens_nothing_that_took_a_files_place, open_tree,
                                        close_tree),
        cmocka_unit_test_setup_teardown(leaves_the_guests_directories_out, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(serves_no_file_system_of_the_kernel, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(says_what_the_user_may_do, open_tree, close_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
