import numpy as np

from pairloom.models.embedding import make_embedding


def test_rows_start_with_a_length_of_about_one():
    table = make_embedding(500, 64)
    table.build()
    lengths = np.linalg.norm(table.embeddings, axis=1)
    assert 0.9 < lengths.mean() < 1.1
