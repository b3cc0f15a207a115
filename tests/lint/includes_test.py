"""The include lint can fail: each kind of fault, in a tree of its own."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import includes  # noqa: E402


def faults_of(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return includes.faults(root)


class Includes(unittest.TestCase):
    def test_arrows_along_the_dag_are_fine(self):
        self.assertEqual([], faults_of({
            "include/penstock/nn/policy.h":
                '#pragma once\n#include <ATen/core/Tensor.h>\n#include "penstock/env/spec.h"\n',
            "src/nn/policy.cpp":
                '#include "penstock/nn/policy.h"\n#include <torch/torch.h>\n#include "nn/heads.h"\n',
            "src/store/run_dir.cpp": '#include <filesystem>\n#include "penstock/base/errors.h"\n',
            "src/main.cpp": '#include "penstock/catalog/catalog.h"\n#include "penstock/cli/cli.h"\n',
        }))

    def check_one(self, path, line, why):
        found = faults_of({path: "#pragma once\n" + line + "\n"})
        self.assertEqual(1, len(found), found)
        self.assertTrue(found[0].startswith(f"{path}:2: "), found)
        self.assertIn(why, found[0])

    def test_an_arrow_against_the_dag(self):
        self.check_one("src/env/x.cpp", '#include "penstock/nn/policy.h"', "env may not include nn")
        self.check_one("src/base/x.cpp", '#include <penstock/env/env.h>', "may not include env")
        self.check_one("src/cli/x.cpp", '  #  include "penstock/classic/a.h"', "include classic")
        self.check_one("src/cli/x.cpp", '#include "penstock/catalog/a.h"', "include catalog")
        self.check_one("src/store/x.cpp", '#include "penstock/env/a.h"', "include env")
        self.check_one("src/algo/x.cpp", '#include "penstock/store/a.h"', "include store")

    def test_nobody_includes_cli(self):
        for module in sorted(set(includes.DAG) - {"cli", "main"}):
            self.check_one(f"src/{module}/x.cpp", '#include "penstock/cli/cli.h"', "include cli")

    def test_torch_on_the_torch_free_side(self):
        self.check_one("src/store/x.cpp", "#include <torch/torch.h>", "torch-free")
        self.check_one("include/penstock/env/x.h", "#include <ATen/core/Tensor.h>", "torch-free")
        self.check_one("src/classic/x.cpp", "#include <c10/util/Half.h>", "torch-free")

    def test_heavy_torch_in_a_public_header(self):
        self.check_one("include/penstock/nn/x.h", "#include <torch/torch.h>", "public header")
        self.check_one("include/penstock/algo/x.h", "#include <c10/util/Half.h>", "public header")

    def test_a_private_header_of_another_module(self):
        self.check_one("src/algo/x.cpp", '#include "nn/heads.h"', "a private header of nn")

    def test_unknown_modules(self):
        self.check_one("src/env/x.cpp", '#include "penstock/zzz/a.h"', "no module 'zzz'")
        self.check_one("src/env/x.cpp", '#include "penstock/a.h"', "no module")
        found = faults_of({"src/zzz/x.cpp": ""})
        self.assertEqual(1, len(found))
        self.assertIn("no module 'zzz'", found[0])

    def test_the_table_has_no_cycle_and_is_closed(self):
        for module, allowed in includes.DAG.items():
            for target in allowed - {"main"}:
                self.assertNotIn(module, includes.DAG[target])
                if module != "main":
                    self.assertLessEqual(includes.DAG[target], allowed)


if __name__ == "__main__":
    unittest.main()
