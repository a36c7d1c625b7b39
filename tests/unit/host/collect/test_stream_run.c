/* A run's files: numbering, going on, limits, damage, what a full disk leaves. */
#include "tests/unit/host/collect/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/resource.h>

#include "include/run_ports.h"
#include "tests/unit/host/collect_fixture.h"

static enum run_welcome_status open_run(struct stream_run *run, const struct run_hello *hello)
{
    return stream_run_open(run, root, hello, LIMIT_BYTES);
}

static void numbers_runs_of_one_name(void **state)
{
    static const char *const names[] = {"a/x-1", "a/x-2", "a/x-3"};
    struct stream_run run;

    (void)state;
    for (uint8_t i = 0; i < 3; i++) {
        struct run_hello hello = hello_of("a", "x", i);

        assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
        assert_string_equal(run_place_name(&run.place), names[i]);
        assert_true(run.place.is_new);
        assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
    }
    for (uint8_t i = 3; i-- > 0;) { /* and finds each again */
        struct run_hello hello = hello_of("a", "x", i);

        assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
        assert_string_equal(run_place_name(&run.place), names[i]);
        assert_false(run.place.is_new);
        assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
    }
}

/* Thousands of earlier runs cost no more than the listing of their directory. */
static void opens_no_other_run(void **state)
{
    int events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    struct run_hello hello = hello_of("many", "x", 1);
    struct inotify_event event;
    struct stream_run run;
    char path[128];

    (void)state;
    for (uint8_t i = 1; i <= 3; i++) {
        hello = hello_of("many", "x", i);
        assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
        assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
        snprintf(path, sizeof path, "%s/many/x-%d", root, i);
        if (i < 3)
            assert_true(inotify_add_watch(events, path, IN_OPEN) >= 0);
    }
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK); /* again */
    assert_false(run.place.is_new);
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
    hello = hello_of("many", "x", 4);
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
    assert_string_equal(run_place_name(&run.place), "many/x-4");
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
    assert_int_equal(read(events, &event, sizeof event), -1);
    assert_int_equal(errno, EAGAIN);
    close(events);
}

/* A directory that was removed, and its number given to another run: the mark left says nothing. */
static void a_mark_alone_is_no_run(void **state)
{
    const struct run_hello first = hello_of("mark", "x", 1), second = hello_of("mark", "x", 2);
    struct stream_run run;
    char command[256];

    (void)state;
    assert_int_equal(open_run(&run, &first), RUN_WELCOME_OK);
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
    snprintf(command, sizeof command, "rm -r %s/mark/x-1", root);
    assert_int_equal(system(command), 0);
    assert_int_equal(open_run(&run, &second), RUN_WELCOME_OK);
    assert_string_equal(run_place_name(&run.place), "mark/x-1");
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
    assert_int_equal(open_run(&run, &first), RUN_WELCOME_OK);
    assert_string_equal(run_place_name(&run.place), "mark/x-2");
    assert_true(run.place.is_new);
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
}

static void names_do_not_meet(void **state)
{
    static const char *const others[] = {"n/x-1-1", "n/x-01", "n/x-", "n/x-1x", "n/xy-5", "n/x-7"};
    const struct run_hello hello = hello_of("n", "x", 1);
    struct stream_run run;
    char path[128];

    (void)state;
    snprintf(path, sizeof path, "%s/n", root);
    assert_int_equal(mkdir(path, 0777), 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", root, others[i]);
        assert_int_equal(mkdir(path, 0777), 0);
    }
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
    assert_string_equal(run_place_name(&run.place), "n/x-8");
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
}

static void two_collectors_share_a_directory(void **state)
{
    const struct run_hello hello = hello_of("two", "x", 1);
    struct stream_run first, second;

    (void)state;
    assert_int_equal(open_run(&first, &hello), RUN_WELCOME_OK);
    assert_int_equal(open_run(&second, &hello), RUN_WELCOME_BUSY);
    assert_int_equal(stream_run_suspend(&first, 0), RUN_WELCOME_OK);
    assert_int_equal(open_run(&second, &hello), RUN_WELCOME_OK);
    assert_int_equal(stream_run_suspend(&second, 0), RUN_WELCOME_OK);
}

static void goes_on_where_it_was(void **state)
{
    const struct run_hello hello = hello_of("on", "x", 1);
    struct stream_run run;

    (void)state;
    for (size_t done = 0; done < stream_bytes;) { /* in steps that end anywhere in a chunk */
        size_t step = stream_bytes - done < 701 ? stream_bytes - done : 701;

        assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
        assert_true(run.have[RUN_STREAM_TRACE] <= done);
        assert_int_equal(run.have[RUN_STREAM_STDOUT], done);
        assert_int_equal(stream_run_write(&run, RUN_STREAM_TRACE,
                                          stream + run.have[RUN_STREAM_TRACE],
                                          done + step - run.have[RUN_STREAM_TRACE]),
                         RUN_WELCOME_OK);
        assert_int_equal(stream_run_write(&run, RUN_STREAM_STDOUT, stream + done, step),
                         RUN_WELCOME_OK);
        done += step;
        assert_int_equal(run.bytes, 2 * done);
        if (done < stream_bytes)
            assert_int_equal(stream_run_suspend(&run, done % 2 ? SIGINT : 0), RUN_WELCOME_OK);
    }
    assert_int_equal(stream_run_finish(&run), RUN_WELCOME_OK);
    assert_int_equal(run.trace.samples, CHUNKS * SAMPLES);
    check_bytes("on/x-1", "stdout", stream, stream_bytes);
    check_bytes("on/x-1", "stderr", "", 0);
    check_bytes("on/x-1", "hr.bad", NULL, 0);
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_DONE);
}

static void what_is_no_trace_is_kept_apart(void **state)
{
    const struct run_hello hello = hello_of("bad", "x", 1);
    uint8_t *damaged = malloc(stream_bytes);
    struct stream_run run;
    size_t good = chunk_ends[2], half = good + (stream_bytes - good) / 2;

    (void)state;
    memcpy(damaged, stream, stream_bytes);
    damaged[good + 3] ^= 1;
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
    assert_int_equal(stream_run_write(&run, RUN_STREAM_TRACE, damaged, half), RUN_WELCOME_OK);
    assert_true(run.is_bad && run.bad != NULL);
    assert_int_equal(run.have[RUN_STREAM_TRACE], half);
    assert_int_equal(stream_run_whole(&run), half);
    assert_int_equal(stream_run_suspend(&run, SIGTERM), RUN_WELCOME_OK);
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
    assert_true(run.is_bad);
    assert_int_equal(run.have[RUN_STREAM_TRACE], half);
    assert_int_equal(run.bytes, half);
    assert_int_equal(stream_run_write(&run, RUN_STREAM_TRACE, damaged + half, stream_bytes - half),
                     RUN_WELCOME_OK);
    assert_int_equal(stream_run_write(&run, RUN_STREAM_LOG, "still here\n", 11), RUN_WELCOME_OK);
    assert_int_equal(run.bytes, stream_bytes + 11);
    assert_int_equal(stream_run_finish(&run), RUN_WELCOME_OK);
    check_bytes("bad/x-1", "hr.bad", damaged + good, stream_bytes - good);
    check_bytes("bad/x-1", "log.txt", "still here\n", 11);
    assert_int_equal(run.trace.samples, SAMPLES); /* of the good part */
    free(damaged);
}

static void keeps_to_its_limit(void **state)
{
    const struct run_hello hello = hello_of("limit", "x", 1);
    struct stream_run run;

    (void)state;
    assert_int_equal(stream_run_open(&run, root, &hello, 100), RUN_WELCOME_OK);
    assert_int_equal(stream_run_write(&run, RUN_STREAM_STDOUT, stream, 60), RUN_WELCOME_OK);
    assert_int_equal(stream_run_write(&run, RUN_STREAM_STDERR, stream, 60), RUN_WELCOME_LIMIT);
    assert_int_equal(run.have[RUN_STREAM_STDERR], 40);
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
    assert_int_equal(stream_run_open(&run, root, &hello, 100), RUN_WELCOME_OK);
    assert_int_equal(stream_run_write(&run, RUN_STREAM_TRACE, stream, 1), RUN_WELCOME_LIMIT);
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
    check_bytes("limit/x-1", "stderr", stream, 40);
    check_bytes("limit/x-1", "hr.bin", "", 0);
}

static size_t message(uint8_t *out, uint32_t type, uint64_t offset, const char *bytes)
{
    const struct run_file_message m = {
        .type = type, .bytes = (uint32_t)strlen(bytes), .id = 1, .offset = offset, .mode = 0644};

    memcpy(out, &m, sizeof m);
    memcpy(out + sizeof m, bytes, m.bytes);
    return sizeof m + m.bytes;
}

static void unpacks_files_at_the_end(void **state)
{
    const struct run_hello hello = hello_of("files", "x", 1);
    uint8_t bytes[1024];
    size_t count = message(bytes, RUN_FILE_DATA, 0, "content");
    struct stream_run run;

    (void)state;
    count += message(bytes + count, RUN_FILE_NAME, 7, "/out/data");
    count += message(bytes + count, RUN_FILE_MISSING, 0, "/no/such/thing");
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
    assert_int_equal(stream_run_write(&run, RUN_STREAM_FILES, bytes, 50), RUN_WELCOME_OK);
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
    assert_int_equal(run.have[RUN_STREAM_FILES], 50);
    assert_int_equal(stream_run_write(&run, RUN_STREAM_FILES, bytes + 50, count - 50),
                     RUN_WELCOME_OK);
    count = message(bytes, RUN_FILE_END, 0, "");
    assert_int_equal(stream_run_write(&run, RUN_STREAM_FILES, bytes, count), RUN_WELCOME_OK);
    assert_int_equal(stream_run_finish(&run), RUN_WELCOME_OK);
    assert_int_equal(run.kept_files, 1);
    assert_null(run.files_bad);
    check_bytes("files/x-1", "files/out/data", "content", 7);
    check_bytes("files/x-1", "files.stream", NULL, 0);
}

static void a_bad_stream_of_files_stays(void **state)
{
    const struct run_hello hello = hello_of("files", "bad", 1);
    uint8_t bytes[1024];
    size_t count = message(bytes, RUN_FILE_NAME, 0, "/../../../outside");
    struct stream_run run;

    (void)state;
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
    assert_int_equal(stream_run_write(&run, RUN_STREAM_FILES, bytes, count), RUN_WELCOME_OK);
    assert_int_equal(stream_run_finish(&run), RUN_WELCOME_OK);
    assert_non_null(run.files_bad);
    check_bytes("files/bad-1", "files.stream", bytes, count);
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_DONE);
}

/* A program cannot have made them; they are no failure of the disk here. */
static void names_that_contradict_each_other(void **state)
{
    static const struct {
        uint32_t type;
        uint64_t offset;
        const char *bytes;
    } pairs[][2] = {
        {{RUN_FILE_DIRECTORY, 0, "/a"}, {RUN_FILE_NAME, 0, "/a"}},
        {{RUN_FILE_DIRECTORY, 0, "/a/b"}, {RUN_FILE_LINK, 2, "/ato"}},
        {{RUN_FILE_NAME, 0, "/a"}, {RUN_FILE_DIRECTORY, 0, "/a"}},
        {{RUN_FILE_NAME, 0, "/a"}, {RUN_FILE_NAME, 0, "/a/b"}},
        {{RUN_FILE_LINK, 2, "/ato"}, {RUN_FILE_DIRECTORY, 0, "/a"}},
    };

    (void)state;
    for (uint8_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct run_hello hello = hello_of("files", "pair", i);
        struct stream_run run;
        uint8_t bytes[1024];
        size_t count = 0;

        for (size_t j = 0; j < 2; j++) {
            count += message(bytes + count, RUN_FILE_DATA, 0, "x");
            count +=
                message(bytes + count, pairs[i][j].type, pairs[i][j].offset, pairs[i][j].bytes);
        }
        count += message(bytes + count, RUN_FILE_END, 0, "");
        assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
        assert_int_equal(stream_run_write(&run, RUN_STREAM_FILES, bytes, count), RUN_WELCOME_OK);
        assert_int_equal(stream_run_finish(&run), RUN_WELCOME_OK);
        assert_non_null(run.files_bad);
    }
}

/* A limit on the size of files stands for a disk that fills up and is then emptied. */
static void set_file_limit(rlim_t bytes)
{
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void goes_on_after_a_full_disk(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    for (size_t room = 150; room < stream_bytes; room += 331) {
        const struct run_hello hello = hello_of("full", "x", (uint8_t)(room / 331));
        enum run_welcome_status status;
        struct stream_run run;
        uint64_t have;

        assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
        set_file_limit(room);
        status = stream_run_write(&run, RUN_STREAM_TRACE, stream, stream_bytes);
        if (status == RUN_WELCOME_OK)
            status = stream_run_flush(&run);
        assert_int_equal(status, RUN_WELCOME_DISK);
        assert_int_equal(run.error, EFBIG);
        assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_DISK);
        set_file_limit(RLIM_INFINITY);
        assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
        have = run.have[RUN_STREAM_TRACE];
        assert_true(have <= room);
        assert_int_equal(
            stream_run_write(&run, RUN_STREAM_TRACE, stream + have, stream_bytes - have),
            RUN_WELCOME_OK);
        assert_int_equal(stream_run_finish(&run), RUN_WELCOME_OK);
        assert_int_equal(run.trace.samples, CHUNKS * SAMPLES);
        assert_true(run.trace.has_end);
    }
}

static void words_on_a_full_disk(void **state)
{
    const struct run_hello hello = hello_of("full", "words", 1);
    struct stream_run run;

    (void)state;
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
    set_file_limit(1500);
    for (size_t at = 0; at < 2000; at++)
        assert_int_equal(stream_run_write(&run, RUN_STREAM_STDOUT, stream + at, 1), RUN_WELCOME_OK);
    assert_int_equal(stream_run_flush(&run), RUN_WELCOME_DISK);
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
    set_file_limit(RLIM_INFINITY);
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
    assert_int_equal(run.have[RUN_STREAM_STDOUT], 1500);
    assert_int_equal(stream_run_write(&run, RUN_STREAM_STDOUT, stream + 1500, 500), RUN_WELCOME_OK);
    for (size_t at = 0; at < 2000; at++) /* in turns */
        assert_int_equal(stream_run_write(&run, RUN_STREAM_STDERR + at % 2, stream + at / 2, 1),
                         RUN_WELCOME_OK);
    assert_int_equal(stream_run_finish(&run), RUN_WELCOME_OK);
    check_bytes("full/words-1", "stdout", stream, 2000);
    check_bytes("full/words-1", "stderr", stream, 1000);
    check_bytes("full/words-1", "log.txt", stream, 1000);
}

static void a_full_disk_at_the_end(void **state)
{
    const struct run_hello hello = hello_of("full", "end", 1);
    struct stream_run run;

    (void)state;
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK);
    assert_int_equal(stream_run_write(&run, RUN_STREAM_TRACE, stream, stream_bytes),
                     RUN_WELCOME_OK);
    set_file_limit(stream_bytes + 100); /* no room for the index */
    assert_int_equal(stream_run_finish(&run), RUN_WELCOME_DISK);
    set_file_limit(RLIM_INFINITY);
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_OK); /* not done */
    assert_int_equal(run.have[RUN_STREAM_TRACE], stream_bytes);
    assert_int_equal(stream_run_finish(&run), RUN_WELCOME_OK);
    assert_int_equal(open_run(&run, &hello), RUN_WELCOME_DONE);
}

static void damaged_states_are_no_runs(void **state)
{
    static const char *const texts[] = {
        "",
        "id=",
        "id=01ff1000000000000000000000000000\n",
        "id=01ff100000000000000000000000000\nstate=open\n",
        "id=01ff1000000000000000000000000000ff\nstate=open\n",
        "id=-1ff1000000000000000000000000000\nstate=open\n",
        "id=01ff1000000000000000000000000000\nstate=perhaps\n",
    };
    struct run_state read;
    int directory = open(root, O_RDONLY | O_DIRECTORY);

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int fd = openat(directory, "run.state", O_WRONLY | O_CREAT | O_TRUNC, 0666);

        assert_int_equal(write(fd, texts[i], strlen(texts[i])), strlen(texts[i]));
        close(fd);
        assert_int_equal(stream_state_read(directory, &read), -EBADMSG);
    }
    read = (struct run_state){.id = {1, 2, 0xfe}, .created_s = 12345678901, .complete = true};
    assert_int_equal(stream_state_write(directory, &read), 0);
    memset(&read, 0, sizeof read);
    assert_int_equal(stream_state_read(directory, &read), 0);
    assert_true(read.complete && read.id[2] == 0xfe && read.created_s == 12345678901);
    assert_int_equal(unlinkat(directory, "run.state", 0), 0);
    assert_int_equal(stream_state_read(directory, &read), -ENOENT);
    close(directory);
}

static int prepare(void **state)
{
    build_stream();
    return make_root(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_runs_of_one_name),
        cmocka_unit_test(opens_no_other_run),
        cmocka_unit_test(a_mark_alone_is_no_run),
        cmocka_unit_test(names_do_not_meet),
        cmocka_unit_test(two_collectors_share_a_directory),
        cmocka_unit_test(goes_on_where_it_was),
        cmocka_unit_test(what_is_no_trace_is_kept_apart),
        cmocka_unit_test(keeps_to_its_limit),
        cmocka_unit_test(unpacks_files_at_the_end),
        cmocka_unit_test(a_bad_stream_of_files_stays),
        cmocka_unit_test(names_that_contradict_each_other),
        cmocka_unit_test(goes_on_after_a_full_disk),
        cmocka_unit_test(words_on_a_full_disk),
        cmocka_unit_test(a_full_disk_at_the_end),
        cmocka_unit_test(damaged_states_are_no_runs),
    };

    return cmocka_run_group_tests(tests, prepare, remove_root);
}
