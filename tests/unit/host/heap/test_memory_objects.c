/* The index of objects: random operations against a list. */
#include "host/heap/memory_objects.h"

#include <string.h>

#include "tests/unit/test.h"

#define SPACE 4096u /* addresses, in which objects often overlap */
#define PIDS 3u
#define MODEL_MAX 4096u

struct model {
    struct {
        uint32_t pid;
        struct memory_object object;
    } all[MODEL_MAX];
    uint32_t count;
    uint32_t gone; /* calls of gone() in one operation */
};

static uint64_t end_of(const struct memory_object *o)
{
    return o->address + (o->bytes != 0 ? o->bytes : 1);
}

static void drop(struct model *m, uint32_t i)
{
    m->all[i] = m->all[--m->count];
}

static const struct memory_object *model_find(const struct model *m, uint32_t pid, uint64_t address)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (m->all[i].pid == pid && address >= m->all[i].object.address &&
            address < end_of(&m->all[i].object))
            return &m->all[i].object;
    return NULL;
}

static void gone(void *context, const struct memory_object *object)
{
    struct model *m = context;

    (void)object;
    m->gone++;
}

static void add(struct memory_objects *objects, struct model *m, uint32_t pid,
                const struct memory_object *object)
{
    uint32_t overlapping = 0;

    m->gone = 0;
    assert_int_equal(memory_objects_add(objects, pid, object, gone, m), 0);
    for (uint32_t i = m->count; i-- != 0;)
        if (m->all[i].pid == pid && m->all[i].object.address < end_of(object) &&
            object->address < end_of(&m->all[i].object)) {
            drop(m, i);
            overlapping++;
        }
    assert_int_equal(m->gone, overlapping);
    m->all[m->count].pid = pid;
    m->all[m->count++].object = *object;
}

static void release(struct memory_objects *objects, struct model *m, uint32_t pid, uint64_t address)
{
    struct memory_object freed;
    enum memory_objects_end end = memory_objects_remove(objects, pid, address, &freed);

    for (uint32_t i = 0; i < m->count; i++)
        if (m->all[i].pid == pid && m->all[i].object.address == address) {
            assert_int_equal(end, MEMORY_OBJECTS_FREED);
            assert_memory_equal(&freed, &m->all[i].object, sizeof freed);
            drop(m, i);
            return;
        }
    assert_int_not_equal(end, MEMORY_OBJECTS_FREED);
}

static void count_one(void *context, uint32_t pid, const struct memory_object *object)
{
    struct model *m = context;

    assert_ptr_equal(model_find(m, pid, object->address) != NULL, true);
    m->gone++;
}

static void end_process(struct memory_objects *objects, struct model *m, uint32_t pid)
{
    uint32_t had = 0;

    m->gone = 0;
    memory_objects_end(objects, pid, count_one, m);
    for (uint32_t i = m->count; i-- != 0;)
        if (m->all[i].pid == pid) {
            drop(m, i);
            had++;
        }
    assert_int_equal(m->gone, had);
}

static void fork_process(struct memory_objects *objects, struct model *m, uint32_t parent,
                         uint32_t child)
{
    uint32_t count = m->count;

    if (parent == child)
        return;
    end_process(objects, m, child);
    count = m->count;
    assert_int_equal(memory_objects_fork(objects, parent, child), 0);
    for (uint32_t i = 0; i < count; i++)
        if (m->all[i].pid == parent) {
            m->all[m->count] = m->all[i];
            m->all[m->count++].pid = child;
        }
}

static void random_operations(void **state)
{
    struct memory_objects objects = {0};
    struct test_random random = {7};
    static struct model m;
    uint64_t bytes = 0;

    (void)state;
    for (uint32_t time = 1; time < 60000; time++) {
        uint32_t pid = 1 + (uint32_t)test_random_below(&random, PIDS);
        uint64_t address = 16 + 16 * test_random_below(&random, SPACE);
        uint64_t what = test_random_below(&random, 1000);
        const struct memory_object *found;

        if (what < 500)
            add(&objects, &m, pid,
                &(struct memory_object){.address = address,
                                        .bytes = test_random_below(&random, 100),
                                        .time = time,
                                        .site = (uint32_t)what,
                                        .tid = pid});
        else if (what < 996)
            release(&objects, &m, pid, address);
        else if (what < 998)
            fork_process(&objects, &m, pid, 1 + (uint32_t)test_random_below(&random, PIDS));
        else
            end_process(&objects, &m, pid);
        address += test_random_below(&random, 32);
        found = memory_objects_find(&objects, pid, address, time);
        assert_ptr_equal(found != NULL, model_find(&m, pid, address) != NULL);
        if (found != NULL)
            assert_memory_equal(found, model_find(&m, pid, address), sizeof *found);
        assert_int_equal(objects.live, m.count);
    }
    for (uint32_t i = 0; i < m.count; i++)
        bytes += m.all[i].object.bytes;
    assert_int_equal(objects.live_bytes, bytes);
    memory_objects_free(&objects);
}

static void twice(void **state)
{
    struct memory_objects objects = {0};
    struct memory_object object = {.address = 0x1000, .bytes = 8}, freed;
    struct model m = {0};

    (void)state;
    assert_int_equal(memory_objects_remove(&objects, 1, 0x1000, &freed), MEMORY_OBJECTS_UNKNOWN);
    memory_objects_add(&objects, 1, &object, gone, &m);
    assert_int_equal(memory_objects_remove(&objects, 1, 0x1008, &freed), MEMORY_OBJECTS_UNKNOWN);
    assert_int_equal(memory_objects_remove(&objects, 1, 0x1000, &freed), MEMORY_OBJECTS_FREED);
    assert_int_equal(memory_objects_remove(&objects, 1, 0x1000, &freed), MEMORY_OBJECTS_TWICE);
    assert_int_equal(memory_objects_remove(&objects, 2, 0x1000, &freed), MEMORY_OBJECTS_UNKNOWN);
    memory_objects_add(&objects, 1, &object, gone, &m);
    assert_int_equal(memory_objects_remove(&objects, 1, 0x1000, &freed), MEMORY_OBJECTS_FREED);
    memory_objects_free(&objects);
}

/* What a hostile trace may say. */
static void extremes(void **state)
{
    struct memory_objects objects = {0};
    struct memory_object all = {.address = 1, .bytes = UINT64_MAX, .time = 5};
    struct memory_object last = {.address = UINT64_MAX, .bytes = 0, .time = 6};
    struct model m = {0};

    (void)state;
    assert_int_equal(memory_objects_add(&objects, 1, &all, gone, &m), 0);
    assert_non_null(memory_objects_find(&objects, 1, UINT64_MAX - 1, 5));
    assert_null(memory_objects_find(&objects, 1, 1, 4)); /* younger than that */
    assert_null(memory_objects_find(&objects, 1, 0, 5));
    assert_int_equal(memory_objects_add(&objects, 1, &last, gone, &m), 0);
    assert_non_null(memory_objects_find(&objects, 1, UINT64_MAX, 6));
    assert_int_equal(memory_objects_add(&objects, 1, &all, gone, &m), 0);
    assert_int_equal(objects.live, 2);
    memory_objects_free(&objects);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations),
        cmocka_unit_test(twice),
        cmocka_unit_test(extremes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
