/* The SMBIOS reader against good, damaged and hostile tables. */
#include "drivers/smbios/smbios.c"
#include "drivers/smbios/smbios_table.c"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/drivers/smbios_image.h"
#include "tests/unit/test.h"

static struct smbios found;

static int build(void **state)
{
    (void)state;
    image = calloc(1, IMAGE_BYTES);
    if (!image)
        return -1;
    image_build();
    return 0;
}

static int destroy(void **state)
{
    (void)state;
    free(image);
    return 0;
}

static void expect_everything(void)
{
    assert_string_equal(found.bios_vendor, "Example Firmware");
    assert_string_equal(found.bios_version, "2.17");
    assert_string_equal(found.bios_date, "04/01/2024");
    assert_string_equal(found.system_maker, "Maker & Sons");
    assert_string_equal(found.system_product, "Model? 9");
    assert_string_equal(found.system_version, "rev A");
    assert_string_equal(found.board_maker, "Board Works");
    assert_string_equal(found.board_product, "X12");
    assert_string_equal(found.board_version, "1.0");
    assert_int_equal(found.memory_slots, 4);
    assert_int_equal(found.memory_modules, 2);
    assert_int_equal(found.memory_bytes, 32ull << 30);
    assert_int_equal(found.kind_count, 1);
    assert_int_equal(found.kinds[0].count, 2);
    assert_int_equal(found.kinds[0].bytes, 16ull << 30);
    assert_string_equal(found.kinds[0].type, "DDR4");
    assert_int_equal(found.kinds[0].speed, 3200);
    assert_int_equal(found.kinds[0].configured_speed, 2933);
}

static void the_32_bit_entry_is_searched_for(void **state)
{
    (void)state;
    image_entry32(0xf1230);
    assert_int_equal(smbios_read(0, &found), 0);
    assert_int_equal(found.major, 2);
    expect_everything();
}

static void the_64_bit_entry_goes_first(void **state)
{
    (void)state;
    image_entry32(0xf0000);
    image_entry64(0xfffe0);
    assert_int_equal(smbios_read(0, &found), 0);
    assert_int_equal(found.major, 3);
    assert_int_equal(found.minor, 6);
    expect_everything();
}

static void a_named_entry_may_be_anywhere(void **state)
{
    (void)state;
    image_entry64(0x100108);
    assert_int_equal(smbios_read(0, &found), -ENOENT);
    assert_int_equal(smbios_read(0x100108, &found), 0);
    expect_everything();
    image_entry32(0x100208);
    assert_int_equal(smbios_read(0x100208, &found), 0);
    expect_everything();
}

static void private_numbers_are_not_read(void **state)
{
    const char *bytes = (const char *)&found;

    (void)state;
    image_entry64(0xf0000);
    assert_int_equal(smbios_read(0, &found), 0);
    assert_null(memmem(bytes, sizeof found, "SERIAL", 6));
}

static void a_wrong_checksum_is_no_entry(void **state)
{
    (void)state;
    image_entry32(0xf0000);
    image_entry64(0xf0100);
    image_at(0xf0000)[7]++;
    image_at(0xf0100)[8]++;
    assert_int_equal(smbios_read(0, &found), -ENOENT);
    assert_int_equal(found.bios_vendor[0], 0);
    image_entry32(0xf0000);
    image_at(0xf0000)[28]++; /* within the second checksum */
    image_seal(image_at(0xf0000), 31, 4);
    assert_int_equal(smbios_read(0, &found), -ENOENT);
}

static void a_table_out_of_reach_is_none(void **state)
{
    static const uint64_t nowhere[] = {0, 0x1000, 0x100000000, UINT64_MAX, 0xfffffffffffff000};

    (void)state;
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        image_entry64(0xf0000);
        bytes_store64(image_at(0xf0000) + 16, nowhere[i]);
        image_seal(image_at(0xf0000), 24, 5);
        assert_int_equal(smbios_read(0, &found), -ENOENT);
    }
    assert_int_equal(smbios_read(UINT64_MAX, &found), -ENOENT);
    assert_int_equal(smbios_read(0xffffffff, &found), -ENOENT);
}

/* The 64-bit form says the most that there may be. */
static void a_table_that_is_said_to_pass_the_end_of_memory_is_read(void **state)
{
    (void)state;
    image_entry64(0xf0000);
    bytes_store32(image_at(0xf0000) + 12, UINT32_MAX);
    image_seal(image_at(0xf0000), 24, 5);
    assert_int_equal(smbios_read(0, &found), 0);
    expect_everything();
}

/* Every cut and every wrong length ends the reading, and nothing past the end is looked at. */
static void cut_tables_end_early(void **state)
{
    (void)state;
    for (uint32_t bytes = 0; bytes < image_used; bytes++) {
        uint8_t *copy = malloc(bytes ? bytes : 1);
        memcpy(copy, image_at(IMAGE_TABLE), bytes);
        memset(&found, 0, sizeof found);
        smbios_parse(copy, bytes, &found);
        assert_true(found.memory_modules <= 2);
        free(copy);
    }
    for (unsigned length = 0; length < 256; length++) {
        image_at(IMAGE_TABLE)[1] = (uint8_t)length;
        memset(&found, 0, sizeof found);
        smbios_parse(image_at(IMAGE_TABLE), image_used, &found);
    }
}

static void sizes_in_every_field(void **state)
{
    (void)state;
    image_used = 0;
    image_module(65536, 0x22, 0xffff, 0xffff); /* 64 GiB DDR5, extended speeds */
    bytes_store32(image_at(IMAGE_TABLE) + 84, 80000);
    bytes_store32(image_at(IMAGE_TABLE) + 88, 70000);
    image_module(0x8000 | 512, 0x0f, 0, 0); /* extended too: 32 GiB and 512 MiB */
    uint8_t *module = image_add(17, 21, NULL); /* of an old specification: no speeds */
    bytes_store16(module + 12, 0x8000 | 512); /* 512 KiB */
    module[18] = 0xff;
    image_module(0xffff, 0, 0, 0);
    memset(&found, 0, sizeof found);
    smbios_parse(image_at(IMAGE_TABLE), image_used, &found);
    assert_int_equal(found.memory_modules, 4);
    assert_int_equal(found.kinds[0].bytes, 64ull << 30);
    assert_int_equal(found.kinds[0].speed, 80000);
    assert_int_equal(found.kinds[0].configured_speed, 70000);
    assert_string_equal(found.kinds[0].type, "DDR5");
    assert_int_equal(found.kinds[1].bytes, (32ull << 30) + (512ull << 20));
    assert_int_equal(found.kinds[2].bytes, 512 << 10);
    assert_string_equal(found.kinds[2].type, "");
}

static void more_kinds_than_there_is_room_are_counted(void **state)
{
    (void)state;
    image_used = 0;
    for (uint32_t i = 1; i <= SMBIOS_KINDS_MAX + 5; i++)
        image_module(i, 0x1a, 1, 1);
    memset(&found, 0, sizeof found);
    smbios_parse(image_at(IMAGE_TABLE), image_used, &found);
    assert_int_equal(found.kind_count, SMBIOS_KINDS_MAX);
    assert_int_equal(found.memory_modules, SMBIOS_KINDS_MAX + 5);
}

static void strings_that_are_not_there_are_unknown(void **state)
{
    static const char *const one[] = {"only one", NULL};
    char long_text[200];
    const char *const long_one[] = {long_text, NULL};

    (void)state;
    memset(long_text, 'x', sizeof long_text);
    long_text[199] = 0;
    image_used = 0;
    uint8_t *s = image_add(0, 24, one);
    s[4] = 2;
    s[5] = 255;
    s[8] = 1;
    s = image_add(1, 6, long_one); /* too short for its version */
    s[4] = 1;
    memset(&found, 0, sizeof found);
    smbios_parse(image_at(IMAGE_TABLE), image_used, &found);
    assert_string_equal(found.bios_vendor, "");
    assert_string_equal(found.bios_version, "");
    assert_string_equal(found.bios_date, "only one");
    assert_int_equal(strlen(found.system_maker), SMBIOS_TEXT_BYTES - 1);
    assert_string_equal(found.system_version, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, build, destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_32_bit_entry_is_searched_for),
        TEST(the_64_bit_entry_goes_first),
        TEST(a_named_entry_may_be_anywhere),
        TEST(private_numbers_are_not_read),
        TEST(a_wrong_checksum_is_no_entry),
        TEST(a_table_out_of_reach_is_none),
        TEST(a_table_that_is_said_to_pass_the_end_of_memory_is_read),
        TEST(cut_tables_end_early),
        TEST(sizes_in_every_field),
        TEST(more_kinds_than_there_is_room_are_counted),
        TEST(strings_that_are_not_there_are_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
