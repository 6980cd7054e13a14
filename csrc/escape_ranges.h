/* What is escaped in displayed text: Unicode 15.0 categories Cc, Cf, Zl and Zp as the onetrace-textdiff/0.3 format lists them,
 * in its order, and the surrogates. The backslash is the caller's affair. Never follows the Unicode version of the host. */
#ifndef STRATADIFF_ESCAPE_RANGES_H
#define STRATADIFF_ESCAPE_RANGES_H
#include <stdint.h>

#define ESCAPE_RANGE_COUNT 24

static const uint32_t ESCAPE_RANGES[ESCAPE_RANGE_COUNT][2] = {
    {0x0000, 0x001F}, {0x007F, 0x009F}, {0x00AD, 0x00AD}, {0x0600, 0x0605}, {0x061C, 0x061C}, {0x06DD, 0x06DD},
    {0x070F, 0x070F}, {0x0890, 0x0891}, {0x08E2, 0x08E2}, {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E},
    {0x2060, 0x2064}, {0x2066, 0x206F}, {0xD800, 0xDFFF}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0x110BD, 0x110BD},
    {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0001, 0xE0001},
    {0xE0020, 0xE007F},
};

/* The first range that can hold a character of this page (code point >> 8); the number of ranges where none can. */
static inline int first_range_of_page(uint32_t page) {
    switch (page) {
    case 0x00: return 0;
    case 0x06: return 3;
    case 0x07: return 6;
    case 0x08: return 7;
    case 0x18: return 9;
    case 0x20: return 10;
    case 0xFE: return 15;
    case 0xFF: return 16;
    default: return page > 0xFF ? 17 : page >= 0xD8 && page <= 0xDF ? 14 : ESCAPE_RANGE_COUNT;
    }
}

static inline int is_escaped(uint32_t code_point) {
    int k;
    for (k = first_range_of_page(code_point >> 8); k < ESCAPE_RANGE_COUNT && ESCAPE_RANGES[k][0] <= code_point; k++)
        if (code_point <= ESCAPE_RANGES[k][1]) return 1;
    return 0;
}
#endif
