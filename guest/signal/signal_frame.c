/* Builds and checks signal frames. */
#include "guest/signal/signal_frame.h"

#include <errno.h>
#include <string.h>

#include "guest/base/layout.h"
#include "lib/bytes.h"

#define RED_ZONE_BYTES 128u
#define FLAGS_FIXED 0x202u /* bit 1 and IF */
#define FLAGS_ALLOWED 0x50dd5u /* CF PF AF ZF SF TF DF OF RF AC */
#define LEGACY_FEATURES 3u /* x87, SSE */
#define HEADER_BYTES 64u

uint64_t signal_frame_bytes_max(void)
{
    return sizeof(struct signal_frame) + 16 + 8 + fpu_area_bytes() + 4 + 64;
}

uint64_t signal_frame_place(uint64_t sp, uint32_t fpu_bytes, uint64_t *fpu)
{
    uint64_t need = RED_ZONE_BYTES + fpu_bytes + 4ull + 64 + sizeof(struct signal_frame) + 32;

    if (sp < need || sp > USER_END)
        return 0;
    *fpu = (sp - RED_ZONE_BYTES - fpu_bytes - 4) & ~63ull;
    return ((*fpu - sizeof(struct signal_frame)) & ~15ull) - 8;
}

/* What both frames have in common. */
#define REGISTERS(from)                                                             \
    .r8 = (from)->r8, .r9 = (from)->r9, .r10 = (from)->r10, .r11 = (from)->r11,     \
    .r12 = (from)->r12, .r13 = (from)->r13, .r14 = (from)->r14, .r15 = (from)->r15, \
    .rdi = (from)->rdi, .rsi = (from)->rsi, .rbp = (from)->rbp, .rbx = (from)->rbx, \
    .rdx = (from)->rdx, .rax = (from)->rax, .rcx = (from)->rcx, .rsp = (from)->rsp, \
    .rip = (from)->rip

void signal_frame_save(struct signal_registers *to, const struct trap_frame *from)
{
    *to = (struct signal_registers){
        REGISTERS(from),
        .rflags = from->rflags,
        .cs = SELECTOR_USER_CODE,
        .ss = SELECTOR_USER_DATA,
    };
}

int signal_frame_restore(const struct signal_registers *from, struct trap_frame *to)
{
    if (from->rip >= USER_END || from->rsp > USER_END)
        return -EFAULT;
    *to = (struct trap_frame){
        REGISTERS(from),
        .vector = to->vector,
        .rflags = (from->rflags & FLAGS_ALLOWED) | FLAGS_FIXED,
        .cs = SELECTOR_USER_CODE,
        .ss = SELECTOR_USER_DATA,
    };
    return 0;
}

void signal_frame_mark_fpu(void *area, uint32_t bytes, uint64_t features)
{
    uint8_t *p = area;
    const struct signal_fpu_software software = {.magic = SIGNAL_FPU_MAGIC1,
                                                 .extended_bytes = bytes + 4,
                                                 .features = features,
                                                 .area_bytes = bytes};

    memcpy(p + SIGNAL_FPU_SOFTWARE, &software, sizeof software);
    bytes_store32(p + bytes, SIGNAL_FPU_MAGIC2);
}

int signal_frame_check_fpu(void *area, uint32_t bytes, uint64_t features, uint32_t mxcsr_mask)
{
    uint8_t *p = area;
    struct signal_fpu_software software;

    memcpy(&software, p + SIGNAL_FPU_SOFTWARE, sizeof software);
    if (software.magic != SIGNAL_FPU_MAGIC1 || software.area_bytes != bytes ||
        bytes_load32(p + bytes) != SIGNAL_FPU_MAGIC2) {
        memset(p + SIGNAL_FPU_HEADER, 0, HEADER_BYTES);
        bytes_store64(p + SIGNAL_FPU_HEADER, LEGACY_FEATURES);
    }
    if (bytes_load32(p + SIGNAL_FPU_MXCSR) & ~mxcsr_mask ||
        bytes_load64(p + SIGNAL_FPU_HEADER) & ~features)
        return -EINVAL;
    for (uint32_t i = 8; i < HEADER_BYTES; i++)
        if (p[SIGNAL_FPU_HEADER + i])
            return -EINVAL;
    return 0;
}
