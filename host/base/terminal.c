/* Asks a terminal for its size and the environment for the user's wishes. */
#include "host/base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

unsigned int terminal_columns(int fd, unsigned int otherwise)
{
    struct winsize size = {0};

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

unsigned int terminal_lines(int fd, unsigned int otherwise)
{
    struct winsize size = {0};

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : otherwise;
}

bool terminal_colours(int fd)
{
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");

    return isatty(fd) && term != NULL && strcmp(term, "dumb") != 0 &&
           (no_color == NULL || no_color[0] == 0);
}
