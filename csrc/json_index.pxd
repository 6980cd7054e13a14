# What the first pass over a JSON text keeps: the containers still open, the members of the open objects, and
# of the closed ones the order of their members where it is not the order of the text.

from libc.string cimport memcmp

from buffers cimport Octets, free, memcpy, octets_free, octets_init, realloc, uint8_t, uint32_t, uint64_t

cdef enum Status:
    FINE = 0
    NOT_UTF8 = 1
    NOT_JSON = 2
    TOO_DEEP = 3
    REPEATED_MEMBER = 4
    BYTE_ORDER_MARK = 5
    TOO_LARGE = 6
    NO_MEMORY = 7

cdef enum:
    # Marks a key whose unescaped bytes stand in `keys` instead of the text; sizes need 31 bits only.
    UNESCAPED = 0x80000000
    # Runs this long are sorted by insertion before they are merged.
    SHORT_RUN = 12


cdef struct Member:
    # A member of an object still open.
    uint64_t prefix         # first bytes of the unescaped key, for a quick comparison
    uint32_t key            # where the unescaped key starts, in the text or in `keys`
    uint32_t key_size       # its bytes, and UNESCAPED
    uint32_t at             # where the member starts in the text: its opening quote
    uint32_t first_object   # number of the first object inside its value


cdef struct Entry:
    # A member of a closed object whose members have to be put in order.
    uint32_t at
    uint32_t first_object


cdef struct Object:
    # One non-empty object; they are numbered in the order they open, so those inside a value are in a row.
    uint32_t first_entry
    uint32_t entry_count    # 0: the keys ascend already
    uint32_t end            # past its closing brace
    uint32_t next_object    # number of the first object after it


cdef struct Frame:
    # A container still open in the first pass.
    Py_ssize_t first_member
    Py_ssize_t keys_size    # size of `keys` when it opened
    uint32_t object_number
    uint8_t closer
    bint ascending


cdef struct Scan:
    const uint8_t *text
    const uint8_t *end
    Status status
    const uint8_t *problem
    Py_ssize_t max_depth
    uint64_t output_size
    Py_ssize_t string_size      # of the string scanned last: bytes its content takes when written
    bint string_escaped         # and whether the text has an escape in it
    bint lone_surrogate         # whether any string so far has an escape of half a surrogate pair
    int number_class            # of the number scanned last
    const uint8_t *repeated     # the first member seen to repeat a key, NULL if none
    Frame *frames
    Py_ssize_t frame_capacity
    Member *members             # of open objects, innermost last
    Py_ssize_t member_count
    Py_ssize_t member_capacity
    Member *spare               # room for merging
    Py_ssize_t spare_capacity
    Octets keys                 # unescaped keys of open objects
    Object *objects
    Py_ssize_t object_count
    Py_ssize_t object_capacity
    Entry *entries
    Py_ssize_t entry_count
    Py_ssize_t entry_capacity


cdef inline void *grown(
    void *items, Py_ssize_t *capacity, Py_ssize_t wanted, size_t item_size
) noexcept nogil:
    # Room for `wanted` items; NULL and nothing changed when memory is out.
    cdef Py_ssize_t new_capacity = wanted if wanted > 2 * capacity[0] else 2 * capacity[0]
    cdef void *result
    if new_capacity < 16:
        new_capacity = 16
    result = realloc(items, <size_t> new_capacity * item_size)
    if result != NULL:
        capacity[0] = new_capacity
    return result


cdef inline const uint8_t *out_of_memory(Scan *s) noexcept nogil:
    s.status = NO_MEMORY
    s.problem = s.text
    return NULL


cdef inline const uint8_t *key_bytes(const Scan *s, const Member *member) noexcept nogil:
    if member.key_size & UNESCAPED:
        return s.keys.items + member.key
    return s.text + member.key


cdef inline int compare_keys(const Scan *s, const Member *x, const Member *y) noexcept nogil:
    cdef uint32_t x_size, y_size
    cdef int order
    if x.prefix != y.prefix:
        return -1 if x.prefix < y.prefix else 1
    x_size = x.key_size & ~<uint32_t> UNESCAPED
    y_size = y.key_size & ~<uint32_t> UNESCAPED
    if x_size > 8 and y_size > 8:
        order = memcmp(key_bytes(s, x) + 8, key_bytes(s, y) + 8, (x_size if x_size < y_size else y_size) - 8)
        if order:
            return order
    # Equal prefixes and a key of at most eight bytes: the longer one goes on, if only with NUL bytes.
    return -1 if x_size < y_size else x_size > y_size


cdef inline bint goes_after(const Scan *s, const Member *x, const Member *y) noexcept nogil:
    # Equal keys stay in the order of the text.
    cdef int order = compare_keys(s, x, y)
    return order > 0 or (order == 0 and x.at > y.at)


cdef inline void sort_short(const Scan *s, Member *items, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t k, to
    cdef Member member
    for k in range(1, count):
        member = items[k]
        to = k
        while to > 0 and goes_after(s, &items[to - 1], &member):
            items[to] = items[to - 1]
            to -= 1
        items[to] = member


cdef inline void merge(const Scan *s, Member *items, Py_ssize_t middle, Py_ssize_t count) noexcept nogil:
    # Two sorted runs become one; the first is set aside, so the write never overtakes the read.
    cdef Py_ssize_t i = 0, j = middle, to = 0
    cdef Member *left = s.spare
    if not goes_after(s, &items[middle - 1], &items[middle]):
        return
    memcpy(left, items, <size_t> middle * sizeof(Member))
    while i < middle and j < count:
        if goes_after(s, &left[i], &items[j]):
            items[to] = items[j]
            j += 1
        else:
            items[to] = left[i]
            i += 1
        to += 1
    memcpy(items + to, left + i, <size_t> (middle - i) * sizeof(Member))


cdef inline bint sort_members(Scan *s, Member *items, Py_ssize_t count) noexcept nogil:
    # Insertion for short runs, then merging from the bottom up: O(n log n) comparisons on any input.
    cdef Py_ssize_t k, width
    cdef Member member
    cdef void *room
    for k in range(1, count):
        if not goes_after(s, &items[k - 1], &items[k]):
            break
    else:
        # Exactly the wrong way round, which merging would take for the worst case.
        for k in range(count // 2):
            member = items[k]
            items[k] = items[count - 1 - k]
            items[count - 1 - k] = member
        return True
    if count <= 2 * SHORT_RUN:
        sort_short(s, items, count)
        return True
    if s.spare_capacity < count:
        room = grown(s.spare, &s.spare_capacity, count, sizeof(Member))
        if room == NULL:
            out_of_memory(s)
            return False
        s.spare = <Member *> room
    k = 0
    while k < count:
        sort_short(s, items + k, SHORT_RUN if count - k > SHORT_RUN else count - k)
        k += SHORT_RUN
    width = SHORT_RUN
    while width < count:
        k = 0
        while k + width < count:
            merge(s, items + k, width, 2 * width if count - k > 2 * width else count - k)
            k += 2 * width
        width *= 2
    return True


cdef inline void note_repeated(Scan *s, const uint8_t *at) noexcept nogil:
    if s.repeated == NULL or at < s.repeated:
        s.repeated = at


cdef inline bint close_object(Scan *s, const Frame *frame, const uint8_t *after) noexcept nogil:
    # Forgets the members, except their order when it is not the order of the text.
    cdef Object *object = &s.objects[frame.object_number]
    cdef Member *items = s.members + frame.first_member
    cdef Py_ssize_t count = s.member_count - frame.first_member, k
    cdef void *room
    object.first_entry = <uint32_t> s.entry_count
    object.entry_count = 0
    object.end = <uint32_t> (after - s.text)
    object.next_object = <uint32_t> s.object_count
    if not frame.ascending:
        if not sort_members(s, items, count):
            return False
        for k in range(1, count):
            if compare_keys(s, &items[k - 1], &items[k]) == 0:
                note_repeated(s, s.text + items[k].at)
        if s.entry_capacity < s.entry_count + count:
            room = grown(s.entries, &s.entry_capacity, s.entry_count + count, sizeof(Entry))
            if room == NULL:
                out_of_memory(s)
                return False
            s.entries = <Entry *> room
        for k in range(count):
            s.entries[s.entry_count + k].at = items[k].at
            s.entries[s.entry_count + k].first_object = items[k].first_object
        s.entry_count += count
        object.entry_count = <uint32_t> count
    s.member_count = frame.first_member
    s.keys.size = frame.keys_size
    return True


cdef inline void scan_init(Scan *s, const uint8_t *text, Py_ssize_t size, Py_ssize_t max_depth) noexcept nogil:
    s.text = text
    s.end = text + size
    s.status = FINE
    s.problem = text
    s.max_depth = max_depth
    s.output_size = 0
    s.lone_surrogate = False
    s.repeated = NULL
    s.frames = NULL
    s.members = NULL
    s.spare = NULL
    s.objects = NULL
    s.entries = NULL
    s.frame_capacity = s.member_capacity = s.spare_capacity = s.object_capacity = s.entry_capacity = 0
    s.member_count = s.object_count = s.entry_count = 0
    octets_init(&s.keys)


cdef inline void scan_free(Scan *s) noexcept nogil:
    # What a second pass does not need; the objects and their entries are the caller's to free.
    free(s.frames)
    free(s.members)
    free(s.spare)
    s.frames = NULL
    s.members = NULL
    s.spare = NULL
    octets_free(&s.keys)
