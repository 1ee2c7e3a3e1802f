"""PDF as it is written by hand, and such as nobody should read."""

import zlib


def write_pdf(*pages: str) -> bytes:
    """Write a PDF with a line of text on each page."""
    streams = [f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET".encode() for text in pages]
    return _write([(stream, "") for stream in streams])


def write_bomb(mebibytes: int) -> bytes:
    """Write a small PDF whose page is so large when it is unpacked: it draws one text again and again."""
    packer = zlib.compressobj(9)
    line = b"BT /F1 24 Tf 72 700 Td (bomb) Tj ET\n" * 29127
    packed = b"".join(packer.compress(line) for _ in range(mebibytes)) + packer.flush()
    return _write([(packed, "/Filter /FlateDecode ")])


def _write(streams: list[tuple[bytes, str]]) -> bytes:
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(streams)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, (stream, how) in enumerate(streams):
        box = "/MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {box} /Contents {5 + 2 * number} 0 R >>".encode())
        objects.append(f"<< {how}/Length {len(stream)} >>\nstream\n".encode() + stream + b"\nendstream")
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()
