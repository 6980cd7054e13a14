"""The exit codes of ``stratadiff`` and what each one means.

A script can tell *different* from *could not say* from *broken*: the first five codes are the comparison's
own envelopes, everything above them means that no verdict was delivered. Traces have no envelope: comparing
them succeeds, whatever the differences, unless ``--fail-on`` says which count.

====  ====================================================================================================
code  meaning
====  ====================================================================================================
0     identical; for traces, compared; for ``verify``, it verifies; for ``demo``, written and shown
1     diverged; for traces, ``--fail-on`` is met; for ``verify``, a check failed
2     not comparable, or the command line is wrong; for traces, also a trace, pricing, policy or scores that
      cannot be used, or a trace and a run; for ``verify``, not verified or not readable
3     refused: a run does not verify, so nothing of it was compared
4     could not check: a run cannot be loaded, or a boundary hides what would decide
70    a defect of stratadiff; please report the line it prints
74    the result could not be written: disk full, or standard output closed or failing
130   interrupted (Ctrl-C)
141   the reader of standard output went away (``stratadiff diff … | head``); nothing is printed about it
====  ====================================================================================================
"""

from __future__ import annotations

IDENTICAL = 0
DIVERGED = 1
NOT_COMPARABLE = 2
USAGE = 2
REFUSED = 3
COULD_NOT_CHECK = 4
INTERNAL = 70
"""A defect: as EX_SOFTWARE of sysexits.h."""
NOT_WRITTEN = 74
"""The result could not be written: as EX_IOERR of sysexits.h."""
INTERRUPTED = 130
"""128 + SIGINT, as a shell reports it."""
PIPE_CLOSED = 141
"""128 + SIGPIPE, as a shell reports a writer that was stopped by its reader."""
