"""The include lint can fail: each kind of fault, in a tree of its own."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import includes  # noqa: E402

GRAPH = """
penstock_module(core/base "errors" DEPENDS Threads::Threads PRIVATE_DEPENDS fmt::fmt)
penstock_module(core/env "envs"
  DEPENDS penstock::base)
penstock_module(core/nn TORCH "policies" DEPENDS penstock::env)
penstock_module(tools/page "pages" DEPENDS penstock::base)
penstock_module(envs/classic APART "classics" DEPENDS penstock::env)
penstock_module(domains/a/sim "a's" DEPENDS penstock::env penstock::page)
penstock_module(domains/a/sim/train TORCH "a's training" DEPENDS penstock::a_sim penstock::nn)
penstock_module(domains/b/sim "b's" DEPENDS penstock::env)
penstock_module(app/cli TORCH "verbs" DEPENDS penstock::a_sim_train penstock::b_sim penstock::classic)
"""


def faults_of(files, graph=GRAPH):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {includes.GRAPH: graph, **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return includes.faults(root) + includes.door_faults(root) + includes.doc_faults(root)


class Includes(unittest.TestCase):
    def test_arrows_along_the_graph_are_fine(self):
        self.assertEqual([], faults_of({
            "include/penstock/core/nn/policy.h":
                '#pragma once\n#include <ATen/core/Tensor.h>\n#include "penstock/core/env/spec.h"\n',
            "src/core/nn/policy.cpp": '#include "penstock/core/nn/policy.h"\n#include <torch/torch.h>\n'
                                      '#include "core/nn/heads.h"\n#include "penstock/core/base/errors.h"\n',
            "src/domains/a/sim/train/x.cpp": '#include "penstock/domains/a/sim/x.h"\n',
            "src/app/main.cpp": '#include "penstock/app/cli/cli.h"\n',
        }))

    def check_one(self, path, line, why, graph=GRAPH):
        found = faults_of({path: "#pragma once\n" + line + "\n"}, graph)
        self.assertEqual(1, len(found), found)
        self.assertTrue(found[0].startswith(f"{path}:2: "), found)
        self.assertIn(why, found[0])

    def test_core_includes_no_other_group(self):
        self.check_one("src/core/env/x.cpp", '#include "penstock/tools/page/a.h"', "core may not include tools")
        self.check_one("src/core/env/x.cpp", '#include "penstock/domains/a/sim/a.h"', "core may not include domains")

    def test_envs_and_domains_include_core_and_tools(self):
        self.check_one("src/envs/classic/x.cpp", '#include "penstock/domains/a/sim/a.h"', "envs may not include")
        self.check_one("src/domains/a/sim/x.cpp", '#include "penstock/envs/classic/a.h"', "domains may not include envs")
        self.check_one("src/domains/a/sim/x.cpp", '#include "penstock/app/cli/a.h"', "domains may not include app")

    def test_domains_do_not_include_each_other(self):
        self.check_one("src/domains/b/sim/x.cpp", '#include "penstock/domains/a/sim/a.h"', "another")

    def test_an_arrow_that_the_graph_lacks(self):
        self.check_one("src/core/env/x.cpp", '#include "penstock/core/nn/policy.h"', "core/env may not include core/nn")
        self.check_one("src/core/base/x.cpp", "  #  include <penstock/core/env/env.h>", "may not include core/env")
        self.check_one("src/domains/a/sim/x.cpp", '#include "penstock/domains/a/sim/train/a.h"', "no such arrow")

    def test_a_graph_that_breaks_the_rules(self):
        found = faults_of({}, GRAPH + 'penstock_module(core/x "x" DEPENDS penstock::page)\n')
        self.assertEqual(1, len(found), found)
        self.assertIn("core may not include tools", found[0])

    def test_a_circle_is_refused(self):
        with self.assertRaises(SystemExit):
            faults_of({}, 'penstock_module(core/a "a" DEPENDS penstock::b)\npenstock_module(core/b "b" DEPENDS penstock::a)')

    def test_torch_on_the_torch_free_side(self):
        self.check_one("src/core/base/x.cpp", "#include <torch/torch.h>", "torch-free")
        self.check_one("include/penstock/core/env/x.h", "#include <ATen/core/Tensor.h>", "torch-free")
        self.check_one("src/envs/classic/x.cpp", "#include <c10/util/Half.h>", "torch-free")

    def test_heavy_torch_in_a_public_header(self):
        self.check_one("include/penstock/core/nn/x.h", "#include <torch/torch.h>", "public header")

    def test_a_private_header_of_another_module(self):
        self.check_one("src/domains/a/sim/train/x.cpp", '#include "core/nn/heads.h"', "a private header of core/nn")

    def test_unknown_modules_and_the_front_door(self):
        self.check_one("src/core/env/x.cpp", '#include "penstock/core/zzz/a.h"', "no module for it")
        self.check_one("src/core/env/x.cpp", '#include "penstock/penstock.h"', "front door")
        found = faults_of({"src/core/zzz/x.cpp": ""})
        self.assertEqual(1, len(found))
        self.assertIn("no module for it", found[0])

    def test_doors_let_no_torch_in(self):
        graph = GRAPH + 'penstock_module(core/act "acts" DEPENDS penstock::env)\n'
        found = faults_of({
            "include/penstock/penstock.h": '#include "penstock/core/nn/policy.h"\n',
            "include/penstock/core/nn/policy.h": '#include "penstock/core/nn/tensor.h"\n',
            "include/penstock/core/nn/tensor.h": "#include <ATen/core/Tensor.h>\n",
        }, graph)
        self.assertEqual(1, len(found), found)
        self.assertIn("include/penstock/core/nn/tensor.h:1: ATen/core/Tensor.h", found[0])

    def test_the_door_of_act_is_for_act_alone(self):
        graph = GRAPH + 'penstock_module(core/act "acts" DEPENDS penstock::env)\n'
        files = {"include/penstock/act.h": '#include "penstock/core/act/actor.h"\n#include "penstock/version.h"\n',
                 "include/penstock/core/act/actor.h": '#include "penstock/core/env/spec.h"\n',
                 "include/penstock/core/env/spec.h": "", "include/penstock/tools/page/page.h": ""}
        self.assertEqual([], faults_of(files, graph))
        files["include/penstock/act.h"] += '#include "penstock/tools/page/page.h"\n'
        found = faults_of(files, graph)
        self.assertEqual(1, len(found), found)
        self.assertIn("includes tools/page", found[0])

    def test_a_page_that_shows_another_graph(self):
        found = faults_of({"docs/architecture.md": "| Module |\n"})
        self.assertEqual(1, len(found))
        self.assertIn("gen-module-docs", found[0])


if __name__ == "__main__":
    unittest.main()
