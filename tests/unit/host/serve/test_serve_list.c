/* Listings of the host's directories, over one and several answers. */
#include "tests/unit/host/serve/serve_fixture.h"

#define FILES 3000u

/* Takes the entries of an answer; `last` is the name before them.  Returns how many there are. */
static uint32_t take(char last[256])
{
    struct run_serve_node node;
    uint32_t count = 0;

    for (size_t at = 0; at < reply.answer.bytes; count++) {
        char name[256] = "";

        memcpy(&node, reply.bytes + at, sizeof node);
        memcpy(name, reply.bytes + at + sizeof node, node.name_bytes);
        assert_true(strcmp(last, name) < 0);
        strcpy(last, name);
        at += SERVE_NODE_BYTES(node.name_bytes, node.target_bytes);
        assert_true(at <= reply.answer.bytes);
    }
    return count;
}

static void make_files(uint32_t count)
{
    char path[32];

    for (uint32_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "d/file %05u", i);
        tree_put(&tree, path, "");
    }
}

static uint32_t list_all(uint64_t directory, uint32_t *answers)
{
    char last[256] = "";
    uint64_t position = 0;
    uint32_t count = 0;

    *answers = 0;
    do {
        assert_int_equal(ask(RUN_SERVE_LIST, directory, position, 0, NULL), 0);
        assert_true(reply.answer.next == 0 || reply.answer.next > position);
        position = reply.answer.next;
        count += take(last);
        ++*answers;
    } while (position != 0);
    return count;
}

static void lists_sorted_with_kinds(void **state)
{
    static const char *const names[] = {"B", "a", "a.b", "a0", "link", "\xc3\xa4"};
    static const mode_t kinds[] = {S_IFDIR, S_IFREG, S_IFREG, S_IFREG, S_IFLNK, S_IFREG};
    struct run_serve_node node, again;
    size_t at = 0;

    (void)state;
    tree_put(&tree, "a0", "1");
    tree_put(&tree, "\xc3\xa4", "2");
    tree_put(&tree, "a", "3");
    tree_put(&tree, "B/x", "4");
    tree_put(&tree, "a.b", "5");
    assert_int_equal(symlink("/somewhere else", in_tree("link")), 0);
    assert_int_equal(ask(RUN_SERVE_LIST, RUN_SERVE_ROOT, 0, 0, NULL), 0);
    for (size_t i = 0; i < 6; i++) {
        memcpy(&node, reply.bytes + at, sizeof node);
        assert_int_equal(node.mode & S_IFMT, kinds[i]);
        assert_int_equal(node.name_bytes, strlen(names[i]));
        assert_memory_equal(reply.bytes + at + sizeof node, names[i], node.name_bytes);
        if (kinds[i] == S_IFLNK)
            assert_memory_equal(reply.bytes + at + sizeof node + node.name_bytes, "/somewhere else",
                                node.target_bytes);
        at += SERVE_NODE_BYTES(node.name_bytes, node.target_bytes);
    }
    assert_int_equal(at, reply.answer.bytes);
    assert_int_equal(reply.answer.next, 0);
    assert_int_equal(look_up(RUN_SERVE_ROOT, names[5], &again), node.node);
}

static void lists_more_than_one_answer(void **state)
{
    uint32_t answers;
    uint64_t directory;

    (void)state;
    make_files(FILES);
    directory = find(RUN_SERVE_ROOT, "d");
    assert_int_equal(list_all(directory, &answers), FILES);
    assert_true(answers > 2);
    assert_null(serve.names);
    assert_int_equal(ask(RUN_SERVE_LIST, directory, 1u << 30, 0, NULL), 0);
    assert_int_equal(reply.answer.bytes, 0);
    assert_int_equal(reply.answer.next, 0);
    assert_int_equal(ask(RUN_SERVE_LIST, directory, UINT64_MAX, 0, NULL), 0);
}

/* What comes or goes meanwhile moves no other name. */
static void keeps_the_names_of_the_beginning(void **state)
{
    char last[256] = "";
    uint64_t directory, position;
    uint32_t count;

    (void)state;
    make_files(FILES);
    directory = find(RUN_SERVE_ROOT, "d");
    assert_int_equal(ask(RUN_SERVE_LIST, directory, 0, 0, NULL), 0);
    position = reply.answer.next;
    count = take(last);
    tree_put(&tree, "d/a file before all", "");
    assert_int_equal(unlink(in_tree("d/file 00000")), 0);
    assert_int_equal(unlink(in_tree("d/file 02999")), 0);
    (void)find(directory, "a file before all");
    while (position != 0) {
        assert_int_equal(ask(RUN_SERVE_LIST, directory, position, 0, NULL), 0);
        position = reply.answer.next;
        count += take(last);
    }
    assert_int_equal(count, FILES - 1);
}

/* Names of the greatest length and links with the longest texts: all fit, in several answers. */
static void lists_the_longest_entries(void **state)
{
    char target[RUN_SERVE_TARGET_MAX + 1], name[256], path[300];
    uint32_t answers;

    (void)state;
    memset(target, 't', sizeof target);
    target[RUN_SERVE_TARGET_MAX] = 0;
    memset(name, 'n', sizeof name);
    name[255] = 0;
    tree_put(&tree, "d/x", "");
    for (char c = 'a'; c < 'a' + 20; c++) {
        name[0] = c;
        snprintf(path, sizeof path, "d/%s", name);
        assert_int_equal(symlink(target, in_tree(path)), 0);
    }
    assert_int_equal(list_all(find(RUN_SERVE_ROOT, "d"), &answers), 21);
    assert_int_equal(answers, 2);
}

static void lists_two_directories_in_turns(void **state)
{
    uint64_t directory;
    uint32_t answers;

    (void)state;
    make_files(FILES);
    tree_put(&tree, "e/one", "");
    directory = find(RUN_SERVE_ROOT, "d");
    assert_int_equal(ask(RUN_SERVE_LIST, directory, 0, 0, NULL), 0);
    assert_int_equal(list_all(find(RUN_SERVE_ROOT, "e"), &answers), 1);
    assert_int_equal(ask(RUN_SERVE_LIST, directory, 2000, 0, NULL), 0);
    assert_int_equal(reply.answer.next, 0);
    assert_int_equal(reply.answer.bytes, 1000 * SERVE_NODE_BYTES(10, 0));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lists_sorted_with_kinds, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(lists_more_than_one_answer, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(keeps_the_names_of_the_beginning, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(lists_the_longest_entries, open_tree, close_tree),
        cmocka_unit_test_setup_teardown(lists_two_directories_in_turns, open_tree, close_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
