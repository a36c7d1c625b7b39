/* What the test application uses of EFI_MP_SERVICES_PROTOCOL (UEFI Platform Initialization 1.7,
 * volume 2, "MP Services Protocol").
 */
#ifndef TESTS_FIRMWARE_MP_SERVICES_H
#define TESTS_FIRMWARE_MP_SERVICES_H

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

#endif
