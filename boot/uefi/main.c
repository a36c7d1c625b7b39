/* BOOTX64.EFI: performs the runs of microtome.conf on its stick, one after another.
 * docs/architecture/bare-metal.md; docs/bare-metal.md for users.
 */
#include "boot/uefi/batch.h"
#include "boot/uefi/firmware.h"
#include "boot/uefi/say.h"
#include "boot/uefi/screen.h"
#include "drivers/uart/uart.h"

#define SECONDS_BEFORE_END 3 /* a key pressed in this time cancels the power-off */
#define SECONDS_AFTER_ERROR 10

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table);

/* Counts down on the screen.  Returns true if a key was pressed. */
static bool count_down(unsigned seconds, const char *what)
{
    firmware_forget_keys();
    for (; seconds > 0; seconds--) {
        say_status("%s in %u s; press a key to wait", what, seconds);
        if (firmware_wait_key(1000))
            return true;
    }
    return false;
}

static void wait_for_key(const char *what)
{
    say("waiting for a key: %s", what);
    say_status("press a key to %s", what);
    while (!firmware_wait_key(0))
        ;
}

/* After this the firmware tries the next boot device, or shows its menu. */
static EFI_STATUS give_up(void)
{
    say("nothing was run: going back to the firmware in %u s", SECONDS_AFTER_ERROR);
    firmware_wait_key(SECONDS_AFTER_ERROR * 1000);
    screen_clear();
    uart_restore();
    return EFI_LOAD_ERROR;
}

static void end(void)
{
    const bool reboot = batch.conf.end == BOOT_CONF_REBOOT;
    const char *what = reboot ? "restart" : "switch off";

    if (firmware.boot == NULL) {
        say("end: %s", batch.conf.end == BOOT_CONF_WAIT ? "wait" : what);
        while (batch.conf.end == BOOT_CONF_WAIT)
            __asm__ volatile("cli; hlt");
        firmware_reset(!reboot);
    }
    if (batch.conf.end == BOOT_CONF_WAIT || count_down(SECONDS_BEFORE_END, what))
        wait_for_key(what);
    say("end: %s", what);
    firmware_reset(!reboot);
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table)
{
    firmware_init(image, table);
    say_init();
    screen_init(!uart_present()); /* a console next to our serial port would duplicate it */
    if (!batch_prepare())
        return give_up();
    batch_perform();
    end();
    return EFI_SUCCESS;
}
