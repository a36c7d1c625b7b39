/* Signal frames: round trip, and what a hostile program may put into one. */
#include <errno.h>
#include <string.h>

#include "guest/cpu/fpu.c"
#include "guest/signal/signal_frame.c"
#include "tests/unit/test.h"

#define AREA 1024u
#define FEATURES 7u
#define MXCSR_MASK 0xffffu

static void test_place(void **state)
{
    (void)state;
    for (uint64_t sp = 0x7fff0000; sp < 0x7fff0200; sp++) {
        uint64_t fpu = 0;
        uint64_t frame = signal_frame_place(sp, AREA, &fpu);

        assert_int_equal(frame % 16, 8); /* as after a call */
        assert_int_equal(fpu % 64, 0);
        assert_true(frame + sizeof(struct signal_frame) <= fpu);
        assert_true(fpu + AREA + 4 <= sp - RED_ZONE_BYTES);
        assert_true(sp - RED_ZONE_BYTES - frame <=
                    sizeof(struct signal_frame) + AREA + 4 + 64 + 16 + 8);
    }
}

static void test_place_without_room(void **state)
{
    uint64_t fpu;

    (void)state;
    assert_int_equal(signal_frame_place(0, AREA, &fpu), 0);
    assert_int_equal(signal_frame_place(1000, AREA, &fpu), 0);
    assert_int_equal(signal_frame_place(USER_END + 1, AREA, &fpu), 0);
    assert_int_equal(signal_frame_place(UINT64_MAX, AREA, &fpu), 0);
    assert_int_not_equal(signal_frame_place(USER_END, AREA, &fpu), 0);
}

static struct trap_frame sample_frame(void)
{
    return (struct trap_frame){.r15 = 15,
                               .r14 = 14,
                               .r13 = 13,
                               .r12 = 12,
                               .rbp = 5,
                               .rbx = 3,
                               .r11 = 11,
                               .r10 = 10,
                               .r9 = 9,
                               .r8 = 8,
                               .rax = 1,
                               .rcx = 2,
                               .rdx = 4,
                               .rsi = 6,
                               .rdi = 7,
                               .vector = 99,
                               .error = 0,
                               .rip = 0x401000,
                               .cs = SELECTOR_USER_CODE,
                               .rflags = 0x246,
                               .rsp = 0x7fff0000,
                               .ss = SELECTOR_USER_DATA};
}

static void test_round_trip(void **state)
{
    struct trap_frame before = sample_frame(), after = {.vector = 99};
    struct signal_registers registers;

    (void)state;
    signal_frame_save(&registers, &before);
    assert_int_equal(signal_frame_restore(&registers, &after), 0);
    assert_memory_equal(&before, &after, sizeof before);
}

static void test_hostile_registers(void **state)
{
    static const uint64_t bad[] = {USER_END,   USER_END + 1, 1ull << 47,
                                   DIRECT_MAP, KERNEL_BASE,  UINT64_MAX};
    struct trap_frame frame = sample_frame();
    struct signal_registers registers;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        signal_frame_save(&registers, &frame);
        registers.rip = bad[i];
        assert_int_equal(signal_frame_restore(&registers, &frame), -EFAULT);
    }
    registers.rip = 0x401000;
    registers.rsp = DIRECT_MAP;
    assert_int_equal(signal_frame_restore(&registers, &frame), -EFAULT);
    registers.rsp = 0x7fff0000;
    registers.rflags = UINT64_MAX; /* IOPL, NT, VM, VIF ... */
    registers.cs = SELECTOR_KERNEL_CODE;
    registers.ss = SELECTOR_KERNEL_DATA;
    assert_int_equal(signal_frame_restore(&registers, &frame), 0);
    assert_int_equal(frame.cs, SELECTOR_USER_CODE);
    assert_int_equal(frame.ss, SELECTOR_USER_DATA);
    assert_int_equal(frame.rflags & 0x3f2000 & ~0x50dd5ull, 0);
    assert_int_equal(frame.rflags, 0x50fd7);
    registers.rflags = 0;
    assert_int_equal(signal_frame_restore(&registers, &frame), 0);
    assert_int_equal(frame.rflags, 0x202); /* interrupts stay on */
}

struct fpu {
    uint8_t bytes[AREA + 4];
};

static struct fpu good_area(void)
{
    struct fpu f;

    memset(&f, 0, sizeof f);
    bytes_store32(f.bytes + SIGNAL_FPU_MXCSR, 0x1f80);
    bytes_store64(f.bytes + SIGNAL_FPU_HEADER, FEATURES);
    signal_frame_mark_fpu(f.bytes, AREA, FEATURES);
    return f;
}

static int check(struct fpu *f)
{
    return signal_frame_check_fpu(f->bytes, AREA, FEATURES, MXCSR_MASK);
}

static void test_fpu_is_accepted(void **state)
{
    struct fpu f = good_area(), copy = f;

    (void)state;
    assert_int_equal(check(&f), 0);
    assert_memory_equal(&f, &copy, sizeof f);
}

static void test_fpu_without_marks_is_legacy(void **state)
{
    struct fpu f = good_area();

    (void)state;
    f.bytes[AREA] ^= 1;
    assert_int_equal(check(&f), 0);
    assert_int_equal(bytes_load64(f.bytes + SIGNAL_FPU_HEADER), LEGACY_FEATURES);
    f = good_area();
    f.bytes[SIGNAL_FPU_SOFTWARE] ^= 1;
    memset(f.bytes + SIGNAL_FPU_HEADER, 0xff, HEADER_BYTES);
    assert_int_equal(check(&f), 0);
    assert_int_equal(bytes_load64(f.bytes + SIGNAL_FPU_HEADER), LEGACY_FEATURES);
    assert_int_equal(bytes_load64(f.bytes + SIGNAL_FPU_HEADER + 8), 0);
}

/* Everything that makes XRSTOR raise a general protection fault (SDM volume 1, "XRSTOR"). */
static void test_fpu_that_would_fault(void **state)
{
    struct fpu f = good_area();

    (void)state;
    bytes_store32(f.bytes + SIGNAL_FPU_MXCSR, 0x10000);
    assert_int_equal(check(&f), -EINVAL);
    f = good_area();
    bytes_store64(f.bytes + SIGNAL_FPU_HEADER, 1ull << 63 | 1);
    assert_int_equal(check(&f), -EINVAL);
    f = good_area();
    bytes_store64(f.bytes + SIGNAL_FPU_HEADER, 8);
    assert_int_equal(check(&f), -EINVAL);
    for (uint32_t i = 8; i < HEADER_BYTES; i++) {
        f = good_area();
        f.bytes[SIGNAL_FPU_HEADER + i] = 1;
        assert_int_equal(check(&f), -EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_place_without_room),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_hostile_registers),
        cmocka_unit_test(test_fpu_is_accepted),
        cmocka_unit_test(test_fpu_without_marks_is_legacy),
        cmocka_unit_test(test_fpu_that_would_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
