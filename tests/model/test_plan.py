"""The plan of a step against the plainest statement of what a row reads: its context, once."""

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from headstart.model.plan import SHORT_RUN, Rows, Run, Segment, plan_attention


@st.composite
def steps(draw: st.DrawFn) -> tuple[list[Rows], int]:
    """Sequences of a step that share full leading blocks with earlier ones, and the block size.

    Fresh blocks come from a list in which some are out of order, so that tables have long runs and
    short ones, as in a pool that has been in use. New tokens never lie in a shared block.
    """
    rng = random.Random(draw(st.integers(0, 10**6)))
    size = draw(st.sampled_from([1, 4, 16]))
    free = list(range(200))
    for _ in range(draw(st.sampled_from([0, 5, 100]))):
        at = rng.randrange(len(free) - 1)
        free[at], free[at + 1] = free[at + 1], free[at]
    sequences: list[Rows] = []
    first = 0
    for _ in range(draw(st.integers(1, 6))):
        shared: list[int] = []
        if sequences:
            parent = rng.choice(sequences)
            shared = list(parent.blocks[: rng.randint(0, parent.context // size)])
        start = len(shared) * size + rng.randint(0, 12 * size)
        count = rng.choice([1, 1, 2, 3 * size])
        missing = -(-(start + count) // size) - len(shared)
        table = shared + [free.pop(0) for _ in range(missing)]
        sequences.append(Rows(first, count, start, table))
        first += count
    return sequences, size


def slots_of(segment: Segment) -> list[int]:
    runs = segment.runs + segment.packed
    return [slot for run in runs for slot in range(run.slot, run.slot + run.length)]


def context_slots(rows: Rows, size: int) -> list[int]:
    """Where the context of a sequence's rows lies, by the definition of a block table.

    A lone row reads its own position too; several read what lies before them, and one another
    under the causal mask.
    """
    context = rows.start + (rows.count == 1)
    return [rows.blocks[at // size] * size + at % size for at in range(context)]


@given(steps())
def test_every_row_reads_each_slot_of_its_context_once_and_no_other(
    step: tuple[list[Rows], int],
) -> None:
    sequences, size = step
    plan = plan_attention(sequences, size)
    read: dict[int, Counter[int]] = {}
    for segment in plan.segments:
        for row in segment.rows:
            read.setdefault(row, Counter()).update(slots_of(segment))
    for rows in sequences:
        expected = Counter(context_slots(rows, size))
        for row in range(rows.first, rows.first + rows.count):
            assert read.pop(row, Counter()) == expected
    assert not read


@given(steps())
def test_shared_blocks_are_read_once_for_all_who_share_them(step: tuple[list[Rows], int]) -> None:
    sequences, size = step
    plan = plan_attention(sequences, size)
    slots = [slot for segment in plan.segments for slot in slots_of(segment)]
    assert len(slots) == len(set(slots))


@given(steps())
def test_long_runs_are_read_in_place_and_only_short_ones_are_packed(
    step: tuple[list[Rows], int],
) -> None:
    sequences, size = step
    for segment in plan_attention(sequences, size).segments:
        assert segment.rows == tuple(sorted(set(segment.rows)))
        assert all(run.length > 0 for run in segment.runs + segment.packed)
        assert sum(run.length < SHORT_RUN for run in segment.runs) <= 1
        assert all(run.length < SHORT_RUN for run in segment.packed)
        assert len(segment.packed) != 1, "a single run needs no packing"
        assert not (segment.packed and any(run.length < SHORT_RUN for run in segment.runs))


@given(steps())
def test_whole_gives_one_segment_a_sequence_in_order_of_position(
    step: tuple[list[Rows], int],
) -> None:
    sequences, size = step
    segments = plan_attention(sequences, size, whole=True).segments
    readers = [rows for rows in sequences if context_slots(rows, size)]
    assert len(segments) == len(readers)
    for segment, rows in zip(segments, readers, strict=True):
        assert segment.rows == tuple(range(rows.first, rows.first + rows.count))
        assert slots_of(segment) == context_slots(rows, size)


@given(steps())
def test_only_sequences_with_several_new_tokens_have_a_causal_part(
    step: tuple[list[Rows], int],
) -> None:
    sequences, size = step
    several = tuple((rows.first, rows.count) for rows in sequences if rows.count > 1)
    assert plan_attention(sequences, size).causal == several


def test_the_last_run_ends_where_the_context_ends_within_its_block() -> None:
    table = [5, 6, 7, 8, 9, 20]  # block 20 holds positions 80 to 95
    assert plan_attention([Rows(0, 1, 84, table)], 16).segments == (
        Segment((0,), (Run(5 * 16, 80), Run(20 * 16, 5))),
    )
    assert plan_attention([Rows(0, 2, 84, table)], 16, whole=True).segments == (
        Segment((0, 1), (), packed=(Run(5 * 16, 80), Run(20 * 16, 4))),
    )


def test_a_context_that_fills_its_last_block_has_no_empty_run() -> None:
    assert plan_attention([Rows(0, 1, 31, [3, 4])], 16).segments == (Segment((0,), (Run(48, 32),)),)


def test_the_first_tokens_of_a_sequence_read_nothing_from_the_pool() -> None:
    plan = plan_attention([Rows(0, 5, 0, [3])], 16)
    assert plan.segments == ()
    assert plan.causal == ((0, 5),)


def test_sequences_that_share_in_part_are_split_where_they_part() -> None:
    common, half = [0, 1, 2, 3], [10, 11, 12, 13]
    sequences = [
        Rows(0, 1, 16 * 9 - 1, [*common, *half, 30]),
        Rows(1, 1, 16 * 9 - 1, [*common, *half, 31]),
        Rows(2, 1, 16 * 5 - 1, [*common, 32]),
    ]
    assert plan_attention(sequences, 16).segments == (
        Segment((0, 1, 2), (Run(0, 64),)),
        Segment((0, 1), (Run(160, 64),)),
        Segment((0,), (Run(480, 16),)),
        Segment((1,), (Run(496, 16),)),
        Segment((2,), (Run(512, 16),)),
    )


def test_a_whole_plan_does_not_depend_on_what_else_is_in_the_step() -> None:
    one, other = Rows(0, 4, 32, [3, 4, 9]), Rows(4, 1, 40, [3, 4, 7])
    together = plan_attention([one, other], 16, whole=True).segments
    assert together[:1] == plan_attention([one], 16, whole=True).segments
    assert together[1:] == plan_attention([other], 16, whole=True).segments
