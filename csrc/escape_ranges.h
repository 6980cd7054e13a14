/* What is escaped in displayed text: Unicode 15.0 categories Cc, Cf, Zl and Zp as the onetrace-textdiff/0.3 format lists them,
 * in its order, and the surrogates. The backslash is the caller's affair. Never follows the Unicode version of the host. */
#ifndef STRATADIFF_ESCAPE_RANGES_H
#define STRATADIFF_ESCAPE_RANGES_H
#include <stdint.h>

static const uint32_t ESCAPE_RANGES[][2] = {
    {0x0000, 0x001F}, {0x007F, 0x009F}, {0x00AD, 0x00AD}, {0x0600, 0x0605}, {0x061C, 0x061C}, {0x06DD, 0x06DD},
    {0x070F, 0x070F}, {0x0890, 0x0891}, {0x08E2, 0x08E2}, {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E},
    {0x2060, 0x2064}, {0x2066, 0x206F}, {0xD800, 0xDFFF}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0x110BD, 0x110BD},
    {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0001, 0xE0001},
    {0xE0020, 0xE007F},
};

static inline int is_escaped(uint32_t code_point) {
    const int count = (int)(sizeof ESCAPE_RANGES / sizeof ESCAPE_RANGES[0]);
    int k;
    if (code_point >= 0x20 && code_point < 0x7F) return 0;
    for (k = 0; k < count && ESCAPE_RANGES[k][0] <= code_point; k++)
        if (code_point <= ESCAPE_RANGES[k][1]) return 1;
    return 0;
}

/* Whether some character whose UTF-8 form starts with this byte is escaped; bytes that start none are 1 too. Derived from the
 * table above (tests/kernels/test_escape.py holds them together). */
static inline int lead_may_escape(uint8_t lead) {
    switch (lead) {
    case 0xC2: case 0xD8: case 0xDB: case 0xDC: case 0xE0: case 0xE1: case 0xE2: case 0xED: case 0xEF: case 0xF0: case 0xF3:
        return 1;
    default:
        return lead < 0x20 || lead == 0x7F || (lead >= 0x80 && lead < 0xC2) || lead > 0xF4;
    }
}
#endif
