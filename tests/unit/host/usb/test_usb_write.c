/* Copies an image to a device and reads it back; a file stands for the device. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/usb/usb_write.h"
#include "tests/unit/test.h"

#define MEGABYTE (1u << 20)
#define BYTES (16u * MEGABYTE)

static struct run_failure failure;
static int image, target;

static void put(int fd, uint64_t offset, const char *text)
{
    assert_int_equal(pwrite(fd, text, strlen(text), (off_t)offset), strlen(text));
}

static void has(int fd, uint64_t offset, const char *text)
{
    char found[32] = "";

    assert_int_equal(pread(fd, found, strlen(text), (off_t)offset), strlen(text));
    assert_string_equal(found, text);
}

/* A sparse image with something at its start, in its middle and at its end; a target full of old
 * things. */
static int set_up(void **state)
{
    static char old[MEGABYTE];

    (void)state;
    failure = (struct run_failure){0};
    image = memfd_create("image", MFD_CLOEXEC);
    target = memfd_create("target", MFD_CLOEXEC);
    memset(old, 'o', sizeof old);
    assert_int_equal(ftruncate(image, BYTES), 0);
    put(image, 0, "start");
    put(image, 3 * MEGABYTE + 17, "middle");
    put(image, BYTES - 5, "table");
    for (unsigned int i = 0; i < BYTES / MEGABYTE; i++)
        assert_int_equal(pwrite(target, old, sizeof old, (off_t)i * MEGABYTE), sizeof old);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(image);
    close(target);
    return 0;
}

static void what_is_used_is_copied(void **state)
{
    uint64_t written = 0;
    char hole[2] = "";

    (void)state;
    assert_int_equal(usb_write(image, target, BYTES, "/dev/x", false, &written, &failure), 0);
    assert_true(written >= 5 * MEGABYTE && written <= 6 * MEGABYTE);
    has(target, 0, "start");
    has(target, 3 * MEGABYTE + 17, "middle");
    has(target, BYTES - 5, "table");
    assert_int_equal(pread(target, hole, 1, 2 * MEGABYTE), 1); /* holes before the last data */
    assert_int_equal(hole[0], 0);
    has(target, 10 * MEGABYTE, "ooo"); /* nobody reads what is not allocated */
}

static void a_size_that_is_no_whole_number_of_megabytes(void **state)
{
    uint64_t bytes = BYTES - 12 * 512;
    uint64_t written = 0;

    (void)state;
    put(image, bytes - 5, "table");
    assert_int_equal(usb_write(image, target, bytes, "/dev/x", false, &written, &failure), 0);
    has(target, bytes - 5, "table");
    has(target, bytes, "ooo");
}

static void a_target_that_ends_is_a_failure(void **state)
{
    uint64_t written = 0;

    (void)state;
    close(target);
    target = memfd_create("target", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(target, 2 * MEGABYTE), 0);
    assert_int_equal(fcntl(target, F_ADD_SEALS, F_SEAL_GROW), 0);
    assert_int_equal(usb_write(image, target, BYTES, "/dev/x", false, &written, &failure), -1);
    assert_non_null(strstr(failure.text, "/dev/x: cannot be written"));
}

/* A stick that is smaller than it says puts things where others are.  Linux appends what pwrite is
 * to put anywhere in a file that is open for appending.
 */
static void what_does_not_read_back_is_a_failure(void **state)
{
    uint64_t written = 0;

    (void)state;
    assert_int_equal(fcntl(target, F_SETFL, O_APPEND), 0);
    assert_int_equal(usb_write(image, target, BYTES, "/dev/x", false, &written, &failure), -1);
    assert_non_null(strstr(failure.text, "/dev/x: what was written at 0 MB is not what is read"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_used_is_copied),
        TEST(a_size_that_is_no_whole_number_of_megabytes),
        TEST(a_target_that_ends_is_a_failure),
        TEST(what_does_not_read_back_is_a_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
