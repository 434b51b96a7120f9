from headstart.stores.load import Load, Loaded


def loaded(index: int) -> Loaded:
    return Loaded(index, memoryview(b"kv"), "disk")


def ready(*indices: int, promised: int) -> Load:
    load = Load(10.0, lambda: None)
    load.promised = promised
    for index in indices:
        assert load.add(loaded(index))
    load.end()
    return load


def test_it_is_pending_until_it_ends_or_its_time_is_up() -> None:
    load = Load(10.0, lambda: None)
    assert load.pending(9.9)
    assert not load.pending(10.0)
    load.end()
    assert not load.pending(9.9)


def test_a_deadline_brought_forward_holds_at_once() -> None:
    load = Load(10.0, lambda: None)
    load.deadline = 3.0
    assert not load.pending(3.0)


def test_whoever_waits_is_told_once_when_nothing_more_will_come() -> None:
    told: list[bool] = []
    load = Load(10.0, lambda: told.append(load.pending(0.0)))
    load.add(loaded(0))
    assert told == []
    load.end()
    assert told == [False]


def test_all_that_came_is_taken_in_order_and_once() -> None:
    load = ready(0, 1, 2, promised=3)
    chunks, short = load.take()
    assert ([each.index for each in chunks], short) == ([0, 1, 2], False)
    assert load.take() == ([], False)


def test_less_than_was_promised_is_told() -> None:
    assert ready(0, promised=2).take()[1]


def test_taken_before_its_end_it_keeps_what_has_come_and_takes_no_more() -> None:
    load = Load(10.0, lambda: None)
    load.promised = 2
    load.add(loaded(0))
    chunks, short = load.take()
    assert ([each.index for each in chunks], short) == ([0], True)
    assert not load.wanted()
    assert not load.add(loaded(1))
    load.end()
    assert load.take()[0] == []


def test_taken_before_anybody_has_looked_it_falls_short_of_no_promise() -> None:
    load = Load(10.0, lambda: None)
    assert load.take() == ([], False)
    load.promised = 2
    load.end()
    assert not load.add(loaded(0))
