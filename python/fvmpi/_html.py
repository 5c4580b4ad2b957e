# SPDX-License-Identifier: BSD-3-Clause
"""What notebooks show. Styles stand at the elements, as notebooks take others away; colours are the notebook's own. All
that a run says is escaped: a program chooses its names."""
import html
from typing import Any, Dict, List

ROWS = 20  # of a table
BAR = 160  # pixels of all the time


def element(name: str, content: str, style: str = '', title: str = '') -> str:
    """An element around HTML; title is text."""
    attributes = ' style="{}"'.format(style) if style else ''
    attributes += ' title="{}"'.format(html.escape(title)) if title else ''
    return '<{0}{1}>{2}</{0}>'.format(name, attributes, content)


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def cell(value: Any) -> str:
    """A value as HTML. None is empty: unknown is no zero."""
    if value is None:
        return ''
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    return html.escape('{:.6g}'.format(value) if isinstance(value, float) else str(value))


def aligned(value: Any) -> str:
    return 'text-align:right' if is_number(value) else 'text-align:left'


def table(of: Any) -> str:
    """The first rows of a table."""
    rows = of[:ROWS]
    columns = of.columns
    numeric = [any(is_number(row[column]) for row in rows) for column in columns]
    heads = ''.join(
        element(
            'th',
            html.escape(column + (' [{}]'.format(column.unit) if column.unit not in ('', 'id') else '')),
            'text-align:' + ('right' if right else 'left'),
            column.doc,
        )
        for column, right in zip(columns, numeric)
    )
    body = ''.join(
        element('tr', ''.join(element('td', cell(value), aligned(value)) for value in row.values())) for row in rows
    )
    left = ', the first {} of {} rows'.format(len(rows), len(of)) if len(of) > len(rows) else ''
    notes = ''.join(element('p', html.escape(note)) for note in of.notes)
    return (
        element('p', element('b', html.escape(of.name)) + left + '. ' + html.escape(of.doc))
        + notes
        + element('table', element('thead', element('tr', heads)) + element('tbody', body))
    )


def bar(share: Any) -> str:
    """A bar for a share of the ranks' time, with its number; empty if it is not known."""
    if not is_number(share):
        return ''
    width = round(BAR * min(max(share, 0), 1))
    style = 'display:inline-block;height:.8em;margin-right:.5em;background:#c0392b;width:{}px'.format(width)
    return element('span', '', style) + '{:.1f} %'.format(100 * share)


def finding(of: Dict[str, Any]) -> str:
    about = '~' if of['evidence'] == 'estimate' else ''  # as in the text report
    lost = '' if of['lost_s'] is None else '{}{:.3g} s'.format(about, of['lost_s'])
    says: List[str] = [element('b', html.escape(of['title'])), html.escape(of['text'])]
    if of.get('next'):
        says.append(element('i', 'next: ' + html.escape(of['next'])))
    return element(
        'tr',
        element('td', '<br>'.join(says), 'text-align:left', of['finding_id'])
        + element('td', lost, 'text-align:right', of['evidence'])
        + element('td', bar(of['lost_share']), 'text-align:left;white-space:nowrap'),
    )


def run(brief: Dict[str, Any]) -> str:
    """The verdict of a run, and its findings with bars of the time lost."""
    says = element('p', element('b', html.escape(brief['verdict']))) + element('p', html.escape(brief['command']))
    if brief['findings']:
        heads = ''.join(element('th', text, 'text-align:left') for text in ('finding', 'lost', "of the ranks' time"))
        rows = ''.join(finding(of) for of in brief['findings'])
        says += element('table', element('thead', element('tr', heads)) + element('tbody', rows))
    if brief['findings_left_out']:
        says += element('p', '{} smaller findings are in table findings'.format(brief['findings_left_out']))
    return says + (element('p', html.escape(brief['rest'])) if brief.get('rest') else '')
