/**
 * Shows rows, and on narrow screens cards. If a row leads to a page, the row has a link, so the keyboard reaches the
 * row.
 */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import styles from './table.module.css'

export type Column<Row> = {
  name: string
  cell: (row: Row) => ReactNode
  isNumber?: boolean
  /** The column is shown only on wide screens. */
  isExtra?: boolean
}

type TableProps<Row> = {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** Returns the URL of the page that the row leads to. The first cell has the link, which covers the whole row. */
  to?: (row: Row) => string
}

/** Names all roles, because a browser drops a table's roles when the style sheet shows cards. */
export function Table<Row>({ label, columns, rows, keyOf, to }: TableProps<Row>) {
  return (
    <div className={styles.frame}>
      <table className={styles.table} role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.name} role="columnheader" scope="col" className={classOf(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row" className={to && styles.linked}>
              {columns.map((column, at) => (
                <td key={column.name} role="cell" data-name={column.name} className={classOf(column)}>
                  {to && at === 0 ? (
                    <Link to={to(row)} className={styles.link}>
                      {column.cell(row)}
                    </Link>
                  ) : (
                    column.cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const classOf = ({ isNumber, isExtra }: { isNumber?: boolean; isExtra?: boolean }) =>
  classes(isNumber && styles.number, isExtra && styles.extra)
