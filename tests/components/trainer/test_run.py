from pairloom.components.trainer.run import drop_other_checkpoints


def test_a_finished_training_drops_the_weights_of_others_and_keeps_their_logs(tmp_path):
    for name in ("old", "new"):
        for part in ("last", "best", "tensorboard"):
            (tmp_path / name / part).mkdir(parents=True)
            (tmp_path / name / part / "file").touch()
    drop_other_checkpoints(str(tmp_path / "new"))
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*"))
    assert left == ["new/best", "new/last", "new/tensorboard", "old/tensorboard"]
