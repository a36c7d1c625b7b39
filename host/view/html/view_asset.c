/* The page's own part as bytes: found by -Wa,-I, made by tools/page.sh. */
#include "host/view/html/view_asset.h"

__asm__(".section .rodata\n"
        ".globl view_asset, view_asset_end\n"
        "view_asset:\n"
        ".incbin \"page.html\"\n"
        "view_asset_end:\n"
        ".byte 0\n"
        ".previous\n");
