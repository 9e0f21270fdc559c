"""Cells of lines as the columns of a table."""

from io import BytesIO

import polars as pl


def read_cells(
    text: str, separator: str, width: int, *, first: int = 1, quoted: bool = False
) -> pl.DataFrame:
    r"""The cells of lines as columns `0`, `1`, …, with one more than a line should have.

    A cell is null where it is empty, and where a line does not have it.

    Args:
        text: the lines.
        separator: what is between cells.
        width: the number of cells that a line should have.
        first: the number of the first line.
        quoted: whether cells may be in double quotes, and then have line breaks.

    Returns:
        A row per line with its number as `record`; of a row of several lines, the first one.

    Examples:
        >>> read_cells('a,"b\n1"\n\nc,d,e\n', ",", 2, quoted=True).rows()
        [('a', 'b\n1', None, 1), (None, None, None, 3), ('c', 'd', 'e', 4)]
    """
    names = [str(at) for at in range(width + 1)]
    if not text.strip("\n"):
        table = pl.DataFrame(schema=dict.fromkeys(names, pl.String)).clear(len(text))
    else:
        table = pl.read_csv(
            BytesIO(f"{separator.join(names)}\n{text}".encode()),
            separator=separator,
            quote_char='"' if quoted else None,
            infer_schema=False,
            truncate_ragged_lines=True,
        )
    record = pl.int_range(first, first + pl.len(), dtype=pl.Int64)
    if quoted:
        breaks = pl.sum_horizontal(pl.col(names).str.count_matches("\n").fill_null(0))
        record += breaks.cast(pl.Int64).cum_sum().shift(1, fill_value=0)
        table = table.with_columns(record=record)
        return table.with_columns(pl.col(names).replace("", None))
    return table.with_columns(record=record)
