/* What a run depended on: the files that were read, in its trace. */
#include "host/scan/about.h"
#include "tests/unit/host/fixture.h"
#include "tests/unit/host/serve/serve_fixture.h"

#define LIMIT_NS 10000000000ull

static struct fixture fixture;
static struct trace_info info;
static char path[80];

static int make(void **state)
{
    open_tree(state);
    fixture_init(&fixture);
    fixture_begin_data(&fixture);
    fixture_samples(&fixture, 5);
    fixture_begin_end(&fixture);
    fixture_chunk(&fixture, &fixture.meta);
    trace_info_init(&info);
    return 0;
}

static int end(void **state)
{
    trace_info_free(&info);
    fixture_free(&fixture);
    unlink(path);
    return close_tree(state);
}

/* Collects the fixture, adds the records, and reads what the trace then says. */
static void record(uint64_t limit_ns)
{
    struct run_failure failure = {0};
    struct collector collector;

    snprintf(path, sizeof path, "%s.bin", tree.root);
    assert_int_equal(collect_open(&collector, path, false, NULL, &failure), 0);
    collect_take(&collector, fixture.bytes, fixture.count);
    assert_null(collector.bad);
    assert_int_equal(serve_record(&serve, &collector, limit_ns), 0);
    assert_int_equal(collect_close(&collector, HR_HOST_COMPLETE, ""), 0);
    assert_int_equal(about_read(&info, path), 0);
    assert_true(info.has_host_end);
}

static void read_file(uint64_t directory, const char *name)
{
    assert_int_equal(ask(RUN_SERVE_READ, find(directory, name), 0, 3, NULL), 0);
}

static void names_what_was_read(void **state)
{
    (void)state;
    tree_put(&tree, "z", "foobar");
    tree_put(&tree, "d/a", "");
    tree_put(&tree, "only looked at", "x");
    read_file(RUN_SERVE_ROOT, "z");
    read_file(find(RUN_SERVE_ROOT, "d"), "a");
    (void)find(RUN_SERVE_ROOT, "only looked at");
    record(LIMIT_NS);
    assert_int_equal(info.files.count, 2);
    assert_string_equal(info.files.all[0].path, "/d/a");
    assert_int_equal(info.files.all[0].file.hash, 0xcbf29ce484222325);
    assert_string_equal(info.files.all[1].path, "/z");
    assert_int_equal(info.files.all[1].file.bytes, 6);
    assert_int_equal(info.files.all[1].file.hash, 0x85944171f73967e8);
    assert_int_equal(info.files.all[1].file.flags, 0);
}

static void says_what_changed_or_could_not_be_read(void **state)
{
    (void)state;
    tree_put(&tree, "changed", "foobar");
    tree_put(&tree, "gone", "foobar");
    read_file(RUN_SERVE_ROOT, "changed");
    read_file(RUN_SERVE_ROOT, "gone");
    tree_put(&tree, "changed", "foobar and more");
    assert_int_equal(unlink(in_tree("gone")), 0);
    record(LIMIT_NS);
    assert_int_equal(info.files.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(info.files.all[i].file.flags, HR_FILE_CHANGED);
        assert_int_equal(info.files.all[i].file.hash, 0);
        assert_int_equal(info.files.all[i].file.bytes, 6);
    }
}

static ssize_t slow_pread(int fd, void *bytes, size_t count, off_t offset)
{
    usleep(50000);
    return pread(fd, bytes, count, offset);
}

static void leaves_out_the_hash_of_a_slow_file(void **state)
{
    (void)state;
    tree_put(&tree, "slow", "foobar");
    read_file(RUN_SERVE_ROOT, "slow");
    serve_task_free(serve.task);
    serve.task = NULL;
    serve.pread = slow_pread;
    record(1);
    assert_int_equal(info.files.count, 1);
    assert_int_equal(info.files.all[0].file.flags, HR_FILE_NO_HASH);
    while (serve_worker_abandoned() != 0)
        usleep(1000);
}

static void writes_nothing_when_nothing_was_read(void **state)
{
    (void)state;
    tree_put(&tree, "file", "foobar");
    (void)find(RUN_SERVE_ROOT, "file");
    record(LIMIT_NS);
    assert_int_equal(info.files.count, 0);
}

static void fills_several_chunks(void **state)
{
    char name[256];

    (void)state;
    memset(name, 'x', sizeof name);
    for (uint32_t i = 0; i < 1200; i++) {
        snprintf(name + 245, 11, "%08u", i);
        tree_put(&tree, name, "");
        read_file(RUN_SERVE_ROOT, name);
    }
    record(LIMIT_NS);
    assert_int_equal(info.files.count, 1200);
    assert_int_equal(info.ignored, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_what_was_read, make, end),
        cmocka_unit_test_setup_teardown(says_what_changed_or_could_not_be_read, make, end),
        cmocka_unit_test_setup_teardown(leaves_out_the_hash_of_a_slow_file, make, end),
        cmocka_unit_test_setup_teardown(writes_nothing_when_nothing_was_read, make, end),
        cmocka_unit_test_setup_teardown(fills_several_chunks, make, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
