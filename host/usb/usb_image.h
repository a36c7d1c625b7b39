/* Makes the image of a stick: a GPT with one EFI system partition (FAT32), which contains
 *
 *   \EFI\BOOT\BOOTX64.EFI   the loader, at the path where UEFI firmware looks for one
 *   \microtome.conf         its configuration
 *   \microtome\guest.elf    the kernel
 *   \microtome\runs\*.cpio  the runs' archives
 *   \results\               empty
 *   \README.TXT             for people
 *
 * The master boot record has code that tells users of a BIOS why nothing starts.
 */
#pragma once

#include <stdint.h>

#include "host/usb/usb_contents.h"

#define USB_SECTOR_BYTES 512u
#define USB_PARTITION_OFFSET (UINT64_C(1) << 20)
#define USB_RESULTS_BYTES (UINT64_C(1) << 30) /* room for results, unless a size is given */
#define USB_IMAGE_BYTES_DEFAULT (UINT64_C(2) << 30) /* at least this */
#define USB_IMAGE_BYTES_MAX (UINT64_C(1) << 40) /* FAT32 ends at 2 TB */
#define USB_MBR_CODE_BYTES 440 /* UEFI 2.10, "Protective MBR": bytes before the partition table */

/* Returns the size of an image: as asked for (0: not), or sufficient.  Returns 0 with the failure
 * filled if it is too small. */
uint64_t usb_image_size(const struct usb_contents *c, uint64_t asked, struct run_failure *failure);

/* Makes the image in an empty file, open for reading and writing, as a sparse file of `bytes`.
 * Returns 0, or -1 with the failure filled. */
int usb_image_make(int fd, uint64_t bytes, const struct usb_contents *c,
                   const struct usb_options *o, struct run_failure *failure);
