from pairloom.components.report.placing import place_report, write_report


def test_a_report_is_copied_over_the_last_one_and_leaves_nothing_beside_it(tmp_path):
    place = tmp_path / "report" / "index.html"
    for page in ("first ☂", "second"):
        write_report(str(tmp_path / page), page)
        place_report(str(tmp_path / page), str(place))
        assert place.read_text("utf-8") == page
    assert list(place.parent.iterdir()) == [place]
