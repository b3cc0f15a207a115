"""The lint of deploy/ can fail: the files themselves, with one thing changed in each."""
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import deploy  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]

# (file, what is there, what is put in its place, what is said)
CHANGES = [
    ("kubernetes/seeds.yaml", "completionMode: Indexed", "completionMode: 7", "7 is not"),
    ("kubernetes/seeds.yaml", "parallelism:", "paralellism:", "'paralellism' was unexpected"),
    ("kubernetes/seeds.yaml", "  backoffLimitPerIndex: 3\n", "", "FailIndex without backoffLimitPerIndex"),
    ("kubernetes/seeds.yaml", "action: FailIndex", "action: FailSeed", "unknown action FailSeed"),
    ("kubernetes/seeds.yaml", "restartPolicy: Never", "restartPolicy: OnFailure", "wants restartPolicy: Never"),
    ("kubernetes/seeds.yaml", "[64, 65, 78]", "[78, 64]", "in order"),
    ("kubernetes/seeds.yaml", "- name: penstock\n", "- name: other\n", "no container penstock"),
    ("kubernetes/seeds.yaml", "claimName: penstock-runs", "claimName: runs", "no claim runs"),
    ("kubernetes/seeds.yaml", "          fi\n", "", "end of file"),
    ("kubernetes/jobset.yaml", "RestartJobSetAndIgnoreMaxRestarts", "Restart", "'Restart' is not one of"),
    ("kubernetes/jobset.yaml", "[PodFailurePolicy]", "[ExitCode]", "'ExitCode' is not one of"),
    ("kubernetes/jobset.yaml", "maxRestarts: 3", "restarts: 3", "'restarts' was unexpected"),
    ("kubernetes/jobset.yaml", "containerName: penstock", "container: penstock", "'container' was unexpected"),
    ("kubernetes/jobset.yaml", "completions: 4", "completions: 2", "one number"),
    ("kubernetes/jobset.yaml", "  name: penstock\nspec:\n  # A", "  name: other\nspec:\n  # A", "MASTER_ADDR is not rank 0: other-rank-0-0.other"),
    ("kubernetes/jobset.yaml", "kind: NetworkPolicy", "kind: NetworkRule", "find schema for kind NetworkRule"),
    ("kubernetes/jobset.yaml", "policyTypes:", "types:", "'types' was unexpected"),
    ("kubernetes/runs.yaml", "accessModes: [ReadWriteMany]", "accessModes: ReadWriteMany", "is not of type"),
    ("slurm/train.sbatch", "esac", "", "syntax error"),
]


def faults_with(file, old, new):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "deploy", pathlib.Path(folder) / "deploy")
        path = pathlib.Path(folder) / "deploy" / file
        text = path.read_text()
        assert old in text, (file, old)
        path.write_text(text.replace(old, new, 1))
        return deploy.faults(pathlib.Path(folder))


def main():
    for file, old, new, said in CHANGES:
        found = faults_with(file, old, new)
        assert any(said in fault for fault in found), (file, old, new, found)
    print(f"deploy.py finds {len(CHANGES)} faults")


if __name__ == "__main__":
    main()
