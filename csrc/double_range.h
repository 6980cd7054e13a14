/* Whether a JSON number is past the range of IEEE doubles: from half a unit above the largest, 2^1024 - 2^970, reading
 * rounds to infinity. Decided on the digits, so that no locale and no library's strtod has a say. */
#ifndef STRATADIFF_DOUBLE_RANGE_H
#define STRATADIFF_DOUBLE_RANGE_H
#include <stdint.h>

static const char FIRST_INFINITE[] =
    "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070"
    "9633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447"
    "5730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904"
    "174497792";

/* [p, end) is a number by the grammar of RFC 8259. */
static inline int past_double_range(const uint8_t *p, const uint8_t *end) {
    const uint8_t *q, *digits = 0;
    int64_t exponent = 0, power = 0;
    int negative = 0, seen_point = 0, k = 0;
    if (*p == '-') p++;
    /* `power`: where the first digit that counts stands, 0 for the units. */
    for (q = p; q < end && (*q | 0x20) != 'e'; q++) {
        if (*q == '.') {
            seen_point = 1;
        } else if (digits) {
            power += !seen_point;
        } else if (*q != '0') {
            digits = q;
            if (seen_point) power -= 1;
        } else if (seen_point) {
            power -= 1;
        }
    }
    if (!digits) return 0;
    if (q < end) {
        q++;
        if (*q == '+' || *q == '-') negative = *q++ == '-';
        for (; q < end; q++)
            if (exponent < 1000000000000) exponent = 10 * exponent + (*q - '0');
        if (negative) exponent = -exponent;
    }
    power += exponent;
    if (power != 308) return power > 308;
    for (q = digits; q < end && (*q | 0x20) != 'e'; q++) {
        if (*q == '.') continue;
        if (k == 309) return 1;
        if (*q != (uint8_t)FIRST_INFINITE[k]) return *q > (uint8_t)FIRST_INFINITE[k];
        k++;
    }
    /* Equal so far: what is missing are zeros. */
    for (; k < 309; k++)
        if (FIRST_INFINITE[k] != '0') return 0;
    return 1;
}
#endif
