/* Lines of text on the screen.  Not on the console as a whole: where the firmware has put that on
 * the serial port too, a table drawn in place would garble the messages there (boot/uefi/say.h).
 */
#ifndef BOOT_UEFI_SCREEN_H
#define BOOT_UEFI_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#define SCREEN_COLUMNS_MAX 160

/* console: where there is no screen, the firmware's console is taken for one. */
void screen_init(bool console);
uint32_t screen_rows(void); /* 0: there is no screen, or boot services were left */
uint32_t screen_columns(void); /* that a line may have */
void screen_clear(void);

/* Writes a row anew; characters that are not printable ASCII become '?'. */
void screen_line(uint32_t row, const char *text);

#endif
