"""Skips are failures where CI=true is set, but for what no script of ours can bring."""
import os
import pathlib
import subprocess
import sys
import tempfile

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
SUITE = '''
import pytest

def test_passes():
    pass

@pytest.mark.xfail
def test_xfails():
    assert False
'''
REFUSED = ["pytest.importorskip('no_such_package')", "pytest.skip('no tool')"]
ALLOWED = ["pytest.skip('needs chromium')", "pytest.skip('PENSTOCK_TEST_FLEET=60 asks for it')"]


def suite(skips):
    """With each of them in a test and in a fixture."""
    return SUITE + "".join(f"\ndef test_skips_{i}():\n    {skip}\n\n@pytest.fixture\ndef it_{i}():\n    {skip}\n\ndef test_of_{i}(it_{i}):\n    pass\n"
                           for i, skip in enumerate(skips))


def said(folder, text, ci):
    (folder / "conftest.py").write_text(f"import sys\nsys.path.insert(0, {str(SUPPORT)!r})\n"
                                        "from skips import pytest_make_collect_report, pytest_runtest_makereport\n")
    (folder / "test_it.py").write_text(text)
    environment = os.environ | {"CI": ci, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder], env=environment, capture_output=True, text=True)
    return done.stdout.splitlines()[-1]


CASES = [(suite(REFUSED), "true", "2 failed, 1 passed, 1 xfailed, 2 errors"), (suite(REFUSED), "", "1 passed, 4 skipped, 1 xfailed"),
         (suite(ALLOWED), "true", "1 passed, 4 skipped, 1 xfailed"), (SUITE + REFUSED[0] + "\n", "true", "1 error")]


def main():
    with tempfile.TemporaryDirectory() as name:
        for text, ci, wanted in CASES:
            assert said(pathlib.Path(name), text, ci).startswith(wanted), (wanted, said(pathlib.Path(name), text, ci))
    print(f"skips: {len(CASES)} suites as they should be")


if __name__ == "__main__":
    main()
