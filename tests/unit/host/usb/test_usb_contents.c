/* What lies on a stick, and what it says. */
#include <stdlib.h>
#include <string.h>

#include "host/usb/usb_conf.h"
#include "host/usb/usb_image.h"
#include "tests/unit/test.h"

static void names_suit_fat(void **state)
{
    static const struct {
        const char *path;
        const char *name;
    } cases[] = {
        {"/bin/ls", "ls"},      {"run.cpio", "run"},       {"a/b/Two words.cpio", "Two_words"},
        {".hidden", "_hidden"}, {"x.cpio.cpio", "x.cpio"}, {"..", "run"},
        {"dots...", "dots"},    {".cpio", "_cpio"},        {"/", "run"},
        {"\xc3\xa4\n", "___"},
    };
    char name[BOOT_CONF_NAME_BYTES];
    char longest[400];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        usb_contents_name(name, cases[i].path, NULL, 0);
        assert_string_equal(name, cases[i].name);
    }
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    usb_contents_name(name, longest, NULL, 0);
    assert_true(strlen(name) > 8 && strlen(name) < BOOT_CONF_NAME_BYTES - 16);
}

static void names_differ_in_more_than_case(void **state)
{
    struct usb_file *others = calloc(3, sizeof *others);
    char name[BOOT_CONF_NAME_BYTES];

    (void)state;
    assert_non_null(others);
    strcpy(others[0].name, "run.cpio");
    strcpy(others[1].name, "RUN-2.cpio");
    strcpy(others[2].name, "run-30.cpio");
    usb_contents_name(name, "Run", others, 3);
    assert_string_equal(name, "Run-3");
    usb_contents_name(name, "run-3", others, 3);
    assert_string_equal(name, "run-3");
    free(others);
}

/* Whatever is asked for, the loader's parser reads what was meant. */
static void check_settings(const struct boot_conf *conf)
{
    assert_int_equal(conf->kernel.bytes, 99);
    assert_int_equal(conf->kernel.crc32c, 0xa);
    assert_int_equal(conf->memory_bytes, BOOT_CONF_ALL);
    assert_int_equal(conf->buffer_bytes, 12345 * 4096ull);
    assert_int_equal(conf->part_bytes, 1u << 30);
    assert_int_equal(conf->network, 1);
    assert_int_equal(conf->end, BOOT_CONF_WAIT);
    assert_int_equal(conf->exit_firmware, 1);
    assert_string_equal(conf->machine, "lab-7.x");
    assert_int_equal(conf->collector, 0x0201a8c0);
    assert_int_equal(conf->port, 4000);
    assert_int_equal(conf->address, 0x3201a8c0);
    assert_int_equal(conf->netmask, 0x00ffffff);
    assert_int_equal(conf->gateway, 0x0101a8c0);
    assert_string_equal(conf->token, "a=b;c\"d");
}

static void check_runs(const struct boot_conf *conf)
{
    assert_int_equal(conf->run_count, 2);
    assert_string_equal(conf->runs[1].name, "two");
    assert_string_equal(conf->runs[1].archive.path, "\\microtome\\runs\\two.cpio");
    assert_int_equal(conf->runs[1].archive.bytes, 4096ull << 20);
    assert_int_equal(conf->runs[1].archive.crc32c, 0xffffffff);
    assert_int_equal(conf->runs[0].repeat, 7);
    assert_int_equal(conf->runs[0].timeout_ns, 1500000000);
}

static void the_configuration_is_read_back(void **state)
{
    struct usb_contents *c = calloc(1, sizeof *c);
    struct usb_options o = {
        .repeat = 7,
        .timeout_ns = 1500000000,
        .conf = {.memory_bytes = BOOT_CONF_ALL,
                 .buffer_bytes = 12345 * 4096ull,
                 .part_bytes = 1u << 30,
                 .network = 1,
                 .end = BOOT_CONF_WAIT,
                 .exit_firmware = 1,
                 .machine = "lab-7.x",
                 .collector = 0x0201a8c0,
                 .port = 4000,
                 .address = 0x3201a8c0,
                 .netmask = 0x00ffffff,
                 .gateway = 0x0101a8c0,
                 .token = "a=b;c\"d"},
    };
    struct run_failure failure = {0};
    struct boot_conf_error error;
    struct boot_conf *conf = calloc(1, sizeof *conf);
    char *text;

    (void)state;
    assert_non_null(c);
    assert_non_null(conf);
    c->runs = calloc(2, sizeof *c->runs);
    assert_non_null(c->runs);
    c->run_count = 2;
    c->kernel = (struct usb_file){.bytes = 99, .crc32c = 0xa};
    strcpy(c->runs[0].name, "one.cpio");
    strcpy(c->runs[1].name, "two.cpio");
    c->runs[0].bytes = 1;
    c->runs[1].bytes = 4096ull << 20;
    c->runs[1].crc32c = 0xffffffff;
    text = usb_conf_write(c, &o, &failure);
    assert_string_equal(failure.text, "");
    assert_non_null(text);
    assert_int_equal(boot_conf_parse(text, strlen(text), conf, &error), 0);
    check_settings(conf);
    check_runs(conf);
    free(text);
    free(conf);
    free(c->runs);
    free(c);
}

static void sizes_leave_room(void **state)
{
    struct usb_contents *c = calloc(1, sizeof *c);
    struct run_failure failure = {0};

    (void)state;
    assert_non_null(c);
    c->bytes = 5u << 20;
    assert_int_equal(usb_image_size(c, 0, &failure), USB_IMAGE_BYTES_DEFAULT);
    assert_int_equal(usb_image_size(c, (100ull << 20) + 5, &failure), 100ull << 20);
    assert_int_equal(usb_image_size(c, 63ull << 20, &failure), 0);
    assert_non_null(strstr(failure.text, "63 MB are too few"));
    failure = (struct run_failure){0};
    c->bytes = 8ull << 30;
    assert_true(usb_image_size(c, 0, &failure) >= c->bytes + USB_RESULTS_BYTES);
    assert_int_equal(usb_image_size(c, 8ull << 30, &failure), 0);
    failure = (struct run_failure){0};
    assert_int_equal(usb_image_size(c, USB_IMAGE_BYTES_MAX + (1u << 20), &failure), 0);
    assert_non_null(strstr(failure.text, "too many"));
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_suit_fat),
        cmocka_unit_test(names_differ_in_more_than_case),
        cmocka_unit_test(the_configuration_is_read_back),
        cmocka_unit_test(sizes_leave_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
