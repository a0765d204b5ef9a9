#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the report in a real browser. Run it from the project's folder:

    tests/browser/report_test.py TESSERA [--screenshots DIR]
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

from browser import ENTER, Browser

HOSTILE = "</script><img src=x onerror=owned=1>&amp;\"'`${1}"

settings = argparse.Namespace()


def plan(network, profile, report, *more):
    command = [settings.tessera, "plan", str(network), "--hw", str(profile),
               "--output", str(report), *more]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class ReportTest(unittest.TestCase):
    """A network with a branch on a machine with banks and modes: the page draws everything."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        cls.report = folder / "report.html"
        cls.hostile = folder / "hostile.html"
        cls.off_chip = folder / "off_chip.html"
        plan("examples/networks/mobilenet_v2.yaml", "hw_profiles/ethos_u65_256.yaml", cls.report)
        small = folder / "small.yaml"
        npu = pathlib.Path("hw_profiles/edge_npu_1mib.yaml").resolve()
        small.write_text(f"extends: {npu}\nschema: 1\nname: small\n"
                         "memories: {sram: {capacity_bytes: 2048}}\n")
        plan("examples/networks/patent_chain.yaml", small, cls.off_chip,
             "--off-chip", "tile-aware", "--no-keep", "--max-operators", "1")
        quoted = HOSTILE.replace("'", "''")
        network = folder / "hostile.yaml"
        network.write_text(
            f"schema: 1\nname: '{quoted}'\ninputs: [{{id: 'x{quoted}', shape: [1, 4, 8, 8]}}]\n"
            f"operators: [{{id: 'a{quoted}', kind: pool, inputs: ['x{quoted}'], kernel: 2, "
            f"stride: 2}}]\n"
        )
        plan(network, "hw_profiles/mcu_320k.yaml", cls.hostile)
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def setUp(self):
        self.browser.open("/dev/null")
        self.browser.complaints()
        self.browser.requests()
        self.browser.open(self.report)

    def text(self, selector):
        return self.browser.run("return document.querySelector(arguments[0]).textContent", selector)

    def count(self, selector):
        return self.browser.run("return document.querySelectorAll(arguments[0]).length", selector)

    def width(self, selector):
        """The greatest width: elements outside the view are not drawn."""
        widths = ("[...document.querySelectorAll(arguments[0])]"
                  ".map((node) => node.getBoundingClientRect().width)")
        return self.browser.run(f"return Math.max(...{widths})", selector)

    def keep(self, name):
        if settings.screenshots:
            self.browser.screenshot(settings.screenshots / f"{name}.png")

    def test_loads_without_a_complaint(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.count("#network .node"), 64)
        self.assertEqual(self.count("#network .box"), self.count("#list .item"))
        self.assertGreater(self.count("#subgraph .buffer rect"), 4)
        self.assertGreater(self.count("#subgraph .activity"), 4)
        self.assertIn("mobilenet_v2 on ethos_u65_256", self.text("h1"))

    def test_asks_no_network(self):
        others = [url for url in self.browser.requests()
                  if not url.startswith(("file://", "data:"))]
        self.assertEqual(others, [])

    def test_resting_on_a_buffer_tells_about_it(self):
        self.browser.run(
            "document.querySelector('#subgraph .map').scrollIntoView({block: 'center'})")
        self.assertEqual(self.count("#tooltip.shown"), 0)
        self.browser.point("#subgraph .buffer rect")
        self.assertEqual(self.count("#tooltip.shown"), 1)
        pointed = self.browser.run("""
            const index = document.querySelector('#subgraph .buffer').dataset.buffer;
            return JSON.parse(document.getElementById('plan').textContent).buffers[index].id;""")
        for part in ("size", "address", "lives", pointed.split("/")[-1]):
            self.assertIn(part, self.text("#tooltip"))
        self.browser.point("h1")
        self.assertEqual(self.count("#tooltip.shown"), 0)

    def test_resting_on_an_operator_and_an_activity_tells_about_them(self):
        self.browser.point("#network .node rect")
        self.assertIn("stem", self.text("#tooltip"))
        self.browser.run(
            "document.querySelector('#subgraph .timeline').scrollIntoView({block: 'center'})")
        self.browser.point("#subgraph .activity rect")
        self.assertIn("cycles", self.text("#tooltip"))

    def test_the_program_shows_all_subgraphs_and_a_click_chooses_one(self):
        self.assertEqual(self.count("#program .span"), self.count("#list .item"))
        self.assertGreater(self.count("#program .activity"), self.count("#subgraph .activity"))
        ends, cycles = self.browser.run("""
            const data = JSON.parse(document.getElementById('plan').textContent);
            const sum = data.timelines.reduce((sum, { cycles }) => sum + cycles, 0);
            return [sum, Number(document.querySelector('#program .faint').textContent
                                  .split('cycles')[0].replace(/[^0-9]/g, ''))];""")
        self.assertEqual(ends, cycles)
        self.browser.run("document.querySelector('#program').scrollIntoView({block: 'center'})")
        self.browser.click("#program .span:nth-child(2) rect")
        self.assertEqual(self.browser.run("return location.hash"), "#s1")
        self.assertEqual(self.count("#program .span.chosen"), 1)
        self.keep("program")

    def test_zooms_by_buttons_and_wheel_and_fits_again(self):
        # The element in the middle stays in view.
        middle = self.browser.run("""
            const centre = (node) => (([box]) => box.left + box.width / 2)(node.getClientRects());
            const wanted = centre(document.querySelector('#subgraph .timeline'));
            const blocks = [...document.querySelectorAll('#subgraph .activity')]
              .filter((block) => block.getClientRects()[0].width > 4);
            blocks.sort((a, b) => Math.abs(centre(a) - wanted) - Math.abs(centre(b) - wanted));
            return blocks[0].dataset.activity;""")
        for figure, thing in (("#network", ".node rect"),
                              ("#subgraph figure:nth-of-type(1)", ".buffer rect"),
                              ("#subgraph figure:nth-of-type(2)",
                               f"[data-activity='{middle}'] rect")):
            with self.subTest(figure):
                first = f"{figure} {thing}"
                before = self.width(first)
                self.browser.click(f"{figure} .zoom button:nth-child(2)")
                larger = self.width(first)
                self.assertGreater(larger, before * 1.3)
                self.browser.wheel(f"{figure} .surface", -200, control=True)
                self.assertGreater(self.width(first), larger)
                self.browser.click(f"{figure} .zoom button:nth-child(3)")
                self.assertAlmostEqual(self.width(first), before, delta=1)

    def test_the_wheel_alone_scrolls_the_page(self):
        before = self.width("#network .node rect")
        self.browser.wheel("#network .surface", 120)
        self.assertEqual(self.width("#network .node rect"), before)

    def test_dragging_moves_what_is_larger_than_its_place(self):
        self.browser.click("#network .zoom button:nth-child(2)")
        place = "return document.querySelector('#network .node rect').getBoundingClientRect().left"
        before = self.browser.run(place)
        self.browser.drag("#network .surface", 80, 0)
        self.assertAlmostEqual(self.browser.run(place) - before, 80, delta=3)

    def test_shows_rejected_alternatives(self):
        table = self.text("#subgraph .rejected")
        self.assertIn("joined with", table)
        self.assertIn("no better", table)
        self.assertIn("cycles", table)

    def test_finds_operators_and_buffers(self):
        self.browser.type("#search input", "block5_add")
        self.assertIn("block5_add", self.text("#found li"))
        self.browser.type("#search input", ENTER)
        self.assertEqual(self.count("#network .node.chosen"), 1)
        self.assertIn("block5_add", self.text("#network .node.chosen"))
        self.assertIn("block5_add", self.text("#subgraph .operators"))
        self.keep("found")

        self.browser.run("document.querySelector('#search input').value = ''")
        self.browser.type("#search input", "s1/")
        self.browser.type("#search input", ENTER)
        self.assertEqual(self.text("#subgraph h2 .index"), "1")
        self.assertEqual(self.count("#subgraph .buffer.chosen"), 1)

    def test_unknown_name_is_not_found(self):
        self.browser.type("#search input", "no such name")
        self.assertIn("nothing has that name", self.text("#found"))

    def test_choosing_a_subgraph_anywhere_shows_it_everywhere(self):
        self.browser.click("#list .item:nth-child(3)")
        self.assertEqual(self.text("#subgraph h2 .index"), "2")
        self.assertEqual(self.count("#network .box.chosen"), 1)
        self.assertTrue(self.browser.run("return location.hash").endswith("s2"))

    def test_is_light_and_dark(self):
        colour = "return getComputedStyle(document.body).backgroundColor"
        self.browser.click("#theme")
        light = self.browser.run(colour)
        self.keep("light")
        self.browser.click("#theme")
        dark = self.browser.run(colour)
        self.keep("dark")
        brightness = [sum(int(part) for part in text[4:-1].split(",")) for text in (light, dark)]
        self.assertGreater(brightness[0], 600)
        self.assertLess(brightness[1], 150)

    def test_no_window_is_too_narrow(self):
        for width in (500, 800, 1366, 1920):
            with self.subTest(width):
                self.browser.resize(width, 800)
                self.browser.open(self.report)
                wide = self.browser.run("const page = document.documentElement;"
                                        "return page.scrollWidth - page.clientWidth")
                self.assertLessEqual(wide, 0)
                self.keep(f"width-{width}")
        self.browser.resize(1366, 768)

    def test_draws_the_chunks_of_tensors_off_chip(self):
        self.browser.open(self.off_chip)
        self.assertEqual(self.browser.complaints(), [])
        self.browser.run("document.querySelector('#off-chip').scrollIntoView({block: 'start'})")
        tensors = self.browser.run("return JSON.parse(document.getElementById('plan')"
                                   ".textContent).homes[0].tensors")
        self.assertEqual(self.count("#off-chip .stay path"), len(tensors))
        self.assertGreater(self.count("#off-chip .shared rect"), 0)
        self.assertIn("A slot is a tile", self.text("#off-chip .caption"))
        self.assertIn("share while both are in use", self.text("#off-chip .legend"))
        finest = max(tensors, key=lambda tensor: len(tensor["chunks"]))["tensor"]
        self.browser.point(f"#off-chip [data-tensor='{finest}'] path")
        for part in ("address", "shares with", "chunks drawn"):
            self.assertIn(part, self.text("#tooltip"))
        before = self.width("#off-chip .stay rect")
        self.browser.click("#off-chip .zoom button:nth-child(2)")
        self.assertGreater(self.width("#off-chip .stay rect"), before * 1.3)
        self.browser.click("#off-chip .zoom button:nth-child(3)")
        self.browser.click("#off-chip .choose:nth-of-type(2)")
        self.assertEqual(self.count("#network .box.chosen"), 1)
        self.keep("off-chip")

    def test_names_are_text_whatever_they_hold(self):
        self.browser.open(self.hostile)
        self.assertEqual(self.browser.complaints(), [])
        self.assertIsNone(self.browser.run("return window.owned ?? null"))
        self.assertEqual(self.count("img"), 0)
        self.assertEqual(self.browser.run("return document.title"), f"{HOSTILE} on mcu_320k")
        self.assertIn("a" + HOSTILE, self.text("#subgraph h2"))
        self.browser.type("#search input", "onerror")
        self.assertIn("a" + HOSTILE, self.text("#found"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tessera")
    parser.add_argument("--screenshots", type=pathlib.Path)
    _, rest = parser.parse_known_args(namespace=settings)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
