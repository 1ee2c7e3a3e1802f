"""Several orders become one, and no file stands in the way of others."""

from sidecall.features.vector_stores.index import find_nearest_vectors, fuse, pack_vector, spread, to_share


def test_scores_are_shares() -> None:
    """In the same order."""
    assert [to_share(score) for score in (-1.0, 0.0, 1.0, 3.0)] == [0.0, 0.0, 0.5, 0.75]


def test_further_pieces_of_one_file_are_worth_less() -> None:
    """So that they stand behind others that are nearly as good, and not behind such as are much worse."""
    scores = {"a1": 0.9, "a2": 0.88, "a3": 0.87, "b1": 0.7, "c1": 0.1}

    assert spread(scores, lambda it: it[0], scores.__getitem__) == ["a1", "a2", "b1", "a3", "c1"]


def test_orders_are_fused_by_ranks() -> None:
    """Each as much as its weight says; what is first in all has 1."""
    assert fuse([(1.0, ["a", "b"]), (1.0, ["a", "c"])]) == {"a": 1.0, "b": 61 / 124, "c": 61 / 124}
    assert fuse([(3.0, ["a", "b"]), (1.0, ["b", "a"])]) == {"a": 3 / 4 + 61 / 248, "b": 183 / 248 + 1 / 4}
    assert fuse([]) == {}


def test_vectors_are_near_by_their_angle() -> None:
    """Those of another length are of another model."""
    vectors = {
        name: pack_vector(it) for name, it in {"x": (9, 0), "y": (0, 1), "xy": (1, 1), "none": (1, 0, 0)}.items()
    }

    assert find_nearest_vectors(pack_vector((1.0, 0.1)), vectors, 2) == ["x", "xy"]
    assert pack_vector((0.0, 0.0)) == bytes(8)
