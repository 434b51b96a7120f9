from tests.insight.compare.build import RULES, asked

from headstart.insight.asked.asked import Asked
from headstart.insight.compare.recent import Recent


def test_a_request_is_compared_with_the_one_it_has_most_in_common_with() -> None:
    recent = Recent()
    other = asked(("system", "You translate. " * 40), ("user", "Bonjour"))
    mine = asked(("system", f"It is 09:14.\n{RULES}"), ("user", "Hello"))
    for each in (mine, other):
        recent.add(each)
    now = asked(("system", f"It is 09:15.\n{RULES}"), ("user", "Hello"))
    best = recent.earlier(now)[0]
    assert best.asked is mine
    assert best.read == len("It is 09:1")
    assert best.common >= len(RULES)


def test_of_as_much_in_common_the_latest_is_taken() -> None:
    recent = Recent()
    said = [asked(("system", RULES), ("user", f"Question {n}")) for n in range(9)]
    for each in said:
        recent.add(each)
    assert recent.earlier(asked(("system", RULES), ("user", "X")))[0].asked is said[-1]


def test_the_oldest_are_forgotten_whole() -> None:
    recent = Recent(most=2)
    said: list[Asked] = [asked(("system", f"{n} {RULES}"), session=str(n)) for n in range(5)]
    for each in said:
        recent.add(each)
    kept = {id(each.asked) for each in recent.earlier(asked(("system", f"9 {RULES}")))}
    assert kept == {id(said[3]), id(said[4])}
    assert not recent.earlier(asked(("user", "nothing of the kind")))
