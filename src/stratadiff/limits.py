"""Every documented limit: its name, its value, and why it is there.

None of these depends on the machine. A result that a limit changed says so.
"""

MAX_DIFF_BYTES = 5_000_000
"""Larger side of an output that is still diffed; above it the kind is ``not diffed`` (textdiff §5.2)."""

MAX_CHANGED_LINES = 200_000
"""Lines of both middles together that are still diffed (textdiff §9.1)."""

MAX_EDIT_DISTANCE = 5_000
"""Edit distance up to which ``myers`` is exact; beyond it unique lines anchor the script (textdiff §9.3)."""

MAX_PAIR_WORDS = 2_000
"""Combined word tokens of a changed line pair whose words are marked one by one (textdiff §8.3)."""

MAX_PAIR_CHARS = 20_000
"""Combined characters of a changed line pair whose words are marked one by one (textdiff §8.3)."""

SHOWN_WINDOW = 2_000
"""Characters of a long line that are shown (textdiff §8.2)."""

WINDOW_LEAD = 40
"""Characters shown before the point of interest in a long line (textdiff §8.2)."""

DEFAULT_CONTEXT = 3
"""Unchanged lines around each change."""

DEFAULT_MAX_LINES = 200
"""Lines shown per output before it is cut."""

MAX_JSON_DEPTH = 512
"""Open containers in a JSON text; deeper text does not parse (textdiff §6, verification §6)."""

MAX_JSON_LINES_BYTES = 64 * 1024 * 1024
"""Canonical lines of a JSON output; indentation can make them 512 times the text. Above it the output is
compared as text."""

MAX_LINKED_MANIFEST_BYTES = 64 * 1024 * 1024
"""Size of a manifest looked at while searching a linked run (comparison §6)."""

MAX_LINKED_MANIFEST_DEPTH = 16
"""Nesting of a manifest looked at while searching a linked run (comparison §6)."""

MAX_BUFFER_BYTES = 2**31 - 2
"""Size of one text given to the line kernels: offsets are int32."""

MAX_YAML_BYTES = 16 * 1024 * 1024
"""Size of a configuration file, YAML or JSON: a policy of the most rules is a tenth of it."""

MAX_YAML_NODES = 500_000
"""Values in a YAML file, those an alias stands for counted each time: ten lines of aliases can stand for a
billion."""

MAX_YAML_DEPTH = 64
"""Nesting of a configuration file, YAML or JSON, aliases resolved."""

MAX_POLICY_RULES = 10_000
"""Rules of one policy: each is run over every turn of both traces."""

MAX_TRACE_LINE_BYTES = 16 * 1024 * 1024
"""Size of one line of a trace, its end included (agentlog §5)."""

MAX_TRACE_BYTES = 1024 * 1024 * 1024
"""Size of a trace, after decompression (agentlog §5)."""

MAX_TRACE_DEPTH = 127
"""Open containers in a record, itself counted (agentlog §5); also in a text that counts as JSON."""

MAX_TRACE_DIAGNOSTICS = 10_000
"""Remarks, or breaches of the format, that are listed of one trace; further ones are counted."""

MAX_VALUE_DEPTH = 500
"""Nesting of a value in records given as Python objects; a deeper one is refused."""

MAX_BLOCK_CELLS = 1 << 28
"""Cells of the alignment of two turns' content blocks, after equal ones at the end (levels §4.1)."""

MAX_TURN_CELLS = 1 << 28
"""Cells of the alignment of two traces' turns, inside the band (levels §3.2): 260,000 turns a side, or 16,384
against 32,768. Equal traces of any size need none."""

MAX_CALL_CELLS = 1 << 34
"""Cells of the edit distance of two turns' tool calls, after equal ones at both ends: 131,072 by 131,072."""

MAX_BUNDLE_MANIFEST_BYTES = 16 * 1024 * 1024
"""Size of the manifest of a comparison bundle (bundles §2)."""

MAX_BUNDLE_MANIFEST_DEPTH = 127
"""Open containers in it, itself counted (bundles §2); the format has three."""

MAX_BUNDLE_MESSAGE_BYTES = 1_024
"""Size of the message of a failed result in a bundle; writers cut a longer one (bundles §2, §4)."""

MAX_BUNDLE_FINDINGS = 10_000
"""Broken rules that are listed of one bundle: a manifest of 16 MiB can break millions."""
