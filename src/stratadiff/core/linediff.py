"""Two sequences of ids, or two texts' lines, to an edit script."""

from __future__ import annotations

from array import array

from stratadiff._kernels import myers
from stratadiff._kernels.intern import intern_lines
from stratadiff.errors import UsageError
from stratadiff.limits import MAX_EDIT_DISTANCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from stratadiff._kernels._buffer import Ints
    from stratadiff.core.lines import Lines

ALGORITHMS = ("myers", "gestalt")
"""The line diffs there are: the exact one, and the one that agrees with the published tools byte for byte."""

TAGS = ("equal", "delete", "insert", "replace")
"""Names of the opcode tags 0 to 3."""


def check_algorithm(algorithm: str) -> None:
    """Raise :class:`~stratadiff.errors.UsageError` unless `algorithm` is one of :data:`ALGORITHMS`."""
    if algorithm not in ALGORITHMS:
        raise UsageError(f"unknown algorithm {algorithm!r}: use one of {', '.join(ALGORITHMS)}")


class EditScript:
    """How one sequence becomes another: opcodes ``(tag, i1, i2, j1, j2)``, half-open, covering both.

    Iterating yields them as tuples with the tag's name, as :mod:`difflib` does.

    Examples
    --------
    >>> import stratadiff
    >>> script = stratadiff.edit_script([1, 2, 3], [1, 3, 4])
    >>> list(script)
    [('equal', 0, 1, 0, 1), ('delete', 1, 2, 1, 1), ('equal', 2, 3, 1, 2), ('insert', 3, 3, 2, 3)]
    >>> script.distance
    2
    """

    __slots__ = ("_ops",)

    def __init__(self, ops: array[int]) -> None:
        self._ops = ops

    def __len__(self) -> int:
        return len(self._ops) // 5

    def __iter__(self) -> Iterator[tuple[str, int, int, int, int]]:
        ops = self._ops
        for k in range(0, len(ops), 5):
            yield TAGS[ops[k]], ops[k + 1], ops[k + 2], ops[k + 3], ops[k + 4]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EditScript) and self._ops == other._ops

    def __hash__(self) -> int:
        return hash(self._ops.tobytes())

    def __repr__(self) -> str:
        return f"EditScript({list(self)!r})"

    @property
    def distance(self) -> int:
        """Deletions plus insertions."""
        ops = self._ops
        return sum(
            ops[k + 2] - ops[k + 1] + ops[k + 4] - ops[k + 3] for k in range(0, len(ops), 5) if ops[k] != 0
        )

    def as_array(self) -> npt.NDArray[np.int32]:
        """Return the opcodes as an int32 array of shape (k, 5), sharing memory; tags as numbers, see
        :data:`TAGS`.
        """
        import numpy as np

        return np.frombuffer(self._ops, dtype=np.int32).reshape(-1, 5)

    def apply(self, baseline: Sequence[Any], candidate: Sequence[Any]) -> list[Any]:
        """Return the candidate rebuilt: equal elements taken from `baseline`, inserted ones from
        `candidate`.
        """
        result: list[Any] = []
        for tag, i1, i2, j1, j2 in self:
            result.extend(baseline[i1:i2] if tag == "equal" else candidate[j1:j2])
        return result


def as_ids(values: Ints | Sequence[int], name: str) -> Ints:
    """Return a value as an int32 buffer: as it is if it is one, else copied; raise UsageError if it cannot
    be one.
    """
    if isinstance(values, (list, tuple, range)):
        try:
            return array("i", values)
        except (TypeError, OverflowError) as error:
            raise UsageError(f"{name} must hold integers that fit int32: {error}") from None
    return values  # type: ignore[return-value]


def edit_script(
    a: Ints | Sequence[int],
    b: Ints | Sequence[int],
    *,
    algorithm: str = "myers",
    max_distance: int = MAX_EDIT_DISTANCE,
) -> EditScript:
    """Return the edit script of two sequences of int32 ids.

    Parameters
    ----------
    a, b : int32 buffer (array.array, numpy array, memoryview) or sequence of int, shapes (n,) and (m,)
        Baseline and candidate. Any values; equal values are equal elements.
    algorithm : {"myers", "gestalt"}, default "myers"
        ``myers`` is minimal up to `max_distance` and unique; ``gestalt`` is
        :class:`difflib.SequenceMatcher`'s script, with its popular elements dropped only when both sides
        together have more than 2,000.
    max_distance : int, default 5000
        Bound of ``myers`` on the edit distance, elements without a partner not counted; past it elements that
        are unique on both sides anchor the script.

    Returns
    -------
    EditScript

    Raises
    ------
    UsageError
        If the algorithm is unknown or an argument cannot be read as int32.

    Notes
    -----
    ``myers``: time O((n + m) min(D, max_distance)), memory linear plus at most 16 MB *(Myers 1986; textdiff
    §9.3)*. ``gestalt``: cubic in the worst case *(Ratcliff and Metzener 1988; textdiff §9.2)*.

    Examples
    --------
    >>> import stratadiff
    >>> stratadiff.edit_script([7, 8, 9], [7, 9]).as_array().tolist()
    [[0, 0, 1, 0, 1], [1, 1, 2, 1, 1], [0, 2, 3, 1, 2]]
    """
    check_algorithm(algorithm)
    a, b = as_ids(a, "a"), as_ids(b, "b")
    try:
        if algorithm == "gestalt":
            from stratadiff._kernels import gestalt

            return EditScript(gestalt.edit_script(a, b))
        return EditScript(myers.edit_script(a, b, max_distance))
    except (TypeError, ValueError) as error:
        raise UsageError(f"cannot compare: {error}") from None


class LineScript:
    """The edit script of two texts' lines, with the ids it was made from.

    Attributes
    ----------
    ops : array of int32, shape (5 * k,), or None
        The opcodes; None when there are more changed lines than the limit given.
    a_ids, b_ids : array of int32
    middle_count : int
        Lines of both sides between the common head and the common tail.
    """

    __slots__ = ("a_ids", "b_ids", "middle_count", "ops")

    def __init__(
        self, ops: array[int] | None, a_ids: array[int], b_ids: array[int], middle_count: int
    ) -> None:
        self.ops = ops
        self.a_ids = a_ids
        self.b_ids = b_ids
        self.middle_count = middle_count


def diff_lines(a: Lines, b: Lines, *, algorithm: str, context: int, max_changed_lines: int) -> LineScript:
    """Return the edit script of two texts' lines *(textdiff §9.1 to §9.3)*.

    Parameters
    ----------
    a, b : Lines
        Baseline and candidate.
    algorithm : {"myers", "gestalt"}
    context : int
        Unchanged lines around changes; they take part in the matching of ``gestalt`` and of nothing else.
    max_changed_lines : int
        More lines between the common ends than this are not diffed.

    Returns
    -------
    LineScript
    """
    a_ids, b_ids, _ = intern_lines(a.data, a.starts, a.strip_cr, b.data, b.starts, b.strip_cr)
    head, tail = myers.common_ends(a_ids, b_ids)
    middle_count = len(a_ids) + len(b_ids) - 2 * (head + tail)
    if middle_count > max_changed_lines:
        return LineScript(None, a_ids, b_ids, middle_count)
    if algorithm == "gestalt":
        from stratadiff._kernels import gestalt

        first = head - min(context, head)
        last = tail - min(context, tail)
        ops = gestalt.edit_script(a_ids[first : len(a_ids) - last], b_ids[first : len(b_ids) - last])
        ops = myers.split_replaces_at(ops, a_ids, b_ids, first, first)
    else:
        ops = myers.edit_script(a_ids, b_ids, MAX_EDIT_DISTANCE)
    return LineScript(ops, a_ids, b_ids, middle_count)
