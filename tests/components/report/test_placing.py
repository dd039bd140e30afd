from concurrent.futures import ThreadPoolExecutor

from pairloom.components.report.placing import place_report, write_report


def test_a_report_is_copied_over_the_last_one_and_leaves_nothing_beside_it(tmp_path):
    place = tmp_path / "report" / "index.html"
    for page in ("first ☂", "second"):
        write_report(str(tmp_path / page), page)
        place_report(str(tmp_path / page), str(place))
        assert place.read_text("utf-8") == page
    assert list(place.parent.iterdir()) == [place]


def test_reports_that_are_copied_at_once_are_each_whole(tmp_path):
    place = tmp_path / "report" / "index.html"
    pages = {str(tmp_path / f"{number}"): f"{number}" * 2_000_000 for number in range(4)}
    for folder, page in pages.items():
        write_report(folder, page)

    def copy_often(folder):
        for _ in range(20):
            place_report(folder, str(place))
            assert place.read_text("utf-8") in pages.values()

    with ThreadPoolExecutor(len(pages)) as workers:
        list(workers.map(copy_often, pages))
    assert list(place.parent.iterdir()) == [place]
