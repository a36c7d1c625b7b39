/* host/sweep/show/page/sweep.html: all but the data. */
#pragma once

extern const char sweep_asset[];
extern const char sweep_asset_end[];
