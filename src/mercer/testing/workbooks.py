"""Small Excel files, written by hand, to try the reader of spreadsheets on."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def workbook(sheets: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    """An .xlsx file with these rows on sheets of these names; cells are text, numbers or booleans."""
    numbers = range(1, len(sheets) + 1)
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_CONTENT}.worksheet+xml"/>' for n in numbers
    )
    names = "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="s{n}"/>' for n, name in enumerate(sheets, 1))
    links = "".join(
        f'<Relationship Id="s{n}" Type="{_RELATION}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n in numbers
    )
    members = {
        "[Content_Types].xml": (
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_CONTENT}.sheet.main+xml"/>{types}</Types>'
        ),
        "_rels/.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r" '
            f'Type="{_RELATION}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
        ),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATION}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>',
    }
    for number, rows in enumerate(sheets.values(), 1):
        body = "".join(f"<row r='{n}'>{''.join(map(_cell, row))}</row>" for n, row in enumerate(rows, 1))
        sheet = f'<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData></worksheet>'
        members[f"xl/worksheets/sheet{number}.xml"] = sheet
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return stream.getvalue()


def opendocument(repeated: int = 1) -> bytes:
    """An .ods file with the columns `mass` and `kind` and twenty rows, the last of which is there so many times."""
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    rows = [("mass", "kind"), *((number * number % 7, "ab"[number % 2]) for number in range(20))]
    body = ""
    for number, row in enumerate(rows, 1):
        cells = "".join(
            f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>' for value in row
        )
        times = repeated if number == len(rows) else 1
        body += f'<table:table-row table:number-rows-repeated="{times}">{cells}</table:table-row>'
    text = (
        f'<office:document-content{spaces}><office:body><office:spreadsheet><table:table table:name="sheet">{body}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet", zipfile.ZIP_STORED)
        archive.writestr("content.xml", text)
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
    return stream.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value}</v></c>"
    text = escape(value.isoformat() if hasattr(value, "isoformat") else str(value))
    return f'<c t="inlineStr"><is><t>{text}</t></is></c>' if text else "<c/>"
