/* What the test application uses of protocols of UEFI Platform Initialization 1.7, volume 2: "MP
 * Services Protocol", "CPU Architectural Protocol".
 */
#ifndef TESTS_FIRMWARE_PROTOCOLS_H
#define TESTS_FIRMWARE_PROTOCOLS_H

#include <efi.h>

#define MP_SERVICES_GUID                                   \
    {                                                      \
        0x3fdda605, 0xa76e, 0x4f46,                        \
        {                                                  \
            0xad, 0x29, 0x12, 0xf4, 0x53, 0x1b, 0x3d, 0x08 \
        }                                                  \
    }

struct mp_services {
    EFI_STATUS EFIAPI (*get_number_of_processors)(struct mp_services *self, UINTN *all,
                                                  UINTN *enabled);
    void *get_processor_info;
    EFI_STATUS EFIAPI (*startup_all_aps)(struct mp_services *self,
                                         void EFIAPI (*procedure)(void *context), BOOLEAN single,
                                         EFI_EVENT wait, UINTN timeout_us, void *context,
                                         UINTN **failed);
};

#define CPU_ARCH_GUID                                      \
    {                                                      \
        0x26baccb1, 0x6f42, 0x11d4,                        \
        {                                                  \
            0xbc, 0xe7, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81 \
        }                                                  \
    }

struct cpu_arch {
    void *flush_data_cache, *enable_interrupt, *disable_interrupt, *get_interrupt_state, *init;
    EFI_STATUS EFIAPI (*register_interrupt_handler)(struct cpu_arch *self, INTN vector,
                                                    void EFIAPI (*handler)(INTN vector,
                                                                           void *context));
};

#endif
