/* One unit of a text at a time: a code point of valid UTF-8, or one byte that is part of none.
 * "Valid" is what Python's strict decoder accepts: no overlong forms, nothing above U+10FFFF, and surrogates only where the
 * caller says that the text may hold them (the canonical form of JSON keeps lone surrogates as three bytes). */
#ifndef STRATADIFF_UTF8_H
#define STRATADIFF_UTF8_H
#include <stdint.h>

#define UTF8_UNDECODABLE 0x80000000u

static inline int is_continuation(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/* Length of the unit at p (p < end); *unit is its code point, or the byte with UTF8_UNDECODABLE set. */
static inline int utf8_unit(const uint8_t *p, const uint8_t *end, int surrogates, uint32_t *unit) {
    const uint32_t lead = p[0];
    if (lead < 0x80) {
        *unit = lead;
        return 1;
    }
    if (lead >= 0xC2 && lead < 0xE0) {
        if (end - p >= 2 && is_continuation(p[1])) {
            *unit = (lead & 0x1F) << 6 | (p[1] & 0x3F);
            return 2;
        }
    } else if (lead >= 0xE0 && lead < 0xF0) {
        if (end - p >= 3 && is_continuation(p[1]) && is_continuation(p[2])) {
            const uint32_t value = (lead & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
            if (value >= 0x800 && (surrogates || (value & 0xF800) != 0xD800)) {
                *unit = value;
                return 3;
            }
        }
    } else if (lead >= 0xF0 && lead < 0xF5) {
        if (end - p >= 4 && is_continuation(p[1]) && is_continuation(p[2]) && is_continuation(p[3])) {
            const uint32_t value = (lead & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 | (uint32_t)(p[2] & 0x3F) << 6
                                   | (p[3] & 0x3F);
            if (value >= 0x10000 && value <= 0x10FFFF) {
                *unit = value;
                return 4;
            }
        }
    }
    *unit = UTF8_UNDECODABLE | lead;
    return 1;
}

/* The last unit boundary of text [begin, end) that is not after `at`. */
static inline const uint8_t *unit_boundary(const uint8_t *begin, const uint8_t *at, const uint8_t *end, int surrogates) {
    uint32_t unit;
    int back;
    for (back = 1; back <= 3 && at - back >= begin; back++) {
        const uint8_t *lead = at - back;
        if (is_continuation(*lead)) continue;
        return utf8_unit(lead, end, surrogates, &unit) > back ? lead : at;
    }
    return at;
}

/* How many units a text has. */
static inline int32_t count_units(const uint8_t *p, const uint8_t *end, int surrogates) {
    int32_t count = 0;
    uint32_t unit;
    while (p < end) {
        p += *p < 0x80 ? 1 : utf8_unit(p, end, surrogates, &unit);
        count++;
    }
    return count;
}

/* Where the unit number `count` of a text starts. */
static inline const uint8_t *skip_units(const uint8_t *p, const uint8_t *end, int32_t count, int surrogates) {
    uint32_t unit;
    while (count-- > 0 && p < end) p += *p < 0x80 ? 1 : utf8_unit(p, end, surrogates, &unit);
    return p;
}
#endif
