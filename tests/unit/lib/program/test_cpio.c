/* Archives in newc format: round trips, GNU cpio's own output, and every way to be malformed. */
#include "lib/program/cpio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#define ROOM 8192u

struct archive {
    uint8_t bytes[ROOM];
    size_t count;
};

static void add(struct archive *a, const char *name, const void *data, size_t bytes)
{
    const struct cpio_entry entry = {
        .name = name,
        .name_bytes = strlen(name),
        .bytes = bytes,
        .mode = 0100755,
        .ino = 7,
        .uid = 1000,
        .gid = 100,
        .nlink = 1,
        .mtime = 0xdeadbeef,
    };
    size_t length = cpio_write_header(a->bytes + a->count, ROOM - a->count, &entry);

    assert_int_not_equal(length, 0);
    assert_int_equal(length % 4, 0);
    a->count += length;
    memcpy(a->bytes + a->count, data, bytes);
    memset(a->bytes + a->count + bytes, 0, cpio_padding(bytes));
    a->count += bytes + cpio_padding(bytes);
}

static void finish(struct archive *a)
{
    size_t length = cpio_write_trailer(a->bytes + a->count, ROOM - a->count);

    assert_int_not_equal(length, 0);
    a->count += length;
}

/* Reads all entries of a copy of exactly `count` bytes; stores how many there were. */
static enum cpio_status read_all(const uint8_t *bytes, size_t count, int *entries)
{
    uint8_t *copy = malloc(count ? count : 1);
    struct cpio_reader r;
    struct cpio_entry entry;
    enum cpio_status status;

    assert_non_null(copy);
    memcpy(copy, bytes, count);
    cpio_init(&r, copy, count);
    *entries = 0;
    while ((status = cpio_next(&r, &entry)) == CPIO_OK) {
        assert_true(entry.data >= copy && entry.bytes <= (size_t)(copy + count - entry.data));
        (*entries)++;
    }
    free(copy);
    return status;
}

static void round_trip(void **state)
{
    static struct archive a;
    static const char data[] = "0123456789abcdef";
    struct cpio_reader r;
    struct cpio_entry entry;

    (void)state;
    a.count = 0;
    for (size_t bytes = 0; bytes <= 9; bytes++) {
        char name[16] = "n";

        memset(name + 1, 'a', bytes % 5);
        add(&a, name, data, bytes);
    }
    finish(&a);
    cpio_init(&r, a.bytes, a.count);
    for (size_t bytes = 0; bytes <= 9; bytes++) {
        assert_int_equal(cpio_next(&r, &entry), CPIO_OK);
        assert_int_equal(entry.name_bytes, 1 + bytes % 5);
        assert_int_equal(strlen(entry.name), entry.name_bytes);
        assert_int_equal(entry.bytes, bytes);
        assert_memory_equal(entry.data, data, bytes);
        assert_int_equal(entry.mode, 0100755);
        assert_int_equal(entry.ino, 7);
        assert_int_equal(entry.uid, 1000);
        assert_int_equal(entry.gid, 100);
        assert_int_equal(entry.nlink, 1);
        assert_int_equal(entry.mtime, 0xdeadbeef);
    }
    assert_int_equal(cpio_next(&r, &entry), CPIO_END);
    assert_int_equal(cpio_next(&r, &entry), CPIO_END);
}

static void reads_gnu_cpio(void **state)
{
    static uint8_t bytes[ROOM];
    struct cpio_reader r;
    struct cpio_entry entry;
    FILE *f;
    size_t count;

    (void)state;
    f = popen("d=$(mktemp -d) && cd $d && mkdir dir && printf hello >dir/file && "
              "printf 'dir\\ndir/file\\n' | cpio --quiet -o -H newc; rm -r $d",
              "r");
    assert_non_null(f);
    count = fread(bytes, 1, sizeof bytes, f);
    assert_int_equal(pclose(f), 0);
    cpio_init(&r, bytes, count);
    assert_int_equal(cpio_next(&r, &entry), CPIO_OK);
    assert_string_equal(entry.name, "dir");
    assert_int_equal(entry.mode & 0170000, 0040000);
    assert_int_equal(cpio_next(&r, &entry), CPIO_OK);
    assert_string_equal(entry.name, "dir/file");
    assert_int_equal(entry.mode & 0170000, 0100000);
    assert_int_equal(entry.bytes, 5);
    assert_memory_equal(entry.data, "hello", 5);
    assert_int_equal(cpio_next(&r, &entry), CPIO_END);
}

static void every_truncation(void **state)
{
    static struct archive a;
    int entries;

    (void)state;
    a.count = 0;
    add(&a, "first", "12345", 5);
    add(&a, "second", "", 0);
    finish(&a);
    for (size_t count = 0; count < a.count; count++) {
        enum cpio_status status = read_all(a.bytes, count, &entries);

        assert_int_equal(status, CPIO_TRUNCATED);
        assert_in_range(entries, 0, 2);
    }
    assert_int_equal(read_all(a.bytes, a.count, &entries), CPIO_END);
    assert_int_equal(entries, 2);
}

static enum cpio_status with_patch(size_t at, const char *patch)
{
    static struct archive a;
    int entries;

    a.count = 0;
    add(&a, "name", "data", 4);
    finish(&a);
    memcpy(a.bytes + at, patch, strlen(patch));
    return read_all(a.bytes, a.count, &entries);
}

static void malformed_fields(void **state)
{
    (void)state;
    assert_int_equal(with_patch(0, "070701"), CPIO_END);
    assert_int_equal(with_patch(0, "070702"), CPIO_BAD_MAGIC);
    assert_int_equal(with_patch(0, "\177ELF"), CPIO_BAD_MAGIC);
    assert_int_equal(with_patch(6, "g"), CPIO_BAD_FIELD);
    assert_int_equal(with_patch(109, " "), CPIO_BAD_FIELD);
    assert_int_equal(with_patch(94, "00000000"), CPIO_BAD_FIELD); /* namesize */
    assert_int_equal(with_patch(94, "00000001"), CPIO_BAD_FIELD);
    assert_int_equal(with_patch(94, "00000004"), CPIO_BAD_FIELD); /* no NUL at the end */
    assert_int_equal(with_patch(94, "00000006"), CPIO_END); /* another NUL at the end */
    assert_int_equal(with_patch(94, "00000007"), CPIO_BAD_FIELD); /* a NUL inside */
    assert_int_equal(with_patch(94, "ffffffff"), CPIO_TRUNCATED);
    assert_int_equal(with_patch(54, "ffffffff"), CPIO_TRUNCATED); /* filesize */
    assert_int_equal(with_patch(54, "FFFFFFFC"), CPIO_TRUNCATED);
    assert_int_equal(with_patch(62, "FFFFFFFF"), CPIO_END); /* devmajor means nothing here */
}

static void writer_keeps_to_its_room(void **state)
{
    uint8_t out[256];
    struct cpio_entry entry = {.name = "abc", .name_bytes = 3};

    (void)state;
    /* 110 + 4 bytes, padded to 116 */
    assert_int_equal(cpio_write_header(out, 115, &entry), 0);
    assert_int_equal(cpio_write_header(out, 116, &entry), 116);
    assert_int_equal(cpio_write_header(out, 0, &entry), 0);
    entry.bytes = (size_t)UINT32_MAX + 1;
    assert_int_equal(cpio_write_header(out, sizeof out, &entry), 0);
    entry.bytes = UINT32_MAX;
    assert_int_equal(cpio_write_header(out, sizeof out, &entry), 116);
    entry.name_bytes = 0;
    assert_int_equal(cpio_write_header(out, sizeof out, &entry), 0);
    entry.name_bytes = SIZE_MAX;
    assert_int_equal(cpio_write_header(out, sizeof out, &entry), 0);
    assert_int_equal(cpio_write_trailer(out, 123), 0);
    assert_int_equal(cpio_write_trailer(out, 124), 124);
}

/* Wherever a header begins, data can begin on a multiple of 64. */
static void names_can_be_padded(void **state)
{
    uint8_t archive[1024] = {0};
    struct cpio_entry entry = {.name = "abc", .name_bytes = 3, .bytes = 4};

    (void)state;
    for (size_t offset = 0; offset < 128; offset += 4) {
        struct cpio_entry again;
        struct cpio_reader r;
        size_t length;

        entry.name_padding = cpio_name_padding(offset, entry.name_bytes, 64);
        length = cpio_write_header(archive + offset, sizeof archive - offset, &entry);
        assert_int_equal((offset + length) % 64, 0);
        cpio_init(&r, archive + offset, length + 4);
        assert_int_equal(cpio_next(&r, &again), CPIO_OK);
        assert_ptr_equal(again.data, archive + offset + length);
        assert_string_equal(again.name, "abc");
        assert_int_equal(again.name_bytes, 3);
        assert_int_equal(again.name_padding, entry.name_padding);
    }
    entry.name_padding = SIZE_MAX;
    assert_int_equal(cpio_write_header(archive, sizeof archive, &entry), 0);
}

static void statuses_have_words(void **state)
{
    (void)state;
    for (int status = CPIO_OK; status <= CPIO_TRUNCATED; status++)
        assert_true(strlen(cpio_status_text((enum cpio_status)status)) > 0);
    assert_string_equal(cpio_status_text((enum cpio_status)99), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(reads_gnu_cpio),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(malformed_fields),
        cmocka_unit_test(names_can_be_padded),
        cmocka_unit_test(statuses_have_words),
        cmocka_unit_test(writer_keeps_to_its_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
