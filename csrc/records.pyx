"""Records that are Python dictionaries: which of them are turns, and what stands in the turns (agentlog §3, §6).

As `usage` and `value_ids` it reads objects. What takes the time is to touch every dictionary; the
interpreter's own loop takes two to three times as long as this one.
"""

from cpython.array cimport array
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize

from buffers cimport Ints, int32_t, ints_free, ints_init, ints_push, ints_to_array, uint8_t

cdef array INT32 = array("i")

cdef enum Kind:
    METADATA_KIND = 0
    REQUEST_KIND = 1
    RESPONSE_KIND = 2
    TOOL_CALL_KIND = 3
    OTHER_KIND = 10

METADATA = METADATA_KIND
CHAT_REQUEST = REQUEST_KIND
CHAT_RESPONSE = RESPONSE_KIND
TOOL_CALL = TOOL_CALL_KIND
OTHER = OTHER_KIND


cdef Kind kind_of(object value) except? OTHER_KIND:
    cdef str kind
    if type(value) is not str:
        if not isinstance(value, str):
            return OTHER_KIND
        value = str.__str__(value)
    kind = <str> value
    if kind == "chat_response":
        return RESPONSE_KIND
    if kind == "chat_request":
        return REQUEST_KIND
    if kind == "metadata":
        return METADATA_KIND
    if kind == "tool_call":
        return TOOL_CALL_KIND
    return OTHER_KIND


cdef object as_object(object value):
    return value if isinstance(value, dict) else {}


cdef bint names_trace(dict record) except -1:
    meta = record.get("meta")
    return isinstance(meta, dict) and isinstance((<dict> meta).get("trace_id"), str)


def split(list records, /):
    """Return the turns of a trace and the kind of every record *(agentlog §2, §6)*.

    Parameters
    ----------
    records : list of dict
        In file order. Not modified.

    Returns
    -------
    kinds : bytes
        Per record METADATA, CHAT_REQUEST, CHAT_RESPONSE, TOOL_CALL or OTHER.
    responses : list of dict
        Per turn the payload of its response; a new empty dictionary for one that is no dictionary.
    requests : list of dict or None
        Per turn the payload of the nearest request above it with no response between; None if there is none.
    named : int
        The first record with a string ``meta.trace_id``, -1 if there is none.

    Raises
    ------
    ValueError
        A record is no dictionary. The message is its index.
    """
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t named = -1
    cdef list responses = []
    cdef list requests = []
    cdef object request = None
    cdef Kind kind
    cdef bytes kinds = PyBytes_FromStringAndSize(NULL, len(records))
    cdef uint8_t *out = <uint8_t *> PyBytes_AS_STRING(kinds)
    cdef Py_ssize_t size = len(kinds)
    for item in records:
        if at == size:
            break       # another thread, or a key's own comparison, made the list longer
        if not isinstance(item, dict):
            raise ValueError(at)
        kind = kind_of((<dict> item).get("kind"))
        out[at] = <uint8_t> kind
        if kind == RESPONSE_KIND:
            responses.append(as_object((<dict> item).get("payload")))
            requests.append(request)
            request = None
        elif kind == REQUEST_KIND:
            request = as_object((<dict> item).get("payload"))
        if named < 0 and names_trace(<dict> item):
            named = at
        at += 1
    return kinds[:at], responses, requests, named


cdef str as_text(object value):
    return <str> value if isinstance(value, str) else ""


cdef str joined(list content, list names, list call_ids):
    # The texts of a content joined by LF; its calls are added to the lists. Most responses have one text.
    cdef dict members
    cdef str text = None
    cdef list texts = None
    for block in content:
        if not isinstance(block, dict):
            continue
        members = <dict> block
        kind = members.get("type")
        if not isinstance(kind, str):
            continue
        if <str> kind == "text":
            if text is None:
                text = as_text(members.get("text"))
            elif texts is None:
                texts = [text, as_text(members.get("text"))]
            else:
                texts.append(as_text(members.get("text")))
        elif <str> kind == "tool_use":
            names.append(as_text(members.get("name")))
            if call_ids is not None:
                call_ids.append(as_text(members.get("id")))
    if texts is not None:
        return "\n".join(texts)
    return "" if text is None else text


def contents(list responses, bint with_ids, /):
    """Return the text and the tool calls of every turn *(agentlog §3, §7; levels §6.2)*.

    Parameters
    ----------
    responses : list of dict
        Payloads, as :func:`split` returns them.
    with_ids : bool
        Also return the ids of the calls.

    Returns
    -------
    texts : list of str
        Per turn its texts joined by LF.
    turns : array.array of int32
        Per ``tool_use`` block the turn it stands in.
    names : list of str
        The name of each; ``""`` for what is no string.
    call_ids : list of str or None
        The same of its id.

    Raises
    ------
    ValueError
        A payload is no dictionary.

    Notes
    -----
    Blocks that are no dictionaries are passed over; a content that is a string is the one text of its turn.
    """
    cdef int32_t turn = 0
    cdef Ints turns
    cdef list texts = []
    cdef list names = []
    cdef list call_ids = [] if with_ids else None
    ints_init(&turns)
    try:
        for payload in responses:
            if not isinstance(payload, dict):
                raise ValueError("responses must be dictionaries")
            content = (<dict> payload).get("content")
            if isinstance(content, list):
                texts.append(joined(<list> content, names, call_ids))
                while turns.size < len(names) and not turns.failed:
                    ints_push(&turns, turn)
            else:
                texts.append(as_text(content))
            turn += 1
        if turns.failed:
            raise MemoryError
        return texts, ints_to_array(INT32, turns.items, turns.size), names, call_ids
    finally:
        ints_free(&turns)
