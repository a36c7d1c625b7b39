/* What goes to the host when a program has changed the tree. */
#include "tests/unit/guest/fake_tree.h"

#include <string.h>
#include <sys/stat.h>

#include "guest/fs/fs_jit.c"
#include "guest/fs/fs_kept.c"
#include "guest/fs/fs_kept_message.c"
#include "guest/fs/fs_missing.c"

#define PAGES 8192u
#define NAMES_BYTES 8192u

static struct process process;
static uint8_t stream[4u << 20];
static size_t streamed;
static char names[NAMES_BYTES]; /* what was sent but for data, a line each */
static uint8_t contents[1u << 20]; /* of the file that was named last */
static uint64_t content_id;

void service_files(size_t (*fill_buffer)(void *context, void *bytes), void *context)
{
    static uint8_t bytes[SERVICE_BYTES_MAX];
    size_t count;

    while ((count = fill_buffer(context, bytes))) {
        assert_true(count <= sizeof bytes && streamed + count <= sizeof stream);
        memcpy(stream + streamed, bytes, count);
        streamed += count;
    }
}

static void send_bytes(const void *bytes, size_t count)
{
    assert_true(count <= SERVICE_BYTES_MAX && streamed + count <= sizeof stream);
    memcpy(stream + streamed, bytes, count);
    streamed += count;
}

/* What went into the trace, a line for each file with its first bytes, and how many in all. */
static char jit_names[NAMES_BYTES];
static uint64_t jit_bytes;
static uint32_t jit_room = UINT32_MAX; /* records that fit */

bool trace_add_meta(uint8_t type, const void *body, uint32_t bytes, const void *tail,
                    uint32_t tail_bytes)
{
    const struct hr_meta_jit_file *file = body;

    assert_true(bytes + tail_bytes <= UINT16_MAX);
    if (jit_room == 0)
        return false;
    jit_room--;
    if (type == HR_META_JIT_DATA) {
        assert_int_equal(bytes, sizeof(struct hr_meta_jit_data));
        snprintf(jit_names + strlen(jit_names), sizeof jit_names - strlen(jit_names), " %.4s",
                 (const char *)tail);
        jit_bytes += tail_bytes;
        return true;
    }
    assert_int_equal(type, HR_META_JIT_FILE);
    snprintf(jit_names + strlen(jit_names), sizeof jit_names - strlen(jit_names),
             "%s%u %u %u %lu %.*s", jit_names[0] != 0 ? "\n" : "", file->number, file->kind,
             file->pid, file->bytes, (int)tail_bytes, (const char *)tail);
    return true;
}

void trace_send_meta(void)
{
}

static int start(void **state)
{
    static const char text[] = "version=1\0keep-files=1\0missing=1";
    struct cpio_entry entry = {.name = "etc/old", .name_bytes = 7, .mode = S_IFREG | 0644};
    static uint8_t archive[4096] __attribute__((aligned(4096)));
    size_t bytes;

    (void)state;
    fake_phys_open(PAGES);
    memset(pages, 0, sizeof pages);
    entry.bytes = 4;
    bytes = cpio_write_header(archive, sizeof archive, &entry);
    memcpy(archive + bytes, "text", 4);
    bytes += 4;
    bytes += cpio_write_trailer(archive + bytes, sizeof archive - bytes);
    assert_int_equal(fs_init(archive, bytes), 0);
    assert_int_equal(manifest_open(&process.manifest, text, sizeof text), 0);
    streamed = 0;
    removed = NULL;
    noted_count = 0;
    left_out = 0;
    names[0] = jit_names[0] = '\0';
    jit_bytes = 0;
    jit_room = UINT32_MAX;
    memset(&jit, 0, sizeof jit);
    fs_kept_start(&process);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fake_phys_close();
    return 0;
}

/* Reads what was sent as the host would. */
static void receive(void)
{
    size_t at = 0;

    content_id = 0;
    while (at < streamed) {
        struct run_file_message m;
        const char *text;

        assert_true(streamed - at >= sizeof m);
        memcpy(&m, stream + at, sizeof m);
        at += sizeof m;
        assert_true(m.bytes <= RUN_FILE_BYTES_MAX && m.bytes <= streamed - at);
        text = (const char *)stream + at;
        at += m.bytes;
        if (m.type == RUN_FILE_DATA) {
            if (m.id != content_id)
                memset(contents, 0, sizeof contents);
            content_id = m.id;
            assert_true(m.offset + m.bytes <= sizeof contents);
            memcpy(contents + m.offset, text, m.bytes);
            continue;
        }
        snprintf(names + strlen(names), sizeof names - strlen(names), "%u %lu %o %.*s\n", m.type,
                 m.offset, m.mode, (int)m.bytes, text);
    }
}

static void finish_run(void)
{
    static uint8_t buffer[SERVICE_BYTES_MAX];

    fs_kept_finish(buffer, send_bytes);
    receive();
}

static struct inode *make_file(const char *path, const char *text)
{
    struct fs_found found;
    struct inode *inode = inode_new(S_IFREG | 0640);

    assert_int_equal(fs_walk(NULL, fs_root, path, FS_PARENT, &found), 0);
    assert_int_equal(fs_make(NULL, &found, inode, NULL), 0);
    fs_found_release(&found);
    assert_int_equal(inode_write(inode, 0, text, strlen(text)), strlen(text));
    return inode;
}

static void with_parent(const char *path, int (*call)(struct thread *, const struct fs_found *))
{
    struct fs_found found;

    assert_int_equal(fs_walk(NULL, fs_root, path, FS_PARENT, &found), 0);
    assert_int_equal(call(NULL, &found), 0);
    fs_found_release(&found);
}

static void rename_path(const char *from, const char *to)
{
    struct fs_found old, new;

    assert_int_equal(fs_walk(NULL, fs_root, from, FS_PARENT, &old), 0);
    assert_int_equal(fs_walk(NULL, fs_root, to, FS_PARENT, &new), 0);
    assert_int_equal(fs_rename(NULL, &old, &new, 0), 0);
    fs_found_release(&old);
    fs_found_release(&new);
}

static void test_nothing_changed(void **state)
{
    (void)state;
    finish_run();
    assert_string_equal(names, "7 0 0 \n");
}

static void test_made_and_gone(void **state)
{
    (void)state;
    make_file("/etc/new", "contents");
    make_file("/gone", "contents");
    with_parent("/gone", fs_unlink);
    finish_run();
    assert_string_equal(names, "2 8 640 /etc/new\n7 0 0 \n");
    assert_memory_equal(contents, "contents\0", 9);
}

static void test_archive_changes(void **state)
{
    struct inode *old;

    (void)state;
    assert_int_equal(fs_find("/etc/old", &old), 0);
    assert_int_equal(inode_write(old, 1, "E", 1), 1);
    finish_run();
    assert_string_equal(names, "2 4 644 /etc/old\n7 0 0 \n");
    assert_memory_equal(contents, "tExt", 4);
}

static void test_moved_directory(void **state)
{
    (void)state;
    rename_path("/etc", "/moved");
    finish_run();
    assert_string_equal(names, "3 0 755 /moved\n2 4 644 /moved/old\n5 0 0 /etc\n7 0 0 \n");
    assert_memory_equal(contents, "text", 4);
}

static void test_removed_and_made_again(void **state)
{
    (void)state;
    with_parent("/etc/old", fs_unlink);
    make_file("/etc/old", "new");
    finish_run();
    assert_string_equal(names, "2 3 640 /etc/old\n7 0 0 \n");
}

static void test_large_files_go_early(void **state)
{
    static char text[900000];
    struct inode *inode;
    uint64_t before;

    (void)state;
    memset(text, 'x', sizeof text - 1);
    inode = make_file("/large", text);
    fs_kept_closed(inode);
    before = streamed;
    assert_true(before > sizeof text - 1);
    assert_int_equal(inode->unsent_pages, 0);
    assert_int_equal(inode_write(inode, 5, "y", 1), 1);
    finish_run();
    assert_true(streamed - before < 2 * PAGE_BYTES);
    assert_memory_equal(contents, "xxxxxyxx", 8);
    assert_int_equal(contents[sizeof text - 2], 'x');
}

/* What was sent before it became shorter does not come back. */
static void test_shorter_and_longer_again(void **state)
{
    static char text[900000];
    struct inode *inode;

    (void)state;
    memset(text, 'x', sizeof text - 1);
    inode = make_file("/large", text);
    fs_kept_closed(inode);
    assert_int_equal(inode_truncate(inode, 10), 0);
    assert_int_equal(inode_truncate(inode, 500000), 0);
    finish_run();
    assert_non_null(strstr(names, "2 500000 640 /large\n"));
    assert_int_equal(contents[9], 'x');
    for (size_t i = 10; i < 500000; i++)
        assert_int_equal(contents[i], 0);
}

static void test_missing(void **state)
{
    (void)state;
    fs_missing_note(fs_root, "no/../such//./file");
    fs_missing_note(fs_root, "/such/file");
    fs_missing_note(fs_root, "later");
    fs_missing_note(fs_root, "/proc/self/none");
    make_file("/later", "");
    finish_run();
    assert_non_null(strstr(names, "6 0 0 /such/file\n"));
    assert_null(strstr(names, "6 0 0 /later\n"));
    assert_null(strstr(names, "/proc"));
    assert_null(strstr(strstr(names, "/such/file") + 1, "/such/file"));
}

static void test_too_many_missing(void **state)
{
    char name[32];

    (void)state;
    for (unsigned i = 0; i < FS_MISSING_MAX + 10; i++) {
        snprintf(name, sizeof name, "/missing/%u", i);
        fs_missing_note(fs_root, name);
    }
    assert_int_equal(noted_count, FS_MISSING_MAX);
    assert_int_equal(left_out, 10);
}

static void test_names_of_code(void **state)
{
    (void)state;
    make_file("/perf-12.map", "10 20 f");
    make_file("/etc/jit-4294967295.dump", "JiTD");
    make_file("/perf-.map", "no number");
    make_file("/perf-1x.map", "no number");
    make_file("/jit-1.map", "no such kind");
    make_file("/perf-4294967296.map", "no process has this number");
    make_file("/perf-3.map", ""); /* it says nothing */
    fs_jit_send();
    assert_string_equal(jit_names, "0 2 4294967295 4 /etc/jit-4294967295.dump JiTD\n"
                                   "1 1 12 7 /perf-12.map 10 2");
    assert_int_equal(jit.left_out, 0);
}

static void test_names_of_code_are_bounded(void **state)
{
    struct inode *inode;

    (void)state;
    inode = make_file("/perf-1.map", "10 20 f");
    assert_int_equal(inode_truncate(inode, ALL_BYTES_MAX + 5), 0);
    make_file("/perf-2.map", "more");
    fs_jit_send();
    assert_int_equal(jit_bytes, ALL_BYTES_MAX);
    assert_int_equal(jit.left_out, 5 + 4);
    jit_room = 2; /* what keeps the trace is full */
    jit_bytes = 0;
    memset(&jit, 0, sizeof jit);
    fs_jit_send();
    assert_int_equal(jit_bytes, PART_BYTES);
    assert_int_equal(jit.left_out, ALL_BYTES_MAX + 5 - PART_BYTES);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_changed),           TEST(test_made_and_gone),
        TEST(test_archive_changes),           TEST(test_moved_directory),
        TEST(test_removed_and_made_again),    TEST(test_large_files_go_early),
        TEST(test_shorter_and_longer_again),  TEST(test_missing),
        TEST(test_too_many_missing),          TEST(test_names_of_code),
        TEST(test_names_of_code_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
