"""Bars are as long as their values, and nothing that is there is invisible."""

from holdfast.views.plots import lying, room, standing


def test_a_lying_bar_is_as_long_as_its_share():
    assert "████" == lying(10, 10, 4)
    assert "██" == lying(5, 10, 4)
    assert "▏" == lying(0.001, 10, 4)
    assert "" == lying(0, 10, 4)
    assert ("####", "#", "") == tuple(lying(v, 10, 4, plain=True) for v in (10, 0.1, 0))


def test_standing_bars_fill_from_the_bottom():
    top, bottom = standing([1, 0, 2], 2)
    assert "██" == top.strip() and top.index("█") == 6
    assert bottom == "██    ██"


def test_standing_bars_fit_the_room_they_are_said_to_take():
    for count in (1, 7, 14, 15, 30, 45, 46, 66):
        lines = standing([1.0] * count, 3)
        assert max(len(line) for line in lines) <= room(count) <= 90
    for count, within in ((30, 46), (30, 66), (7, 7)):
        lines = standing([1.0] * count, 3, within=within)
        assert max(len(line) for line in lines) <= room(count, within=within) <= within
    assert all(set(line) <= set("#. ") for line in standing([1, 2, 3], 4, plain=True))
