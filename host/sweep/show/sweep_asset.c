/* The part of the page of hr sweep view that is the same for all, as bytes. */
#include "host/sweep/show/sweep_asset.h"

__asm__(".section .rodata\n"
        ".globl sweep_asset, sweep_asset_end\n"
        "sweep_asset:\n"
        ".incbin \"host/sweep/show/page/sweep.html\"\n"
        "sweep_asset_end:\n"
        ".byte 0\n"
        ".previous\n");
