/* Panics: one report, on the serial port, which needs no driver that may be broken, and in
 * boot_info. */
#include <stdarg.h>
#include <string.h>

#include "drivers/uart/uart.h"
#include "guest/base/layout.h"
#include "guest/base/log.h"
#include "guest/base/log_buffer.h"
#include "guest/base/panic.h"
#include "guest/base/run.h"
#include "lib/x86.h"

#define STACK_DEPTH_MAX 32

void (*panic_leave)(bool first) __attribute__((noreturn));

void panic_report(const char *text, size_t bytes)
{
    struct boot_result *result = &run.boot->result;
    uint32_t used = result->report_bytes;

    if (used > sizeof result->report)
        return;
    if (bytes > sizeof result->report - used)
        bytes = sizeof result->report - used;
    memcpy(result->report + used, text, bytes);
    result->report_bytes = used + (uint32_t)bytes;
}

static void panic_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void panic_write(const char *bytes, size_t count)
{
    uart_write(bytes, count);
    panic_report(bytes, count);
}

static void panic_print(const char *format, ...)
{
    char line[256];
    va_list arguments;

    va_start(arguments, format);
    format_text_v(line, sizeof line, format, arguments);
    va_end(arguments);
    panic_write(line, strlen(line));
}

static bool kernel_address(uint64_t address)
{
    return address >= DIRECT_MAP && address % 8 == 0;
}

/* Walks the frame-pointer chain upwards while it looks like one. */
static void print_stack(uint64_t ip, uint64_t frame_pointer)
{
    panic_print("panic: stack\n  #0 %016lx\n", ip);
    for (int depth = 1; depth < STACK_DEPTH_MAX && kernel_address(frame_pointer); depth++) {
        const uint64_t *frame = (const uint64_t *)frame_pointer;
        if (frame[1] < KERNEL_BASE)
            break;
        panic_print("  #%d %016lx\n", depth, frame[1]);
        if (frame[0] <= frame_pointer || frame[0] - frame_pointer > KERNEL_STACK_BYTES)
            break;
        frame_pointer = frame[0];
    }
}

static void print_registers(const struct trap_frame *f)
{
    panic_print("panic: rip %016lx rsp %016lx rflags %08lx cs %02lx error %lx\n", f->rip, f->rsp,
                f->rflags, f->cs, f->error);
    panic_print("panic: rax %016lx rbx %016lx rcx %016lx rdx %016lx\n", f->rax, f->rbx, f->rcx,
                f->rdx);
    panic_print("panic: rsi %016lx rdi %016lx rbp %016lx r8  %016lx\n", f->rsi, f->rdi, f->rbp,
                f->r8);
    panic_print("panic: r9  %016lx r10 %016lx r11 %016lx r12 %016lx\n", f->r9, f->r10, f->r11,
                f->r12);
    panic_print("panic: r13 %016lx r14 %016lx r15 %016lx\n", f->r13, f->r14, f->r15);
    panic_print("panic: cr0 %lx cr2 %lx cr3 %lx cr4 %lx\n", x86_read_cr0(), x86_read_cr2(),
                x86_read_cr3(), x86_read_cr4());
}

static void __attribute__((noreturn)) panic_end(void)
{
    log_buffer_take(panic_write);
    panic_print("panic: end\n");
    panic_leave(true);
}

/* Only the first panic is reported.  A second one of the same CPU comes from the report itself. */
static void panic_begin(const char *format, va_list arguments)
{
    static uint32_t panicker; /* CPUID's initial APIC id + 1 */
    uint32_t self = (x86_cpuid(1, 0).ebx >> 24) + 1, nobody = 0;
    char line[256];

    __asm__ volatile("cli");
    if (!__atomic_compare_exchange_n(&panicker, &nobody, self, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST)) {
        if (nobody != self)
            panic_leave(false);
        panic_end();
    }
    format_text_v(line, sizeof line, format, arguments);
    panic_print("panic: %s\n", line);
}

void panic_frame(const struct trap_frame *frame, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    panic_begin(format, arguments);
    va_end(arguments);
    print_registers(frame);
    print_stack(frame->rip, frame->cs & 3 ? 0 : frame->rbp);
    panic_end();
}

void panic(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    panic_begin(format, arguments);
    va_end(arguments);
    print_stack((uint64_t)__builtin_return_address(0),
                *(const uint64_t *)__builtin_frame_address(0));
    panic_end();
}
