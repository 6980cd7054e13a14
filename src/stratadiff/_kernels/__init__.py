"""Compiled kernels: functions of buffers, one algorithm per module, sources in ``csrc/``.

A kernel takes contiguous, read-only buffers (``bytes``, ``mmap``, ``array.array``, numpy arrays) and
integers, releases the GIL, and returns ``bytes``, integers or ``array.array`` of type ``'i'`` (int32),
``'q'`` (int64) or ``'d'``. Three of them, ``records``, ``usage`` and ``value_ids``, read Python objects
and keep the GIL. It raises only ``ValueError``, ``OverflowError`` and ``MemoryError``.
``numpy.asarray(result)`` shares memory.

============  ==============================================================================
module        what it computes
============  ==============================================================================
line_index    start offset of every line, counts of LF and CR LF
intern        the lines of two sides as dense int32 ids
myers         the exact, unique, minimal edit script of two id sequences, with its bound
gestalt       the matching-block script that agrees with ``difflib`` and the published tools
word_split    word tokens and their ids for changed line pairs
escape        displayed text: escaping, windows of long lines, spans carried through
hunks         edit script to hunks and shown rows; the canonical JSON of hunks
json_scan     strict JSON: validity, depth, duplicates, canonical pretty form
records       records given as dictionaries: which are turns, texts and tool calls of the turns
usage         token counts of responses given as dictionaries, as columns
quantiles     percentiles and totals of counts, the pairs that differ most, medians
bootstrap     resampled medians and means of many columns at once, from a fixed index stream
value_ids     JSON values given as Python objects: equality and dense ids
trace_scan    the lines of a trace: records, their parts, token counts of responses
align         Needleman–Wunsch: content blocks by id, turns by three tables
shingles      shingle sets of texts, and what two have in common
tfidf         cosine similarity of document pairs under TF-IDF weights
============  ==============================================================================
"""
