"""Token counts of responses that are Python dictionaries (agentlog §3, levels §5).

Beside `value_ids` the one kernel that reads objects: columns of counts come of it at about the cost of finding each
`usage` once.
"""

from cpython.array cimport array, resize
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF
from libc.math cimport isfinite

from buffers cimport clone, int64_t

cdef extern from "object_access.h":
    PyObject *held_member(PyObject *container, PyObject *key)
    PyObject *held_item(PyObject *container, Py_ssize_t at)

cdef extern from "Python.h":
    bint PyDict_Check(PyObject *)
    bint PyLong_CheckExact(PyObject *)
    bint PyLong_Check(PyObject *)
    bint PyBool_Check(PyObject *)
    bint PyFloat_Check(PyObject *)
    bint PyUnicode_CheckExact(PyObject *)
    bint PyUnicode_Check(PyObject *)
    double PyFloat_AS_DOUBLE(PyObject *)
    long long PyLong_AsLongLongAndOverflow(PyObject *, int *)
    double PyLong_AsDouble(PyObject *)
    object PyLong_FromDouble(double)
    int PyUnicode_CompareWithASCIIString(PyObject *, const char *)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *)
    PyObject *PyErr_Occurred()
    void PyErr_Clear()

cdef array INT64 = array("q")

cdef str KIND = "kind"
cdef str PAYLOAD = "payload"
cdef str USAGE = "usage"
cdef str INPUT = "input_tokens"
cdef str OUTPUT = "output_tokens"
cdef str THINKING = "thinking_tokens"

cdef enum Found:
    ABSENT = 0
    COUNT = 1
    ODD = 2                 # a number that no int64 holds


cdef struct Columns:
    int64_t *counts[3]
    Py_ssize_t absent[3]
    Py_ssize_t size


cdef bint is_past_doubles(PyObject *number):
    # An integer that no file could hold: reading refuses numbers past the double range.
    if PyLong_AsDouble(number) == -1.0 and PyErr_Occurred() != NULL:
        PyErr_Clear()
        return True
    return False


cdef Found count_of(PyObject *value, int64_t *count):
    cdef int overflow = 0
    cdef double number
    if value == NULL:
        return ABSENT
    if PyLong_CheckExact(value) or (PyLong_Check(value) and not PyBool_Check(value)):
        count[0] = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow == 0:
            return COUNT
        return ABSENT if is_past_doubles(value) else ODD
    if PyFloat_Check(value):
        number = PyFloat_AS_DOUBLE(value)
        if -9223372036854775808.0 <= number < 9223372036854775808.0:
            count[0] = <int64_t> number
            return COUNT
        return ODD if isfinite(number) else ABSENT
    return ABSENT


cdef int read_member(Columns *columns, int dimension, PyObject *usage, str name, list odd) except -1:
    cdef PyObject *value = NULL
    cdef int64_t count = 0
    cdef Found found
    if usage != NULL:
        value = held_member(usage, <PyObject *> name)
        if value == NULL and PyErr_Occurred() != NULL:
            return -1
    try:
        found = count_of(value, &count)
        if found != COUNT:
            count = 0
            if found == ABSENT:
                columns.absent[dimension] += 1
            elif PyFloat_Check(value):
                odd.append((columns.size, dimension, PyLong_FromDouble(PyFloat_AS_DOUBLE(value))))
            else:
                odd.append((columns.size, dimension, int.__add__(<object> value, 0)))
        columns.counts[dimension][columns.size] = count
    finally:
        Py_XDECREF(value)
    return 0


cdef int read_payload(Columns *columns, PyObject *payload, list odd) except -1:
    cdef PyObject *usage = NULL
    cdef PyObject *found = NULL
    if payload != NULL and PyDict_Check(payload):
        found = held_member(payload, <PyObject *> USAGE)
        if found == NULL and PyErr_Occurred() != NULL:
            return -1
        if found != NULL and PyDict_Check(found):
            usage = found
    try:
        read_member(columns, 0, usage, INPUT, odd)
        read_member(columns, 1, usage, OUTPUT, odd)
        read_member(columns, 2, usage, THINKING, odd)
        columns.size += 1
    finally:
        Py_XDECREF(found)
    return 0


cdef int is_response(PyObject *record) except -1:
    cdef PyObject *kind
    cdef bint found
    if not PyDict_Check(record):
        raise ValueError("records must be dictionaries")
    kind = held_member(record, <PyObject *> KIND)
    if kind == NULL:
        return -1 if PyErr_Occurred() != NULL else 0
    found = (
        PyUnicode_Check(kind) and PyUnicode_GET_LENGTH(kind) == 13
        and PyUnicode_CompareWithASCIIString(kind, "chat_response") == 0
    )
    Py_XDECREF(kind)
    return found


cdef int read_record(Columns *columns, PyObject *record, list odd) except -1:
    cdef PyObject *payload
    if not is_response(record):
        return 0
    payload = held_member(record, <PyObject *> PAYLOAD)
    if payload == NULL and PyErr_Occurred() != NULL:
        return -1
    try:
        read_payload(columns, payload, odd)
    finally:
        Py_XDECREF(payload)
    return 0


cdef tuple read_all(list items, bint are_records):
    cdef Columns columns
    cdef Py_ssize_t at, size = len(items)
    cdef PyObject *item
    cdef list odd = []
    cdef array first = clone(INT64, size, False)
    cdef array second = clone(INT64, size, False)
    cdef array third = clone(INT64, size, False)
    columns.counts[0] = <int64_t *> first.data.as_longlongs
    columns.counts[1] = <int64_t *> second.data.as_longlongs
    columns.counts[2] = <int64_t *> third.data.as_longlongs
    columns.absent[0] = columns.absent[1] = columns.absent[2] = 0
    columns.size = 0
    for at in range(size):
        item = held_item(<PyObject *> items, at)
        if item == NULL:        # a key's own comparison made the list shorter
            break
        try:
            if are_records:
                read_record(&columns, item, odd)
            else:
                read_payload(&columns, item, odd)
        finally:
            Py_XDECREF(item)
    if columns.size < size:
        resize(first, columns.size)
        resize(second, columns.size)
        resize(third, columns.size)
    return first, second, third, (columns.absent[0], columns.absent[1], columns.absent[2]), odd


def columns(object records, /):
    """Return the token counts of every response among records, one column per dimension *(agentlog §3, levels §5)*.

    Parameters
    ----------
    records : list of dict
        Only those whose ``kind`` is ``chat_response`` are looked at. A tuple or another iterable is copied first.

    Returns
    -------
    input, output, thinking : array.array of int64, shape (m,)
        The counts of response 0, 1, ..., truncated toward zero; 0 where absent or listed in `odd`.
    absent : (int, int, int)
        Responses without such a number: no number at all, a boolean, or one that is not finite or past the range of doubles.
    odd : list of (int, int, int)
        Response, dimension (0 to 2) and exact value of every count that int64 cannot hold, in order.

    Raises
    ------
    ValueError
        If a record is no dictionary.

    Notes
    -----
    One pass. The records are not modified.
    """
    return read_all(records if type(records) is list else list(records), True)


def of_payloads(object payloads, /):
    """Return the token counts of response payloads: as :func:`columns`, every payload a response.

    Parameters
    ----------
    payloads : list
        Of any values; one that is no dictionary has no counts.
    """
    return read_all(payloads if type(payloads) is list else list(payloads), False)
