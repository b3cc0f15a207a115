"""Our files, read by the packages that people will read them with, and theirs read by us."""

import json
import math
import os
import subprocess

import pytest

np = pytest.importorskip("numpy")
safetensors_numpy = pytest.importorskip("safetensors.numpy")
event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")

SAMPLE = os.environ["PENSTOCK_STORE_SAMPLE"]


def sample(verb, path, check=True):
    return subprocess.run([SAMPLE, verb, str(path)], check=check, capture_output=True, text=True)


def scalars(run, tag):
    accumulator = event_accumulator.EventAccumulator(str(run))
    accumulator.Reload()
    return [(event.step, event.value) for event in accumulator.Scalars(tag)]


def event_files(run):
    return sorted(run.glob("events.out.tfevents.*"))


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "run"
    sample("start", path)
    return path


def test_safetensors_reads_our_file(run):
    tensors = safetensors_numpy.load_file(run / "ckpt/300/model.safetensors")
    floats = np.array([0, 1, 2, 3, 4, 0.1], np.float32)
    expected = {
        "bytes": np.array([1, 2, 255], np.uint8),
        "flags": np.array([True, False]),
        "floats": floats.reshape(2, 3),
        "scalar": np.array(0.1),
        "ints": np.array([[-1], [7]], np.int32),
        "long": np.array([-(2**63)], np.int64),
        "none": np.zeros((0, 4), np.float32),
        'net.é"\n': floats,
    }
    assert tensors.keys() == expected.keys()
    for name, value in expected.items():
        assert tensors[name].dtype == value.dtype
        assert tensors[name].shape == value.shape
        assert np.array_equal(tensors[name], value)


def test_our_data_starts_aligned(run):
    data = (run / "ckpt/300/model.safetensors").read_bytes()
    assert (8 + int.from_bytes(data[:8], "little")) % 64 == 0


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "bool"])
def test_we_read_their_file(tmp_path, dtype):
    tensors = {
        "b.weight": np.arange(6).reshape(2, 3).astype(dtype),
        "a": np.array(1).astype(dtype),
        "none": np.zeros((3, 0), dtype),
        "é": np.ones(5).astype(dtype),
    }
    safetensors_numpy.save_file(tensors, tmp_path / "x.safetensors", metadata={"k": "v"})
    lines = [json.loads(line) for line in sample("tensors", tmp_path / "x.safetensors").stdout.splitlines()]
    assert {line["name"] for line in lines} == tensors.keys()
    for line in lines:
        value = tensors[line["name"]]
        assert tuple(line["shape"]) == value.shape
        assert bytes.fromhex(line["hex"]) == value.tobytes()


def test_a_foreign_dtype_is_refused_by_name(tmp_path):
    safetensors_numpy.save_file({"half": np.zeros(2, np.float16)}, tmp_path / "x.safetensors")
    result = sample("tensors", tmp_path / "x.safetensors", check=False)
    assert result.returncode == 65
    assert "tensor 'half': dtype F16 is not one of F32, F64, I32, I64, U8, BOOL" in result.stderr


def test_tensorboard_reads_our_events(run):
    assert scalars(run, "rollout/ep_rew_mean") == [(s, s) for s in (100, 200, 300, 400, 500)]
    losses = dict(scalars(run, "train/loss"))
    assert losses[100] == 0.5
    assert math.isnan(losses[300])


def test_after_a_rewind_the_later_steps_are_gone(run):
    sample("resume", run)
    assert len(event_files(run)) == 2
    assert scalars(run, "rollout/ep_rew_mean") == [(100, 100), (200, 200), (300, 300), (400, 400.25)]
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [100, 200, 300, 400]
    assert lines[-1]["rollout/ep_rew_mean"] == 400.25
    assert lines[2]["train/loss"] is None


def test_a_record_torn_by_a_kill_does_not_stop_tensorboard(run):
    (first,) = event_files(run)
    first.write_bytes(first.read_bytes()[:-7])
    sample("resume", run)
    assert [step for step, _ in scalars(run, "rollout/ep_rew_mean")] == [100, 200, 300, 400]


def test_the_manifest_is_json_with_true_sizes(run):
    folder = run / "ckpt/300"
    manifest = json.loads((folder / "MANIFEST.json").read_text())
    assert manifest["schema"] == 1
    assert manifest["endianness"] == "little"
    assert manifest["step"] == 300
    for name, file in manifest["files"].items():
        assert (folder / name).stat().st_size == file["size"]
    tensors = safetensors_numpy.load_file(folder / "model.safetensors")
    assert manifest["tensors"]["model.safetensors"].keys() == tensors.keys()
