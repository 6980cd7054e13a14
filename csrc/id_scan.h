/* How many ids at the ends of two runs are equal. Four at a time once the first one is; most runs end at once. */
#ifndef STRATADIFF_ID_SCAN_H
#define STRATADIFF_ID_SCAN_H
#include <stdint.h>
#include <string.h>

static inline int32_t equal_tail(const int32_t *a, const int32_t *b, int32_t length) {
    int32_t left = length;
    while (left >= 4) {
        uint64_t a0, a1, b0, b1;
        if (a[left - 1] != b[left - 1]) return length - left;
        memcpy(&a0, a + left - 4, 8);
        memcpy(&a1, a + left - 2, 8);
        memcpy(&b0, b + left - 4, 8);
        memcpy(&b1, b + left - 2, 8);
        if (((a0 ^ b0) | (a1 ^ b1)) != 0) break;
        left -= 4;
    }
    while (left > 0 && a[left - 1] == b[left - 1]) left--;
    return length - left;
}

static inline int32_t equal_head(const int32_t *a, const int32_t *b, int32_t length) {
    int32_t at = 0;
    while (at + 4 <= length) {
        uint64_t a0, a1, b0, b1;
        if (a[at] != b[at]) return at;
        memcpy(&a0, a + at, 8);
        memcpy(&a1, a + at + 2, 8);
        memcpy(&b0, b + at, 8);
        memcpy(&b1, b + at + 2, 8);
        if (((a0 ^ b0) | (a1 ^ b1)) != 0) break;
        at += 4;
    }
    while (at < length && a[at] == b[at]) at++;
    return at;
}
#endif
