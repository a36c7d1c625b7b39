/* Chooses block characters. */
#include "host/sparkline.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *sparkline_bar(double share)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

    return bars[share >= 1 ? 7 : share > 0 ? (int)(share * 7 + 0.5) : 0];
}

unsigned sparkline_columns(void)
{
    const char *text = getenv("COLUMNS");
    unsigned long columns = text != NULL ? strtoul(text, NULL, 10) : 0;
    struct winsize window;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col != 0)
        columns = window.ws_col;
    if (columns == 0)
        columns = 80;
    return columns < 40 ? 40 : columns > 1000 ? 1000 : (unsigned)columns;
}
