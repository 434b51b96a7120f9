from headstart.cache import Visit
from headstart.stores.reports import MOST, Report, Reports


def test_reports_come_in_order_and_once() -> None:
    reports = Reports()
    for stamp in range(3):
        reports.add(Report([], 0, stamp, Visit()))
    assert [report.stamp for report in reports.take()] == [0, 1, 2]
    assert list(reports.take()) == []


def test_a_store_that_never_listens_is_told_the_latest_only() -> None:
    reports = Reports()
    for stamp in range(MOST + 5):
        reports.add(Report([], 0, stamp, Visit()))
    assert next(reports.take()).stamp == 5
