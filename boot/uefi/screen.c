/* Finds the screens, and writes lines on them (UEFI 2.10, 12.4 "Simple Text Output Protocol"). */
#include "boot/uefi/screen.h"

#include <string.h>

#include "boot/uefi/firmware.h"

#define SCREENS_MAX 4
#define SCREEN_ROWS_MAX 128

static SIMPLE_TEXT_OUTPUT_INTERFACE *screens[SCREENS_MAX];
static size_t screen_count;
static UINTN columns, rows; /* minimum over all screens */
static char shown[SCREEN_ROWS_MAX][SCREEN_COLUMNS_MAX];

static void add(SIMPLE_TEXT_OUTPUT_INTERFACE *out)
{
    UINTN width = 80, height = 25;

    if (out == NULL || screen_count == SCREENS_MAX)
        return;
    if (EFI_ERROR(out->QueryMode(out, (UINTN)out->Mode->Mode, &width, &height)) || width < 20 ||
        height < 5)
        return;
    columns = screen_count && columns < width ? columns : width;
    rows = screen_count && rows < height ? rows : height;
    screens[screen_count++] = out;
}

/* A device with both text and graphics is a screen.  The console as a whole has no device path, and
 * a serial line has no graphics. */
void screen_init(bool console)
{
    static const EFI_GUID text = EFI_SIMPLE_TEXT_OUTPUT_PROTOCOL_GUID;
    static const EFI_GUID graphics = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
    static const EFI_GUID path = EFI_DEVICE_PATH_PROTOCOL_GUID;
    size_t count;
    EFI_HANDLE *handles = firmware_handles(&graphics, &count);

    for (size_t i = 0; i < count; i++)
        if (firmware_protocol(handles[i], &path) != NULL)
            add(firmware_protocol(handles[i], &text));
    firmware_free_pool(handles);
    if (screen_count == 0 && console)
        add(firmware.table->ConOut);
    screen_clear();
}

uint32_t screen_rows(void)
{
    if (firmware.boot == NULL || !screen_count)
        return 0;
    return rows < SCREEN_ROWS_MAX ? (uint32_t)rows : SCREEN_ROWS_MAX;
}

uint32_t screen_columns(void)
{
    /* The last column stays free: writing there scrolls the last row. */
    return columns - 1 < SCREEN_COLUMNS_MAX ? (uint32_t)columns - 1 : SCREEN_COLUMNS_MAX;
}

void screen_clear(void)
{
    memset(shown, ' ', sizeof shown);
    for (size_t i = 0; firmware.boot != NULL && i < screen_count; i++) {
        screens[i]->SetAttribute(screens[i], EFI_TEXT_ATTR(EFI_LIGHTGRAY, EFI_BLACK));
        screens[i]->ClearScreen(screens[i]);
        screens[i]->EnableCursor(screens[i], FALSE);
    }
}

/* Writes only the part of a row that has changed, because firmware draws slowly. */
void screen_line(uint32_t row, const char *text)
{
    uint32_t width = screen_columns(), first = width, end = 0;
    CHAR16 line[SCREEN_COLUMNS_MAX + 1];

    if (row >= screen_rows())
        return;
    for (uint32_t i = 0; i < width; i++) {
        char c = *text ? (*text >= ' ' && *text <= '~' ? *text : '?') : ' ';

        text += *text ? 1 : 0;
        line[i] = (CHAR16)c;
        if (shown[row][i] == c)
            continue;
        shown[row][i] = c;
        first = i < first ? i : first;
        end = i + 1;
    }
    line[end] = 0;
    for (size_t i = 0; end > 0 && i < screen_count; i++) {
        screens[i]->SetCursorPosition(screens[i], first, row);
        screens[i]->OutputString(screens[i], line + first);
    }
}
