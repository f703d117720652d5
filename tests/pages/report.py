#!/usr/bin/env python3
"""The report in a page as JSON: report.py PAGE prints it, a line for each row and each tensor with details."""
import base64
import json
import re
import sys
import zlib


def text(page):
    packed, found = re.search(r'<script type="application/json" id=report( data-packed)?>(.*?)</script>', page, re.S).groups()
    return zlib.decompress(base64.b64decode(found)).decode() if packed else found


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(text(file.read()))


def rows(report, table=None):
    """The rows of a table, or of all, as objects by the members that the columns show."""
    return [dict(zip([column[1] for column in view["columns"]], row)) for view in report["views"]
            if view["view"] == "table" and table in (None, view["name"]) for row in view["rows"]]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as page_file:
        print(text(page_file.read()))
