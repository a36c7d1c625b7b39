/* The page's own part, as the build put it together: page.html with its style and its program.
 * Empty when the build had no libraries for it. */
#pragma once

extern const char view_asset[];
extern const char view_asset_end[];
