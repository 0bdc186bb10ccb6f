"""Tests of the check of links in scripts/book, on pages made here."""

import pathlib
import tempfile
import unittest

from loaded import load

book = load("book")


class Links(unittest.TestCase):
    def broken(self, **pages):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve()
            for page, text in pages.items():
                path = folder / f"{page.replace('_', '/')}.html"
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return book.broken(folder)

    def test_pages_anchors_and_pictures_are_followed(self):
        there = '<h1 id="top">T</h1><a href="a/b.html#here"></a><a href="#top"></a><a href="https://example.org/x"></a>'
        self.assertEqual(self.broken(index=there, a_b='<p id="here"></p><a href="../index.html"></a><a href="../a/"></a>', a_index=""), [])

    def test_what_leads_nowhere_is_named(self):
        self.assertEqual(self.broken(index='<a href="none.html"></a>'), ["index.html: none.html"])
        self.assertEqual(self.broken(index='<a href="#none"></a>'), ["index.html: #none"])
        self.assertEqual(self.broken(index='<a href="b.html#none"></a>', b=""), ["index.html: b.html#none"])
        self.assertEqual(self.broken(index='<img src="none.png">'), ["index.html: none.png"])

    def test_nothing_outside_of_the_book_is_there(self):
        self.assertEqual(self.broken(a_b='<a href="../../../../../etc/hostname"></a>'), ["a/b.html: ../../../../../etc/hostname"])

    def test_pages_that_mdbook_makes_for_itself_are_left_out(self):
        text = '<a href="none.html"></a>'
        self.assertEqual(self.broken(**{"404": text, "print": text, "index": ""}), [])


if __name__ == "__main__":
    unittest.main()
