/* Random calls on terminals that have a chance: pairs that can be opened, and requests that there
 * are. */
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "workloads/fuzz.h"

/* Opens a pair, without making it a controlling terminal: its keys would end the program. */
static inline void open_terminal(void)
{
    static const char slave[] = "/dev/pts/0";
    int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY);

    if (fd >= 0)
        ioctl(fd, TIOCSPTLCK, &(int){0});
    if (fd > 64)
        close(fd);
    fd = open(slave, O_RDWR | O_NOCTTY);
    if (fd > 64)
        close(fd);
}

static inline void tame_terminal(struct fuzz *f, uint64_t number, uint64_t *a)
{
    static const uint32_t requests[] = {TCGETS,     TCSETS,   TCSETSW,    TCSETSF,    TCFLSH,
                                        TCXONC,     TCSBRK,   TIOCGWINSZ, TIOCSWINSZ, TIOCGPGRP,
                                        TIOCSPGRP,  TIOCGSID, TIOCNOTTY,  TIOCOUTQ,   FIONREAD,
                                        TIOCSPTLCK, TIOCGPTN, SIOCATMARK, FIOSETOWN,  FIOGETOWN};

    if (number != __NR_ioctl || !below(f, 3))
        return;
    a[1] = requests[below(f, sizeof requests / sizeof requests[0])];
    if (a[1] == TCFLSH || a[1] == TCXONC)
        a[2] = below(f, 5);
}
