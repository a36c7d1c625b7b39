/* guest/trace/regions.c: sums out of hostile memory, threads of one name merged, what does not fit.
 */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "guest/trace/regions.c"

#define EVENTS 2u
#define MEMORY 0x100000u /* user address of the program's memory */

struct run_config run;
struct sampling sampling;
static struct vm_space own_space;
static struct {
    struct hr_abi_aggregate sums[300][1 + EVENTS];
    char names[300][8];
} memory;
static unsigned notices;
static struct cpu cpu = {.space = &own_space};

void *heap_alloc(size_t bytes)
{
    return calloc(1, bytes);
}

void log_line(const char *format, ...)
{
    (void)format;
    notices++;
}

static uint64_t user(const void *pointer)
{
    return MEMORY + (uint64_t)((const uint8_t *)pointer - (const uint8_t *)&memory);
}

int vm_access(struct vm_space *space, uint64_t address, enum vm_access_kind kind, void **pointer,
              uint64_t *room)
{
    (void)space;
    assert_int_equal(kind, VM_ACCESS_READ);
    if (address < MEMORY || address >= MEMORY + sizeof memory)
        return -EFAULT;
    *pointer = (uint8_t *)&memory + (address - MEMORY);
    *room = PAGE_BYTES - address % PAGE_BYTES;
    return 0;
}

int copy_from_user(void *to, uint64_t from, size_t bytes)
{
    if (from < MEMORY || from - MEMORY > sizeof memory - bytes)
        return -EFAULT;
    memcpy(to, (uint8_t *)&memory + (from - MEMORY), bytes);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    memset(&memory, 0, sizeof memory);
    region_count = place_count = notices = 0;
    sampling.session.event_count = EVENTS;
    return 0;
}

static int add_place(uint32_t index, const char *name, uint32_t tid)
{
    struct hr_abi_region asked = {.name = user(memory.names[index]),
                                  .name_bytes = strlen(name),
                                  .aggregates = user(memory.sums[index]),
                                  .count = 1 + EVENTS};

    memcpy(memory.names[index], name, strlen(name));
    cpu.tid = tid;
    return regions_register(&cpu, &asked);
}

/* The chunk's records: calls `check` on each; their number. */
static uint8_t buffer[1 << 20] __attribute__((aligned(64)));

static uint32_t written(uint32_t capacity, struct hr_rec_region *records, uint32_t most)
{
    struct trace_writer w;
    uint32_t count = 0, at = sizeof(struct hr_chunk_header);

    trace_writer_init(&w, buffer, capacity, HR_CPU_NONE, EVENTS);
    trace_writer_begin(&w, HR_CHUNK_END);
    regions_write(&w);
    assert_true(w.used <= capacity);
    while (at < w.used) {
        struct hr_record_header header;
        memcpy(&header, buffer + at, sizeof header);
        assert_int_equal(header.type, HR_REC_REGION);
        assert_true(count < most);
        memcpy(&records[count], buffer + at + sizeof header, sizeof *records);
        assert_int_equal(header.bytes, sizeof *records + 8 * records[count].bucket_count +
                                           records[count].name_bytes);
        at += sizeof header + header.bytes;
        count++;
    }
    return count;
}

static void test_threads_of_one_name_are_one(void **state)
{
    struct hr_rec_region records[8];

    (void)state;
    assert_int_equal(add_place(0, "a", 1), 0);
    assert_int_equal(add_place(1, "b", 1), 0);
    assert_int_equal(add_place(2, "a", 2), 0);
    assert_int_equal(add_place(3, "a", 2), 0); /* a second struct hr_region of that name */
    hr_abi_add(&memory.sums[0][0], 10);
    hr_abi_add(&memory.sums[2][0], 30);
    hr_abi_add(&memory.sums[3][2], 5);
    assert_int_equal(written(sizeof buffer, records, 8), 6);
    assert_int_equal(records[0].event, HR_REGION_TICKS);
    assert_int_equal(records[0].passes, 2);
    assert_int_equal(records[0].sum, 40);
    assert_int_equal(records[0].min, 10);
    assert_int_equal(records[0].max, 30);
    assert_int_equal(records[0].threads, 2);
    assert_int_equal(records[0].bucket_count, hr_abi_bucket(30) + 1);
    assert_int_equal(records[2].event, 1);
    assert_int_equal(records[2].sum, 5);
    assert_int_equal(records[3].passes, 0);
    assert_int_equal(records[3].bucket_count, 0);
    assert_int_equal(records[3].threads, 1);
    assert_int_equal(notices, 0);
}

static void test_unmapped_since(void **state)
{
    struct hr_rec_region records[8];

    (void)state;
    assert_int_equal(add_place(0, "a", 1), 0);
    hr_abi_add(&memory.sums[0][0], 10);
    places[0].aggregates = user(&memory + 1) - sizeof(struct hr_abi_aggregate); /* ends too early */
    assert_int_equal(written(sizeof buffer, records, 8), 3);
    assert_int_equal(records[0].passes, 0);
    assert_int_equal(records[1].passes, 0);
}

static void test_refused(void **state)
{
    const struct hr_abi_region good = {
        .name = user(memory.names[0]), .name_bytes = 3, .aggregates = MEMORY, .count = 1 + EVENTS};
    struct hr_abi_region asked = good;

    (void)state;
    memcpy(memory.names[0], "abc", 3);
    asked.name_bytes = 0;
    assert_int_equal(regions_register(&cpu, &asked), -EINVAL);
    asked.name_bytes = HR_ABI_NAME_MAX + 1;
    assert_int_equal(regions_register(&cpu, &asked), -EINVAL);
    asked = good;
    asked.count = EVENTS;
    assert_int_equal(regions_register(&cpu, &asked), -EINVAL);
    asked = good;
    asked.name = 0;
    assert_int_equal(regions_register(&cpu, &asked), -EFAULT);
    asked = good;
    asked.aggregates = UINT64_MAX - 8;
    assert_int_equal(regions_register(&cpu, &asked), -EFAULT);
    asked.aggregates = USER_END - sizeof(struct hr_abi_aggregate);
    assert_int_equal(regions_register(&cpu, &asked), -EFAULT);
    asked = good;
    asked.name = user(memory.names[1]);
    memcpy(memory.names[1], "a\0b", 3); /* readers would take the END chunk for damaged */
    assert_int_equal(regions_register(&cpu, &asked), -EINVAL);
    assert_false(regions_any());
    for (uint32_t i = 0; i < REGIONS_PLACES_MAX; i++)
        assert_int_equal(regions_register(&cpu, &good), 0);
    assert_int_equal(regions_register(&cpu, &good), -ENOSPC);
    assert_int_equal(regions_register(&cpu, &good), -ENOSPC);
    assert_int_equal(notices, 1);
}

static void test_too_many_names(void **state)
{
    char name[8] = "r000";

    (void)state;
    for (int i = 0; i <= (int)HR_ABI_REGIONS_MAX; i++) {
        for (int digit = 3, rest = i; digit > 0; digit--, rest /= 10)
            name[digit] = (char)('0' + rest % 10);
        assert_int_equal(add_place((uint32_t)i, name, 1),
                         i < (int)HR_ABI_REGIONS_MAX ? 0 : -ENOSPC);
    }
}

static void test_what_does_not_fit(void **state)
{
    struct hr_rec_region records[16];
    char name[2] = "a";
    uint32_t with = 0, without = 0;

    (void)state;
    for (uint32_t i = 0; i < 4; i++, name[0]++) {
        add_place(i, name, 1);
        for (uint32_t slot = 0; slot <= EVENTS; slot++)
            hr_abi_add(&memory.sums[i][slot], UINT64_MAX); /* the last bucket: all 2016 bytes */
    }
    assert_int_equal(written(sizeof buffer, records, 16), 12);
    assert_int_equal(notices, 0);
    assert_int_equal(written(8192, records, 16), 12);
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(records[i].passes, 1);
        with += records[i].bucket_count == HR_REGION_BUCKETS;
        without += records[i].bucket_count == 0;
    }
    assert_int_equal(with + without, 12);
    assert_int_equal(with, 3);
    assert_int_equal(notices, 1);
    assert_int_equal(written(4096, records, 16), 12);
    assert_int_equal(written(256, records, 16), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_threads_of_one_name_are_one, setup),
        cmocka_unit_test_setup(test_unmapped_since, setup),
        cmocka_unit_test_setup(test_refused, setup),
        cmocka_unit_test_setup(test_too_many_names, setup),
        cmocka_unit_test_setup(test_what_does_not_fit, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
