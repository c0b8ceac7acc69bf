/**
 * Shows rows as a table, and on narrow screens as cards. If the rows lead to pages, each row is a link, so the keyboard
 * reaches it.
 */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import styles from './table.module.css'

export type Column<Row> = {
  name: string
  cell: (row: Row) => ReactNode
  isNumber?: boolean
  /** If true, the column is shown only on screens as wide as a desktop's. */
  isExtra?: boolean
}

type TableProps<Row> = {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** The page to which the row leads. The link is around the first cell and covers the row. */
  to?: (row: Row) => string
}

/** The roles are written out, because a browser drops a table's roles when the style sheet displays cards. */
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
