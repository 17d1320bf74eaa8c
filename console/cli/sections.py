"""Sections of a report as text for the terminal."""

from console.cli.output import Output, terminal_width
from console.insight.report import Section, footnotes


def show_section(output: Output, section: Section) -> None:
    """Write a section's table, then its sentences; without a table, each sentence begins with the title."""
    if section.rows:
        _show_table(output, section)
        if more := section.left_out():
            output.text(more, "faint")
    lead = "" if section.rows or section.is_fault else f"{section.title.lower()}: "
    style = "bad" if section.is_fault else "faint" if section.rows else "warning"
    for line in section.lines:
        output.prose(lead + line, style)


def _show_table(output: Output, section: Section) -> None:
    """Write the rows with their notes; if these do not fit, names get a `*`, and the notes follow the table."""
    shown = section.shown()
    if not any(row.note for row in shown):
        output.rows(section.headings, [row.indented for row in shown], right=section.right)
        return
    rows = [(*row.indented, row.note) for row in shown]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    fits = sum(widths) + 2 * len(widths) <= terminal_width()
    if fits:
        output.rows((*section.headings, ""), rows, right=section.right)
        return
    marked = [(f"{name} *" if note else name, *cells) for name, *cells, note in rows]
    output.rows(section.headings, marked, right=section.right)
    for note, names in footnotes(shown):
        output.prose(f"* {note} ({names})", "faint")
