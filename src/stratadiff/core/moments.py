"""RFC 3339 timestamps, compared exactly."""

from __future__ import annotations

_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def instant(text: object) -> tuple[int, str] | None:
    """Return a timestamp's place in time, None when it is no RFC 3339 timestamp with ``Z`` or ``±hh:mm``.

    Returns
    -------
    tuple of int and str
        Seconds since the epoch, and the digits of the fraction without trailing zeros: pairs order as the
        moments do, with every digit counted. Leap seconds are not recognised.
    """
    if not isinstance(text, str) or not text.isascii() or len(text) < 20:
        return None
    date, clock = text[:10], text[11:19]
    if date[4] + date[7] + text[10].upper() + clock[2] + clock[5] != "--T::":
        return None
    numbers = (date[:4], date[5:7], date[8:], clock[:2], clock[3:5], clock[6:])
    if not all(number.isdigit() for number in numbers):
        return None
    year, month, day, hour, minute, second = (int(number) for number in numbers)
    rest = text[19:]
    fraction = ""
    if rest[0] == ".":
        zone = rest[1:].lstrip("0123456789")
        fraction = rest[1 : len(rest) - len(zone)]
        if not fraction:
            return None
        rest = zone
    if not (1 <= month <= 12 and hour <= 23 and minute <= 59 and second <= 59):
        return None
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= day <= _MONTH_DAYS[month - 1] + (leap and month == 2):
        return None
    offset = 0
    if rest not in ("Z", "z"):
        if len(rest) != 6 or rest[0] not in "+-" or rest[3] != ":":
            return None
        if not (rest[1:3].isdigit() and rest[4:].isdigit()) or rest[1:3] > "23" or rest[4:] > "59":
            return None
        offset = (int(rest[1:3]) * 60 + int(rest[4:])) * (60 if rest[0] == "+" else -60)
    # Days since 1970-01-01 in the Gregorian calendar, years counted from March.
    shifted = year - (month <= 2)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    days = shifted * 365 + shifted // 4 - shifted // 100 + shifted // 400 + day_of_year - 719468
    return days * 86400 + hour * 3600 + minute * 60 + second - offset, fraction.rstrip("0")
