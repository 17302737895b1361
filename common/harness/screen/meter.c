#include "meter.h"

#include <math.h>
#include <string.h>

const char *meter(double pct, int width, bool blocks, char out[METER_BYTES]) {
    /* one to eight eighths of a column, from the left */
    static const char *const eighth[] = {"\u258f", "\u258e", "\u258d", "\u258c",
                                         "\u258b", "\u258a", "\u2589", "\u2588"};
    static const char rest[] = "\u2591";
    const int most = width < METER_MOST ? width : METER_MOST;
    const double share = fmin(fmax(pct, 0), 100) / 100;
    /* what is more than nothing shows, and only all of it is full */
    int filled = (int)(blocks ? 8 * share * most : share * most + 0.5);
    if (share > 0 && !filled) filled = 1;
    *out = 0;
    for (int i = 0; i < most; i++) {
        const int left = blocks ? filled - 8 * i : 8 * (filled - i);
        const char *blank = blocks ? rest : "-";
        const char *full = blocks ? eighth[(left < 8 ? left > 0 ? left : 1 : 8) - 1] : "#";
        strcat(out, left > 0 ? full : blank);
    }
    return out;
}
