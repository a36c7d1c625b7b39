/* Gives the firmware its devices back: what boot/uefi_entry.S does not keep itself. */
#include "guest/uefi.h"

void uefi_restore(void)
{
}
